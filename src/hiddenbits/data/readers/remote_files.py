"""Remote files, read piece by piece: never more than was asked for, and never less without an error."""

from __future__ import annotations

import io
import threading
from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Protocol

from hiddenbits.data.readers.secrets import reaching
from hiddenbits.data.table import TableError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

KEPT = 1 << 20  # a piece up to this size is kept: the end of a Parquet file is looked at several times
STEP = 1 << 20
SLACK = 4 << 20  # what a format may need besides its data, such as the list of an archive's files

LOCAL_COPY = "Put simplecache:: before the address, which makes a local copy, or download the file."

# Only asynchronous file systems promise to serve several threads; memory:// hands the same file, with one position,
# to everyone. This also keeps two threads from making the same local copy, as simplecache:: does at opening.
ONE_AT_A_TIME = threading.RLock()


class Remote(Protocol):
    """What a remote file needs to know of its place; `locations.Remote` is one."""

    @property
    def path(self) -> str:
        """The path within the file system."""
        ...

    @property
    def shown(self) -> str:
        """The address as messages show it."""
        ...

    @property
    def options(self) -> Mapping[str, Any]:
        """What makes the file system."""
        ...

    @property
    def fs(self) -> Any:
        """The file system."""
        ...

    @property
    def is_chain(self) -> bool:
        """Whether the address is a chain."""
        ...

    @property
    def is_web(self) -> bool:
        """Whether the file is read over HTTP."""
        ...


class Fetcher(Protocol):
    """Gets pieces of one remote file, of a size that is known or not."""

    size: int | None

    def fetch(self, start: int, length: int) -> bytes:
        """Return the bytes from `start` on: `length` of them, or fewer at the end of the file."""
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...


