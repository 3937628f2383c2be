"""A look at the columns of a table before it is read: what each is taken for, what it needs, and a recipe."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

from hiddenbits.data.coding.choices import Choices
from hiddenbits.data.coding.coded_columns import LEVELS, Coding
from hiddenbits.data.columns.describe import ColumnLook
from hiddenbits.data.columns.message import ColumnsError, suggested
from hiddenbits.data.columns.recipe import recipe_text
from hiddenbits.data.columns.shape import pairs
from hiddenbits.data.open import open_table, said_about_columns
from hiddenbits.data.table import Table
from hiddenbits.quoting import name_of, quoted

SHOWN = 6  # values that a line shows


@dataclass(frozen=True, eq=False)
class LookedAt:
    """What `look_at_columns` found.

    Attributes
    ----------
    columns : tuple of ColumnLook
        One for each column; empty for a table that holds nothing but bits.
    table : Table or None
        The table, where it could be read.
    needs : str or None
        The message about columns that need a word, where it could not.
    asked : tuple of str
        The names of these columns.

    Examples
    --------
    >>> import pandas
    >>> from hiddenbits import look_at_columns
    >>> found = look_at_columns(pandas.DataFrame({"q1": ["yes", "no", "yes"], "q2": [1, 0, 1]}))
    >>> [(column.name, column.taken) for column in found.columns]
    [('q1', 'two values'), ('q2', 'bits')]
    """

    columns: tuple[ColumnLook, ...]
    table: Table | None = None
    needs: str | None = None
    choices: Choices | None = field(default=None, repr=False)
    asked: tuple[str, ...] = ()

    def lines(self) -> list[list[str]]:
        """Return a line for each column: its name, what it is taken for, its values, and what becomes of it."""
        return [[name_of(look.name), look.taken, _values(look), self._becomes(look)] for look in self.columns]

    def _becomes(self, look: ColumnLook) -> str:
        if self.choices is not None and look.name == self.choices.sample_weight:
            return "weights of the rows"
        coding: Coding | None = None if self.table is None else self.table.coding
        found = next((one for one in coding.columns if one.name == look.name), None) if coding else None
        if found is not None and found.how == "values":
            ones, zeros = (", ".join(quoted(value) for value in some) for some in (found.ones, found.zeros))
            return f"read: {ones} = 1, {zeros or 'blank'} = 0"
        if found is not None:
            more = {"one-hot": "a bit for each value", "above": f"1 above {found.threshold}"}
            more |= {how: f"{how}, {len(found.ones)} levels" for how in LEVELS}
            return f"read: {more[found.how]}" if found.how in more else "read"
        if coding is not None:
            return "left out"
        if look.needs_a_word:
            return "you decide"
        if look.taken == "two values":
            return f"read: {quoted(look.one)} = 1, {quoted(look.zero)} = 0"
        return "read" if not look.left_out else "no bits" if look.taken == "number" else "left out"

    def suggested(self) -> dict[str, Any]:
        """Return options of `open_table` that would do for the columns that need a word."""
        if self.table is not None:
            return {}
        if not self.asked and (found := pairs(self.columns)) is not None:
            return {"row": found[0], "item": found[1]}
        options: dict[str, Any] = {}
        for look in self.columns:
            for name, value in suggested(look).items() if look.name in self.asked else ():
                old = options.get(name)
                options[name] = [*(old or []), *value] if name == "drop" else {**(old or {}), **value}
        return options

    def recipe(self, source: object = None) -> str:
        """Return a recipe (TOML) that says how the table is read, for ``open_table(..., recipe=)`` and ``--recipe``."""
        return recipe_text(self.columns, self.choices, source)


def _values(look: ColumnLook) -> str:
    shown = ", ".join(f"{quoted(value)} ({count:,})" for value, count in look.values[:SHOWN])
    more = f", ... ({len(look.values):,} values)" if len(look.values) > SHOWN else ""
    return f"{shown}{more}" + (f"; {look.n_blank:,} blank" if look.n_blank else "")


def look_at_columns(data: Any, **options: Any) -> LookedAt:
    """Look at the columns of a table: what each is taken for, and what has to be said before it can be read as bits.

    Parameters
    ----------
    data : frame or path
        Anything that `open_table` opens.
    **options
        Those of `open_table`, such as ``missing=`` and ``code=``.

    Returns
    -------
    found : LookedAt

    Examples
    --------
    >>> import pandas
    >>> from hiddenbits import look_at_columns
    >>> look_at_columns(pandas.DataFrame({"q": [1, 2, 3, 4, 5] * 3})).columns[0].taken
    'ordered'
    """
    names = ("columns", "drop", "id", "code", "missing", "sample_weight")
    choices = said_about_columns({name: options.get(name) for name in names}, options.get("recipe"))[0]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            table = open_table(data, **options)
    except ColumnsError as error:
        return LookedAt(error.looks, None, str(error), choices, error.asked)
    looks = () if table.read_as is None else table.read_as.looks
    return LookedAt(looks, table, None, choices)
