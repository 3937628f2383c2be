"""Remote files that fsspec opens, read piece by piece: never more than was asked for, never less without an error."""

from __future__ import annotations

import io
import threading
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from hiddenbits.data.errors import TableError
from hiddenbits.data.locations.secrets import reaching

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


SLACK = 4 << 20  # what a format may need besides its data, such as the list of an archive's files
AHEAD = 1 << 16  # what object stores are asked for beyond a piece: callers ask for what they need

LOCAL_COPY = "Put simplecache:: before the address, which makes a local copy, or download the file."

# Only asynchronous file systems promise to serve several threads; memory:// hands the same file, with one position,
# to everyone. This also keeps two threads from making the same local copy, as simplecache:: does at opening.
ONE_AT_A_TIME = threading.RLock()


class RemoteFile(io.RawIOBase):
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

    def __init__(self, place: Any, size: int | None, max_bytes: int | None = None) -> None:
        self._place, self._size, self._cap = place, size, max_bytes
        self._left = None if max_bytes is None else max_bytes + SLACK
        self._at = self._in_order = 0  # _in_order: how much was read from the top on, if nothing else was
        parallel = place.fs.async_impl and not place.is_chain
        self._turn: Any = nullcontext() if parallel else ONE_AT_A_TIME
        self._file: Any = None
        with self._reaching(), self._turn:
            if place.is_web:
                self._file = self._open_web(size)
            else:
                ahead = {"cache_type": "readahead", "block_size": AHEAD} if parallel else {}
                self._file = place.fs.open(place.path, "rb", **ahead)
                if size is None and self._file.seekable():
                    self._size = self._file.seek(0, io.SEEK_END)

    def _reaching(self) -> Any:
        return reaching(self._place.shown, self._place.url, self._place.options)

    def _open_web(self, size: int | None) -> Any:
        from hiddenbits.data.locations.web_files import open_web

        return open_web(self._place, size)

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
                f"{self._place}: the server does not report the file's size, which this format needs. {LOCAL_COPY}"
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
        if self._left is not None:
            length = min(length, self._left + 1)
        if length <= 0:
            return 0
        if self._file is None:
            raise ValueError("the file is closed")
        with self._reaching(), self._turn:
            data = self._fetch(length)
        end = self._at + len(data)
        if self._size is not None and len(data) < length:
            raise TableError(
                f"{self._place}: the file should have {self._size} bytes, but ends after {end}. It was cut short or "
                "replaced; open the table again."
            )
        if self._left is not None:
            self._left -= len(data)
            if self._left < 0:
                raise beyond_cap(self._place, self._cap)
        view[: len(data)] = data
        self._in_order = end if self._in_order == self._at else -1
        self._at = end
        return len(data)

    def _fetch(self, length: int) -> bytes:
        """Return the next bytes. From a server that knows no ranges, a file can still be read from the top on."""
        try:
            return self._read(length)
        except ValueError as error:  # of fsspec's streams, which do not seek, and of servers without ranges
            if isinstance(error, TableError) or not self._place.is_web:
                raise
        if self._at != self._in_order or self._size is None:
            raise TableError(
                f"{self._place}: the server cannot send parts of a file, which this format needs. {LOCAL_COPY}"
            )
        self._file.close()
        self._file, at, self._at = self._open_web(None), self._at, 0
        while self._at < at and (passed := len(self._read(min(at - self._at, AHEAD)))):
            self._at += passed
        return self._read(length)

    def _read(self, length: int) -> bytes:
        file, wanted, pieces = self._file, length, []
        if file.tell() != self._at:
            file.seek(self._at)
        while wanted > 0 and (piece := file.read(wanted)):
            pieces.append(piece)
            wanted -= len(piece)
        if wanted < 0 or (self._at + length == self._size and file.read(1)):
            raise self._place.sends_more(self._size)
        return b"".join(pieces)

    def close(self) -> None:
        """Let go of the file."""
        file, self._file = getattr(self, "_file", None), None
        super().close()
        if file is not None:
            with self._reaching(), self._turn:
                file.close()


def beyond_cap(place: Any, max_bytes: int | None) -> TableError:
    """Return the error for a file that is too large to be read into memory."""
    return TableError(
        f"{place}: the file takes more than max_bytes={max_bytes} bytes, and is read into memory. Raise max_bytes=, "
        "or convert the table to Parquet, which is read in parts."
    )