class Pieces(io.RawIOBase):
    """A remote file that is open for reading.

    Parameters
    ----------
    place : Remote
        The file.
    size : int or None
        Its size as the server tells it; None if it does not.
    max_bytes : int or None
        The most that the file's data may come to; a little more is fetched at most.
    """

    def __init__(self, place: Remote, size: int | None, max_bytes: int | None = None) -> None:
        self._place, self._size = place, size
        self._cap = max_bytes
        self._left = None if max_bytes is None else max_bytes + SLACK
        self._at = self._block_at = 0
        self._block = b""
        self._fetcher: Fetcher | None = None
        with reaching(place.shown, place.path, place.options):
            self._fetcher = fetcher = Web(place, size) if place.is_web else Opened(place, size)
            self._size = fetcher.size

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True; a server that cannot do it is found out when it is asked."""
        return True

    def tell(self) -> int:
        """Return the position."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position; nothing is fetched yet."""
        if whence == io.SEEK_END and self._size is None:
            raise TableError(
                f"{self._place}: the server does not tell the file's size, which this format needs. {LOCAL_COPY}"
            )
        at = offset + (0, self._at, self._size or 0)[whence]
        if at < 0:
            raise OSError("a position before the start of the file")
        self._at = at
        return at

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill the buffer, or as much of it as the file has bytes left; see `io.RawIOBase`."""
        view = memoryview(buffer).cast("B")
        length = len(view) if self._size is None else min(len(view), self._size - self._at)
        if length <= 0:
            return 0
        skip = self._at - self._block_at
        if not 0 <= skip <= len(self._block) - length:
            skip, self._block, self._block_at = 0, self._fetch(length), self._at
            length = len(self._block)
        view[:length] = self._block[skip : skip + length]
        self._at += length
        if len(self._block) > KEPT:
            self._block = b""
        return length

    def _fetch(self, length: int) -> bytes:
        """Return the next bytes; refuse what is more or less than the server said."""
        if self._left is not None:
            length = min(length, self._left + 1)
        if self._fetcher is None:
            raise ValueError("the file is closed")
        with reaching(self._place.shown, self._place.path, self._place.options):
            data = self._fetcher.fetch(self._at, length)
        if self._size is not None and len(data) < length:
            raise TableError(
                f"{self._place}: the file should have {self._size} bytes, but ends after {self._at + len(data)}. It "
                "was cut short or replaced; open the table again."
            )
        if self._left is not None:
            self._left -= len(data)
            if self._left < 0:
                raise beyond_cap(self._place, self._cap)
        return data

    def close(self) -> None:
        """Let go of the file."""
        fetcher, self._fetcher = getattr(self, "_fetcher", None), None
        super().close()
        if fetcher is not None:
            with reaching(self._place.shown, self._place.path, self._place.options):
                fetcher.close()


def beyond_cap(place: Remote, max_bytes: int | None) -> TableError:
    """Return the error for a file that is too large to be read into memory."""
    return TableError(
        f"{place}: the file comes to more than max_bytes={max_bytes} bytes, and is read into memory. Raise max_bytes=, "
        "or convert the table to Parquet, which is read part by part."
    )


def too_much(place: Remote, size: int | None) -> TableError:
    """Return the error for a server that sends more than it said."""
    return TableError(
        f"{place}: the server sends more than the {size} bytes that it told. The file was replaced, or the server is "
        "not to be trusted; open the table again."
    )


class Opened:
    """Pieces of a file that its file system opens. Its own read-ahead is off: callers ask for what they need."""

    def __init__(self, place: Remote, size: int | None) -> None:
        from fsspec.caching import BaseCache
        from fsspec.spec import AbstractBufferedFile

        self._place = place
        self._shared = place.is_chain or not place.fs.async_impl
        with self._turn():
            file = place.fs.open(place.path, "rb")
        if isinstance(file, AbstractBufferedFile) and not place.is_chain:
            file.cache = BaseCache(0, file.cache.fetcher, file.size)
        self._file: Any = file
        self.size = size if size is not None or not file.seekable() else file.seek(0, io.SEEK_END)

    def _turn(self) -> Any:
        return ONE_AT_A_TIME if self._shared else nullcontext()

    def fetch(self, start: int, length: int) -> bytes:
        """Return the bytes from `start` on; see `Fetcher`."""
        pieces: list[bytes] = []
        with self._turn():
            if self._file.tell() != start:
                self._file.seek(start)
            wanted = length
            while wanted > 0 and (piece := self._file.read(wanted)):
                pieces.append(piece)
                wanted -= len(piece)
            if wanted < 0 or (start + length == self.size and self._file.read(1)):
                raise too_much(self._place, self.size)
        return b"".join(pieces)

    def close(self) -> None:
        """Close the file."""
        with self._turn():
            self._file.close()


class Web:
    """Pieces of a file on the web, as byte ranges; from the top only, if the server does not know ranges.

    fsspec's own file would take all that a server sends, however little was asked for. Here no more is taken
    than was asked for. The session, with its time limits, headers and credentials, is that of fsspec.
    """

    def __init__(self, place: Remote, size: int | None) -> None:
        self._place, self.size = place, size
        self._stream: Any = None  # the answer of a server that does not know ranges, read from the top
        self._stream_at, self._stream_ended = 0, False
        self._tag: str | None = None  # of the first range: later ones must be of the same file

    def fetch(self, start: int, length: int) -> bytes:
        """Return the bytes from `start` on; see `Fetcher`."""
        from fsspec.asyn import sync

        data: bytes = sync(self._place.fs.loop, self._fetch, start, length)
        return data

    async def _fetch(self, start: int, length: int) -> bytes:
        if self._stream is None:
            answer = await self._ask(start, length)
            try:
                if answer.status == 206:
                    return await self._range(answer, start, length)
                if start == 0:
                    self._stream, answer = answer, None
            finally:
                if answer is not None:
                    answer.close()
        if self._stream is None or self._stream_at != start:
            raise TableError(
                f"{self._place}: the server does not send parts of a file, which this format needs. {LOCAL_COPY}"
            )
        data = b"" if self._stream_ended else await _take(self._stream, length)
        self._stream_at += len(data)
        self._stream_ended = len(data) < length
        if self.size is not None and self._stream_at == self.size and await _take(self._stream, 1):
            raise too_much(self._place, self.size)
        return data

    async def _ask(self, start: int, length: int) -> Any:
        """Send the request; return the answer as soon as its head is there."""
        fs = self._place.fs
        session = await fs.set_session()
        options = dict(fs.kwargs)
        headers = {**options.pop("headers", {}), "Accept-Encoding": "identity"}
        if self.size is not None:
            headers["Range"] = f"bytes={start}-{start + length - 1}"
        answer = await session.get(fs.encode_url(self._place.path), headers=headers, **options)
        try:
            answer.raise_for_status()
            if answer.status >= 300:
                raise TableError(f"{self._place}: the server sends us on, and allow_redirects is False.")
        except Exception:
            answer.close()
            raise
        return answer

    async def _range(self, answer: Any, start: int, length: int) -> bytes:
        """Return the bytes of a range, which must be the one that was asked for, of the same file."""
        told = answer.headers.get("Content-Range", "")
        first, _, total = told.removeprefix("bytes").strip().partition("/")
        tag = answer.headers.get("ETag")
        self._tag = self._tag or tag
        valid = not told or (first.partition("-")[0] == str(start) and total in ("*", str(self.size)))
        if not valid or tag != self._tag:
            raise TableError(
                f"{self._place}: the server was asked for bytes from {start} on, of {self.size}, and sent others. The "
                "file was replaced, or the server is at fault; open the table again."
            )
        data = await _take(answer, length)
        if len(data) == length and await _take(answer, 1):
            raise too_much(self._place, self.size)
        return data

    def close(self) -> None:
        """Drop the connection of a stream."""
        stream, self._stream = self._stream, None
        if stream is not None:
            self._place.fs.loop.call_soon_threadsafe(stream.close)


async def _take(answer: Any, length: int) -> bytes:
    """Return the next `length` bytes of an answer, or fewer at its end."""
    pieces: list[bytes] = []
    while length > 0 and (piece := await answer.content.read(min(length, STEP))):
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)
