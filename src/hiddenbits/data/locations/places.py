"""Where a file is: a local path, or an address that fsspec understands (``s3://``, ``https://``, ...)."""

from __future__ import annotations

import io
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeVar

from hiddenbits.addresses import LEFT_OUT, has_credentials, is_http, safe_url
from hiddenbits.data.errors import TableError
from hiddenbits.data.locations.remote_errors import LOCAL_COPY, reaching, secret_words

AHEAD = 1 << 20  # what is fetched beyond a piece of a remote file that is read in small steps
FOR_LIBRARIES = 1 << 16  # most of them ask for what they need
# Where file systems say which version of a file it is, the surest first.
TAGS = ("ETag", "etag", "md5Hash", "Content-MD5", "LastModified", "Last-Modified", "last_modified", "mtime", "created")
LINK = r"[A-Za-z][A-Za-z0-9+.-]+"  # a protocol; one letter is a drive
AT_ONCE = 16  # remote files looked at together: each takes a few round trips
ONE_COPY = threading.Lock()  # or two threads would write the same local copy


class Mark(NamedTuple):
    """By what a changed file is noticed."""

    size: int | None
    tag: str | None


@dataclass(frozen=True)
class RemoteFile:
    """A file at an address; opened again for every read, on whichever machine that is.

    Attributes
    ----------
    fs : fsspec.AbstractFileSystem
        The file system, secrets among its options; it travels without its connection.
    path : str
        The path within the file system; may hold secrets.
    shown : str
        The address as messages show it.
    mark : Mark or None
        What the file was when the table was opened.
    """

    fs: Any = field(repr=False, compare=False)
    path: str = field(repr=False)
    shown: str
    mark: Mark | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.shown

    @property
    def pure_path(self) -> PurePosixPath:
        """The path without what must not be shown of it."""
        return PurePosixPath(safe_url(self.path).removesuffix(LEFT_OUT))

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.pure_path.name

    @property
    def suffix(self) -> str:
        """The suffix of the name, with its dot."""
        return self.pure_path.suffix

    @property
    def stem(self) -> str:
        """The name without its suffix."""
        return self.pure_path.stem

    @property
    def secrets(self) -> list[str]:
        """The texts that no message may show."""
        return secret_words(self.fs.unstrip_protocol(self.path), self.fs.storage_options)

    def marked(self) -> RemoteFile:
        """Return the file with its mark; from then on `open` notices a file that was replaced."""
        return replace(self, mark=_mark(self._info()))

    def _info(self) -> dict[str, Any]:
        """Ask what the file is now: of local copies, the file that they were made of."""
        from fsspec.implementations.cached import CachingFileSystem

        fs = self.fs
        with reaching(self.shown, self.secrets):
            while isinstance(fs, CachingFileSystem):
                fs = fs.fs
            fs.invalidate_cache(self.path)
            info: dict[str, Any] = fs.info(self.path)
        if info.get("type") == "directory":
            raise is_folder(self.shown)
        return info

    def open(self, ahead: int = AHEAD, in_order: bool = False) -> io.BufferedReader:
        """Open the file, after a look at whether it is still the same; see `open_file`."""
        from fsspec.implementations.cached import CachingFileSystem

        info = self._info()
        if self.mark is not None and self.mark != _mark(info):
            raise TableError(f"{self}: the file has changed since the table was opened. Open the table again.")
        with reaching(self.shown, self.secrets):
            if isinstance(self.fs, CachingFileSystem):
                with ONE_COPY:
                    file = self.fs.open(self.path, "rb")
                self._check_copy(file, info.get("size"))
            elif self.fs.async_impl:
                file = self.fs.open(self.path, "rb", **self._fetching(info, ahead, in_order))
            else:  # only asynchronous ones serve several threads; of others fsspec keeps one for each thread
                fs = copy(self.fs)
                file = fs.open(self.path, "rb")
                file.owner = fs  # an archive would be closed with its file system
        if isinstance(file, io.BytesIO):  # memory:// hands the same file, with one position, to everyone
            file = io.BytesIO(file.getvalue())
        if hasattr(file, "cache"):
            file.cache.fetcher = self._complete(file.cache.fetcher)
        return file  # type: ignore[no-any-return]

    def _fetching(self, info: Mapping[str, Any], ahead: int, in_order: bool) -> dict[str, Any]:
        """Return how an asynchronous file system is to fetch the file: by pieces, or as one stream."""
        pieces = {"cache_type": "readahead", "block_size": ahead}
        if not is_http(self.shown):
            return pieces
        headers = {**self.fs.kwargs.get("headers", {}), "Accept-Encoding": "identity"}  # pieces of the file as it is
        if info.get("ETag", "W/").startswith('"'):  # a weak one matches nothing
            headers["If-Match"] = info["ETag"]
        if info.get("size") and info.get("partial", True):
            return {**pieces, "headers": headers, "size": info["size"]}
        if not in_order:
            raise TableError(
                f"{self}: the server cannot send parts of a file, or does not report its size, which this format "
                f"needs. {LOCAL_COPY}"
            )
        return {"block_size": 0, "headers": headers}

    def _complete(self, fetch: Callable[[int, int], bytes]) -> Callable[[int, int], bytes]:
        """Return a function that fetches bytes, and all that were asked for."""

        def fetched(start: int, stop: int) -> bytes:
            data = fetch(start, stop)
            if len(data) < stop - start:
                raise self._cut_short(start + len(data))
            return data

        return fetched

    def _check_copy(self, file: Any, size: int | None) -> None:
        """Refuse a local copy whose making broke off."""
        held = file.seek(0, io.SEEK_END)
        if size is not None and held != size:
            file.close()
            raise self._cut_short(held)
        file.seek(0)

    def _cut_short(self, end: int) -> TableError:
        return TableError(
            f"{self}: the file ends after {end} bytes. It was cut short or replaced; open the table again."
        )


