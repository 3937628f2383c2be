"""Small counts: what a site does not hand out, because it may speak of single people.

From the sums of a column anyone can read its ones, its zeros (observed less ones) and its blanks (rows less observed).
From those of a class, the profile of the rows that it stands for: a class of one expected row *is* that row. A class
may stand for much less than one row, and its profile is then that of the row nearest to it; so a class must be
empty or have the minimum.

Where rows have weights w, effective rows count, (Sum w)^2 / Sum w^2: a row of weight 1 among 499 of weight 1e-9 is as
good as alone. That is never more than the number of rows, and just that where the weights are equal; how large they are
does not matter. Expected rows of a class count as (Sum w r)^2 / Sum w^2 r, r the share of a row in the class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats
from hiddenbits.data import Arrays, Block
from hiddenbits.data.summary import Summary
from hiddenbits.federated.statistics import StatisticsError

MINIMUM_COUNT = 10  # a common rule for tables of people; many places have rules of their own
SHOWN = 5  # how many of the cells an error names
LEAST_WEIGHT = 1e-150  # next to the largest: squares of smaller ones would be 0
CELLS = 1 << 22  # cells of a block that are unfolded together


# The groups of rows whose profiles can be read off the sums of each estimator. What is not here has not been thought
# through, and is not handed out unless the caller takes the responsibility.
GROUPS: dict[str, tuple[str, ...]] = {"IndependentBits": (), "BernoulliMixture": ("classes",)}


@dataclass(frozen=True, eq=False)
class Crowd(Arrays):
    """Sums of the weights of rows and of their squares: of all rows (2,), and for each column (2, 3, columns).

    Those of a column are of the rows with a one, with a zero and with a blank. Each is added up on its own: differences
    of sums would lose light rows among heavy ones.
    """

    rows: Floats
    cells: Floats

    @classmethod
    def of(cls, counts: Summary) -> Crowd:
        """Return the sums for a table without weights: its counts."""
        cells = np.stack([counts.ones, counts.observed - counts.ones, counts.weight - counts.observed])
        return cls(np.array([counts.weight, counts.weight]), np.stack([cells, cells]))


def relative(weights: Floats) -> Floats:
    """Return weights as shares of the largest: how large they all are makes no crowd, nor may their squares vanish."""
    return np.asarray(np.where(weights > 0.0, np.maximum(weights / weights.max(), LEAST_WEIGHT), 0.0))


def crowd(block: Block) -> Crowd:
    """Add up the weights of a block and their squares."""
    weights = np.stack([block.weights, block.weights**2])
    cells = np.zeros((2, 3, block.n_columns))
    step = max(1, CELLS // max(block.n_columns, 1))
    for start in range(0, block.n_rows, step):
        stop = min(start + step, block.n_rows)
        x, o = block.x.rows(start, stop).to_dense(), block.observed.rows(start, stop).to_dense()
        for number, cell in enumerate((x, o - x, 1 - o)):  # x is 0 where a cell was not observed
            cells[:, number] += weights[:, start:stop] @ cell
    return Crowd(weights.sum(axis=1), cells)


def refuse_small(minimum: int, counted: Crowd, groups: dict[str, Floats], names: Sequence[str] | None) -> None:
    """Raise a StatisticsError where there are rows, but effectively fewer than `minimum`.

    `groups` are what `groups_of` returns. The error does not say how small a count is, because messages travel too.
    """
    if _small(counted.rows, minimum):
        raise StatisticsError(
            f"The table has fewer than minimum_count={minimum} rows (counted by their weights): its statistics could "
            "reveal single rows. Merge it with the table of another site first, or leave this site out."
        )
    small = [*_columns(minimum, counted, names), *_classes(minimum, groups)]
    if small:
        more = f" and {len(small) - SHOWN} more" if len(small) > SHOWN else ""
        raise StatisticsError(
            f"{len(small)} counts are above 0 and below minimum_count={minimum}: {', '.join(small[:SHOWN])}{more}. At "
            "every site, remove such columns or merge them with others (for blanks: blank out more cells), or fit "
            "fewer classes; or lower minimum_count, if your rules allow it."
        )


def refuse_unknown(estimator: str) -> None:
    """Raise a StatisticsError for an estimator whose small counts nobody has thought about."""
    if estimator not in GROUPS:
        raise StatisticsError(
            f"The statistics of {estimator} cannot be checked for small counts. Pass minimum_count=0 to release them "
            "without a check."
        )


def groups_of(estimator: str, sums: Arrays | None, squares: Arrays | None, scale: float) -> dict[str, Floats]:
    """Return the expected weights of each group and those of squared weights, (2, groups), by the group's name.

    `sums` (None at the start) are of weights `scale` times as large as those whose squares `squares` are of.
    """
    names = () if sums is None else GROUPS[estimator]
    return {name: np.stack([getattr(sums, name) / scale, getattr(squares, name)]) for name in names}


def _columns(minimum: int, counted: Crowd, names: Sequence[str] | None) -> Iterator[str]:
    small = _small(counted.cells, minimum)
    for j in np.flatnonzero(small.any(axis=0)).tolist():
        column = f"column {j}" if names is None else f"column {j} ({names[j]!r})"
        yield from (f"{what} of {column}" for k, what in enumerate(("ones", "zeros", "blanks")) if small[k, j])


def _classes(minimum: int, groups: dict[str, Floats]) -> Iterator[str]:
    for name, weights in groups.items():
        yield from (f"rows of {name}[{k}]" for k in np.flatnonzero(_small(weights, minimum)))


def _small(weights: Floats, minimum: int) -> NDArray[np.bool_]:
    """Return where there is something, but effectively fewer rows than the minimum, of sums (weights, squares)."""
    sums, squares = weights
    # Sums of many small numbers: 10 rows may come to a little less than 10.
    return np.asarray((sums > 0.0) & (sums**2 < minimum * (1.0 - 1e-9) * squares))
