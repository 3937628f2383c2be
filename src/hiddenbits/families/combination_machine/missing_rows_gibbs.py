"""Rows with blanks in a combination machine that is too large to enumerate: Gibbs sampling, row by row.

The missing bits and the hidden units are drawn in turn, given the observed bits. What verbs return are means over the
sweeps after the first ones, each with the hidden units or the bits at their expectation given the rest
(Rao-Blackwell). With 200 sweeps the standard error of a probability is at most .035, less where sweeps differ little.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from hiddenbits.array_types import Floats, Rows
from hiddenbits.data import Block
from hiddenbits.maths.missing_rows import missing_cells
from hiddenbits.model_api import Key

FIRST_SWEEPS, SWEEPS = 50, 200  # where a probability is the answer
QUICK_FIRST, QUICK = 5, 5  # where it is one step of many


class BlanksWithoutLikelihoodError(ValueError):
    """The likelihood of a row with blanks, of a machine that is too large for it."""


@dataclass(frozen=True, eq=False)
class SampledBlanks:
    """A machine, for rows with blanks. Each function takes A and the numbers of those rows of a block."""

    weights: Floats
    thresholds: Floats
    bias: Floats
    seed: int
    key: Key | None = None

    def _sweeps(
        self, A: Floats, missing: Floats, block: Block, first: int, kept: int
    ) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Yield P(h = 1 | bits), the drawn units and their influences om, of each sweep after the first ones."""
        rng = np.random.default_rng((self.seed, block.start)) if self.key is None else self.key.rng()
        x = missing * np.tanh(self.bias)
        for sweep in range(first + kept):
            on = expit(A + x @ self.weights)
            h = (rng.random(on.shape) < on).astype(np.float64)
            om = h @ self.weights.T + self.bias
            if sweep >= first:
                yield on, h, om
            x = missing * np.where(rng.random(om.shape) < expit(2.0 * om), 1.0, -1.0)

    def log_sums(self, A: Floats, block: Block, rows: Rows) -> Floats:
        """There is no figure to be trusted."""
        raise BlanksWithoutLikelihoodError(
            f"Row {block.start + int(rows[0])} has blanks, and with {len(self.thresholds)} hidden units its likelihood "
            "cannot be summed exactly. Score complete rows, fill the blanks in first (`complete`), or fit at most 20 "
            'units with method="exact".'
        )

    def posterior(self, A: Floats, block: Block, rows: Rows) -> Floats:
        """Return P(h_i = 1 | x_obs)."""
        sweeps = self._sweeps(A, missing_cells(block, rows), block, FIRST_SWEEPS, SWEEPS)
        return np.asarray(sum(on for on, _, _ in sweeps) / SWEEPS)

    def most_probable(self, A: Floats, block: Block, rows: Rows) -> Floats:
        """Return the units that are more probably on than off; the one most probable state is out of reach."""
        return (self.posterior(A, block, rows) > 0.5).astype(np.float64)

    def fill(self, A: Floats, block: Block, rows: Rows) -> Floats:
        """Return P(x_j = 1 | x_obs), as if the cell had to be drawn again."""
        sweeps = self._sweeps(A, missing_cells(block, rows), block, FIRST_SWEEPS, SWEEPS)
        return np.asarray(sum(expit(2.0 * om) for _, _, om in sweeps) / SWEEPS)

    def expected(self, A: Floats, block: Block, rows: Rows) -> tuple[Floats, Floats, Floats]:
        """Return zeros for the log sums, E[h | x_obs] of each row, and what the missing cells add to the statistics."""
        missing = missing_cells(block, rows)
        weighted = block.weights[rows, None] * missing
        hidden, total = np.zeros(A.shape), np.zeros((missing.shape[1], A.shape[1] + 1))
        for on, h, om in self._sweeps(A, missing, block, QUICK_FIRST, QUICK):
            hidden += on / QUICK
            x = weighted * np.tanh(om) / QUICK  # the bits at their mean given the units that are drawn
            total[:, :-1] += x.T @ h
            total[:, -1] += x.sum(axis=0)
        return np.zeros(len(A)), hidden, total

    def leave_one_out(self, A: Floats, block: Block, rows: Rows) -> Floats:
        """Return P(x_j = 1 | the other observed bits): the other value weighs E[exp(-2 x_j om_j) | x_obs] as much."""
        missing = missing_cells(block, rows)
        x = 2.0 * block.x.take(rows).to_dense() - 1.0
        other, filled = np.zeros(x.shape), np.zeros(x.shape)
        for _, _, om in self._sweeps(A, missing, block, FIRST_SWEEPS, SWEEPS):
            other += np.exp(-2.0 * np.clip(x * om, -300.0, 300.0)) / SWEEPS
            filled += expit(2.0 * om) / SWEEPS
        alone = np.where(x > 0.0, 1.0, other) / (1.0 + other)
        return np.where(missing == 1, filled, alone)
