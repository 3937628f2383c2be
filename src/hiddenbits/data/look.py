"""Inspect the columns of a table before it is read: their inferred types, what must be decided, and a recipe."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

from hiddenbits.data.coding.choices import Choices
from hiddenbits.data.columns.describe import ColumnDescription
from hiddenbits.data.columns.message import suggested_options
from hiddenbits.data.columns.recipe import recipe_text
from hiddenbits.data.columns.shape import row_and_item
from hiddenbits.data.open import column_options_of, open_table
from hiddenbits.data.table import Table
from hiddenbits.exceptions import AmbiguousColumnsError
from hiddenbits.quoting import name_of, quoted

MAX_SHOWN = 6  # values that a line shows


@dataclass(frozen=True, eq=False)
class TableLook:
    """The result of `look`.

    Attributes
    ----------
    columns : tuple of ColumnDescription
        One for each column; empty for a table that holds only bits.
    table : Table or None
        The table, if it could be read.
    question : str or None
        The message about columns that need a decision, if it could not.
    choices : Choices or None
        The options for columns.
    ambiguous : tuple of str
        The names of the columns that need a decision.

    Examples
    --------
    >>> import pandas
    >>> from hiddenbits.tables import look
    >>> result = look(pandas.DataFrame({"q1": ["yes", "no", "yes"], "q2": [1, 0, 1]}))
    >>> [(column.name, column.inferred_type) for column in result.columns]
    [('q1', 'two values'), ('q2', 'binary')]
    """

    columns: tuple[ColumnDescription, ...]
    table: Table | None = None
    question: str | None = None
    choices: Choices | None = field(default=None, repr=False)
    ambiguous: tuple[str, ...] = ()

    def lines(self) -> list[list[str]]:
        """Return a line for each column: its name, inferred type, values, and how it is read."""
        return [[name_of(c.name), c.inferred_type, _values(c), self._reading(c)] for c in self.columns]

    def _reading(self, column: ColumnDescription) -> str:
        if self.choices is not None and column.name == self.choices.sample_weight:
            return "weights of the rows"
        if self.table is None or self.table.coding is None:
            return _expected_reading(column)
        code = next((c for c in self.table.coding.columns if c.name == column.name), None)
        if code is None:
            return "excluded"
        if code.how == "values":
            ones, zeros = (", ".join(map(quoted, values)) for values in (code.ones, code.zeros))
            return f"read: {ones} = 1, {zeros or 'missing'} = 0"
        readings = {"binary": "read", "one-hot": "read: a column per value", "above": f"read: 1 above {code.threshold}"}
        n_levels = f", {len(code.ones)} levels" if code.ones else ""  # none of numbers
        return readings.get(code.how, f"read: {code.how}{n_levels}")

    def suggested(self) -> dict[str, Any]:
        """Return options of `open_table` with which the columns that need a decision can be read."""
        if self.table is not None:
            return {}
        if not self.ambiguous and (pair := row_and_item(self.columns)) is not None:
            return {"row": pair[0], "item": pair[1]}
        options: dict[str, Any] = {}
        for column in self.columns:
            for name, value in suggested_options(column).items() if column.name in self.ambiguous else ():
                if isinstance(value, dict):
                    options.setdefault(name, {}).update(value)
                else:
                    options[name] = [*options.get(name, []), *value] if isinstance(value, list) else value
        return options

    def recipe(self, source: object = None) -> str:
        """Return a recipe (TOML) for reading the table, for ``open_table(..., recipe=)`` and ``--recipe``."""
        return recipe_text(self.columns, self.choices, source)


def _expected_reading(column: ColumnDescription) -> str:
    if column.is_ambiguous:
        return "you decide"
    if column.inferred_type == "two values":
        return f"read: {quoted(column.positive)} = 1, {quoted(column.negative)} = 0"
    return "excluded" if column.is_excluded else "read"


def _values(column: ColumnDescription) -> str:
    shown = ", ".join(f"{quoted(value)} ({count:,})" for value, count in column.values[:MAX_SHOWN])
    dots = f", ... ({len(column.values):,} values)" if len(column.values) > MAX_SHOWN else ""
    return f"{shown}{dots}" + (f"; {column.n_missing:,} missing" if column.n_missing else "")


def look(data: Any, **options: Any) -> TableLook:
    """Inspect the columns of a table: their inferred types, and what must be decided before they are read as binary.

    Parameters
    ----------
    data : frame or path
        Anything that `open_table` opens.
    **options
        Those of `open_table`, such as ``missing=`` and ``recode=``.

    Returns
    -------
    result : TableLook

    Examples
    --------
    >>> import pandas
    >>> from hiddenbits.tables import look
    >>> look(pandas.DataFrame({"q": [1, 2, 3, 4, 5] * 3})).columns[0].inferred_type
    'ordinal'
    """
    names = ("columns", "drop", "id", "recode", "missing", "sample_weight")
    choices = column_options_of({name: options.get(name) for name in names}, options.get("recipe"))["choices"]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            table = open_table(data, **options)
    except AmbiguousColumnsError as error:
        return TableLook(error.profiles, None, str(error), choices, error.ambiguous)
    return TableLook(() if table.read_as is None else table.read_as.descriptions, table, None, choices)
