"""The E-step of binary sparse coding, block by block: statistics and scores of rows.

Rows without missing values have compiled kernels (`whole_rows_numba.py`); `_statistics` is their NumPy twin.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.data import Block
from hiddenbits.data.kernels import compiled_twin, kernels_pay
from hiddenbits.data.operands import scratch
from hiddenbits.families.binary_sparse_coding.params import CodingScores, CodingStats
from hiddenbits.families.binary_sparse_coding.truncated_posterior import (
    INCOMPLETE_ROWS,
    ROWS,
    Prepared,
    RowPosterior,
    squares_of,
)
from hiddenbits.maths.missing_rows import rows_with_missing

Cut = tuple[float, float]  # (score, share): rows above this score count fully, rows at it with this share
EVERY_ROW: Cut = (-np.finfo(np.float64).max, 1.0)
RUN_STATES = 1 << 16  # processed at a time: their weights fit in the cache of a core


fast_kernels = compiled_twin("hiddenbits.families.binary_sparse_coding.whole_rows_numba")


def _kernels_for(block: Block) -> Any:
    """Return the compiled kernels if they apply to the rows of a block, otherwise None."""
    return fast_kernels() if kernels_pay() and not rows_with_missing(block).size else None


def runs_of(block: Block, dtype: Any = np.float64) -> Iterator[tuple[Any, Any]]:
    """Yield (rows, observed): runs of complete rows, for which `observed` is None, and of rows with missing values."""
    incomplete = rows_with_missing(block)
    if not incomplete.size:
        for start in range(0, block.n_rows, ROWS):
            yield slice(start, min(start + ROWS, block.n_rows)), None
        return
    complete = np.setdiff1d(np.arange(block.n_rows), incomplete)
    for start in range(0, len(complete), ROWS):
        yield complete[start : start + ROWS], None
    for start in range(0, len(incomplete), INCOMPLETE_ROWS):
        rows = incomplete[start : start + INCOMPLETE_ROWS]
        yield rows, block.observed.take(rows).to_dense().astype(dtype)


def scores_of(shared: Prepared, block: Block) -> CodingScores:
    """Return the scores of the rows of a block, exactly as in `statistics_of`."""
    Y, scores = np.asarray(block.x.operand(shared.dtype, slot="x")), np.empty(block.n_rows)
    if (kernels := _kernels_for(block)) is not None:
        means = scratch("means", (len(Y), shared.params.n_components), shared.dtype)
        for run in _compiled_runs(kernels, shared, Y, squares_of(Y), means):
            scores[run.rows] = run.scores
    else:
        for rows, observed in runs_of(block, shared.dtype):
            scores[rows] = shared.posterior(Y[rows], observed, squares_of(Y[rows]), only_scores=True).scores
    return CodingScores(scores, block.weights.copy())


def statistics_of(shared: Prepared, cut: Cut, block: Block) -> CodingStats:
    """Return the sums over the rows of a block that are within the cut."""
    kernels = _kernels_for(block)
    return _statistics(shared, cut, block) if kernels is None else _compiled_statistics(kernels, shared, cut, block)


def _statistics(shared: Prepared, cut: Cut, block: Block) -> CodingStats:
    n, H = block.n_rows, shared.params.n_components
    means = scratch("means", (n, H), shared.dtype)
    pairs = scratch("pairs", (n, len(shared.states.first)), shared.dtype)
    pair_positions: Rows = np.empty(pairs.shape, np.intp)
    Y, squares, scores = np.asarray(block.x.operand(shared.dtype, slot="x")), np.empty(n), np.empty(n)
    weights, missing_joint, missing_squares = np.empty(n), None, 0.0
    for rows, observed in runs_of(block, shared.dtype):
        squares[rows] = squares_of(Y[rows])
        out = means[rows] if isinstance(rows, slice) else None
        posterior = shared.posterior(Y[rows], observed, squares[rows], out=out)
        if out is None:
            means[rows] = posterior.means
        scores[rows], pairs[rows] = posterior.scores, posterior.pairs
        pair_positions[rows] = shared.pair_positions(posterior.candidates)
        weights[rows] = block.weights[rows] * _within(cut, posterior.scores)
        if observed is not None:
            run_joint, run_squares = _missing_sums(shared, observed, posterior, weights[rows])
            missing_joint = run_joint if missing_joint is None else missing_joint + run_joint
            missing_squares += run_squares
    if (weights != 1.0).any():
        means *= weights[:, None].astype(shared.dtype)
        pairs *= weights[:, None].astype(shared.dtype)
    joint = (Y.T @ means).astype(np.float64, copy=False)
    return CodingStats(
        np.asarray(block.weights @ scores),
        np.asarray(block.weights.sum()),
        np.asarray(weights.sum()),
        np.asarray(weights @ squares + missing_squares),
        means.sum(axis=0, dtype=np.float64),
        joint if missing_joint is None else joint + missing_joint,
        np.asarray(np.bincount(pair_positions.ravel(), pairs.ravel(), H * H), np.float64).reshape(H, H),
    )


def _within(cut: Cut, scores: Floats) -> Floats:
    """Return the share of each row that is within the cut."""
    return np.where(scores > cut[0], 1.0, np.where(scores == cut[0], cut[1], 0.0))


def _missing_sums(shared: Prepared, observed: Any, posterior: RowPosterior, weights: Floats) -> tuple[Floats, float]:
    """Return what missing numbers add to Sum <y s'>, <y_j s'> = W_j <s s'>, and Sum <y'y>, <y_j^2> = sigma^2 + ..."""
    n, c = posterior.candidates.shape
    H, missing, states = shared.params.n_components, 1.0 - observed, shared.states
    weighted = posterior.means * weights[:, None]
    joint = shared.params.fields * (missing.T @ weighted)  # <s_h s_h>
    pairs = np.zeros((n, c, c))  # <s_i s_j> of different candidates
    pairs[:, states.first, states.second] = posterior.pairs * weights[:, None]
    pairs += pairs.transpose(0, 2, 1)
    cross = (pairs @ shared.rows_of_fields[posterior.candidates]) * missing[:, None, :]
    indicator = sparse.csr_array((np.ones(n * c), posterior.candidates.ravel(), np.arange(n * c + 1)), shape=(n * c, H))
    joint += (indicator.T @ cross.reshape(n * c, -1)).T
    squares = float(np.sum(weighted * (missing @ shared.squared_fields)))
    squares += float(np.sum(pairs * shared.observed_gram(missing, posterior.candidates)))
    return joint, squares + float(shared.params.noise) ** 2 * float(weights @ missing.sum(axis=1))


def _compiled_statistics(kernels: Any, shared: Prepared, cut: Cut, block: Block) -> CodingStats:
    n, H = block.n_rows, shared.params.n_components
    Y = np.asarray(block.x.operand(shared.dtype, slot="x"))
    squares, scores, means = squares_of(Y), np.empty(n), scratch("means", (n, H), shared.dtype)
    weights, hidden, pairs = block.weights.copy(), np.zeros(H), np.zeros(H * H)
    for run in _compiled_runs(kernels, shared, Y, squares, means):
        rows, moments = run.rows, np.matmul(run.states, shared.table, out=run.features)
        scores[rows] = run.scores
        arrays = (means[rows], moments, run.shares, run.candidates, run.scores)
        kernels.add_moments(*arrays, np.array(cut), weights[rows], hidden, pairs)
    return CodingStats(
        np.asarray(block.weights @ scores),
        np.asarray(block.weights.sum()),
        np.asarray(weights.sum()),
        np.asarray(weights @ squares),
        hidden,
        (Y.T @ means).astype(np.float64, copy=False),
        pairs.reshape(H, H),
    )


class _Run(NamedTuple):
    """Some rows: weights of their states, not yet multiplied by `shares`; `features` is a buffer for the moments."""

    rows: slice
    states: AnyArray
    features: AnyArray
    candidates: Rows
    shares: AnyArray
    scores: Floats


def _compiled_runs(kernels: Any, shared: Prepared, Y: AnyArray, squares: Floats, f: AnyArray) -> Iterator[_Run]:
    """Yield some rows at a time; the weights of single causes are put into f, (rows, H)."""
    n, n_states, constants = len(Y), shared.states.n_states, shared.constants(Y.shape[1], squares)
    step = min(n, max(ROWS, RUN_STATES // n_states))
    states = scratch("states", (step, n_states), shared.dtype)
    features = scratch("moments", (step, shared.table.shape[1]), shared.dtype)
    candidates: Rows = np.empty((step, shared.states.n_candidates), np.intp)
    (tops, shares), logs = np.empty((2, step), shared.dtype), np.empty(step)
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        in_run = slice(rows.stop - start)
        single, run_states, run_candidates = f[rows], states[in_run], candidates[in_run]
        np.matmul(Y[rows], shared.scaled_fields, out=single)
        kernels.candidates(single, shared.per_length, shared.single, shared.couplings, run_candidates, features[in_run])
        np.matmul(features[in_run], shared.table_transposed, out=run_states)
        kernels.subtract_largest(single, run_states, run_candidates, tops)
        np.exp(run_states, out=run_states)
        np.exp(single, out=single)
        kernels.sum_weights(single, run_states, tops, shares, logs)
        scores = shared.temperature * logs[in_run] + constants[rows]
        yield _Run(rows, run_states, features[in_run], run_candidates, shares[in_run], scores)
