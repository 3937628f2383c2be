"""How many rows a fit begins on, where there are many more; `start_rows` where a family lets users choose it."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from hiddenbits.engine import MIN_RATIO, MOST_CELLS

START_ROWS: list[Any] = [Interval(Integral, 32, None, closed="left"), StrOptions({"auto"}), None]
FEWEST, ROWS_EACH = 4096, 400  # rows to begin on: so many at least, and so many for each component


def rows_to_begin_on(n_components: int) -> int:
    """Return the rows that a fit with so many components begins on."""
    return max(FEWEST, ROWS_EACH * n_components)


def few_enough(few: int | None, n_rows: int) -> int | None:
    """Return the rows to begin on if a table has many more, else None."""
    return few if few is not None and n_rows >= MIN_RATIO * few else None


def few_distinct_rows(few: int | None, n_columns: int) -> int:
    """Return the number of distinct rows from which on a table is long, for a fit that begins on `few` rows of it.

    A pass over few distinct rows with weights takes little time, and a fit to all of them may end higher. They are held
    in memory.
    """
    return 0 if few is None else min(MIN_RATIO * few, MOST_CELLS // n_columns)


def chosen_rows(estimator: Any, n_components: int, *, unless: str | None = None) -> int | None:
    """Return the number that `start_rows` of an estimator stands for; `unless` says what keeps it from that."""
    given = int(estimator.start_rows) if isinstance(estimator.start_rows, Integral) else estimator.start_rows
    if unless is None and not estimator.online_passes:
        return rows_to_begin_on(n_components) if given == "auto" else given
    if given in ("auto", None):
        return None
    which = unless or "online_passes"
    raise ValueError(f"start_rows={given} does not apply to {which}, which starts with all rows. Remove start_rows.")
