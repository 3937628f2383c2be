"""Writers of the files."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any


def text(content: str, name: str = "t.csv", encoding: str = "utf-8") -> Callable[[Path], Path]:
    """Return a function that writes a text file."""

    def write(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content.encode(encoding))
        return path

    return write


def lines(*rows: str, name: str = "t.csv", encoding: str = "utf-8", end: str = "\n") -> Callable[[Path], Path]:
    """Return a function that writes a text file from its lines."""
    return text("".join(row + end for row in rows), name, encoding)


def cells(columns: Mapping[str, str | Sequence[Any]], sep: str = ",", **options: Any) -> Callable[[Path], Path]:
    """Return a function that writes columns, each a list or words with spaces between them; "_" is an empty cell."""
    lists = [
        column.split() if isinstance(column, str) else [str(cell) for cell in column] for column in columns.values()
    ]
    rows = [sep.join("" if cell == "_" else cell for cell in row) for row in zip(*lists, strict=True)]
    return lines(sep.join(columns), *rows, **options)


def thing(make: Callable[[], Any]) -> Callable[[Path], Any]:
    """Return a function that returns an object; `make` imports what it needs."""
    return lambda _: make()
