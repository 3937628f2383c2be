"""Parameters and statistics of a combination machine, and coordinates for its optimizer; letters are in `model.py`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data.declared import Params, Statistics
from hiddenbits.maths.numerics import within
from hiddenbits.maths.state_sums import FreePhase

LANES = 8  # floats that a processor handles at once
ALWAYS_OFF = -1e4  # activation of a unit that is never on
LARGEST_PARAMETER = 1e100  # sums of squares do not overflow


def in_whole_runs(buffer: Floats, shape: tuple[int, int]) -> Floats:
    """Return an array in a buffer with LANES extra numbers, aligned to whole runs of LANES numbers."""
    first = -buffer.ctypes.data // buffer.itemsize % LANES
    return buffer.ravel()[first : first + shape[0] * shape[1]].reshape(shape)


@dataclass(frozen=True, eq=False)
class CombinationParams(Params):
    """W, th, v and ln Z."""

    weights: Annotated[Floats, "d m?", within(LARGEST_PARAMETER)]  # growth begins without units
    thresholds: Annotated[Floats, "m?", within(LARGEST_PARAMETER)]
    bias: Annotated[Floats, "d", within(LARGEST_PARAMETER)]
    log_partition: Annotated[Floats, "", within(LARGEST_PARAMETER**2)]

    @property
    def n_units(self) -> int:
        """Number of hidden units."""
        return len(self.thresholds)

    @cached_property
    def totals(self) -> Floats:
        """Column sums of W and v, side by side: the effect of a row of 1s."""
        return np.append(self.weights.sum(axis=0), self.bias.sum())[None, :]

    @cached_property
    def weights_bias(self) -> Floats:
        """W and v, side by side: (d, m + 1)."""
        return np.column_stack([self.weights, self.bias])

    @cached_property
    def effects_of_ones(self) -> tuple[Floats, Floats]:
        """The effect of a 1 on each unit, 2 W, and the effect of a row of zeros, th - Sum_j w_j."""
        return 2.0 * self.weights, self.thresholds - self.totals[0, :-1]

    @cached_property
    def padded_effects_of_ones(self) -> tuple[Floats, Floats]:
        """`effects_of_ones` with at least one more column, so that rows are whole runs of memory."""
        (d, m), (W, offset) = self.weights.shape, self.effects_of_ones
        width = -(-(m + 1) // LANES) * LANES
        padded, offsets = in_whole_runs(np.zeros((d * width + LANES, 1)), (d, width)), np.full(width, ALWAYS_OFF)
        padded[:, :m], offsets[:m] = W, offset
        return padded, offsets

    def ordered(self) -> CombinationParams:
        """Return the same machine with its units in order of falling influence."""
        order = np.argsort(-np.sum(self.weights**2, axis=0), kind="stable")
        return replace(self, weights=self.weights[:, order].copy(), thresholds=self.thresholds[order])


@dataclass(frozen=True, eq=False)
class CombinationStats(Statistics):
    """Weighted log-likelihood, rows, and the expected h, x h' and x of the data."""

    hidden: Annotated[Floats, "m?"]
    joint: Annotated[Floats, "d m?"]
    visible: Annotated[Floats, "d"]

    nested: ClassVar[tuple[str, ...]] = ("hidden",)


# Coordinates that are easy to optimize in: centered and scaled by the expectations of the machine.
#
#     h_i (th_i + w_i.x) + v.x  =  h_i c_i + x.u + Sum_ij w_ij (x_j - mu_j) (h_i - eta_i) - const,
#     c = th + W'mu,   u = v + W eta
#
# | letter | meaning | shape |
# |---|---|---|
# | mu, eta | expectations of x and h under the model, where a segment begins | (d,), (m,) |
# | W, c, u | centered weights, thresholds and bias | (d, m), (m,), (d,) |
# | s | standard deviation of each statistic: (x - mu)(h - eta), h and x | of W, c, u |
#
# Uncentered weights are strongly correlated with thresholds and bias; and the likelihood is much flatter in the weights
# of a unit that is seldom on. The optimizer uses s W, s c and s u instead, which takes a third to a tenth of the
# iterations on the targets of the literature. Without a bias there is no u, and h is not centered (eta = 0).

SMALLEST = 1e-3  # least variance of a coordinate: otherwise rare events would lead to huge steps


@dataclass(frozen=True, eq=False)
class Centered:
    """The coordinates of a segment: a linear map of the vectors W, th, v (in one row; without a bias W, th) and back.

    Parameters
    ----------
    visible, hidden : ndarray of shape (d,), (m,)
        mu and eta.
    scales : ndarray
        s, in the order of the vectors.
    """

    visible: Floats
    hidden: Floats
    scales: Floats

    @classmethod
    def about(cls, phase: FreePhase, *, bias: bool, bits: bool = True) -> Centered:
        """Return the coordinates for these expectations under the model."""
        mu, h = phase.visible, phase.hidden
        eta = h if bias else np.zeros(len(h))
        h_variance = h * (1.0 - 2.0 * eta) + eta**2  # E[(h - eta)^2], since h^2 = h
        if bits:  # x^2 = 1: (x - mu)^2 (h - eta)^2 = (1 + mu^2 - 2 mu x) (h (1 - 2 eta) + eta^2)
            x_h = phase.joint * (1.0 - 2.0 * eta) + np.outer(mu, eta**2)  # E[x (h - eta)^2]
            second = (1.0 + mu[:, None] ** 2) * h_variance - 2.0 * mu[:, None] * x_h
            variance, x_variance = second - (phase.joint - np.outer(mu, h)) ** 2, 1.0 - mu**2
        else:  # the variance of a column is at least 1
            variance, x_variance = np.tile(h_variance, (len(mu), 1)), np.ones(len(mu))
        variances = np.concatenate([variance.ravel(), h * (1.0 - h), x_variance if bias else np.zeros(0)])
        return cls(mu, eta, np.sqrt(np.maximum(variances, SMALLEST)))

    def _shifted(self, vector: Floats, sign: float) -> Floats:
        """Return the vector with W'mu added to thresholds and W eta to the bias, times a sign."""
        d, m = len(self.visible), len(self.hidden)
        out = vector.copy()
        W = vector[: d * m].reshape(d, m)
        out[d * m : d * m + m] += sign * (self.visible @ W)
        if len(vector) > d * m + m:
            out[d * m + m :] += sign * (W @ self.hidden)
        return out

    def inwards(self, vector: Floats) -> Floats:
        """Return the point in these coordinates."""
        return np.asarray(self.scales * self._shifted(vector, 1.0))

    def outwards(self, point: Floats) -> Floats:
        """Return the vector at a point."""
        return self._shifted(point / self.scales, -1.0)

    def slope(self, gradient: Floats) -> Floats:
        """Return the gradient in these coordinates, given that by the vector."""
        d, m = len(self.visible), len(self.hidden)
        out = gradient.copy()
        W = out[: d * m].reshape(d, m)
        W -= np.outer(self.visible, gradient[d * m : d * m + m])
        if len(gradient) > d * m + m:
            W -= np.outer(gradient[d * m + m :], self.hidden)
        return np.asarray(out / self.scales)
