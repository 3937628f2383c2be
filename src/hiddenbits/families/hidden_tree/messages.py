"""Messages along a hidden tree: from the leaves to the root and back, all rows of a block at a time.

Letters as in `model.py`. One column after the other: what is worked on stays in the cache, and the buffers are
those of the thread, because fresh memory for every block costs more than the arithmetic. `log_likelihood` and
`expected_counts` have a compiled twin (`messages_numba.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data import AllOnes, Block
from hiddenbits.data.kernels import compiled_twin
from hiddenbits.data.operands import scratch
from hiddenbits.families.hidden_tree.params import HiddenTreeParams


def rows_of_bits(block: Block) -> AnyArray:
    """Return which row of `HiddenTreeParams.of_bits` each cell stands for, (d, rows)."""
    cells = block.x.to_dense().T.astype(np.intp)
    if not isinstance(block.observed, AllOnes):
        cells[block.observed.to_dense().T == 0] = 2
    cells += 3 * np.arange(block.n_columns)[:, None]
    return cells


def _buffer(name: str, d: int, n: int, K: int) -> Floats:
    return scratch(name, (d * n, K)).reshape(d, n, K)


def upward(params: HiddenTreeParams, block: Block) -> tuple[Floats, Floats, Floats]:
    """Return b and u of all columns, (d, rows, K), in this thread's buffers, and ln P(x).

    b are scaled now and then to add up to 1 (those of a root at the end, with P(h) in them), and the logs of the scales
    add up to ln P(x).
    """
    d, n, K = params.n_columns, block.n_rows, params.n_states
    b, u = _buffer("hidden tree, up", d, n, K), _buffer("hidden tree, messages", d, n, K)
    np.take(params.of_bits, rows_of_bits(block), axis=0, out=b, mode="clip")
    scales, every = [], np.ones(K)

    def scaled(mine: Floats) -> None:
        scale = mine @ every
        np.divide(mine, scale[:, None], out=mine)
        scales.append(scale)

    for j in reversed(params.order):
        parent, mine = params.above[j], b[j]
        if parent < 0:
            mine *= params.moves[j, 0]
            scaled(mine)
            continue
        np.matmul(mine, params.turned[j], out=u[j])
        b[parent] *= u[j]
        if j in params.rescaled:
            scaled(b[parent])
    return b, u, np.log(np.array(scales)).sum(axis=0)


def downward(
    params: HiddenTreeParams, b: Floats, u: Floats, weights: Floats | None = None, counted: Floats | None = None
) -> Floats:
    """Return g, P(h_j = k | x) (times the row's weight), in the place of b.

    Where `counted` is given, the expected moves are written there; those of a root into its first row.
    """
    part, moved = scratch("hidden tree, down", u.shape[1:]), scratch("hidden tree, moved", u.shape[1:])
    for j in params.order:
        parent, mine = params.above[j], b[j]
        if parent < 0:
            if weights is not None:
                mine *= weights[:, None]
            if counted is not None:
                counted[j, 0] = mine.sum(axis=0)
            continue
        np.divide(b[parent], u[j], out=part)
        if counted is not None:
            np.matmul(part.T, mine, out=counted[j])
            counted[j] *= params.moves[j]
        np.matmul(part, params.moves[j], out=moved)
        mine *= moved
    return b


def log_likelihood(params: HiddenTreeParams, block: Block) -> Floats:
    """Return ln P(x) of each row."""
    kernels = fast_kernels()
    if kernels is None:
        return upward(params, block)[2]
    return _compiled(kernels, params, block, np.empty((0, 0, 0)), np.empty((0, 0, 0)))


def expected_counts(params: HiddenTreeParams, block: Block) -> tuple[Floats, Floats, Floats, Floats]:
    """Return ln P(x) of each row; the expected moves, (d, K, K), those of a root in its first row; ones and observed.

    The last two are the expected numbers of ones and of observed cells in each state, (d, K).
    """
    counted: Floats = np.zeros(params.moves.shape)
    kernels = fast_kernels()
    if kernels is not None:
        cells: Floats = np.zeros((params.n_columns, 2, params.n_states))
        log_p = _compiled(kernels, params, block, counted, cells)
        counted *= params.factors
        return log_p, counted, cells[:, 0], cells[:, 1]
    b, u, log_p = upward(params, block)
    g = downward(params, b, u, block.weights, counted)
    ones, observed = _sums_by_column(block.x.to_dense(), g), counted.sum(axis=1)
    if not isinstance(block.observed, AllOnes):
        observed = _sums_by_column(block.observed.to_dense(), g)
    return log_p, counted, ones, observed


def _sums_by_column(cells: AnyArray, g: Floats) -> Floats:
    """Return Sum_n cells_nj g_jnk, (d, K)."""
    return np.asarray(np.matmul(cells.T[:, None, :].astype(np.float64), g)[:, 0])


def _compiled(kernels: Any, params: HiddenTreeParams, block: Block, counted: Floats, cells: Floats) -> Floats:
    log_p: Floats = np.empty(block.n_rows)
    observed = np.empty((0, 0), np.uint8) if isinstance(block.observed, AllOnes) else block.observed.to_dense()
    buffer = scratch("hidden tree, rows last", (2 * params.n_columns, params.n_states * kernels.ROWS))
    constants = params.walk, params.of_bits, params.moves, params.turned
    kernels.add_block(*constants, block.x.to_dense(), observed, block.weights, buffer, log_p, counted, cells)
    return log_p


fast_kernels = compiled_twin("hiddenbits.families.hidden_tree.messages_numba")
