"""Checks of whole tables: lines that are pairs of a row and an item, columns that count rows, rows of totals."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np

from hiddenbits.array_types import AnyArray
from hiddenbits.data.coding.cells import ColumnCells
from hiddenbits.data.coding.vocabulary import is_id_name
from hiddenbits.data.columns.describe import ColumnDescription
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import quoted

SUMS = frozenset({"total", "totals", "grand total", "sum", "summe", "gesamt", "insgesamt", "somme", "suma", "totale"})
MEANS = frozenset({"mean", "average", "avg", "mittelwert", "durchschnitt", "moyenne", "media"})
COUNTS = re.compile(
    r"(?i)^(?:freq|frequency|frequencies|counts?|n|weights?|wt|anzahl|häufigkeit|haeufigkeit|effectif)$"
)
MAX_CHECKED_ROWS = 1 << 22  # rows; a file with more has no row of totals


def counts_rows(
    column: ColumnDescription, cells: Sequence[ColumnCells], descriptions: Sequence[ColumnDescription]
) -> bool:
    """Whether a column counts rows: it has such a name and whole numbers, and the other cells of rows are distinct."""
    if not COUNTS.match(column.name.strip()) or column.n_missing or column.n_rows < 3:
        return False
    numbers = [value for value, _ in column.values]
    if not all(isinstance(number, int) and number >= 0 for number in numbers) or max(numbers, default=0) < 2:
        return False
    others = [(held, other) for held, other in zip(cells, descriptions, strict=True) if other is not column]
    types = ("binary", "two values", "ordinal", "nominal")
    answers = [held.rows for held, other in others if other.inferred_type in types]
    if not answers or any(other.inferred_type in ("id", "text") for _, other in others):
        return False
    return len(np.unique(np.column_stack(answers), axis=0)) == column.n_rows


def row_and_item(columns: Sequence[ColumnDescription]) -> tuple[str, str] | None:
    """Return the columns of rows and items if a table of two or three columns has a line for each pair of them."""
    if not 2 <= len(columns) <= 3:
        return None
    keys = [c for c in columns if c.name.strip() and is_id_name(c.name) and _has_repeats(c)]
    items = [c for c in columns if c not in keys and c.inferred_type in ("nominal", "two values", "text", "id")]
    items = [c for c in items if any(isinstance(value, str) for value, _ in c.values)]
    others = [c for c in columns if c not in keys and c not in items]
    if len(keys) != 1 or len(items) != 1 or any(c.inferred_type == "binary" for c in others):
        return None
    return keys[0].name, items[0].name


def _has_repeats(column: ColumnDescription) -> bool:
    return not column.n_missing and 3 <= len(column.values) < column.n_rows


def refuse_totals(cells: Sequence[ColumnCells], *, offers: Collection[str]) -> None:
    """Raise an error if the last row has a word for totals or means, and holds those of the rows above."""
    if not cells or not 3 <= len(cells[0]) <= MAX_CHECKED_ROWS:
        return
    last_row = [column.listed(-1)[0] for column in cells]
    words = [j for j, value in enumerate(last_row) if isinstance(value, str) and _plain_word(value) in SUMS | MEANS]
    if not words:
        return
    word, name = last_row[words[0]], cells[words[0]].name
    is_mean = _plain_word(word) in MEANS
    others = [_numbers(column) for j, column in enumerate(cells) if j != words[0]]
    are_totals = [_is_total(numbers, is_mean=is_mean) for numbers in others if numbers is not None]
    if are_totals and all(are_totals):
        remedy = "Set skip_end=1." if "skip_end" in offers else "In pandas: frame.iloc[:-1]."
        raise TableError(
            f"The last row seems to be a total: column {name!r} holds {quoted(word)}, and the others hold the sums or "
            f"means of the rows above. Exclude this row. {remedy}"
        )


def _plain_word(value: str) -> str:
    return value.strip().rstrip(":").casefold()


def _numbers(column: ColumnCells) -> AnyArray | None:
    """Return the cells of a column of numbers whose last one is not missing, 0 for missing ones; None for others."""
    last = column.keys[int(column.rows[-1])]
    if not isinstance(last, float) or not all(key is None or isinstance(key, float) for key in column.keys):
        return None
    return np.asarray(np.array([0.0 if key is None else key for key in column.keys])[column.rows])


def _is_total(numbers: AnyArray, *, is_mean: bool) -> bool:
    expected = float(numbers[:-1].mean() if is_mean else numbers[:-1].sum())
    return bool(abs(expected - numbers[-1]) <= (0.01 * abs(expected) + 0.01 if is_mean else 1e-6 * abs(expected)))
