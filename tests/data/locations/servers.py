"""Small servers on loopback: one of files over HTTP that can misbehave, and one of the little of S3 that we need."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit


class _Quiet(ThreadingHTTPServer):
    def handle_error(self, *_):
        """Say nothing of connections that the other side dropped."""


class FileServer:
    """Files over HTTP/1.1, with byte ranges, ETags and folder listings.

    Set `fault` while it runs: "no ranges", "says none" (Accept-Ranges: none), "no size", "size 0", "larger" (the size
    that HEAD tells), "drop" (the connection breaks in the middle), "slow" (no answer for a while), or a status such as
    403. Files asked for in moved/ are elsewhere. `requests` lists (method, path, Range header), and `sent` counts the
    bytes of bodies.
    """

    def __init__(self, files: dict[str, bytes] | None = None) -> None:
        self.files = dict(files or {})
        self.fault: str | int | None = None
        self.token: str | None = None  # if set, requests need it in their Authorization header or in their query
        self.requests: list[tuple[str, str, str | None]] = []
        self.sent = 0
        self.stop = threading.Event()
        handler = type("Handler", (self.handler,), {"owner": self})
        self._server = _Quiet(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def handler(self) -> type:
        return _FileHandler

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are sent apart, and would wait for each other
    owner: FileServer

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer(body=False)

    def do_GET(self):
        self.answer(body=True)

    def start(self, status, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()

    def send(self, data: bytes) -> None:
        """Send a body piece by piece, until the other side has had enough."""
        try:
            for start in range(0, len(data), 1 << 16):
                self.wfile.write(data[start : start + (1 << 16)])
                self.owner.sent += len(data[start : start + (1 << 16)])
        except OSError:
            self.close_connection = True

    def range(self, size: int) -> tuple[int, int] | None:
        byte_range = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range") or "")
        return None if byte_range is None else (int(byte_range[1]), min(int(byte_range[2]) + 1, size))


class _FileHandler(_Handler):
    def answer(self, body: bool) -> None:
        owner, url = self.owner, urlsplit(self.path)
        path, fault = unquote(url.path).lstrip("/"), self.owner.fault
        owner.requests.append((self.command, self.path, self.headers.get("Range")))
        known = {self.headers.get("Authorization"), *parse_qs(url.query).get("token", [])}
        if isinstance(fault, int):
            return self.start(fault, Content_Length=0)
        if owner.token is not None and owner.token not in known:
            return self.start(401, Content_Length=0)
        if fault == "slow":
            owner.stop.wait(20)
        if path.startswith("moved/"):
            return self.start(302, Location=f"{owner.url}/{path[6:]}", Content_Length=0)
        if path == "" or path.endswith("/"):
            return self.listing(path)
        if path not in owner.files:
            return self.start(404, Content_Length=0)
        data = owner.files[path]
        etag = f'"{hashlib.md5(data).hexdigest()}"'
        if not body:
            size = {"larger": 2 * len(data), "size 0": 0, "no size": None}.get(fault, len(data))
            kept = {"ETag": etag} | ({} if size is None else {"Content-Length": size})
            return self.start(200, **kept, **({"Accept-Ranges": "none"} if fault == "says none" else {}))
        if self.headers.get("If-Match", etag) != etag:
            return self.start(412, Content_Length=0)
        byte_range = None if fault in ("no ranges", "says none", "no size") else self.range(len(data))
        if byte_range is not None and byte_range[0] >= len(data):
            return self.start(416, Content_Length=0)
        part = data if byte_range is None else data[byte_range[0] : byte_range[1]]
        headers = {"ETag": etag, "Content_Length": len(part)}
        if byte_range is not None:
            headers["Content_Range"] = f"bytes {byte_range[0]}-{byte_range[1] - 1}/{len(data)}"
        if fault == "no size":
            del headers["Content_Length"]
        self.close_connection = fault in ("no size", "drop")
        self.start(206 if byte_range else 200, **headers)
        return self.send(part[: len(part) // 2] if fault == "drop" else part)

    def listing(self, folder: str) -> None:
        names = {name[len(folder) :].split("/")[0] for name in self.owner.files if name.startswith(folder)}
        page = "".join(f'<a href="{name}">{name}</a>\n' for name in sorted(names)).encode()
        self.start(200, Content_Type="text/html", Content_Length=len(page))
        if self.command == "GET":
            self.send(page)


class S3Server(FileServer):
    """One bucket with objects, listed and read over HTTP as S3 does; requests must be signed with the key "key"."""

    @property
    def handler(self) -> type:
        return _S3Handler


class _S3Handler(_Handler):
    def answer(self, body: bool) -> None:
        owner, url = self.owner, urlsplit(self.path)
        owner.requests.append((self.command, self.path, self.headers.get("Range")))
        bucket, _, key = unquote(url.path).lstrip("/").partition("/")
        if "Credential=key/" not in (self.headers.get("Authorization") or ""):
            return self.fail(403, "AccessDenied", body)
        if bucket != "bucket":
            return self.fail(404, "NoSuchBucket", body)
        if not key:
            return self.listing(parse_qs(url.query).get("prefix", [""])[0])
        if key not in owner.files:
            return self.fail(404, "NoSuchKey", body)
        data = owner.files[key]
        byte_range = self.range(len(data))
        part = data if byte_range is None else data[byte_range[0] : byte_range[1]]
        headers = {"ETag": f'"{hashlib.md5(data).hexdigest()}"', "Content_Length": len(part)}
        if byte_range is not None:
            headers["Content_Range"] = f"bytes {byte_range[0]}-{byte_range[1] - 1}/{len(data)}"
        self.start(206 if byte_range else 200, Last_Modified=self.date_time_string(time.time() // 1e6 * 1e6), **headers)
        if body:
            self.send(part)
        return None

    def fail(self, status: int, code: str, body: bool) -> None:
        page = f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode() if body else b""
        self.start(status, Content_Type="application/xml", Content_Length=len(page))
        self.send(page)

    def listing(self, prefix: str) -> None:
        rows = "".join(
            f"<Contents><Key>{name}</Key><Size>{len(data)}</Size><LastModified>2024-01-01T00:00:00.000Z</LastModified>"
            f'<ETag>"{hashlib.md5(data).hexdigest()}"</ETag><StorageClass>STANDARD</StorageClass></Contents>'
            for name, data in sorted(self.owner.files.items())
            if name.startswith(prefix)
        )
        page = (
            '<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name>'
            f"<Prefix>{prefix}</Prefix><IsTruncated>false</IsTruncated>{rows}</ListBucketResult>"
        ).encode()
        self.start(200, Content_Type="application/xml", Content_Length=len(page))
        self.send(page)
