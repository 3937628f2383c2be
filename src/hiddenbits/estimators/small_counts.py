"""Small counts: what a site does not hand out, because it may speak of single people.

From the sums of a column anyone can read its ones, its zeros (observed less ones) and its blanks (rows less observed).
From those of a class, the profile of the rows that it stands for: a class of one expected row *is* that row. A class
may stand for much less than one row, and its profile is then that of the row nearest to it; so a class must be
empty or have the minimum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data.summary import Summary
from hiddenbits.estimators.statistics import StatisticsError

MINIMUM_COUNT = 10  # a common rule for tables of people; many places have rules of their own
SHOWN = 5  # how many of the cells an error names

# The groups of rows whose profiles can be read off the sums of each estimator. What is not here has not been thought
# through, and is not handed out unless the caller takes the responsibility.
GROUPS: dict[str, tuple[str, ...]] = {"IndependentBits": (), "BernoulliMixture": ("classes",)}


def refuse_small(estimator: str, minimum: int, counts: Summary, sums: Any | None, names: Sequence[str] | None) -> None:
    """Raise a StatisticsError where a count is above 0 and below `minimum`.

    Both `counts` and `sums` (None at the start) are of rows that count once each: a weight of 100 makes no crowd. The
    error does not say how small a count is, because messages travel too.
    """
    if estimator not in GROUPS:
        raise StatisticsError(
            f"Which small counts the statistics of {estimator} give away is not known yet. Pass minimum_count=0 if "
            "they may leave all the same."
        )
    if counts.weight < minimum - 0.5:
        raise StatisticsError(
            f"The table has fewer than minimum_count={minimum} rows: its statistics would speak of single rows. Join "
            "it with another site's before it goes out, or leave it out."
        )
    small = [*_columns(minimum, counts, names), *_groups(estimator, minimum, sums)]
    if small:
        more = f" and {len(small) - SHOWN} more" if len(small) > SHOWN else ""
        raise StatisticsError(
            f"{len(small)} counts are above 0 and below minimum_count={minimum}: {', '.join(small[:SHOWN])}{more}. At "
            "every site, leave such columns out or join them with others (blanks: blank out more cells), or fit fewer "
            "classes; or lower minimum_count, if your rules allow it."
        )


def _columns(minimum: int, counts: Summary, names: Sequence[str] | None) -> Iterator[str]:
    cells = {"ones": counts.ones, "zeros": counts.observed - counts.ones, "blanks": counts.weight - counts.observed}
    small = {what: _small(cell, minimum - 0.5, 0.5) for what, cell in cells.items()}
    for j in np.flatnonzero(np.logical_or.reduce(list(small.values()))).tolist():
        column = f"column {j}" if names is None else f"column {j} ({names[j]!r})"
        yield from (f"{what} of {column}" for what in cells if small[what][j])


def _groups(estimator: str, minimum: int, sums: Any | None) -> Iterator[str]:
    if sums is not None:
        for group in GROUPS[estimator]:
            expected = getattr(sums, group)
            # Expected counts are sums of many small numbers: 10 rows may come to a little less than 10.
            yield from (f"rows of {group}[{k}]" for k in np.flatnonzero(_small(expected, minimum * (1 - 1e-9), 0.0)))


def _small(counts: NDArray[np.float64], minimum: float, nothing: float) -> NDArray[np.bool_]:
    return (counts > nothing) & (counts < minimum)
