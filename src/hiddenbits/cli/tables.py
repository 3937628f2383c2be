"""Tables as people have them: bits, and next to them a name, a party, an age, which are left out aloud."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiddenbits.cli.progress import progress
from hiddenbits.cli.words import READER, option_values
from hiddenbits.commands import Name, call, command, path_shown, secrets_note
from hiddenbits.quoting import printable

if TYPE_CHECKING:
    from hiddenbits import Table
    from hiddenbits.reporting.origin import Origin


COLON = re.compile(r"(?<!\\):")


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
    column_types: tuple[str, ...] = ()
    sample_weight: str | None = None
    recipe: Path | None = None
    reader: tuple[str, ...] = ()
    names: Path | None = None
    key: str | None = None
    header: bool | None = None
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    split: tuple[str, ...] = ()
    row: str | None = None
    item: str | None = None
    value: str | None = None

    @property
    def files(self) -> list[str | Path]:
        """What is read."""
        return [self.path, *(one for one in (self.names, self.recipe) if one is not None)]

    def typed(self) -> dict[str, Any]:
        """Return the options that were given, by name, as they were typed."""
        every = {one.name: (getattr(self, one.name), one.default) for one in fields(self) if one.name != "path"}
        return {name: value for name, (value, default) in every.items() if value != default}

    def command(self, verb: str, *arguments: object, **options: object) -> str:
        """Return a command that reads the table as this one does."""
        return command(verb, path_shown(self.path), *arguments, **self.typed(), **options)

    def without(self, left: Sequence[str], kept: Sequence[str] = ()) -> Asked:
        """Return the same without some columns; where columns were named that enter, these are those `kept`."""
        code = tuple(text for text in self.code if not set(_codes((text,))) <= set(left))
        if self.columns:
            return replace(self, columns=tuple(kept), code=code)
        return replace(self, drop=tuple(dict.fromkeys((*self.drop, *left))), code=code)

    def recoded(self, code: dict[str, Any]) -> Asked:
        """Return the same with these values as 1."""
        return replace(self, code=(*self.code, *option_values("code", code)))

    def said(self) -> dict[str, Any]:
        """Return what was said about columns, as `open_table` takes it."""
        said: dict[str, Any] = {name: list(getattr(self, name)) for name in ("columns", "drop", "id")}
        said |= {"code": _codes(self.code), "missing": _missing(self.missing)}
        said["column_types"] = _types(self.column_types)
        said |= {"sample_weight": self.sample_weight, "recipe": self.recipe}
        return {name: value for name, value in said.items() if value or (name == "missing" and self.missing)}


@dataclass(frozen=True)
class Opened:
    """A table of bits, and the columns of the file that are none."""

    table: Table

    @property
    def beside(self) -> list[str]:
        """Names of the columns that did not enter the model."""
        return [] if self.table.read_as is None else self.table.read_as.names_beside

    def texts(self, column: str) -> list[str]:
        """Return the cells of a column that did not enter the model, as text."""
        assert self.table.read_as is not None  # noqa: S101
        return ["" if cell is None else str(cell) for cell in self.table.read_as.cells[column].listed()]

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
        return self.texts(column)


def opened(asked: Asked, model: Any = None, *, types: Any = None) -> Opened:
    """Open a table: by what the user said, by the coding of a fitted model, or by a look at its columns.

    `types` are the `column_types` of a model that is to be fitted, if it takes columns of more than two values.
    """
    from hiddenbits import TableError, open_table

    options = reading(asked)
    if types is not None:
        options.setdefault("column_types", types)
    coding = getattr(model, "coding_", None)
    if coding is not None or (hasattr(model, "coding_") and not asked.said()):
        options |= {"code": model}
    shown = "the table" if "://" in asked.path else printable(Path(asked.path).name)  # an address may hold secrets
    with progress(f"Reading {shown}") as bar:
        if asked.path.lower().endswith((".csv", ".csv.gz")):
            options["tell"] = bar.read
        try:
            table = open_table(asked.path, **options)
        except TableError:
            if model is None or coding is not None or options.get("code") is not model:
                raise
            table = _only_its_bits(asked, options, model)
    return Opened(table)


def _only_its_bits(asked: Asked, options: dict[str, Any], model: Any) -> Table:
    """Open a table for a model that was fitted to bits: what else the file has stays with the rows, unguessed."""
    from hiddenbits import ColumnsCodedWarning, TableError, open_table

    names = getattr(model, "feature_names_in_", None)
    options |= {"code": None, "columns": "bits" if names is None else [str(name) for name in names]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnsCodedWarning)
        table = open_table(asked.path, **options)
    for column in () if table.coding is None else table.coding.columns:
        if column.how != "bits":
            raise TableError(
                f"{printable(asked.path)}: column {column.name!r} has other values than 0, 1 and blanks, and the model "
                "was fitted to bits. Recode the column."
            ) from None
    return table


def next_command(asked: Asked, seen: Any) -> str:
    """Return the command that works for a table that was looked at, with what the user said and what is suggested."""
    options = asked.typed()
    for name, value in seen.suggested().items():
        options[name] = (*options.get(name, ()), *option_values(name, value))
    return command("report", path_shown(asked.path), **options)


def origin_of(asked: Asked, made_by: str, groups: str | None) -> Origin:
    """Return where the table of a report came from that a command made."""
    from hiddenbits import open_table
    from hiddenbits.reporting.origin import Origin

    options = reading(asked)
    shown = {name: value for name, value in options.items() if value is not None and (name, value) != ("blank", "auto")}
    if asked.recipe is not None:
        shown["recipe"] = str(asked.recipe)
    if asked.names is not None:
        shown["names"] = Name(f"{call('pathlib.Path', str(asked.names))}.read_text(encoding='utf-8').splitlines()")
    table = path_shown(asked.path)
    return Origin(
        made_by,
        call("hiddenbits.open_table", table, **shown),
        partial(open_table, asked.path, **options),
        lambda left, kept: origin_of(asked.without(left, kept), made_by, groups),
        lambda names, code: asked.recoded({name: {code: 1} for name in names}).command("report"),
        table,
        asked.typed(),
        groups,
        secrets_note(asked.path),
    )


def reading(asked: Asked) -> dict[str, Any]:
    """Return the options of `open_table` that the user's words stand for."""
    options: dict[str, Any] = {"blank": asked.blank, "threshold": asked.threshold, **asked.said()}
    of_file = ("key", "header", "delimiter", "decimal", "encoding", "row", "item", "value")
    options |= {name: getattr(asked, name) for name in of_file if getattr(asked, name) is not None}
    if asked.delimiter in ("tab", "\\t"):
        options["delimiter"] = "\t"
    if asked.sheet is not None:
        options["sheet"] = int(asked.sheet) if asked.sheet.isdecimal() else asked.sheet
    if asked.split:
        options["split"] = _split(asked.split)
    options |= _reader(asked.reader)
    if asked.names is not None:
        if not asked.names.is_file():
            raise ValueError(f"--names {asked.names}: this is not a file. Give a text file with one name per line.")
        options["names"] = asked.names.read_text(encoding="utf-8").splitlines()
    return options


