"""Row functions of binary sparse coding: what the estimator's verbs rest on.

Rows are judged at temperature 1, with all states of the causes where these are few (the likelihood is then exact), and
otherwise with as many as the end of a fit looks at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.data import Block
from hiddenbits.data.kernels import compiled_twin, kernels_pay
from hiddenbits.data.operands import scratch
from hiddenbits.families.binary_sparse_coding.params import CodingParams, CodingStats
from hiddenbits.families.binary_sparse_coding.truncated_posterior import (
    BLANK_ROWS,
    ROWS,
    Prepared,
    RowPosterior,
    Truncation,
    squares_of,
    truncation,
)
from hiddenbits.maths.missing_rows import rows_with_blanks
from hiddenbits.maths.state_sums import states_of

EXACT_CAUSES = 12  # up to 4,096 states a row


@dataclass(frozen=True, eq=False)
class CodingShared:
    """What a pass shares, and what the verbs do: the second is made when it is first asked for."""

    now: Prepared
    _make: Callable[[], Prepared]

    @cached_property
    def rows(self) -> Prepared:
        """For the verbs: temperature 1, and all states where these are few."""
        return self._make()


def runs_of(block: Block, dtype: Any = np.float64) -> Iterator[tuple[Any, Any]]:
    """Yield (rows, observed): runs of rows without blanks, for which `observed` is None, and of rows with them."""
    blank = rows_with_blanks(block)
    if not blank.size:
        for start in range(0, block.n_rows, ROWS):
            yield slice(start, min(start + ROWS, block.n_rows)), None
        return
    whole = np.setdiff1d(np.arange(block.n_rows), blank)
    for start in range(0, len(whole), ROWS):
        yield whole[start : start + ROWS], None
    for start in range(0, len(blank), BLANK_ROWS):
        rows = blank[start : start + BLANK_ROWS]
        yield rows, block.observed.take(rows).to_dense().astype(dtype)


class CodingRows:
    """The row functions."""

    n_components: int
    wide_candidates: int
    wide_active: int

    @property
    def row_states(self) -> tuple[int, int]:
        """(H', gamma) of the verbs."""
        H = self.n_components
        if H <= EXACT_CAUSES:
            return H, H
        c = min(self.wide_candidates, H)
        return c, min(self.wide_active, c)

    def rows_prepared(self, params: CodingParams) -> Prepared:
        """Return what the verbs share."""
        return self.prepared(params, truncation(*self.row_states), 1.0, np.float64)

    def prepared(self, params: CodingParams, states: Truncation, temperature: float, dtype: Any) -> Prepared:
        """Return what rows share at a temperature: the place where a model says how its causes combine."""
        return Prepared(params, states, temperature, dtype)

    def _each(self, shared: CodingShared, block: Block, take: Callable[[RowPosterior], Any], **asked: Any) -> Floats:
        """Return what `take` finds in the posterior of each row."""
        now, Y, out = shared.rows, np.asarray(block.x.operand(slot="x")), None
        for rows, observed in runs_of(block):
            values = take(now.look(Y[rows], observed, squares_of(Y[rows]), **asked))
            if out is None:
                out = np.empty((block.n_rows, *values.shape[1:]))
            out[rows] = values
        return np.asarray(out)

    def log_likelihood(self, params: CodingParams, shared: CodingShared, block: Block) -> Floats:
        """Return ln p(observed numbers) of each row, exact or a lower bound."""
        return self._each(shared, block, lambda found: found.scores, only_scores=True)

    def posterior(self, params: CodingParams, shared: CodingShared, block: Block) -> Floats:
        """Return P(s_h = 1 | observed numbers) of each row."""
        return self._each(shared, block, lambda found: found.means)

    def code(self, params: CodingParams, shared: CodingShared, block: Block) -> Floats:
        """Return the most probable state of the causes."""
        return self._each(shared, block, lambda found: found.best, best=True)

    def reconstruct(self, params: CodingParams, codes: Floats) -> Floats:
        """Return E[y] given which causes are on: W s."""
        return np.asarray(codes @ params.fields.T)

    def fill(self, params: CodingParams, shared: CodingShared, block: Block) -> Floats:
        """Return E[y_j | observed numbers], for every cell."""
        return self.reconstruct(params, self.posterior(params, shared, block))

    def leave_one_out(self, params: CodingParams, shared: CodingShared, block: Block) -> Floats:
        """Refuse: a real number has a density given the others, not a probability."""
        raise ValueError(
            "bit_probabilities needs a table of bits, but this model has real numbers. Use complete on a copy in "
            "which these cells are blank."
        )

    def draw(self, params: CodingParams, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw n rows and which causes are on."""
        s = (rng.random((n, params.n_components)) < params.activity).astype(np.float64)
        noise = float(params.noise) * rng.standard_normal((n, params.n_columns))
        return self.reconstruct(params, s) + noise, s

    def hidden_states(self, params: CodingParams) -> Floats:
        """Return every state of the causes."""
        return states_of(params.n_components)

    def log_joint(self, params: CodingParams, y: Floats, s: Floats) -> float:
        """Return ln p(y, s) of one complete row: the definition, equation 1."""
        pi, variance = params.activity, float(params.noise) ** 2
        apart = y - params.fields @ s
        prior = np.sum(s * np.log(pi) + (1.0 - s) * np.log1p(-pi))
        return float(prior - 0.5 * (len(y) * np.log(2.0 * np.pi * variance) + apart @ apart / variance))


# The E-step of rows without blanks by compiled kernels (`whole_rows_numba.py`); `SparseCoding.expect` is the twin.

STATES = 1 << 16  # weights of states that are worked on at a time: they stay in a core's cache


fast_kernels = compiled_twin("hiddenbits.families.binary_sparse_coding.whole_rows_numba")


def kernels_for(now: Prepared, block: Block) -> Any:
    """Return the compiled kernels where they serve the rows of a block, None otherwise."""
    return fast_kernels() if now.adds and kernels_pay() and not rows_with_blanks(block).size else None


def whole_scores(kernels: Any, now: Prepared, block: Block) -> Floats:
    """Return the scores of the rows of a block, the same bits as `whole_rows` finds."""
    Y, scores = np.asarray(block.x.operand(now.dtype, slot="x")), np.empty(block.n_rows)
    for run in _runs(kernels, now, Y, squares_of(Y), scratch("means", (len(Y), now.params.n_components), now.dtype)):
        scores[run.rows] = run.scores
    return scores


def whole_rows(kernels: Any, params: CodingParams, now: Prepared, block: Block) -> CodingStats:
    """Return the statistics of a block."""
    n, H = block.n_rows, params.n_components
    Y = np.asarray(block.x.operand(now.dtype, slot="x"))
    squares, scores, means = squares_of(Y), np.empty(n), scratch("means", (n, H), now.dtype)
    counted, hidden, pairs = block.weights.copy(), np.zeros(H), np.zeros(H * H)
    for run in _runs(kernels, now, Y, squares, means):
        rows, moments = run.rows, np.matmul(run.states, now.table, out=run.features)
        scores[rows] = run.scores
        of_rows = (means[rows], moments, run.shares, run.candidates, run.scores)
        kernels.add_moments(*of_rows, params.cut, counted[rows], hidden, pairs)
    return CodingStats(
        np.asarray(block.weights @ scores),
        np.asarray(block.weights.sum()),
        np.asarray(counted.sum()),
        np.asarray(counted @ squares),
        hidden,
        (Y.T @ means).astype(np.float64, copy=False),
        pairs.reshape(H, H),
    )


class _Run(NamedTuple):
    """Some rows: the weights of their states but for their sum, 1 / `shares`; features are room for the moments."""

    rows: slice
    states: AnyArray
    features: AnyArray
    candidates: Rows
    shares: AnyArray
    scores: Floats


def _runs(kernels: Any, now: Prepared, Y: AnyArray, squares: Floats, f: AnyArray) -> Iterator[_Run]:
    """Yield a few rows at a time; the weights of causes alone are put into f, (rows, H)."""
    n, n_states, constants = len(Y), now.states.n_states, now.constants(Y.shape[1], squares)
    step = min(n, max(ROWS, STATES // n_states))
    states = scratch("states", (step, n_states), now.dtype)
    features = scratch("moments", (step, now.table.shape[1]), now.dtype)
    candidates: Rows = np.empty((step, now.states.n_candidates), np.intp)
    (tops, shares), logs = np.empty((2, step), now.dtype), np.empty(step)
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        few = slice(rows.stop - start)
        alone, together, chosen = f[rows], states[few], candidates[few]
        np.matmul(Y[rows], now.scaled_fields, out=alone)
        kernels.candidates(alone, now.per_length, now.alone, now.couplings, chosen, features[few])
        np.matmul(features[few], now.table_across, out=together)
        kernels.shift(alone, together, chosen, tops)
        np.exp(together, out=together)
        np.exp(alone, out=alone)
        kernels.add_up(alone, together, tops, shares, logs)
        scores = now.temperature * logs[few] + constants[rows]
        yield _Run(rows, together, features[few], chosen, shares[few], scores)
