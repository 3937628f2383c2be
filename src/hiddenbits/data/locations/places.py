"""Where a file is: a local path, or an address that fsspec understands (``s3://``, ``https://``, ...)."""

from __future__ import annotations

import glob
import io
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeVar

from hiddenbits.addresses import LEFT_OUT, has_credentials, is_http, safe_url
from hiddenbits.data.errors import TableError
from hiddenbits.data.locations.files import RemoteFile, beyond_cap
from hiddenbits.data.locations.secrets import reaching, secret_words

BUFFER = 1 << 20  # what a remote file is asked for at least, when it is read in small steps
# Where file systems say which version of a file it is, the surest first.
TAGS = ("ETag", "etag", "md5Hash", "Content-MD5", "LastModified", "Last-Modified", "last_modified", "mtime", "created")
LINK = r"[A-Za-z][A-Za-z0-9+.-]+"  # a protocol; one letter is a drive
AT_ONCE = 16  # remote files looked at together: each takes a few round trips


class Mark(NamedTuple):
    """By what a changed file is noticed."""

    size: int | None
    tag: str | None


@dataclass(frozen=True)
class Remote:
    """A file at an address; opened again for every read, on whichever machine that is.

    Storage options travel with it, but are in no message and no repr.

    Attributes
    ----------
    protocol : str
        The protocol, the first one of a chain.
    path : str
        The path within the file system; may hold secrets.
    shown : str
        The address as messages show it.
    options : dict
        What makes the file system, secrets among it.
    mark : Mark or None
        What the file was when the table was opened.
    """

    protocol: str
    path: str = field(repr=False)
    shown: str
    options: Mapping[str, Any] = field(repr=False, compare=False)
    mark: Mark | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.shown

    def __getstate__(self) -> dict[str, Any]:
        """Leave the connection behind when the place travels."""
        return {name: value for name, value in self.__dict__.items() if name != "fs"}

    @property
    def _pure(self) -> PurePosixPath:
        return PurePosixPath(safe_url(self.path).removesuffix(LEFT_OUT))

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self._pure.name

    @property
    def suffix(self) -> str:
        """The suffix of the name, with its dot."""
        return self._pure.suffix

    @property
    def stem(self) -> str:
        """The name without its suffix."""
        return self._pure.stem

    @property
    def secrets(self) -> list[str]:
        """The texts that no message may show."""
        return secret_words(self.url, self.options)

    @property
    def url(self) -> str:
        """The address; may hold secrets."""
        return self.path if "://" in self.path else f"{self.protocol}://{self.path}"

    @property
    def is_chain(self) -> bool:
        """Whether the address is a chain, such as ``simplecache::s3://...``."""
        return "::" in self.shown

    @property
    def is_web(self) -> bool:
        """Whether the file is read over HTTP, without another file system in between."""
        return self.protocol in ("http", "https") and bool(self.fs.async_impl)

    @cached_property
    def fs(self) -> Any:
        """The file system; fsspec shares one among all files that need the same."""
        with reaching(self.shown, self.url, self.options):
            return fsspec().filesystem(self.protocol, **self.options)

    def look(self) -> Mark:
        """Ask what the file is now."""
        with reaching(self.shown, self.url, self.options):
            fs = _origin(self.fs)
            fs.invalidate_cache(self.path)
            info = fs.info(self.path)
            size, tag = info.get("size"), next((str(info[key]) for key in TAGS if info.get(key)), None)
            # Some web servers tell 0 for what they do not know yet.
            size = None if size is None or (size == 0 and self.is_web) else int(size)
        if info.get("type") == "directory":
            raise is_folder(self.shown)
        return Mark(size, tag)

    def marked(self) -> Remote:
        """Return the place with the file's mark; from then on `open` notices a file that was replaced."""
        return self._but(mark=self.look())

    def _but(self, **changes: Any) -> Remote:
        """Return the place with changes, on the same connection."""
        other = replace(self, **changes)
        other.__dict__["fs"] = self.fs  # fsspec would make one for each thread, and simplecache:: a copy for each
        return other

    def open(self, max_bytes: int | None = None, whole: bool = False) -> RemoteFile:
        """Open the file, after a look at whether it is still the same; see `open_place`."""
        now = self.look()
        if self.mark is not None and now != self.mark:
            raise TableError(f"{self}: the file has changed since the table was opened. Open the table again.")
        if whole and max_bytes is not None and now.size is not None and now.size > max_bytes:
            raise beyond_cap(self, max_bytes)
        return RemoteFile(self, now.size, max_bytes)

    def sends_more(self, size: int | None) -> TableError:
        """Return the error for a server that sends more than it said."""
        return TableError(
            f"{self}: the server sent more than the {size} bytes that it announced. The file was replaced, or the "
            "server is faulty; open the table again."
        )


