"""What binary sparse coding learns and adds up.

Letters and shapes are in `model.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Arrays
from hiddenbits.data.declared import Params, Sums
from hiddenbits.maths.numerics import are_probabilities

FURTHEST = 1e100  # fields are in the units of the table; squares of them are still numbers
LEAST_ACTIVE = 1e-5  # pi stays this far from 0 and 1
EVERY_ROW = (-np.finfo(np.float64).max, 1.0)  # finite: model files hold nothing else


@dataclass(frozen=True, eq=False)
class CodingParams(Params):
    """W, pi and sigma, and where the schedule of the fit stands.

    Attributes
    ----------
    fields, activity, noise : ndarray of shape (D, H), (H,), ()
        W, pi and sigma.
    spread : ndarray, 0-d
        Standard deviation of the table's columns, root mean square: the scale of new fields.
    step : ndarray, 0-d
        Updates so far, from the beginning of the schedule.
    stream : ndarray of shape (2,)
        Seed and restart: the key of the noise that is added to W.
    cut : ndarray of shape (2,)
        Rows count whose score is above the first number; of those that equal it the second number's share does.
    """

    fields: Floats
    activity: Floats
    noise: Floats
    spread: Floats
    step: Floats
    stream: Floats
    cut: Floats

    @property
    def n_columns(self) -> int:
        """Number of columns, D."""
        return len(self.fields)

    @property
    def n_components(self) -> int:
        """Number of causes, H."""
        return len(self.activity)

    def ordered(self) -> CodingParams:
        """Return the causes in order of falling activity, equal ones by the length of their fields."""
        order = np.lexsort((-np.sum(self.fields**2, axis=0), -self.activity))
        return replace(self, fields=np.ascontiguousarray(self.fields[:, order]), activity=self.activity[order])

    def with_every_row(self) -> CodingParams:
        """Return the parameters without a cut."""
        return replace(self, cut=np.array(EVERY_ROW))

    def flaw(self) -> str | None:
        """Return what makes these arrays invalid, or None."""
        W, pi = self.fields, self.activity
        if W.ndim != 2 or pi.ndim != 1 or W.shape[1] != len(pi) or not W.size:
            return "fields and activity must have shapes (D, H) and (H,)"
        if not np.all(np.abs(W) <= FURTHEST):
            return f"fields must lie within {FURTHEST:g} of 0"
        if not are_probabilities(pi):
            return "activity must lie between 0 and 1"
        if self.noise.shape != () or self.spread.shape != () or not 1.0 / FURTHEST <= self.noise <= FURTHEST:
            return f"noise must be a positive number, not beyond {FURTHEST:g}"
        if not 0.0 <= self.spread <= FURTHEST or np.abs(W).max() > FURTHEST * self.noise:
            return "spread must be a number, not negative, and fields must be of the size of the noise"
        if self.step.shape != () or not 0.0 <= self.step <= 2.0**53:
            return "step must be a number, not negative"
        whole = (self.stream == np.floor(self.stream)) & (self.stream >= 0.0) & (self.stream <= 2.0**53)
        if self.stream.shape != (2,) or not whole.all():
            return "stream must be two whole numbers, not negative"
        if self.cut.shape != (2,) or np.isnan(self.cut).any() or not 0.0 <= self.cut[1] <= 1.0:
            return "cut must be a score and a share"
        return None


@dataclass(frozen=True, eq=False)
class CodingStats(Sums):
    """Sums over rows. All but the first two are over the rows within the cut.

    Attributes
    ----------
    bound, weight : ndarray, 0-d
        Truncated free energy, and weight of the rows.
    used : ndarray, 0-d
        Weight of the rows within the cut.
    squares : ndarray, 0-d
        Sum <y'y>; what a missing number is expected to be stands for it, here and in `joint`.
    hidden : ndarray of shape (H,)
        Sum <s>.
    joint : ndarray of shape (D, H)
        Sum <y s'>.
    pairs : ndarray of shape (H, H)
        Sum <s_i s_j>, each pair of different causes either at (i, j) or at (j, i).
    """

    bound: Floats
    weight: Floats
    used: Floats
    squares: Floats
    hidden: Floats
    joint: Floats
    pairs: Floats

    @property
    def second(self) -> Floats:
        """Sum <s s'>."""
        second: Floats = self.pairs + self.pairs.T
        second[np.diag_indices(len(second))] += self.hidden
        return second


@dataclass(frozen=True, eq=False)
class RowScores(Arrays):
    """Scores and weights of rows, in any order: two sets of rows add by standing side by side."""

    scores: Floats
    weights: Floats

    def __iadd__(self, other: RowScores) -> RowScores:
        """Return the rows of both."""
        return RowScores(np.concatenate([self.scores, other.scores]), np.concatenate([self.weights, other.weights]))

    def cut_at(self, weight: float) -> Floats:
        """Return the cut within which the best rows of a total `weight` are.

        Rows with equal scores share what is left for them, so that the order of rows does not matter, and a row of
        weight 2 counts as two rows.

        Examples
        --------
        >>> RowScores(np.array([3.0, 1.0, 2.0, 2.0]), np.ones(4)).cut_at(2.0)
        array([2. , 0.5])
        """
        order = np.argsort(-self.scores, kind="stable")
        total = np.cumsum(self.weights[order])
        at = min(int(np.searchsorted(total, weight * (1.0 - 1e-12))), len(order) - 1)
        edge = self.scores[order[at]]
        above, level = (float(self.weights[rows].sum()) for rows in (self.scores > edge, self.scores == edge))
        return np.array([edge, min((weight - above) / level, 1.0) if level > 0.0 else 1.0])
