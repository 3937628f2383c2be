"""Locations of files: local paths, or addresses that fsspec understands (``s3://``, ``https://``, ...)."""

from __future__ import annotations

import io
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar, cast

from hiddenbits.addresses import LEFT_OUT, has_credentials, is_http, safe_url
from hiddenbits.data.locations.remote_errors import reaching, secret_words
from hiddenbits.exceptions import TableError

READAHEAD_BYTES = 1 << 20  # bytes fetched beyond a requested piece of a remote file
LIBRARY_READAHEAD = 1 << 16  # bytes; less, because most libraries request exactly the bytes that they need
# Keys under which file systems identify the version of a file, the most reliable first.
TAGS = ("ETag", "etag", "md5Hash", "Content-MD5", "LastModified", "Last-Modified", "last_modified", "mtime", "created")
PARALLEL_FILES = 16  # remote files processed in parallel, as each takes a few round trips
COPY_LOCK = threading.Lock()  # so that two threads do not write the same local copy


@dataclass(frozen=True)
class RemoteFile:
    """A file at an address; opened again for every read, on any machine.

    Attributes
    ----------
    fs : fsspec.AbstractFileSystem
        The file system, whose options may contain secrets; it is pickled without its connection.
    path : str
        The path within the file system; may contain secrets.
    shown : str
        The address without secrets, for messages.
    version : tuple
        Size and tag of the file when the table was opened; empty if changes need not be detected.
    """

    fs: Any = field(repr=False, compare=False)
    path: str = field(repr=False)
    shown: str
    version: tuple[Any, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return self.shown

    @property
    def name(self) -> str:
        """The last part of the path, without secrets."""
        return PurePosixPath(safe_url(self.path).removesuffix(LEFT_OUT)).name

    @property
    def suffix(self) -> str:
        """The suffix of the name, with its dot."""
        return PurePosixPath(self.name).suffix

    @property
    def _is_copied(self) -> bool:
        """Whether the file system makes local copies, as ``simplecache::`` does."""
        from fsspec.implementations.cached import CachingFileSystem

        return isinstance(self.fs, CachingFileSystem)

    @property
    def secrets(self) -> list[str]:
        """Texts that messages must not show."""
        return secret_words(self.fs.unstrip_protocol(self.path), self.fs.storage_options)

    def with_version(self) -> RemoteFile:
        """Return the file with its version, by which `open` detects that it was replaced."""
        return replace(self, version=self._current_version()[0])

    def _current_version(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the current version of the file, and its metadata in the file system."""
        with reaching(self.shown, self.secrets):
            fs = self.fs.fs if self._is_copied else self.fs  # a caching file system does not know the current state
            fs.invalidate_cache(self.path)
            info = fs.info(self.path)
        if info.get("type") == "directory":
            raise is_folder(self.shown)
        return (info.get("size"), next((str(info[tag]) for tag in TAGS if info.get(tag)), None)), info

    def open(self, readahead: int = READAHEAD_BYTES) -> io.BufferedReader:
        """Open the file, after checking that it has not changed; see `open_file`."""
        version, info = self._current_version()
        if self.version and self.version != version:
            raise TableError(f"{self}: the file has changed since the table was opened. Open the table again.")
        with reaching(self.shown, self.secrets):
            if self._is_copied:
                with COPY_LOCK:
                    file = self.fs.open(self.path, "rb")
                if version[0] not in (None, file.seek(0, io.SEEK_END)):  # making the copy was interrupted
                    file.close()
                    raise self._cut_short
                file.seek(0)
            elif self.fs.async_impl:
                options = {"cache_type": "readahead", "block_size": readahead}
                file = self.fs.open(self.path, "rb", **options, **self._web_options(info))
            else:  # only asynchronous file systems can be used by all threads; fsspec keeps others per thread
                fs = copy(self.fs)
                file = fs.open(self.path, "rb")
                file.owner = fs  # otherwise an archive is closed with its file system
        if isinstance(file, io.BytesIO):  # memory:// returns the same file, with a shared position
            file = io.BytesIO(file.getvalue())
        if hasattr(file, "cache"):
            file.cache.fetcher = partial(self._fetch, file.cache.fetcher)
        return cast("io.BufferedReader", file)

    def _web_options(self, info: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options for a file over HTTP. Without a size, fsspec tests whether it can only stream."""
        if not is_http(self.shown):
            return {}
        headers = {**self.fs.kwargs.get("headers", {}), "Accept-Encoding": "identity"}  # uncompressed pieces
        if info.get("ETag", "W/").startswith('"'):  # weak tags never match
            headers["If-Match"] = info["ETag"]
        return {"headers": headers, "size": info["size"] if info.get("partial", True) else None}

    def _fetch(self, fetch: Callable[[int, int], bytes], start: int, stop: int) -> bytes:
        """Return bytes of the file; an error if there are fewer than requested."""
        data = fetch(start, stop)
        if len(data) < stop - start:
            raise self._cut_short
        return data

    @property
    def _cut_short(self) -> TableError:
        return TableError(f"{self}: the file is shorter than announced. It was cut short or replaced; open it again.")


Place = Path | RemoteFile
P = TypeVar("P", bound=Place)
T = TypeVar("T")


def open_file(place: Place, readahead: int = READAHEAD_BYTES) -> io.BufferedReader:
    """Open a file for reading its bytes; from a remote one, `readahead` more bytes than requested are fetched."""
    if isinstance(place, RemoteFile):
        return place.open(readahead)
    refuse_pipe(place)
    return place.open("rb")


def refuse_pipe(path: Path) -> None:
    """Refuse existing paths that are neither files nor folders: a pipe can be read only once, or blocks."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise TableError(
            f"{path}: this is a pipe or a device, but tables are read more than once. Write the data to a file first, "
            "and open that file."
        )


def for_library(place: Place) -> AbstractContextManager[Any]:
    """Return a context with an argument for libraries: the path of a local file, or an open remote file."""
    return place.open(LIBRARY_READAHEAD) if isinstance(place, RemoteFile) else nullcontext(place)


def map_places(function: Callable[[P], T], places: Sequence[P]) -> list[T]:
    """Return the function of each place, in order; remote places are processed in parallel."""
    if not any(isinstance(place, RemoteFile) for place in places):
        return [function(place) for place in places]
    with ThreadPoolExecutor(PARALLEL_FILES) as pool:
        return list(pool.map(function, places))


def is_url(path: Any) -> bool:
    """Whether a path is an address of another machine, perhaps a chain of them; ``file://`` is just a path.

    Examples
    --------
    >>> is_url("s3://bucket/x.npy"), is_url("simplecache::s3://bucket/x.npy"), is_url("file:///x.npy")
    (True, True, False)
    """
    address = r"(?!(file|local)://)[A-Za-z][A-Za-z0-9+.-]+(::|://)"  # a single letter before the colon is a drive
    return isinstance(path, str) and "://" in path and re.match(address, path) is not None


def local_path(path: str | os.PathLike[str]) -> str:
    """Return a path with ``~`` expanded, and without a leading ``file://``."""
    text = os.fspath(path)
    path_only = re.sub(r"^(file|local)://", "", text)
    if path_only != text and has_credentials(text):
        raise TableError(f"{safe_url(text)}: an address of a local file has no user, password or query. Give the path.")
    return os.path.expanduser(path_only)  # noqa: PTH111  (it may be a pattern)


def is_folder(path: str) -> TableError:
    """Return the error for a folder where a file is needed."""
    return TableError(f"{path}: this is a folder. Name its files with a pattern such as {path.rstrip('/')}/*.parquet.")


def find_place(path: str | os.PathLike[str], options: Mapping[str, Any]) -> Place:
    """Return the place of one file."""
    return find_remote(str(path), options)[0] if is_url(path) else Path(local_path(path))


def find_remote(url: str, options: Mapping[str, Any]) -> list[RemoteFile]:
    """Return the file at an address, or the files that match a pattern, in any order."""
    try:
        import fsspec.core
    except ImportError as error:
        raise ImportError("Addresses such as s3:// need fsspec: pip install 'hiddenbits[files]'.") from error
    shown = safe_url(url)
    # fsspec writes into the options of a chain's links.
    options = {name: dict(value) if isinstance(value, dict) else value for name, value in options.items()}
    with reaching(shown, secret_words(url, options)):
        fs, path = fsspec.core.url_to_fs(url, **options)
        wildcard = r"[*[]" if is_http(path) else r"[*?[]"  # in web addresses a question mark begins the query
        pattern = re.search(wildcard, re.split(r"\?(?=[^/]*=)", path)[0])
        if pattern is None or ("*" not in path and fs.isfile(path)):  # a file may be called data[1].csv
            if url.endswith("/"):
                raise is_folder(shown)
            return [RemoteFile(fs, path, shown)]
        matches = fs.glob(path, detail=True)
    names = [name for name, info in matches.items() if info.get("type", "file") == "file"]
    if not names:
        raise TableError(f"{shown}: there is no such file.")
    prefix, found, suffix = url.partition(path)
    prefix = prefix if found else fs.unstrip_protocol("")
    return [RemoteFile(fs, name, safe_url(prefix + name + suffix)) for name in names]
