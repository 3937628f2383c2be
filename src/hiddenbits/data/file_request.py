"""What every reader of files is asked, and what readers share."""

from __future__ import annotations

import csv
import inspect
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hiddenbits.data.locations.places import Place, RemoteFile
from hiddenbits.data.locations.remote_errors import remote_problem
from hiddenbits.data.request import Request
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import discreet, printable, redacted

# What the libraries below us raise on a damaged file. Not `Exception`: our own mistakes should stay visible.
DAMAGE = (
    *(OSError, EOFError, ValueError, TypeError, LookupError, ArithmeticError, MemoryError, RuntimeError, SyntaxError),
    *(UserWarning, csv.Error, struct.error, tokenize.TokenError, zlib.error, zipfile.BadZipFile),
)


@dataclass(frozen=True)
class FileRequest(Request):
    """What the reader of a format is asked: a request, and the files.

    Attributes
    ----------
    files : tuple of Place
        The files.
    schema : pyarrow.Schema or None
        The columns of the table, of which a Parquet file may lack some; None where all files have the same.
    given : tuple of dict
        For each Parquet file, the one value of columns that are not in it, but in its path or in the log of a lake.
    """

    files: tuple[Place, ...] = ()
    schema: Any = None
    given: tuple[Mapping[str, Any], ...] = ()


@contextmanager
def naming(path: Place | str) -> Iterator[None]:
    """Name the file in every `TableError`; warnings, also where they are errors, stay what they are."""
    with discreet(path):
        try:
            yield
        except TableError as error:
            if str(error).startswith(printable(path)):
                raise
            raise error.in_file(path) from error


@contextmanager
def reading(path: Place | str) -> Iterator[None]:
    """Name the file in every `TableError`, and turn a library's complaint about a damaged file into one.

    So does what goes wrong on the way to a remote file, whose bytes are fetched as a library asks for them.
    """
    with naming(path):
        try:
            yield
        except (TableError, ImportError):
            raise
        except Exception as error:
            # not chained if remote: a secret may stand there in another form than the one that is known
            remote = path if isinstance(path, RemoteFile) else None
            cause = error if remote is None else None
            if remote is not None and (lost := remote_problem(error, str(path), remote.secrets)):
                raise TableError(lost).in_file(path) from cause
            if isinstance(error, (FileNotFoundError, PermissionError)):
                gone = isinstance(error, FileNotFoundError)
                raise TableError(
                    f"{'there is no such file' if gone else 'no permission to read the file'}. A table's files must "
                    "stay where they are, on every worker too."
                ) from error
            if not isinstance(error, DAMAGE):
                raise
            raise TableError(
                f"cannot be read ({type(error).__name__}: {redacted(error, path)}). The file is damaged or of another "
                "format; write it again, or name its format with format=."
            ).in_file(path) from cause


def check_options(reader: Callable[..., Any], options: Iterable[str], name: str) -> None:
    """Refuse options that the reader of a format does not have."""
    known = sorted({*inspect.signature(reader).parameters} - {"request"})
    for option in options:
        if option not in known:
            raise TypeError(
                f"{option}= is not an option of the {name} reader, which has: {', '.join(known) or 'none'}."
            )


def check_shape(n_rows: int, n_columns: int) -> None:
    """Refuse a table without rows or columns before work is done on it, in the words of `Table`."""
    if n_rows < 1 or n_columns < 1:
        raise TableError(f"The table has {n_rows} rows and {n_columns} columns. It needs at least one of each.")


def check_widths(files: Sequence[Place], widths: Sequence[int]) -> None:
    """Refuse files with different numbers of columns."""
    for file, width in zip(files, widths, strict=True):
        if width != widths[0]:
            raise TableError(
                f"{file}: {width} columns, but {files[0].name} has {widths[0]}. All files of a table need the same."
            )
