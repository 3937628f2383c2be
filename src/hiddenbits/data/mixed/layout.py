"""What the columns of a mixed table are: binary, real, nominal or ordered, and which numbers stand for them.

A row of a mixed table is worked on as a row of D numbers, in this order:

| columns | numbers |
|---|---|
| binary | one bit |
| ordered, with K categories | K - 1 bits, "beyond category k"; those after the first 0 are not observed |
| nominal with at most 2 categories | as if they were ordered: there is only one way to tell two things apart |
| real | the number itself |
| nominal with K > 2 categories | K numbers, of which one is 1 |

First all bits (in the order of the columns), then all reals, then all nominal columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from hiddenbits.data.table import TableError

Kind = Literal["binary", "real", "nominal", "ordered"]
Category = str | int | float | bool

KINDS = ("binary", "real", "nominal", "ordered")
FORMS = ("bool", "int", "float", "text", "categorical", "enum")  # how a frame holds a column
FRAMES = ("pandas", "polars", "pyarrow", "modin", "cudf")
MOST_CATEGORIES = 1000  # a column with more is a name of each row, not a property that rows share


@dataclass(frozen=True)
class Column:
    """One column: its name, what it is, its categories, and how a frame holds it.

    Examples
    --------
    >>> Column("size", "ordered", ("small", "medium", "large"), "categorical").n_bits
    2
    """

    name: str
    kind: Kind
    categories: tuple[Category, ...] = ()
    form: str = "float"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise TableError(f"column {self.name!r}: kind {self.kind!r} is not one of {', '.join(KINDS)}.")
        if self.has_categories and not self.categories:
            raise TableError(
                f"column {self.name!r} has no categories: every cell is blank. Drop the column, or give it a "
                "categorical type that lists them."
            )
        if len(self.categories) > MOST_CATEGORIES:
            raise TableError(
                f"column {self.name!r} has {len(self.categories)} categories; at most {MOST_CATEGORIES} are allowed. "
                "Drop the column if it only identifies rows, or merge rare categories."
            )
        if len(set(self.categories)) < len(self.categories):
            raise TableError(f"column {self.name!r} has the same category twice.")

    @property
    def has_categories(self) -> bool:
        """Whether cells are categories."""
        return self.kind in ("nominal", "ordered")

    @property
    def n_bits(self) -> int:
        """Bits that stand for the column."""
        if self.kind == "binary":
            return 1
        if self.kind == "ordered" or (self.kind == "nominal" and len(self.categories) <= 2):
            return len(self.categories) - 1
        return 0

    @property
    def n_levels(self) -> int:
        """Numbers of a nominal column of which one is 1; 0 for all other columns."""
        return len(self.categories) if self.kind == "nominal" and len(self.categories) > 2 else 0

    def labels(self) -> list[str]:
        """Return the names of the numbers that stand for the column."""
        if self.kind in ("binary", "real"):
            return [self.name]
        if self.n_levels:
            return [f"{self.name}={category}" for category in self.categories]
        return [f"{self.name}>{category}" for category in self.categories[:-1]]


@dataclass(frozen=True)
class Layout:
    """The columns of a mixed table, and where the numbers of each are.

    Attributes
    ----------
    columns : tuple of Column
        In the order of the table.
    frame : str or None
        Kind of frame that the table was, such as "pandas"; None for an array.

    Examples
    --------
    >>> layout = Layout((Column("age", "real"), Column("alive", "binary")))
    >>> layout.labels()
    ['alive', 'age']
    """

    columns: tuple[Column, ...]
    frame: str | None = None

    def __post_init__(self) -> None:
        if self.n_numbers == 0:
            raise TableError(
                "Every column has a single category, so there is nothing to fit. Give a table that varies."
            )

    @cached_property
    def bit_columns(self) -> list[int]:
        """Columns that bits stand for; those with a single category are left out, for they say nothing."""
        return [j for j, column in enumerate(self.columns) if column.n_bits]

    @cached_property
    def real_columns(self) -> list[int]:
        """Columns of real numbers."""
        return [j for j, column in enumerate(self.columns) if column.kind == "real"]

    @cached_property
    def nominal_columns(self) -> list[int]:
        """Nominal columns with more than two categories."""
        return [j for j, column in enumerate(self.columns) if column.n_levels]

    @property
    def sticks(self) -> list[int]:
        """Number of bits of each column that bits stand for."""
        return [self.columns[j].n_bits for j in self.bit_columns]

    @property
    def levels(self) -> list[int]:
        """Number of categories of each nominal column with more than two."""
        return [self.columns[j].n_levels for j in self.nominal_columns]

    @property
    def n_bits(self) -> int:
        """Number of bits."""
        return sum(self.sticks)

    @property
    def n_numbers(self) -> int:
        """D, the numbers that stand for a row."""
        return self.n_bits + len(self.real_columns) + sum(self.levels)

    @property
    def only_bits(self) -> bool:
        """Whether every column is binary."""
        return all(column.kind == "binary" for column in self.columns)

    def labels(self) -> list[str]:
        """Return the names of the D numbers."""
        order = (*self.bit_columns, *self.real_columns, *self.nominal_columns)
        return [label for j in order for label in self.columns[j].labels()]

    def to_plain(self) -> dict[str, Any]:
        """Return the layout in types that JSON knows."""
        columns = [[c.name, c.kind, c.form, list(c.categories)] for c in self.columns]
        return {"frame": self.frame, "columns": columns}

    @classmethod
    def from_plain(cls, plain: Any) -> Layout:
        """Build from what `to_plain` returned; a ValueError where it is anything else."""
        if not isinstance(plain, dict) or set(plain) != {"frame", "columns"} or not isinstance(plain["columns"], list):
            raise ValueError("the kinds of its columns are not complete")
        if plain["frame"] is not None and plain["frame"] not in FRAMES:
            raise ValueError("its kind of frame is unknown")
        return cls(tuple(_column_of(entry) for entry in plain["columns"]), plain["frame"])


def _column_of(entry: Any) -> Column:
    """Return a column from its plain description."""
    valid = isinstance(entry, list) and len(entry) == 4 and all(isinstance(word, str) for word in entry[:3])
    if not valid or entry[2] not in FORMS or not isinstance(entry[3], list):
        raise ValueError("the kind of a column is damaged")
    name, kind, form, categories = entry
    if bool(categories) != (kind in ("nominal", "ordered")) or not all(is_category(c) for c in categories):
        raise ValueError("the categories of a column are damaged")
    return Column(name, kind, tuple(categories), form)


def is_category(value: Any) -> bool:
    """Whether this may be the name of a category: text or a finite number."""
    return isinstance(value, (str, bool, int)) or (isinstance(value, float) and abs(value) < float("inf"))


def asked_kinds(kinds: Any, names: Sequence[str]) -> list[str | None]:
    """Return the kind that was asked for of each column, None where it is to be inferred.

    `kinds` is "auto", one kind for all columns, a list with one for each, or a mapping from names. In a mapping a list
    of categories, lowest first, asks for an ordered column; see `asked_orders`.
    """
    if kinds is None or (isinstance(kinds, str) and kinds == "auto"):
        return [None] * len(names)
    if isinstance(kinds, str):
        asked: list[Any] = [kinds] * len(names)
    elif isinstance(kinds, dict):
        known = set(names)
        unknown = [name for name in kinds if name not in known]
        if unknown:
            raise TableError(f"kinds= names {unknown[0]!r}, but there is no such column.")
        asked = ["ordered" if isinstance(kinds.get(name), (list, tuple)) else kinds.get(name) for name in names]
    else:
        asked = list(kinds)
        if len(asked) != len(names):
            raise TableError(f"kinds= has {len(asked)} entries for {len(names)} columns. Give one for each column.")
    asked = [None if isinstance(kind, str) and kind == "auto" else kind for kind in asked]
    for name, kind in zip(names, asked, strict=True):
        if kind is not None and kind not in KINDS:
            raise TableError(f"kinds= gives {kind!r} for column {name!r}. Choose one of {', '.join(KINDS)}.")
    return asked


def asked_orders(kinds: Any) -> dict[str, tuple[Category, ...]]:
    """Return the categories, lowest first, of the columns for which `kinds` lists them."""
    if not isinstance(kinds, dict):
        return {}
    orders = {name: tuple(found) for name, found in kinds.items() if isinstance(found, (list, tuple))}
    for name, categories in orders.items():
        strange = [category for category in categories if not is_category(category)]
        if strange or not categories:
            raise TableError(
                f"kinds= for column {name!r}: give its categories as text or finite numbers, lowest first."
            )
    return orders


def given_layout(kinds: Any, names: Sequence[str]) -> Layout | None:
    """Return the layout of the fitted model that was given as kinds=; None where kinds= is no model.

    A layout itself stands for its columns by number, whatever their names are.
    """
    if kinds is None or isinstance(kinds, (str, list, tuple, dict)):
        return None
    if isinstance(kinds, Layout):
        if len(kinds.columns) != len(names):
            raise TableError(f"The table has {len(names)} columns, but the model was fitted to {len(kinds.columns)}.")
        return kinds
    layout = getattr(kinds, "layout_", None)
    if not isinstance(layout, Layout):
        raise TypeError(
            "kinds= must be 'auto', a kind, a list or dict of kinds, or a model fitted to columns of several kinds."
        )
    fitted = [column.name for column in layout.columns]
    if fitted != list(names):
        raise TableError(
            f"The columns are {', '.join(map(repr, names))}, but the model was fitted to "
            f"{', '.join(map(repr, fitted))}. Use the same names in the same order; for files, select them with "
            "columns=."
        )
    return layout
