"""The parameters of a combination machine and the sums that its data phase makes; `combination` has the letters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data.declared import Params, Sums
from hiddenbits.maths.state_sums import free_phase, log_2cosh

RUN = 8  # floats that a processor works on at once
NEVER = -1e4  # what a unit that is never on is told
UNKNOWN = -1.0  # the error of a ln Z that has not been looked for


def in_whole_runs(buffer: Floats, shape: tuple[int, int]) -> Floats:
    """Return an array in a buffer that has RUN numbers more; where rows are whole runs, none takes one run too many."""
    first = -buffer.ctypes.data // buffer.itemsize % RUN
    return buffer.ravel()[first : first + shape[0] * shape[1]].reshape(shape)


@dataclass(frozen=True, eq=False)
class CombinationParams(Params):
    """W, th, v and ln Z with its standard error: 0 where it is exact, UNKNOWN where it has not been looked for."""

    weights: Floats
    thresholds: Floats
    bias: Floats
    log_partition: Floats
    partition_error: Floats

    furthest: ClassVar[float] = 1e9  # a machine beyond is no model of bits

    @classmethod
    def at(cls, weights: Floats, thresholds: Floats, bias: Floats) -> CombinationParams:
        """Return parameters with their exact ln Z."""
        phase = free_phase(weights, thresholds, bias)
        return cls(weights, thresholds, bias, np.asarray(phase.log_partition), np.zeros(()))

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.weights)

    @property
    def n_units(self) -> int:
        """Number of hidden units."""
        return len(self.thresholds)

    @cached_property
    def totals(self) -> Floats:
        """Column sums of W and v, side by side: what a row of ones would add."""
        return np.append(self.weights.sum(axis=0), self.bias.sum())[None, :]

    @cached_property
    def edged(self) -> Floats:
        """W and v side by side: (d, m + 1)."""
        return np.column_stack([self.weights, self.bias])

    @cached_property
    def of_ones(self) -> tuple[Floats, Floats]:
        """2 W, and th - Sum_j w_j: what a one adds to each unit, and what a row of zeros says to them."""
        return 2.0 * self.weights, self.thresholds - self.totals[0, :-1]

    @cached_property
    def of_ones_padded(self) -> tuple[Floats, Floats]:
        """The same with at least one more column that is no unit, up to whole runs of memory."""
        (d, m), (W, offset) = self.weights.shape, self.of_ones
        width = -(-(m + 1) // RUN) * RUN
        padded, offsets = in_whole_runs(np.zeros((d * width + RUN, 1)), (d, width)), np.full(width, NEVER)
        padded[:, :m], offsets[:m] = W, offset
        return padded, offsets

    def with_units(self, weights: Floats) -> CombinationParams:
        """Return a machine with further units, each on in half of the rows were it alone with the bias."""
        shift = log_2cosh(self.bias[:, None] + weights) - log_2cosh(self.bias)[:, None]
        thresholds = np.append(self.thresholds, -shift.sum(axis=0))
        return CombinationParams.at(np.column_stack([self.weights, weights]), thresholds, self.bias)

    def ordered(self) -> CombinationParams:
        """Return the same machine with its units in order of falling influence."""
        order = np.argsort(-np.sum(self.weights**2, axis=0), kind="stable")
        return replace(self, weights=self.weights[:, order].copy(), thresholds=self.thresholds[order])

    def flaw(self) -> str | None:
        """Return what makes these arrays invalid, or None."""
        W, th, v = self.weights, self.thresholds, self.bias
        if W.ndim != 2 or th.ndim != 1 or v.ndim != 1 or W.shape != (len(v), len(th)) or self.log_partition.shape != ():
            return "weights, thresholds, bias and log_partition must have shapes (d, m), (m,), (d,) and ()"
        if not all(np.all(np.abs(array) <= self.furthest) for array in (W, th, v)):
            return f"weights, thresholds and bias must lie within {self.furthest:g} of 0"
        if not abs(self.log_partition) <= self.furthest**2:
            return f"log_partition must lie within {self.furthest**2:g} of 0"
        if self.partition_error.shape != () or not (
            self.partition_error == UNKNOWN or 0 <= self.partition_error <= 1e9
        ):
            return "partition_error must be a number, not negative"
        return None


@dataclass(frozen=True, eq=False)
class CombinationStats(Sums):
    """Weighted log-likelihood, rows, and the expected h, x h' and x of the data."""

    bound: Floats
    weight: Floats
    hidden: Floats
    joint: Floats
    visible: Floats
