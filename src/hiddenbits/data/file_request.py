"""The request to every reader of files, and functions that readers share."""

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

# Errors of other libraries for damaged files. Not `Exception`: our own mistakes should stay visible.
DAMAGE_ERRORS = (
    *(OSError, EOFError, ValueError, TypeError, LookupError, ArithmeticError, MemoryError, RuntimeError, SyntaxError),
    *(UserWarning, csv.Error, struct.error, tokenize.TokenError, zlib.error, zipfile.BadZipFile),
)


@dataclass(frozen=True)
class FileRequest(Request):
    """The request to the reader of a format, with the files.

    Attributes
    ----------
    files : tuple of Place
        The files.
    schema : pyarrow.Schema or None
        The columns of the table, some of which a Parquet file may lack; None if all files have the same.
    constants : tuple of dict
        For each Parquet file, the constant values of columns that are in its path or in the log of a lake.
    """

    files: tuple[Place, ...] = ()
    schema: Any = None
    constants: tuple[Mapping[str, Any], ...] = ()


@contextmanager
def naming(path: Place | str) -> Iterator[None]:
    """Name the file in every `TableError`, but not in warnings, even if these are raised as errors."""
    with discreet(path):
        try:
            yield
        except TableError as error:
            if str(error).startswith(printable(path)):
                raise
            raise error.in_file(path) from error


@contextmanager
def reading(path: Place | str) -> Iterator[None]:
    """Name the file in every `TableError`, and raise one for other libraries' errors about a damaged file.

    Network errors are included, because the bytes of a remote file are fetched when a library reads them.
    """
    with naming(path):
        try:
            yield
        except (TableError, ImportError):
            raise
        except Exception as error:
            # errors of remote files are not chained: they may contain a secret in an unknown form
            remote = path if isinstance(path, RemoteFile) else None
            cause = error if remote is None else None
            if remote is not None and (problem := remote_problem(error, str(path), remote.secrets)):
                raise TableError(problem).in_file(path) from cause
            if isinstance(error, (FileNotFoundError, PermissionError)):
                is_absent = isinstance(error, FileNotFoundError)
                what = "there is no such file" if is_absent else "no permission to read the file"
                raise TableError(f"{what}. The files of a table must stay in place, also on every worker.") from error
            if not isinstance(error, DAMAGE_ERRORS):
                raise
            raise TableError(
                f"cannot be read ({type(error).__name__}: {redacted(error, path)}). The file is damaged or of another "
                "format; write it again, or name its format with format=."
            ).in_file(path) from cause


def check_options(reader: Callable[..., Any], options: Iterable[str], name: str) -> None:
    """Raise an error for options that the reader of a format does not have."""
    known = sorted({*inspect.signature(reader).parameters} - {"request"})
    for option in options:
        if option not in known:
            raise TypeError(
                f"{option}= is not an option of the {name} reader, which has: {', '.join(known) or 'none'}."
            )


def check_shape(n_rows: int, n_columns: int) -> None:
    """Raise the error of `Table` for a table without rows or columns before any work is done on it."""
    if n_rows < 1 or n_columns < 1:
        raise TableError(f"The table has {n_rows} rows and {n_columns} columns. It needs at least one of each.")


def check_widths(files: Sequence[Place], widths: Sequence[int]) -> None:
    """Raise an error if files have different numbers of columns."""
    for file, width in zip(files, widths, strict=True):
        if width != widths[0]:
            raise TableError(
                f"{file}: {width} columns, but {files[0].name} has {widths[0]}. All files of a table need the same."
            )
