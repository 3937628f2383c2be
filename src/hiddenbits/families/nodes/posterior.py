"""The E-step of a mixture with K nodes: the posterior P(node | row), ln P(row), and expected counts.

    score_nk = ln P(x_n, k) = x_n.a_k + o_n.c_k + ln pi_k         (`NodeScores` has a, c and ln pi)
    r_nk = exp(score_nk) / Sum_l exp(score_nl)                   ln P(x_n) = ln Sum_k exp(score_nk)

If all cells are observed, o.c + ln pi is the same for every row; the cost of a sparse block is then that of its 1s.
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
from hiddenbits.families.nodes.mixed import MixedCounts, MixedParams, numbers_as_expected
from hiddenbits.families.nodes.params import HasNodes, NodeCounts, NodeScores
from hiddenbits.maths.numerics import softmax_rows
from hiddenbits.model_api import Footprint

SPARSE_R_NODES, SPARSE_R_COLUMNS = 64, 256  # from so many on, check whether nearly all r are negligible
SPARSE_R_SHARE = 64  # a sparse r pays if less than 1/64 of its entries are not negligible
NEGLIGIBLE_R = 1e-17  # far below rounding


def footprint(n_nodes: int, n_columns: int, row_cells: float) -> Footprint:
    """Return the cost of a block: for each row, two products of its cells with K nodes."""
    dense = n_columns if row_cells >= n_columns else 0
    return Footprint(working=dense + 2 * n_nodes, statistics=n_columns * n_nodes, flops=4 * row_cells * n_nodes)


def _varying(scores: NodeScores, block: Block, x: Operand, slot: str | None = None) -> Floats:
    """Return the part of ln P(x, node) that depends on the cells: x.a, and ln p of the numbers."""
    of_bits = product(x, scores.x_coefs, slot)
    return of_bits if scores.numbers is None else np.asarray(of_bits + scores.numbers.log_densities(block))


def log_joint(scores: NodeScores, block: Block) -> Floats:
    """Return ln P(observed cells, node) of each row, (n, K)."""
    x, o = block.operands()
    return np.asarray(_varying(scores, block, x) + _offsets(scores, o))


def _posterior(
    scores: NodeScores, block: Block, weights: Floats | None, slot: str | None = None
) -> tuple[Floats, Floats, Operand, Operand]:
    """Return r (times the row's weight if `weights` are given), ln P(x) and the operands of the block."""
    x, o = block.operands()
    r = _varying(scores, block, x, slot)  # softmax_rows turns it into r in place
    log_p = softmax_rows(r, _offsets(scores, o), weights, shift=scores.may_vanish)
    return r, log_p, x, o


def _offsets(scores: NodeScores, o: Operand) -> Floats:
    """Return o.c + ln pi of each row, (n, K), or (1, K) if all cells are observed."""
    if isinstance(o, OnesOperand):
        return scores.offsets
    c_sums = scores.offsets - scores.log_weights
    return product_with_totals(o, scores.observed_coefs, c_sums) + scores.log_weights


def posterior(scores: NodeScores, block: Block) -> Floats:
    """Return P(node | the row's observed cells), (n, K)."""
    return _posterior(scores, block, None)[0]


def log_likelihood(scores: NodeScores, block: Block) -> Floats:
    """Return ln P(observed cells) of each row."""
    return _posterior(scores, block, None, "posterior")[1]


def expected_counts(scores: NodeScores, block: Block) -> NodeCounts:
    """E-step: return the expected counts of each node."""
    r, log_p, x, o = _posterior(scores, block, block.weights, "posterior")
    classes = column_sums(r)
    counts = NodeCounts(
        bound=np.asarray(block.weights @ log_p),
        weight=np.asarray(block.weight),
        classes=classes[0].copy(),
        ones=_expected_ones(x, r, block.weights),
        observed=classes if isinstance(o, OnesOperand) else product_with_totals(o.T, r, classes),
    )
    if scores.numbers is None:
        return counts
    return MixedCounts(**counts.to_arrays(), **scores.numbers.sums(block, r, classes))


def _expected_ones(x: Operand, r: Floats, weights: Floats) -> Floats:
    """Return x' r, (d, K), without negligible r if nearly all are."""
    if r.shape[1] >= SPARSE_R_NODES and isinstance(x, np.ndarray) and x.shape[1] >= SPARSE_R_COLUMNS:
        active = r > NEGLIGIBLE_R * weights[:, None]
        if np.count_nonzero(active) * SPARSE_R_SHARE < r.size:
            row, k = np.nonzero(active)
            sparse_r = csr_array((r[row, k], (k, row)), shape=r.shape[::-1])
            return np.ascontiguousarray((sparse_r @ x).T)
    return sums_over_rows(x, r)


def counts_as_expected(params: HasNodes, weight: float) -> NodeCounts:
    """Return the expected counts of rows from the model itself, from which online EM continues after a fit."""
    classes = weight * params.weights
    counts = (np.zeros(()), np.asarray(weight), classes, params.probabilities * classes, classes[None, :].copy())
    if isinstance(params, MixedParams):
        return MixedCounts(*counts, **numbers_as_expected(params, classes))
    return NodeCounts(*counts)
