"""What every reader of files is asked, and what readers share."""

from __future__ import annotations

import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from hiddenbits.data.readers.locations import Place
from hiddenbits.data.request import Request
from hiddenbits.data.table import TableError
from hiddenbits.quoting import cause, printable, told

# What the libraries below us raise on a damaged file. Not `Exception`: our own mistakes should stay visible.
DAMAGE = (
    OSError,
    EOFError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    MemoryError,
    RuntimeError,
    SyntaxError,
    UserWarning,
    struct.error,
    tokenize.TokenError,
    zlib.error,
    zipfile.BadZipFile,
)


@dataclass(frozen=True)
class FileRequest(Request):
    """What the reader of a format is asked: a request, and the files; and the options that messages may name."""

    files: tuple[Place, ...] = ()
    offers: tuple[str, ...] = ()


@contextmanager
def reading(path: Place | str) -> Iterator[None]:
    """Name the file in every `TableError`, and turn a library's complaint about a damaged file into one."""
    try:
        yield
    except TableError as error:
        if str(error).startswith(printable(path)):
            raise
        raise error.at(path) from error
    except (FileNotFoundError, PermissionError) as error:
        gone = "there is no such file" if isinstance(error, FileNotFoundError) else "no permission to read the file"
        raise TableError(f"{path}: {gone}. A table's files must stay where they are, on every worker too.") from error
    except DAMAGE as error:
        raise TableError(
            f"{path}: cannot be read ({type(error).__name__}: {told(error, path)}). The file is damaged or of another "
            "format; write it again, or name its format with format=."
        ) from cause(error)


def choose(
    fields: Sequence[str], columns: Sequence[str | int] | None, drop: Sequence[str | int] | None
) -> tuple[int, ...]:
    """Return the numbers of the columns to keep: those of `columns`, or all but those of `drop`."""
    if columns is not None and drop is not None:
        raise TableError("columns= and drop= were both given. Give one of them.")
    if columns is None:
        unwanted = _numbers(fields, drop or (), "drop")
        keep = tuple(j for j in range(len(fields)) if j not in unwanted)
    else:
        keep = tuple(_numbers(fields, columns, "columns"))
    if not keep:
        raise TableError("No column is left to read. Keep at least one.")
    return keep


def _numbers(fields: Sequence[str], wanted: Sequence[str | int], option: str) -> dict[int, None]:
    """Return the column numbers of names or numbers, in the order given; each may be named once."""
    if isinstance(wanted, (str, int)):
        wanted = (wanted,)
    position = {field: j for j, field in enumerate(fields)}
    numbers: dict[int, None] = {}
    for field in wanted:
        number = field if isinstance(field, int) and not isinstance(field, bool) else position.get(str(field), -1)
        if not 0 <= number < len(fields):
            shown = ", ".join(repr(name) for name in fields[:10]) + (", ..." if len(fields) > 10 else "")
            raise TableError(f"{option}= names {field!r}, but the columns are {shown}.")
        if number in numbers:
            raise TableError(f"{option}= names column {field!r} twice.")
        numbers[number] = None
    return numbers


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
