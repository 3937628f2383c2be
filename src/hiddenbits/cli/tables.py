"""Tables as people have them: bits, and next to them a name, a party, an age, which are left out aloud."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from hiddenbits.cli.progress import progress
from hiddenbits.quoting import printable

if TYPE_CHECKING:
    from hiddenbits import Table


@dataclass(frozen=True)
class Asked:
    """How the user wants the table to be read."""

    path: str
    blank: str = "auto"
    threshold: float | None = None
    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    id: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    recipe: Path | None = None
    names: Path | None = None
    key: str | None = None

    @property
    def files(self) -> list[str | Path]:
        """What is read."""
        return [self.path, *(one for one in (self.names, self.recipe) if one is not None)]

    def said(self) -> dict[str, Any]:
        """Return what was said about columns, as `open_table` takes it."""
        said: dict[str, Any] = {name: list(getattr(self, name)) for name in ("columns", "drop", "id")}
        said |= {"code": _codes(self.code), "missing": _missing(self.missing), "kinds": _kinds(self.kinds)}
        said["recipe"] = self.recipe
        return {name: value for name, value in said.items() if value or (name == "missing" and self.missing)}


@dataclass(frozen=True)
class Opened:
    """A table of bits, and the columns of the file that are none."""

    table: Table
    beside: dict[str, Sequence[str]] = field(default_factory=dict)
    ids: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Names of the columns; x0, x1, ... where the table has none."""
        return list(self.table.names or [f"x{j}" for j in range(self.table.shape[1])])

    def labels(self, column: str | None) -> Sequence[str] | None:
        """Return the column whose labels say which rows belong together; None where none was asked for."""
        if column is None:
            return None
        if column not in self.beside:
            there = f"Columns left out: {', '.join(self.beside)}." if self.beside else "No column was left out."
            raise ValueError(
                f"--groups {column}: labels must be a column that does not enter the model: add --drop. {there}"
            )
        return list(self.beside[column])


class _InFiles(Sequence[str]):
    """A column that did not enter the model and stays in the files; rows are read when they are asked for."""

    def __init__(self, cells: Any, n_rows: int) -> None:
        self._cells, self._n_rows = cells, n_rows

    def __len__(self) -> int:
        return self._n_rows

    @overload
    def __getitem__(self, rows: int) -> str: ...
    @overload
    def __getitem__(self, rows: slice) -> list[str]: ...
    def __getitem__(self, rows: int | slice) -> str | list[str]:
        if isinstance(rows, slice):
            start, stop, _ = rows.indices(self._n_rows)
            return _texts(self._cells.listed(start, stop))
        return _texts(self._cells.listed(rows, rows + 1))[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self[:])


def _texts(cells: Sequence[Any]) -> list[str]:
    return ["" if cell is None else str(cell) for cell in cells]


def _beside(table: Table) -> dict[str, Sequence[str]]:
    """Return the columns that did not enter as text; of a table on disk they are read as results are written."""
    if table.source.resident or table.read_as is None:
        return {name: _texts(cells) for name, cells in table.beside.items()}
    cells = table.read_as.cells
    names = dict.fromkeys((*table.read_as.coding.ids, *table.read_as.coding.left_out))
    return {name: _InFiles(cells[name], table.shape[0]) for name in names if name in cells}


def opened(asked: Asked, guarded: bool = False, model: Any = None) -> Opened:
    """Open a table: by what the user said, by the coding of a fitted model, or by a look at its columns."""
    from hiddenbits import open_table

    options = reading(asked)
    if getattr(model, "layout_", None) is not None:
        options |= {"kinds": model}
    if getattr(model, "coding_", None) is not None:
        options |= {"code": model}
    shown = "the table" if "://" in asked.path else printable(Path(asked.path).name)  # an address may hold secrets
    with progress(f"Reading {shown}") as bar:
        if guarded:
            options["guarded"] = True
        elif asked.path.lower().endswith((".csv", ".csv.gz")):
            options["tell"] = bar.read  # if another process reads, it shows no bar
        table = open_table(asked.path, **options)
    ids = () if table.coding is None else table.coding.ids
    return Opened(table, _beside(table), ids)


def reading(asked: Asked) -> dict[str, Any]:
    """Return the options of `open_table` that the user's words stand for."""
    options: dict[str, Any] = {"blank": asked.blank, "threshold": asked.threshold, **asked.said()}
    options |= {"key": asked.key} if asked.key else {}
    if asked.names is not None:
        if not asked.names.is_file():
            raise ValueError(f"--names {asked.names}: this is not a file. Give a text file with one name per line.")
        options["names"] = asked.names.read_text(encoding="utf-8").splitlines()
    return options


def _codes(texts: tuple[str, ...]) -> dict[str, Any]:
    """Return codes from texts such as q3:yes=1, q3:one-hot and age:>40."""
    found: dict[str, Any] = {}
    for text in texts:
        column, colon, rest = text.partition(":")
        value, equals, bit = rest.rpartition("=")
        if colon and equals and bit in ("0", "1"):
            code = found.setdefault(column, {})
            if not isinstance(code, dict):
                raise ValueError(f"--code {text}: another code was given for {column!r}, too.")
            code[value] = int(bit)
        elif colon and (rest == "one-hot" or rest.startswith(">")):
            found[column] = rest
        else:
            raise ValueError(f"--code {text}: write column:value=1, column:one-hot, or column:'>40'.")
    return found


def _missing(texts: tuple[str, ...]) -> dict[str, list[str]]:
    """Return codes for missing from texts such as -99 and q3:9; 'none' says that there are none."""
    found: dict[str, list[str]] = {}
    for text in texts:
        column, colon, value = text.partition(":")
        values = found.setdefault(column if colon else "*", [])
        values += [] if (value if colon else text) == "none" else [value if colon else text]
    return {} if found == {"*": []} else found


def _kinds(texts: tuple[str, ...]) -> Any:
    """Return kinds from texts such as q3:ordered and q4:low,medium,high; a text without a column is for all."""
    found: dict[str, Any] = {}
    for text in texts:
        column, colon, kind = text.partition(":")
        if not colon:
            return text
        found[column] = kind.split(",") if "," in kind else kind
    return found
