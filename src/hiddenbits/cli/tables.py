"""Tables as people have them: bits, and next to them a name, a party, an age, which are left out aloud."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiddenbits.cli.progress import progress
from hiddenbits.cli.reading import READING, codes
from hiddenbits.cli.words import option_values
from hiddenbits.commands import Name, call, command, path_shown, secrets_note
from hiddenbits.quoting import printable

if TYPE_CHECKING:
    from hiddenbits.reporting.origin import Origin
    from hiddenbits.tables import Table


ABOUT_COLUMNS = {"columns", "drop", "id", "recode", "missing", "column_types", "sample_weight", "recipe"}


@dataclass(frozen=True)
class Asked:
    """How the user wants the table to be read: its path, and the options of `READING` as they were typed."""

    path: str
    typed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def files(self) -> list[str | Path]:
        """What is read."""
        return [self.path, *(self.typed[one] for one in ("names", "recipe") if one in self.typed)]

    def all(self, name: str) -> tuple[str, ...]:
        """Return the values of an option that can be repeated."""
        return tuple(self.typed.get(name, ()))

    def having(self, name: str, values: Sequence[str]) -> Asked:
        """Return the same with these values of an option."""
        typed = {**self.typed, name: tuple(dict.fromkeys(values))}
        return Asked(self.path, {one: typed[one] for one in READING if typed.get(one, ()) != ()})

    def command(self, verb: str, *arguments: object, **options: object) -> str:
        """Return a command that reads the table as this one does."""
        return command(verb, path_shown(self.path), *arguments, **self.typed, **options)

    def without(self, left: Sequence[str], kept: Sequence[str] = ()) -> Asked:
        """Return the same without some columns; where columns were named that enter, these are those `kept`."""
        coded = self.having("recode", [text for text in self.all("recode") if not set(codes((text,))) <= set(left)])
        if self.all("columns"):
            return coded.having("columns", kept)
        return coded.having("drop", (*self.all("drop"), *left))

    def recoded(self, code: dict[str, Any]) -> Asked:
        """Return the same with these values as 1."""
        return self.having("recode", (*self.all("recode"), *option_values("recode", code)))


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

    def counted(self) -> Opened:
        """Return a row for each that the weights count, so that equal rows can be held out apart."""
        from hiddenbits.tables import repeat_rows

        weights = self.table.weights
        return self if weights is None or (weights % 1).any() else Opened(repeat_rows(self.table))

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
    from hiddenbits import open_table
    from hiddenbits.exceptions import TableError

    options = reading(asked)
    if types is not None:
        options.setdefault("column_types", types)
    coding = getattr(model, "coding_", None)
    if coding is not None or (hasattr(model, "coding_") and not ABOUT_COLUMNS & set(asked.typed)):
        options |= {"recode": model}
    shown = "the table" if "://" in asked.path else printable(Path(asked.path).name)  # an address may hold secrets
    with progress(f"Reading {shown}") as bar:
        if asked.path.lower().endswith((".csv", ".csv.gz")):
            options["tell"] = bar.read
        try:
            table = open_table(asked.path, **options)
        except TableError:
            if model is None or coding is not None or options.get("recode") is not model:
                raise
            table = _only_its_bits(asked, options, model)
    return Opened(table)


def _only_its_bits(asked: Asked, options: dict[str, Any], model: Any) -> Table:
    """Open a table for a model that was fitted to bits: what else the file has stays with the rows, unguessed."""
    from hiddenbits import open_table
    from hiddenbits.exceptions import RecodedColumnsWarning, TableError

    names = getattr(model, "feature_names_in_", None)
    options |= {"recode": None, "columns": "binary" if names is None else [str(name) for name in names]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecodedColumnsWarning)
        table = open_table(asked.path, **options)
    for column in () if table.coding is None else table.coding.columns:
        if column.how != "binary":
            raise TableError(
                f"{printable(asked.path)}: column {column.name!r} has other values than 0, 1 and blanks, and the model "
                "was fitted to bits. Recode the column."
            ) from None
    return table


def next_command(asked: Asked, seen: Any) -> str:
    """Return the command that works for a table that was looked at, with what the user said and what is suggested."""
    options = dict(asked.typed)
    for name, value in seen.suggested().items():
        options[name] = (*options.get(name, ()), *option_values(name, value))
    return command("report", path_shown(asked.path), **options)


def origin_of(asked: Asked, made_by: str, groups: str | None) -> Origin:
    """Return where the table of a report came from that a command made."""
    from hiddenbits import open_table
    from hiddenbits.reporting.origin import Origin

    options = reading(asked)
    shown = {name: str(value) if name == "recipe" else value for name, value in options.items()}
    if "names" in shown:
        shown["names"] = Name(
            f"{call('pathlib.Path', str(asked.typed['names']))}.read_text(encoding='utf-8').splitlines()"
        )
    table = path_shown(asked.path)
    return Origin(
        made_by,
        call("hiddenbits.open_table", table, **shown),
        partial(open_table, asked.path, **options),
        lambda left, kept: origin_of(asked.without(left, kept), made_by, groups),
        lambda names, code: asked.recoded({name: {code: 1} for name in names}).command("report"),
        table,
        asked.typed,
        groups,
        secrets_note(asked.path),
    )


def reading(asked: Asked) -> dict[str, Any]:
    """Return the options of `open_table` that the user's words stand for."""
    options: dict[str, Any] = {}
    for name, typed in asked.typed.items():
        parse = READING[name].parse
        given = typed if parse is None else parse(typed)
        options |= given if name == "reader" else {name: given}
    return options
