"""The E-step of binary sparse coding, block by block: what the rows add up to, and how well they are explained.

Rows without blanks have compiled kernels (`whole_rows_numba.py`) where these serve; `_statistics` is the twin.
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
from hiddenbits.families.binary_sparse_coding.params import CodingStats, RowScores
from hiddenbits.families.binary_sparse_coding.truncated_posterior import (
    BLANK_ROWS,
    ROWS,
    Prepared,
    RowPosterior,
    squares_of,
)
from hiddenbits.maths.missing_rows import rows_with_missing

Cut = tuple[float, float]  # rows count whose score is above the first number; of those that equal it a share does
EVERY_ROW: Cut = (-np.finfo(np.float64).max, 1.0)
STATES = 1 << 16  # weights of states that are worked on at a time: they stay in a core's cache


fast_kernels = compiled_twin("hiddenbits.families.binary_sparse_coding.whole_rows_numba")


def _kernels_for(block: Block) -> Any:
    """Return the compiled kernels where they serve the rows of a block, None otherwise."""
    return fast_kernels() if kernels_pay() and not rows_with_missing(block).size else None


def runs_of(block: Block, dtype: Any = np.float64) -> Iterator[tuple[Any, Any]]:
    """Yield (rows, observed): runs of rows without blanks, for which `observed` is None, and of rows with them."""
    blank = rows_with_missing(block)
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


def scores_of(now: Prepared, block: Block) -> RowScores:
    """Return the scores of the rows of a block, the same bits as `statistics_of` finds."""
    Y, scores = np.asarray(block.x.operand(now.dtype, slot="x")), np.empty(block.n_rows)
    if (kernels := _kernels_for(block)) is not None:
        means = scratch("means", (len(Y), now.params.n_components), now.dtype)
        for run in _compiled_runs(kernels, now, Y, squares_of(Y), means):
            scores[run.rows] = run.scores
    else:
        for rows, observed in runs_of(block, now.dtype):
            scores[rows] = now.look(Y[rows], observed, squares_of(Y[rows]), only_scores=True).scores
    return RowScores(scores, block.weights.copy())


def statistics_of(now: Prepared, cut: Cut, block: Block) -> CodingStats:
    """Return the sums over the rows of a block, those within the cut."""
    kernels = _kernels_for(block)
    return _statistics(now, cut, block) if kernels is None else _compiled_statistics(kernels, now, cut, block)


def _statistics(now: Prepared, cut: Cut, block: Block) -> CodingStats:
    n, H = block.n_rows, now.params.n_components
    means = scratch("means", (n, H), now.dtype)
    pairs = scratch("pairs", (n, len(now.states.first)), now.dtype)
    places: Rows = np.empty(pairs.shape, np.intp)
    Y, squares, scores = np.asarray(block.x.operand(now.dtype, slot="x")), np.empty(n), np.empty(n)
    counted, filled, filled_squares = np.empty(n), None, 0.0
    for rows, observed in runs_of(block, now.dtype):
        squares[rows] = squares_of(Y[rows])
        posterior = now.look(Y[rows], observed, squares[rows], out=means[rows] if isinstance(rows, slice) else None)
        if not isinstance(rows, slice):
            means[rows] = posterior.means
        scores[rows], pairs[rows] = posterior.scores, posterior.pairs
        places[rows] = now.pair_places(posterior.candidates)
        counted[rows] = block.weights[rows] * _within(cut, posterior.scores)
        if observed is not None:
            more, more_squares = _filled(now, observed, posterior, counted[rows])
            filled = more if filled is None else filled + more
            filled_squares += more_squares
    if (counted != 1.0).any():
        means *= counted[:, None].astype(now.dtype)
        pairs *= counted[:, None].astype(now.dtype)
    joint = (Y.T @ means).astype(np.float64, copy=False)
    return CodingStats(
        np.asarray(block.weights @ scores),
        np.asarray(block.weights.sum()),
        np.asarray(counted.sum()),
        np.asarray(counted @ squares + filled_squares),
        means.sum(axis=0, dtype=np.float64),
        joint if filled is None else joint + filled,
        np.asarray(np.bincount(places.ravel(), pairs.ravel(), H * H), np.float64).reshape(H, H),
    )


def _within(cut: Cut, scores: Floats) -> Floats:
    """Return the share of each row that is within the cut."""
    return np.where(scores > cut[0], 1.0, np.where(scores == cut[0], cut[1], 0.0))


def _filled(now: Prepared, observed: Any, posterior: RowPosterior, counted: Floats) -> tuple[Floats, float]:
    """Return what missing numbers add to Sum <y s'> and Sum <y'y>: <y_j s'> = W_j <s s'>, <y_j^2> = sigma^2 + ..."""
    n, c = posterior.candidates.shape
    H, missing, states = now.params.n_components, 1.0 - observed, now.states
    weighted = posterior.means * counted[:, None]
    joint = now.params.fields * (missing.T @ weighted)  # <s_h s_h>
    together = np.zeros((n, c, c))  # <s_i s_j> of different candidates
    together[:, states.first, states.second] = posterior.pairs * counted[:, None]
    together += together.transpose(0, 2, 1)
    across = (together @ now.rows_of_fields[posterior.candidates]) * missing[:, None, :]
    chosen = sparse.csr_array((np.ones(n * c), posterior.candidates.ravel(), np.arange(n * c + 1)), shape=(n * c, H))
    joint += (chosen.T @ across.reshape(n * c, -1)).T
    squares = float(np.sum(weighted * (missing @ now.squared_fields)))
    squares += float(np.sum(together * now.observed_gram(missing, posterior.candidates)))
    return joint, squares + float(now.params.noise) ** 2 * float(counted @ missing.sum(axis=1))


def _compiled_statistics(kernels: Any, now: Prepared, cut: Cut, block: Block) -> CodingStats:
    n, H = block.n_rows, now.params.n_components
    Y = np.asarray(block.x.operand(now.dtype, slot="x"))
    squares, scores, means = squares_of(Y), np.empty(n), scratch("means", (n, H), now.dtype)
    counted, hidden, pairs = block.weights.copy(), np.zeros(H), np.zeros(H * H)
    for run in _compiled_runs(kernels, now, Y, squares, means):
        rows, moments = run.rows, np.matmul(run.states, now.table, out=run.features)
        scores[rows] = run.scores
        of_rows = (means[rows], moments, run.shares, run.candidates, run.scores)
        kernels.add_moments(*of_rows, np.array(cut), counted[rows], hidden, pairs)
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


def _compiled_runs(kernels: Any, now: Prepared, Y: AnyArray, squares: Floats, f: AnyArray) -> Iterator[_Run]:
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
