"""Text files, plain or gzipped, read as bytes up to a limit."""

from __future__ import annotations

import codecs
import gzip
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hiddenbits.data.file_request import reading
from hiddenbits.data.locations.places import Place, open_file
from hiddenbits.exceptions import TableError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK_BYTES = 1 << 23
# A gzipped text that decompresses to more than FREE bytes and more than RATIO times its size counts as a bomb. At
# gzip's best level, tables with one 1 per thousand cells reach a ratio of 390, bombs 1,000.
FREE = 1 << 24
RATIO = 400
SAMPLE_BYTES = 1 << 18  # of a text, from which its encoding is detected
BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
# Control characters, as bytes. Text in a one-byte encoding has none of them.
CONTROL_BYTES = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
SEPARATOR_NAMES = {"\t": "a tab", " ": "a space"}  # of characters between cells, in messages


class CappedReader(io.RawIOBase):
    """A file's bytes, decompressed if it is gzipped, up to `max_bytes`.

    The limit counts decompressed bytes: a gzip file of a few megabytes can decompress to terabytes. A ratio far above
    that of tables raises an error early, after `FREE` bytes.
    """

    def __init__(self, path: Place, max_bytes: int) -> None:
        self._path, self._max_bytes, self._n_read = path, max_bytes, 0
        with reading(path):
            self._raw_file = open_file(path)
            self._size = path.stat().st_size if isinstance(path, Path) else getattr(self._raw_file, "size", None)
        if self._size is not None and self._size > max_bytes:
            self._raw_file.close()
            raise too_large(path, max_bytes)
        self._is_gzip = path.suffix.lower() == ".gz"
        self._file = gzip.GzipFile(fileobj=self._raw_file) if self._is_gzip else self._raw_file

    @property
    def share(self) -> float | None:
        """The share of the file that was read; None if its size is unknown."""
        return min(1.0, self._raw_file.tell() / self._size) if self._size else None

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill the buffer; see `io.RawIOBase`."""
        view = memoryview(buffer)
        with reading(self._path):
            chunk = self._file.read(len(view))
            self._n_read += len(chunk)
            if self._n_read > self._max_bytes:
                raise too_large(self._path, self._max_bytes)
            if self._is_gzip and self._n_read > max(FREE, RATIO * self._raw_file.tell()):
                raise TableError(
                    f"the file decompresses to more than {RATIO} times its size, which suggests a gzip bomb. If it is "
                    "a real table, decompress it first (gunzip), or write it as Parquet."
                )
        view[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        self._raw_file.close()
        super().close()


def too_large(path: Place, max_bytes: int) -> TableError:
    """Return the error for a text file that is larger than the limit."""
    return TableError(
        f"{path}: the text takes more than max_bytes={max_bytes} bytes, and is read into memory. Raise max_bytes=, or "
        "convert the table to Parquet, which is read in parts."
    )


def open_text(path: Place, max_bytes: int) -> io.BufferedReader:
    """Open a text file, plain or gzipped, for reading its bytes up to the limit."""
    return io.BufferedReader(CappedReader(path, max_bytes), CHUNK_BYTES)


def line_chunks(path: Place, max_bytes: int) -> Iterator[bytes]:
    """Yield the file as chunks of whole lines of about `CHUNK_BYTES`, each ending in a newline."""
    with open_text(path, max_bytes) as file:
        while piece := file.read(CHUNK_BYTES):
            lines = piece + file.readline()
            yield lines if lines.endswith(b"\n") else lines + b"\n"  # the last line may lack its newline


def read_lines(path: Place, max_bytes: int) -> tuple[str, ...]:
    """Return the lines of a small UTF-8 text file."""
    with open_text(path, max_bytes) as file, reading(path):
        return tuple(file.read().decode("utf-8-sig").splitlines())


def detect_encoding(head: bytes) -> str:
    """Return the encoding of a text: by its byte order mark, UTF-8 if possible, else that of Windows or latin-1."""
    for mark, name in BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return name
    even, odd = head[:SAMPLE_BYTES:2].count(0), head[1:SAMPLE_BYTES:2].count(0)
    half = min(len(head), SAMPLE_BYTES) // 2
    if half and max(even, odd) > 0.4 * half and min(even, odd) < 0.05 * half:  # every second byte of western text is 0
        return "utf-16-be" if even > odd else "utf-16-le"
    if _is_text(head, "utf-8"):
        return "utf-8"
    if CONTROL_BYTES.search(head) is None:
        return "cp1252" if _is_text(head, "cp1252") else "latin-1"
    return "utf-8"  # decoding then raises an error that names the invalid byte


def _is_text(head: bytes, encoding: str) -> bool:
    """Whether bytes, which may end within a character, are text in an encoding."""
    try:
        codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return False
    return True