def _codes(texts: tuple[str, ...]) -> dict[str, Any]:
    """Return codes from texts such as q3:yes=1, q3:one-hot and age:>40."""
    found: dict[str, Any] = {}
    for text in texts:
        left, equals, bit = text.rpartition("=")
        column, value = _at_colon(left)
        if column and equals and bit in ("0", "1"):
            code = found.setdefault(column, {})
            if not isinstance(code, dict):
                raise ValueError(f"--code {text}: another code was given for {column!r}, too.")
            code[value] = int(bit)
            continue
        column, value = _at_colon(text)
        if not column or not (value == "one-hot" or value.startswith(">")):
            raise ValueError(f"--code {text}: write column:value=1 or column:'>40'.")
        found[column] = value
    return found


def _at_colon(text: str) -> tuple[str, str]:
    r"""Return (column, value) of a text such as q3:yes, cut at the last colon that is not written as \:."""
    parts = COLON.split(text)
    return ":".join(parts[:-1]).replace("\\:", ":"), parts[-1].replace("\\:", ":")


def _missing(texts: tuple[str, ...]) -> dict[str, list[str]]:
    """Return codes for missing from texts such as -99 and q3:9; 'none' says that there are none."""
    found: dict[str, list[str]] = {}
    for text in texts:
        column, value = _at_colon(text)
        values = found.setdefault(column or "*", [])
        values += [] if value == "none" else [value]
    return {} if found == {"*": []} else found


def _types(texts: tuple[str, ...]) -> dict[str, Any]:
    """Return types from texts such as nominal, q3:ordinal and q3:low,middle,high."""
    found: dict[str, Any] = {}
    for text in texts:
        column, type_ = _at_colon(text)
        found[column or "*"] = type_.split(",") if "," in type_ else type_
    return found


def _split(texts: tuple[str, ...]) -> str | dict[str, str]:
    """Return what is between codes, from texts such as ; and codes:; (one without a column is for all)."""
    found: dict[str, str] = {}
    for text in texts:
        column, mark = _at_colon(text)
        if not column:
            return mark or ":"
        found[column] = mark
    return found


def _reader(texts: tuple[str, ...]) -> dict[str, Any]:
    """Return options of a reader from texts such as skip_top=1 and keep_empty=true."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not value:
            raise ValueError(f"--reader {text!r}: write name=value, where the name is one of {', '.join(READER)}.")
        if name not in READER:
            raise ValueError(f"--reader {text!r}: there is no option {name!r}. The options are {', '.join(READER)}.")
        if value.lower() in ("true", "false"):
            found[name] = value.lower() == "true"
        else:
            found[name] = int(value) if value.isdigit() and name in ("skip_top", "skip_end") else value
    return found
