"""Input tables of commands: the binary, nominal or ordinal data, and metadata such as a name, a party, an age."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiddenbits.cli.progress import progress
from hiddenbits.cli.reading import OPTION_SPECS, recode_values
from hiddenbits.cli.words import option_values
from hiddenbits.commands import Name, call, command, path_shown, secrets_note
from hiddenbits.quoting import printable

if TYPE_CHECKING:
    from hiddenbits.reporting.origin import Origin
    from hiddenbits.tables import Table


COLUMN_OPTIONS = {"columns", "drop", "id", "recode", "missing", "column_types", "sample_weight", "recipe"}


@dataclass(frozen=True)
class ReadOptions:
    """How a table is read: its path, and the options of `OPTION_SPECS` as they were typed."""

    path: str
    typed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def input_files(self) -> list[str | Path]:
        """The files that are read."""
        return [self.path, *(self.typed[name] for name in ("names", "recipe") if name in self.typed)]

    def values(self, name: str) -> tuple[str, ...]:
        """Return the values of an option that can be repeated."""
        return tuple(self.typed.get(name, ()))

    def with_values(self, name: str, values: Sequence[str]) -> ReadOptions:
        """Return the same with these values of an option."""
        typed = {**self.typed, name: tuple(dict.fromkeys(values))}
        return ReadOptions(self.path, {option: typed[option] for option in OPTION_SPECS if typed.get(option, ()) != ()})

    def command(self, name: str, *arguments: object, **options: object) -> str:
        """Return a command that reads the table with these options."""
        return command(name, path_shown(self.path), *arguments, **self.typed, **options)

    def without_columns(self, dropped: Sequence[str], kept: Sequence[str] = ()) -> ReadOptions:
        """Return the same without some columns; if --columns was typed, it becomes `kept`."""
        recode = [text for text in self.values("recode") if not set(recode_values((text,))) <= set(dropped)]
        options = self.with_values("recode", recode)
        if self.values("columns"):
            return options.with_values("columns", kept)
        return options.with_values("drop", (*self.values("drop"), *dropped))

    def with_recode(self, code: dict[str, Any]) -> ReadOptions:
        """Return the same with these values as 1."""
        return self.with_values("recode", (*self.values("recode"), *option_values("recode", code)))


@dataclass(frozen=True)
class OpenedTable:
    """A table, with its metadata columns as text."""

    table: Table

    @property
    def metadata_names(self) -> list[str]:
        """Names of the columns that the model does not use."""
        return [] if self.table.read_as is None else self.table.read_as.names_beside

    @property
    def excluded_numbers(self) -> list[str]:
        """Names of the continuous columns that the model does not use."""
        if self.table.read_as is None:
            return []
        continuous = (c.name for c in self.table.read_as.descriptions if c.inferred_type == "continuous")
        return [name for name in continuous if name in self.table.read_as.coding.excluded]

    def texts(self, column: str) -> list[str]:
        """Return the cells of a metadata column as text."""
        assert self.table.read_as is not None  # noqa: S101
        return ["" if cell is None else str(cell) for cell in self.table.read_as.cells[column].listed()]

    @property
    def names(self) -> list[str]:
        """Names of the columns; x0, x1, ... if the table has none."""
        return list(self.table.names or [f"x{j}" for j in range(self.table.shape[1])])

    def with_repeated_rows(self) -> OpenedTable:
        """Return the table with rows repeated by their weights, so that equal rows can be held out separately."""
        from hiddenbits.tables import repeat_rows

        weights = self.table.weights
        return self if weights is None or (weights % 1).any() else OpenedTable(repeat_rows(self.table))

    def labels(self, column: str | None) -> list[str] | None:
        """Return the group label of each row; None if no column was specified."""
        if column is None:
            return None
        if column not in self.metadata_names:
            columns = ", ".join(self.metadata_names) or "none"
            raise ValueError(
                f"--groups {column}: the labels must be a metadata column: add --drop. Metadata columns: {columns}."
            )
        return self.texts(column)


def open_input(read_options: ReadOptions, model: Any = None, *, types: Any = None) -> OpenedTable:
    """Open a table by the typed options, by the coding of a fitted model, or by inferred column types.

    `types` are the `column_types` of an unfitted model, if it accepts columns of more than two values.
    """
    from hiddenbits import open_table
    from hiddenbits.exceptions import TableError

    path, options = read_options.path, open_table_options(read_options)
    if types is not None:
        options.setdefault("column_types", types)
    coding = getattr(model, "coding_", None)
    if coding is not None or (hasattr(model, "coding_") and not COLUMN_OPTIONS & set(read_options.typed)):
        options |= {"recode": model}
    # an address may hold secrets
    name = "the table" if "://" in path else printable(Path(path).name)
    with progress(f"Reading {name}") as bar:
        if path.lower().endswith((".csv", ".csv.gz")):
            options["on_progress"] = bar.read
        try:
            table = open_table(path, **options)
        except TableError:
            if model is None or coding is not None or options.get("recode") is not model:
                raise
            table = _open_binary_columns(read_options, options, model)
    return OpenedTable(table)


def _open_binary_columns(read_options: ReadOptions, options: dict[str, Any], model: Any) -> Table:
    """Open a table for a model that was fitted to 0/1 columns; all other columns become metadata."""
    from hiddenbits import open_table
    from hiddenbits.exceptions import RecodedColumnsWarning, TableError

    names = getattr(model, "feature_names_in_", None)
    options |= {"recode": None, "columns": "binary" if names is None else [str(name) for name in names]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecodedColumnsWarning)
        table = open_table(read_options.path, **options)
    for column in () if table.coding is None else table.coding.columns:
        if column.how != "binary":
            raise TableError(
                f"{printable(read_options.path)}: column {column.name!r} has values other than 0, 1 and missing, but "
                "the model was fitted to 0/1 data. Recode the column."
            ) from None
    return table


def next_command(read_options: ReadOptions, columns: Any) -> str:
    """Return the command that reports on a table with the typed and the suggested options."""
    options = dict(read_options.typed)
    for name, value in columns.suggested().items():
        options[name] = (*options.get(name, ()), *option_values(name, value))
    return command("report", path_shown(read_options.path), **options)


def origin_of(read_options: ReadOptions, report_command: str, groups: str | None) -> Origin:
    """Return the origin of the table of a report that `report_command` made."""
    from hiddenbits import open_table
    from hiddenbits.reporting.origin import Origin

    options = open_table_options(read_options)
    shown = {name: str(value) if name == "recipe" else value for name, value in options.items()}
    if "names" in shown:
        shown["names"] = Name(
            f"{call('pathlib.Path', str(read_options.typed['names']))}.read_text(encoding='utf-8').splitlines()"
        )
    table = path_shown(read_options.path)
    return Origin(
        report_command,
        call("hiddenbits.open_table", table, **shown),
        partial(open_table, read_options.path, **options),
        lambda dropped, kept: origin_of(read_options.without_columns(dropped, kept), report_command, groups),
        lambda names, code: read_options.with_recode({name: {code: 1} for name in names}).command("report"),
        table,
        read_options.typed,
        groups,
        secrets_note(read_options.path),
    )


def open_table_options(read_options: ReadOptions) -> dict[str, Any]:
    """Return the arguments of `open_table` from the typed options."""
    options: dict[str, Any] = {}
    for name, typed in read_options.typed.items():
        parse = OPTION_SPECS[name].parse
        value = typed if parse is None else parse(typed)
        options |= value if name == "reader" else {name: value}
    return options
