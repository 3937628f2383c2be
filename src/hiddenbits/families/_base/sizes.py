"""The largest numbers of classes, dimensions and the like that a table can support.

As many classes (or states, causes, units) as rows reproduce the table, and 2^d classes reproduce any distribution of d
binary columns; as many dimensions as columns span all linear combinations of the columns. Larger numbers are a mistake:
they would exhaust memory or time, or leave parameters undetermined.
"""

from __future__ import annotations

from numbers import Integral

from hiddenbits.data import Table
from hiddenbits.engine import MIN_RATIO, MOST_CELLS
from hiddenbits.families._base.parameters import HiddenParts
from hiddenbits.families._base.protocol import Estimator

UNCHECKED_SIZE = 100  # up to so many classes may exceed the 2^d possible rows: they are fast and harmless
MAX_PATTERN_COLUMNS = 64  # with more columns, 2^d exceeds every size


def refuse_unsupported(estimator: Estimator, table: Table, *, more_rows: bool = False) -> None:
    """Raise a ValueError if the table cannot support a size of the estimator; `more_rows`: if more rows will follow."""
    for parts in estimator._hidden_parts:
        value = getattr(estimator, parts.parameter)
        layers = value if isinstance(value, (list, tuple)) else [value]
        size = int(max((layer for layer in layers if isinstance(layer, Integral)), default=0))
        largest, reason = min(_limits(parts, size, table, more_rows=more_rows), default=(size, ""))
        if size > largest:
            raise ValueError(
                f"{type(estimator).__name__}({parts.parameter}={value!r}): this table cannot support {size:,} "
                f"{parts.plural}, because it has {reason}. Use at most {largest:,}."
            )


def _limits(parts: HiddenParts, size: int, table: Table, *, more_rows: bool) -> list[tuple[int, str]]:
    """Return upper limits of a size, each with its reason."""
    n_rows, n_columns = table.shape
    if parts.limited_by == "columns":
        n_features = table.n_columns
        return [(n_features, f"{n_features:,} columns (n_features={n_features})")]
    per_row = "" if parts.per_row == 1 else f", and {parts.per_row:,} for each are more than enough"
    limits = []
    if not more_rows:
        if table.weights is not None:  # a row may stand for several
            n_rows = max(n_rows, int(table.weights.sum()))
        limits.append((parts.per_row * n_rows, f"{n_rows:,} rows (n_samples={n_rows}){per_row}"))
    patterns = 2 ** min(n_columns, MAX_PATTERN_COLUMNS)
    if table.only_bits and size > UNCHECKED_SIZE:
        reason = f"{n_columns} columns (n_features={n_columns}), so that there are {patterns:,} different rows{per_row}"
        limits.append((parts.per_row * patterns, reason))
    return limits


# Size of the subsample on which a fit to a long table begins.

MIN_SUBSAMPLE, ROWS_PER_COMPONENT = 4096, 400


def subsample_rows(n_components: int) -> int:
    """Return the size of the subsample for so many components."""
    return max(MIN_SUBSAMPLE, ROWS_PER_COMPONENT * n_components)


def subsample_if_long(n_subsample: int | None, n_rows: int) -> int | None:
    """Return the size of the subsample if the table has many more rows, else None."""
    return n_subsample if n_subsample is not None and n_rows >= MIN_RATIO * n_subsample else None


def collapse_limit(n_subsample: int | None, n_columns: int) -> int:
    """Return the number of distinct rows up to which a fit collapses equal rows instead of starting on a subsample.

    An iteration over few distinct rows with weights is fast, and a fit to all rows may reach a higher objective. The
    distinct rows are held in memory.
    """
    return 0 if n_subsample is None else min(MIN_RATIO * n_subsample, MOST_CELLS // n_columns)
