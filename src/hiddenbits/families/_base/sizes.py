"""The largest sizes that a table can support, for all estimators in one place.

Classes, states, causes and units need rows to stand for: as many of them as there are rows reproduce the table,
and as many as d bits have different rows, 2^d, any distribution of them. Dimensions need columns: as many as columns
say all that linear combinations of the columns can. A larger size is a slip or a misunderstanding, and would take all
memory or time, or end in parts that nothing determines.
"""

from __future__ import annotations

from numbers import Integral

from hiddenbits.data import Table
from hiddenbits.engine import MIN_RATIO, MOST_CELLS
from hiddenbits.families._base.parameters import HiddenParts
from hiddenbits.families._base.protocol import Estimator

SPARE = 100  # parts up to which the number of different rows does not matter: more than needed are quick, and no harm
LONGEST = 64  # columns from which on nobody asks for as many parts as there are different rows


def refuse_unsupported(estimator: Estimator, table: Table, *, more_rows: bool = False) -> None:
    """Raise a ValueError where the table cannot support a size of the estimator; `more_rows` are still to come."""
    for parts in estimator._hidden_parts:
        given = getattr(estimator, parts.parameter)
        sizes = [
            size for size in (given if isinstance(given, (list, tuple)) else [given]) if isinstance(size, Integral)
        ]
        asked = int(max(sizes, default=0))
        largest, why = min(_limits(parts, asked, table, more_rows=more_rows), default=(asked, ""))
        if asked > largest:
            raise ValueError(
                f"{type(estimator).__name__}({parts.parameter}={given!r}): this table cannot support {asked:,} "
                f"{parts.word}, because it has {why}. Use at most {largest:,}."
            )


def _limits(parts: HiddenParts, asked: int, table: Table, *, more_rows: bool) -> list[tuple[int, str]]:
    """Return the largest sizes, each with what the table has."""
    n_rows, n_columns = table.shape
    if parts.need == "columns":
        return [(n_columns, f"{n_columns:,} columns (n_features={n_columns})")]
    several = "" if parts.each == 1 else f", and {parts.each:,} for each are more than enough"
    limits = []
    if not more_rows:
        if table.weights is not None:  # a row may stand for several
            n_rows = max(n_rows, int(table.weights.sum()))
        limits.append((parts.each * n_rows, f"{n_rows:,} rows (n_samples={n_rows}){several}"))
    patterns = 2 ** min(n_columns, LONGEST)
    if table.only_bits and asked > SPARE:
        why = f"{n_columns} columns (n_features={n_columns}), so that there are {patterns:,} different rows{several}"
        limits.append((parts.each * patterns, why))
    return limits


# How many rows a fit begins on, where there are many more.

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
