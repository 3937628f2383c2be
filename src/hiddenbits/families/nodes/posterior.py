"""The E-step of all nodes: a row's score at every node, P(node | row), and expected counts.

ln P(x, k) = x.a_k + o.c_k + ln pi_k: the cost follows the ones, since zeros are in the column sums of c.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.data.operands import (
    OnesOperand,
    Operand,
    column_sums,
    product,
    product_with_totals,
    sums_over_rows,
)
from hiddenbits.families.nodes.params import AtNodes, NodeCounts, Scores
from hiddenbits.maths.numerics import softmax_rows
from hiddenbits.model_api import Footprint

MANY_NODES, MANY_COLUMNS = 64, 256  # from which on it is worth a look whether rows have few of the nodes
NEGLIGIBLE = 1e-17  # share of a row at a node: far below rounding


def footprint(n_nodes: int, n_columns: int, row_cells: float) -> Footprint:
    """Return what a block costs: two products of row_cells x K."""
    dense = n_columns if row_cells >= n_columns else 0
    return Footprint(working=dense + 2 * n_nodes, statistics=n_columns * n_nodes, flops=4 * row_cells * n_nodes)


def _posterior(
    scores: Scores, block: Block, weights: Floats | None, slot: str | None = None
) -> tuple[Floats, Floats, Operand, Operand]:
    """Return P(node | row), times the row's weight where there is one, ln P(x) and the operands of the block."""
    x, o = block.operands()
    r = product(x, scores.of_one, slot)
    log_p = softmax_rows(r, _of_zeros(scores, o), weights, shift=scores.may_vanish)
    return r, log_p, x, o


def _of_zeros(scores: Scores, o: Operand) -> Floats:
    """Return the scores of rows of zeros, of which some cells were observed: one row where all were."""
    if isinstance(o, OnesOperand):
        return scores.of_zeros
    totals = scores.of_zeros - scores.log_prior
    return product_with_totals(o, scores.of_observed, totals) + scores.log_prior


def posterior(scores: Scores, block: Block) -> Floats:
    """Return P(node | the row's observed cells), (n, K)."""
    return _posterior(scores, block, None)[0]


def log_likelihood(scores: Scores, block: Block) -> Floats:
    """Return ln P(observed cells) of each row."""
    return _posterior(scores, block, None, "posterior")[1]


def expected_counts(scores: Scores, block: Block) -> NodeCounts:
    """Return the expected ones and observed cells of each node: the E-step."""
    r, log_p, x, o = _posterior(scores, block, block.weights, "posterior")
    classes = column_sums(r)
    return NodeCounts(
        bound=np.asarray(block.weights @ log_p),
        weight=np.asarray(block.weight),
        classes=classes[0].copy(),
        ones=_expected_ones(x, r, block.weights),
        observed=classes if isinstance(o, OnesOperand) else product_with_totals(o.T, r, classes),
    )


def _expected_ones(x: Operand, r: Floats, weights: Floats) -> Floats:
    """Return x' r, (d, K); where rows have hardly more than one of many nodes, by these alone."""
    if r.shape[1] >= MANY_NODES and isinstance(x, np.ndarray) and x.shape[1] >= MANY_COLUMNS:
        active = r > NEGLIGIBLE * weights[:, None]
        if np.count_nonzero(active) * MANY_NODES < r.size:
            row, k = np.nonzero(active)
            shares = csr_array((r[row, k], (k, row)), shape=r.shape[::-1])
            return np.ascontiguousarray((shares @ x).T)
    return sums_over_rows(x, r)


def counts_as_expected(params: AtNodes, weight: float) -> NodeCounts:
    """Return the counts of rows that are just as the model expects, for online EM to continue from a fit."""
    classes = weight * params.weights
    return NodeCounts(
        np.zeros(()), np.asarray(weight), classes, params.probabilities * classes, classes[None, :].copy()
    )
