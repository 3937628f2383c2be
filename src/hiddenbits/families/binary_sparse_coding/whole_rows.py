"""The E-step of rows without blanks by compiled kernels (`whole_rows_numba.py`); `SparseCoding.expect` is the twin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.data import Block
from hiddenbits.data.kernels import compiled_twin, kernels_pay
from hiddenbits.data.operands import scratch
from hiddenbits.families.binary_sparse_coding.params import CodingParams, CodingStats
from hiddenbits.families.binary_sparse_coding.truncated_posterior import ROWS, Prepared, squares_of
from hiddenbits.maths.missing_rows import rows_with_blanks

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