Place = Path | Remote
P = TypeVar("P", bound=Place)
T = TypeVar("T")


def open_place(
    place: Place, max_bytes: int | None = None, whole: bool = False, buffer: int = BUFFER
) -> io.BufferedReader:
    """Open a file for reading its bytes.

    Of a remote file little more than `max_bytes` are ever taken, at least `buffer` at a time. One that is read as a
    `whole` is refused at once if it is larger than `max_bytes`.
    """
    if isinstance(place, Remote):
        return io.BufferedReader(place.open(max_bytes, whole), buffer)
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
    if isinstance(place, Remote):
        with place.open() as file:
            yield file
    else:
        yield place


def each(function: Callable[[P], T], places: Sequence[P]) -> list[T]:
    """Return the function of each place, in order; of remote ones several at a time."""
    if not any(isinstance(place, Remote) for place in places):
        return [function(place) for place in places]
    pool = ThreadPoolExecutor(AT_ONCE)
    try:
        return list(pool.map(function, places))
    finally:
        pool.shutdown(cancel_futures=True)


def fsspec() -> Any:
    """Return fsspec, or say how to install it."""
    try:
        import fsspec
        import fsspec.core
    except ImportError as error:
        raise ImportError("Addresses such as s3:// need fsspec: pip install 'hiddenbits[files]'.") from error
    return fsspec


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
    if is_url(path):
        return find_remote(str(path), options)[0]
    return Path(local_path(path))


def find_remote(url: str, options: Mapping[str, Any]) -> list[Remote]:
    """Return the file at an address, or the files that match a pattern, in no order."""
    core, shown = fsspec().core, safe_url(url)
    # fsspec writes into the options of a chain's links.
    options = {name: dict(value) if isinstance(value, dict) else value for name, value in options.items()}
    with reaching(shown, url, options):
        fs, path = core.url_to_fs(url, **options)
    protocol = re.split("::|://", url)[0]
    first = Remote(protocol, path, shown, dict(fs.storage_options))
    first.__dict__["fs"] = fs
    if not _is_pattern(path):
        if url.endswith("/"):
            raise is_folder(shown)
        return [first]
    with reaching(shown, url, options):
        if "*" not in path and fs.isfile(path):  # a file may be called data[1].csv
            return [first]
        found = fs.glob(path, detail=True)
    names = [name for name, info in found.items() if info.get("type", "file") == "file"]
    if not names:
        raise TableError(f"{shown}: no file matches this pattern.")
    before, known, after = url.partition(path)
    before = before if known else f"{protocol}://"
    return [first._but(path=name, shown=safe_url(before + name + after)) for name in names]


def _origin(fs: Any) -> Any:
    """Return the file system behind one that keeps local copies: only that one knows what a file is now."""
    from fsspec.implementations.cached import CachingFileSystem

    while isinstance(fs, CachingFileSystem):
        fs = fs.fs
    return fs


def _is_pattern(path: str) -> bool:
    """Whether a path is a glob pattern. On the web a question mark begins the query, elsewhere if it reads like one."""
    if is_http(path):
        return re.search(r"[*[]", re.split(r"[?#]", path)[0]) is not None
    return glob.has_magic(re.split(r"\?(?=[^/]*=)", path)[0])