def _mark(info: Mapping[str, Any]) -> Mark:
    return Mark(info.get("size"), next((str(info[key]) for key in TAGS if info.get(key)), None))


Place = Path | RemoteFile
P = TypeVar("P", bound=Place)
T = TypeVar("T")


def open_file(place: Place, ahead: int = AHEAD, in_order: bool = False) -> io.BufferedReader:
    """Open a file for reading its bytes.

    Parameters
    ----------
    place : Place
        The file.
    ahead : int
        How many bytes of a remote file are fetched beyond those that are asked for.
    in_order : bool
        Whether it is read from top to bottom, which servers that cannot send parts of a file allow too.
    """
    if isinstance(place, RemoteFile):
        return place.open(ahead, in_order)
    refuse_pipe(place)
    return place.open("rb")


def refuse_pipe(path: Path) -> None:
    """Refuse what is there and neither a file nor a folder: a pipe can be read once, or waited for."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise TableError(
            f"{path}: this is a pipe or a device, but tables are read more than once. Write the data to a file first, "
            "and open that file."
        )


@contextmanager
def for_library(place: Place) -> Iterator[Any]:
    """Yield what a library can open itself: the path of a local file, or a remote file that is open."""
    if isinstance(place, RemoteFile):
        with place.open(FOR_LIBRARIES) as file:
            yield file
    else:
        yield place


def each(function: Callable[[P], T], places: Sequence[P]) -> list[T]:
    """Return the function of each place, in order; of remote ones several at a time."""
    if not any(isinstance(place, RemoteFile) for place in places):
        return [function(place) for place in places]
    pool = ThreadPoolExecutor(AT_ONCE)
    try:
        return list(pool.map(function, places))
    finally:
        pool.shutdown(cancel_futures=True)


def is_url(path: Any) -> bool:
    """Whether a path is an address of another machine, perhaps a chain of them; ``file://`` is just a path.

    Examples
    --------
    >>> is_url("s3://bucket/x.npy"), is_url("simplecache::s3://bucket/x.npy"), is_url("file:///x.npy")
    (True, True, False)
    """
    if not isinstance(path, str) or "://" not in path or re.match(rf"{LINK}(::|://)", path) is None:
        return False
    return "::" in path or re.match("(file|local)://", path) is None


def local_path(path: str | os.PathLike[str]) -> str:
    """Return a path with ``~`` filled in, and without a leading ``file://``."""
    text = os.fspath(path)
    plain = re.sub(r"^(file|local)://", "", text)
    if plain != text and has_credentials(text):
        raise TableError(f"{safe_url(text)}: an address of a local file has no user, password or query. Give the path.")
    return os.path.expanduser(plain)  # noqa: PTH111  (it may be a pattern)


def is_folder(path: str) -> TableError:
    """Return the error for a folder where a file is needed."""
    return TableError(f"{path}: this is a folder. Name its files with a pattern such as {path.rstrip('/')}/*.parquet.")


def find_place(path: str | os.PathLike[str], options: Mapping[str, Any]) -> Place:
    """Return the place of one file."""
    return find_remote(str(path), options)[0] if is_url(path) else Path(local_path(path))


def find_remote(url: str, options: Mapping[str, Any]) -> list[RemoteFile]:
    """Return the file at an address, or the files that match a pattern, in no order."""
    try:
        import fsspec.core
    except ImportError as error:
        raise ImportError("Addresses such as s3:// need fsspec: pip install 'hiddenbits[files]'.") from error
    shown = safe_url(url)
    # fsspec writes into the options of a chain's links.
    options = {name: dict(value) if isinstance(value, dict) else value for name, value in options.items()}
    with reaching(shown, secret_words(url, options)):
        fs, path = fsspec.core.url_to_fs(url, **options)
        wild = r"[*[]" if is_http(path) else r"[*?[]"  # on the web a question mark begins the query
        pattern = re.search(wild, re.split(r"\?(?=[^/]*=)", path)[0])
        if pattern is None or ("*" not in path and fs.isfile(path)):  # a file may be called data[1].csv
            if url.endswith("/"):
                raise is_folder(shown)
            return [RemoteFile(fs, path, shown)]
        found = fs.glob(path, detail=True)
    names = [name for name, info in found.items() if info.get("type", "file") == "file"]
    if not names:
        raise TableError(f"{shown}: no file matches this pattern.")
    before, known, after = url.partition(path)
    before = before if known else fs.unstrip_protocol("")
    return [RemoteFile(fs, name, safe_url(before + name + after)) for name in names]
