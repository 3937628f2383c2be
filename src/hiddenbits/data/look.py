"""A look at the columns of a table before it is read: what each is taken for, what it needs, and a recipe."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

from hiddenbits.data.coding.choices import Choices
from hiddenbits.data.columns.describe import ColumnLook
from hiddenbits.data.columns.message import suggested
from hiddenbits.data.columns.recipe import recipe_text
from hiddenbits.data.columns.shape import pairs
from hiddenbits.data.open import open_table, said_about_columns
from hiddenbits.data.table import Table
from hiddenbits.exceptions import AmbiguousColumnsError
from hiddenbits.quoting import name_of, quoted

SHOWN = 6  # values that a line shows


@dataclass(frozen=True, eq=False)
class TableLook:
    """What `look` found.

    Attributes
    ----------
    columns : tuple of ColumnLook
        One for each column; empty for a table that holds nothing but bits.
    table : Table or None
        The table, where it could be read.
    needs : str or None
        The message about columns that need a word, where it could not.
    choices : Choices or None
        What the options say about columns.
    asked : tuple of str
        The names of these columns.

    Examples
    --------
    >>> import pandas
    >>> from hiddenbits.tables import look
    >>> found = look(pandas.DataFrame({"q1": ["yes", "no", "yes"], "q2": [1, 0, 1]}))
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
        if self.table is None or self.table.coding is None:
            return _would_become(look)
        found = next((column for column in self.table.coding.columns if column.name == look.name), None)
        if found is None:
            return "left out"
        if found.how == "values":
            ones, zeros = (", ".join(map(quoted, values)) for values in (found.ones, found.zeros))
            return f"read: {ones} = 1, {zeros or 'blank'} = 0"
        more = {"bits": "read", "one-hot": "read: a bit for each value", "above": f"read: 1 above {found.threshold}"}
        return more.get(found.how, f"read: {found.how}, {len(found.ones)} levels")

    def suggested(self) -> dict[str, Any]:
        """Return options of `open_table` that would do for the columns that need a word."""
        if self.table is not None:
            return {}
        if not self.asked and (found := pairs(self.columns)) is not None:
            return {"row": found[0], "item": found[1]}
        options: dict[str, Any] = {}
        for look in self.columns:
            for name, value in suggested(look).items() if look.name in self.asked else ():
                if isinstance(value, dict):
                    options.setdefault(name, {}).update(value)
                else:
                    options[name] = [*options.get(name, []), *value] if isinstance(value, list) else value
        return options

    def recipe(self, source: object = None) -> str:
        """Return a recipe (TOML) that says how the table is read, for ``open_table(..., recipe=)`` and ``--recipe``."""
        return recipe_text(self.columns, self.choices, source)


def _would_become(look: ColumnLook) -> str:
    if look.needs_a_word:
        return "you decide"
    if look.taken == "two values":
        return f"read: {quoted(look.one)} = 1, {quoted(look.zero)} = 0"
    return "read" if not look.left_out else "no bits" if look.taken == "number" else "left out"


def _values(look: ColumnLook) -> str:
    shown = ", ".join(f"{quoted(value)} ({count:,})" for value, count in look.values[:SHOWN])
    more = f", ... ({len(look.values):,} values)" if len(look.values) > SHOWN else ""
    return f"{shown}{more}" + (f"; {look.n_blank:,} blank" if look.n_blank else "")


def look(data: Any, **options: Any) -> TableLook:
    """Look at the columns of a table: what each is taken for, and what has to be said before it can be read as bits.

    Parameters
    ----------
    data : frame or path
        Anything that `open_table` opens.
    **options
        Those of `open_table`, such as ``missing=`` and ``recode=``.

    Returns
    -------
    found : TableLook

    Examples
    --------
    >>> import pandas
    >>> from hiddenbits.tables import look
    >>> look(pandas.DataFrame({"q": [1, 2, 3, 4, 5] * 3})).columns[0].taken
    'ordered'
    """
    words = ("columns", "drop", "id", "recode", "missing", "sample_weight")
    said = said_about_columns({word: options.get(word) for word in words}, options.get("recipe"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            table = open_table(data, **options)
    except AmbiguousColumnsError as error:
        return TableLook(error.profiles, None, str(error), said["choices"], error.ambiguous)
    looks = () if table.read_as is None else table.read_as.looks
    return TableLook(looks, table, None, said["choices"])
