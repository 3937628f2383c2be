"""What a whole table looks like: lines that are pairs of a row and an item, columns that count rows, rows of totals."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np

from hiddenbits.array_types import AnyArray
from hiddenbits.data.coding.cells import ColumnCells
from hiddenbits.data.coding.vocabulary import says_id
from hiddenbits.data.columns.describe import ColumnLook
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import quoted

SUMS = frozenset({"total", "totals", "grand total", "sum", "summe", "gesamt", "insgesamt", "somme", "suma", "totale"})
MEANS = frozenset({"mean", "average", "avg", "mittelwert", "durchschnitt", "moyenne", "media"})
COUNTS = re.compile(
    r"(?i)^(?:freq|frequency|frequencies|counts?|n|weights?|wt|anzahl|häufigkeit|haeufigkeit|effectif)$"
)
MOST_CHECKED = 1 << 22  # rows; a file with more has no row of totals


def counts_rows(look: ColumnLook, cells: Sequence[ColumnCells], looks: Sequence[ColumnLook]) -> bool:
    """Whether a column says how often each row occurs: named so, whole numbers, no two rows the same besides."""
    if not COUNTS.match(look.name.strip()) or look.n_blank or look.n_rows < 3:
        return False
    numbers = [value for value, _ in look.values]
    if not all(isinstance(number, int) and number >= 0 for number in numbers) or max(numbers, default=0) < 2:
        return False
    kinds = ("bits", "two values", "ordered", "nominal")
    others = [column.rows for column, one in zip(cells, looks, strict=True) if one.taken in kinds and one is not look]
    if not others or any(one.taken in ("id", "text") for one in looks if one is not look):
        return False
    return len(np.unique(np.column_stack(others), axis=0)) == look.n_rows


def pairs(looks: Sequence[ColumnLook]) -> tuple[str, str] | None:
    """Return the columns of rows and items, where a table of two or three columns has a line for each pair of them."""
    if not 2 <= len(looks) <= 3:
        return None
    keys = [look for look in looks if look.name.strip() and says_id(look.name) and _repeats(look)]
    items = [look for look in looks if look not in keys and look.taken in ("nominal", "two values", "text", "id")]
    items = [look for look in items if any(isinstance(value, str) for value, _ in look.values)]
    rest = [look for look in looks if look not in keys and look not in items]
    if len(keys) != 1 or len(items) != 1 or any(look.taken == "bits" for look in rest):
        return None
    return keys[0].name, items[0].name


def _repeats(look: ColumnLook) -> bool:
    return not look.n_blank and 3 <= len(look.values) < look.n_rows


def refuse_totals(cells: Sequence[ColumnCells], *, offers: Collection[str]) -> None:
    """Refuse a last row of totals or means: a word says so, and the numbers next to it are those of the rows above."""
    if not cells or not 3 <= len(cells[0].rows) <= MOST_CHECKED:
        return
    last = [column.values[int(column.rows[-1])] for column in cells]
    at = next((j for j, value in enumerate(last) if isinstance(value, str) and _plain(value) in SUMS | MEANS), None)
    if at is None:
        return
    mean = _plain(last[at]) in MEANS
    others = [_numbers(column) for j, column in enumerate(cells) if j != at]
    right = [_agrees(numbers, mean=mean) for numbers in others if numbers is not None]
    if right and all(right):
        do = (
            "Set skip_end=1 to leave it out."
            if "skip_end" in offers
            else "Leave it out: of a pandas frame, take frame.iloc[:-1]."
        )
        raise TableError(
            f"The last row seems to be a total: {quoted(last[at])} in column {cells[at].name!r}, and the sums or means "
            f"of the rows above. {do}"
        )


def _plain(value: str) -> str:
    return value.strip().rstrip(":").casefold()


def _numbers(column: ColumnCells) -> AnyArray | None:
    """Return the cells of a column of numbers, blanks as 0, the last one not blank; None for any other column."""
    last = column.keys[int(column.rows[-1])]
    if not isinstance(last, float) or not all(key is None or isinstance(key, float) for key in column.keys):
        return None
    numbers: AnyArray = np.array([0.0 if key is None else key for key in column.keys])
    found: AnyArray = numbers[column.rows]
    return found


def _agrees(numbers: AnyArray, *, mean: bool) -> bool:
    above = float(numbers[:-1].mean() if mean else numbers[:-1].sum())
    return bool(abs(above - numbers[-1]) <= (0.01 * abs(above) + 0.01 if mean else 1e-6 * abs(above)))
