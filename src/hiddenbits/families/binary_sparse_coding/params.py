"""Parameters and statistics of binary sparse coding.

Letters and shapes are in `model.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Arrays
from hiddenbits.data.declared import Params, Range, Statistics
from hiddenbits.maths.numerics import PROBABILITIES, within

HUGE = 1e100  # in a field, in the units of the table; its square is still finite
BOUNDED = within(HUGE)
POSITIVE = Range(lambda a: bool(1.0 / HUGE <= a <= HUGE), f"must be positive, and not beyond {HUGE:g}")


@dataclass(frozen=True, eq=False)
class CodingParams(Params):
    """W, pi and sigma.

    Attributes
    ----------
    fields, activity, noise : ndarray of shape (D, H), (H,), ()
        W, pi and sigma.
    spread : ndarray, 0-d
        Root mean square of the columns' standard deviations; the noise is at least a millionth of it.
    """

    fields: Annotated[Floats, "d H", BOUNDED]
    activity: Annotated[Floats, "H", PROBABILITIES]
    noise: Annotated[Floats, "", POSITIVE]
    spread: Annotated[Floats, "", BOUNDED]

    @property
    def n_components(self) -> int:
        """Number of causes, H."""
        return len(self.activity)

    def ordered(self) -> CodingParams:
        """Return the causes in order of decreasing activity, equal ones by the norm of their fields."""
        order = np.lexsort((-np.sum(self.fields**2, axis=0), -self.activity))
        return replace(self, fields=np.ascontiguousarray(self.fields[:, order]), activity=self.activity[order])

    def flaw(self) -> str | None:
        """Return what makes these arrays invalid, or None."""
        if flaw := super().flaw():
            return flaw
        small = (np.abs(self.fields) <= HUGE * self.noise).all() and self.spread >= 0.0
        return None if small else "spread must not be negative, and fields must be of the size of the noise"


@dataclass(frozen=True, eq=False)
class CodingStats(Statistics):
    """Sums over the rows within the cut; `bound` and `weight` are sums over all rows.

    Attributes
    ----------
    bound, weight : ndarray, 0-d
        Truncated free energy, and weight of all rows.
    used : ndarray, 0-d
        Weight of the rows within the cut.
    squares : ndarray, 0-d
        Sum <y'y>; missing numbers are replaced by their expectation, here and in `joint`.
    hidden : ndarray of shape (H,)
        Sum <s>.
    joint : ndarray of shape (D, H)
        Sum <y s'>.
    pairs : ndarray of shape (H, H)
        Sum <s_i s_j>, each pair of different causes either at (i, j) or at (j, i).
    """

    used: Annotated[Floats, ""]
    squares: Annotated[Floats, ""]
    hidden: Annotated[Floats, "H"]
    joint: Annotated[Floats, "d H"]
    pairs: Annotated[Floats, "H H"]

    nested: ClassVar[tuple[str, ...]] = ("hidden", "used")
    of_bits: ClassVar[bool] = False

    @property
    def second(self) -> Floats:
        """Sum <s s'>."""
        second: Floats = self.pairs + self.pairs.T
        second[np.diag_indices(len(second))] += self.hidden
        return second


@dataclass(frozen=True, eq=False)
class CodingScores(Arrays):
    """Scores and weights of rows, in any order; adding two sets of rows concatenates them."""

    scores: Floats
    weights: Floats

    def __iadd__(self, other: CodingScores) -> CodingScores:
        """Return the rows of both."""
        return CodingScores(np.concatenate([self.scores, other.scores]), np.concatenate([self.weights, other.weights]))

    def cut_at(self, weight: float) -> tuple[float, float]:
        """Return the cut that includes the best rows, up to a total `weight`.

        Rows at the cut share the remaining weight. So the order of rows does not matter, and a row of weight 2 counts
        as two rows.

        Examples
        --------
        >>> CodingScores(np.array([3.0, 1.0, 2.0, 2.0]), np.ones(4)).cut_at(2.0)
        (2.0, 0.5)
        """
        order = np.argsort(-self.scores, kind="stable")
        total = np.cumsum(self.weights[order])
        position = min(int(np.searchsorted(total, weight * (1.0 - 1e-12))), len(order) - 1)
        edge = float(self.scores[order[position]])
        above, at_edge = (float(self.weights[rows].sum()) for rows in (self.scores > edge, self.scores == edge))
        return edge, min((weight - above) / at_edge, 1.0) if at_edge > 0.0 else 1.0
