"""Tables as people have them: bits, and next to them a name, a party, an age, which are left out aloud."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiddenbits.cli.progress import progress
from hiddenbits.cli.words import READER, in_options
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
    reader: tuple[str, ...] = ()
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
    beside: dict[str, list[str]] = field(default_factory=dict)
    ids: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Names of the columns; x0, x1, ... where the table has none."""
        return list(self.table.names or [f"x{j}" for j in range(self.table.shape[1])])

    def labels(self, column: str | None) -> list[str] | None:
        """Return the column whose labels say which rows belong together; None where none was asked for."""
        if column is None:
            return None
        if column not in self.beside:
            there = f"Columns left out: {', '.join(self.beside)}." if self.beside else "No column was left out."
            raise ValueError(
                f"--groups {column}: labels must be a column that does not enter the model: add --drop. {there}"
            )
        return self.beside[column]


def opened(asked: Asked, guarded: bool = False, model: Any = None, any_kind: bool = False) -> Opened:
    """Open a table: by what the user said, by the coding of a fitted model, or by a look at its columns.

    With `any_kind` columns that cannot be read as bits are taken as what they are.
    """
    from hiddenbits import TableError, open_table

    options = reading(asked)
    if getattr(model, "layout_", None) is not None:
        options |= {"kinds": model}
    if getattr(model, "coding_", None) is not None:
        options |= {"code": model}
    with progress(f"Reading {printable(Path(asked.path).name)}") as bar:
        if guarded:
            options["guarded"] = True
        elif asked.path.lower().endswith((".csv", ".csv.gz")):
            options["tell"] = bar.read  # if another process reads, it shows no bar
        try:
            table = open_table(asked.path, **options)
        except TableError as error:
            if (
                not any_kind
                or not hasattr(error, "looks")
                or asked.threshold is not None
                or asked.code
                or asked.kinds
                or asked.recipe
            ):
                raise
            table = open_table(asked.path, **options, kinds="auto")
    beside = {name: ["" if cell is None else str(cell) for cell in cells] for name, cells in table.beside.items()}
    ids = () if table.coding is None else table.coding.ids
    return Opened(table, beside, ids)


def next_command(asked: Asked, seen: Any) -> str:
    """Return the command that works for a table that was looked at, with what the user said and what is suggested."""
    words: list[str] = []
    for name in ("columns", "drop", "id", "code", "missing", "kinds", "reader"):
        words += [word for one in getattr(asked, name) for word in (f"--{name}", one)]
    for name in ("recipe", "names", "key", "threshold"):
        words += [] if getattr(asked, name) is None else [f"--{name}", str(getattr(asked, name))]
    words += [] if asked.blank == "auto" else ["--blank", asked.blank]
    said = f" {shlex.join(words)}" if words else ""
    asks = [look for look in seen.columns if look.name in seen.asked]
    several = any(look.taken in ("ordered", "nominal") for look in asks) and not (asked.code or asked.threshold)
    several = several and all(look.taken != "one value or blank" for look in asks)
    for name, value in seen.suggested().items():
        said += "" if several and name == "code" else f" {in_options(f'{name}={value!r}')}"
    path = shlex.quote(asked.path)
    return (
        f"hiddenbits fit {path} logistic -o model.hb{said}"
        if several or asked.kinds
        else f"hiddenbits report {path}{said}"
    )


def reading(asked: Asked) -> dict[str, Any]:
    """Return the options of `open_table` that the user's words stand for."""
    options: dict[str, Any] = {"blank": asked.blank, "threshold": asked.threshold, **asked.said()}
    options |= ({"key": asked.key} if asked.key else {}) | _reader(asked.reader)
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


def _reader(texts: tuple[str, ...]) -> dict[str, Any]:
    """Return options of a reader from texts such as delimiter=;, skip_top=1, header=False and split=codes:;."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not value or name not in READER:
            raise ValueError(f"--reader {text!r}: write name=value, where the name is one of {', '.join(READER)}.")
        column, colon, mark = value.rpartition(":")
        if name == "split" and column and colon and mark:
            found["split"] = {**(found["split"] if isinstance(found.get("split"), dict) else {}), column: mark}
        elif value.lower() in ("true", "false"):
            found[name] = value.lower() == "true"
        else:
            found[name] = int(value) if value.isdigit() and name in ("skip_top", "skip_end", "sheet") else value
    return found


def _kinds(texts: tuple[str, ...]) -> Any:
    """Return kinds from texts such as q3:ordered and q4:low,medium,high; a text without a column is for all."""
    found: dict[str, Any] = {}
    for text in texts:
        column, colon, kind = text.partition(":")
        if not colon:
            return text
        found[column] = kind.split(",") if "," in kind else kind
    return found
