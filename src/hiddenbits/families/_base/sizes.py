"""The largest sizes that a table can support, for all estimators in one place.

Classes, states, causes and units need rows to stand for: as many of them as there are rows reproduce the table,
and as many as d bits have different rows, 2^d, any distribution of them. Dimensions need columns: as many as columns
say all that linear combinations of the columns can. A larger size is a slip or a misunderstanding, and would take all
memory or time, or end in parts that nothing determines.
"""

from __future__ import annotations

import contextlib
import os
import sys
from numbers import Integral
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

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


# How many rows a sample may have: as many as fit in memory, decided before any of it is taken.

MEMORY, LIMIT, USED = (Path(p) for p in ("/proc/meminfo", "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"))


def check_n_samples(estimator: Estimator, n_samples: int, dtype: DTypeLike = np.uint8) -> None:
    """Refuse a sample without rows, and one that takes more memory than there is.

    Parameters
    ----------
    estimator : estimator
        What is sampled from: bits that stand for other values (`coding_`) take more.
    n_samples : int
        Number of rows.
    dtype : dtype
        Type of the cells.
    """
    if n_samples < 1:
        raise ValueError(f"n_samples={n_samples}: draw at least one row.")
    n_columns, coding = estimator.params_.n_columns, estimator._coding
    row_bytes = n_columns * np.dtype(dtype).itemsize
    if coding is not None and not coding.only_bits:  # a float for each bit, and an object for each value
        row_bytes += 8 * (n_columns + len(coding.columns))
    needed, free = int(n_samples) * row_bytes, available_memory()
    if needed > free:
        raise MemoryError(
            f"n_samples={n_samples:,}: these rows take {needed:,} bytes, and {free:,} bytes of memory are available. "
            "Sample fewer rows at a time, each time with another random_state."
        )


def available_memory() -> int:
    """Return how many bytes this process can still take; a very large number where the system does not tell."""
    known = [sys.maxsize]
    with contextlib.suppress(OSError, ValueError, AttributeError):  # not of every system
        known.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with contextlib.suppress(OSError, ValueError, KeyError):  # Linux
        lines = (line.split() for line in MEMORY.read_text().splitlines())
        kilobytes = {words[0].rstrip(":"): int(words[1]) for words in lines if len(words) > 1}
        known.append(1024 * (kilobytes["MemAvailable"] + kilobytes.get("SwapFree", 0)))
    with contextlib.suppress(OSError, ValueError):  # a container; "max" is none
        known.append(int(LIMIT.read_text()) - int(USED.read_text()))
    return max(min(known), 0)
