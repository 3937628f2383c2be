"""Latent tree model: each column depends on its own latent variable with K states, and these form a tree.

    P(x, h) = Prod_j P(h_j | h_parent(j)) P(x_j | h_j)

| letter | meaning | shape |
|---|---|---|
| x, o | binary data; observed | (rows, d) |
| h | states of the latent variables, 0 to K - 1 | (rows, d) |
| A | P(h_j = l, given h_parent(j) = k) | (d, K, K) |
| theta | P(x_j = 1, given h_j = k) | (d, K) |
| m, s | mean and strength of theta's prior, as in a latent class model | (d,), number |
| t | strength of A's prior: pseudo-rows of each state, spread evenly | number |

The tree is the Chow-Liu tree of the columns (Chow & Liu 1968); with latent variables the model is the "hidden
Chow-Liu tree" of Liu & Van den Broeck (2021). Sums over all h are exact, by messages from the leaves to the root and
back (Pearl 1988): with b_j(k) = P(cells of j and below | h_j = k), a child sends its parent u_j = A_j b_j, and

    b_j(k) = P(x_j | k) Prod over children u_c(k)          leaves to root
    g_j(l) = b_j(l) Sum_k A_j(k, l) g_parent(k) / u_j(k)   root to leaves; P(h_j = l, given x)
    P(h_parent = k, h_j = l, given x) = g_parent(k) / u_j(k) A_j(k, l) b_j(l)

If every A is the identity, all variables have the same state, and the model is a latent class model of K classes. A fit
begins near such a model: with the classes of a few iterations of EM as states, and rare moves between states. From
random A it reaches a much lower likelihood, because the dependence of distant columns is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, ClassVar

import numpy as np
from scipy.special import xlogy

from hiddenbits.array_types import AnyArray, Bytes, Floats
from hiddenbits.data import AllOnes, Block
from hiddenbits.data.kernels import compiled_twin
from hiddenbits.data.operands import scratch
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families.hidden_tree.params import HiddenTreeParams, HiddenTreeStats
from hiddenbits.families.nodes.classes import Classes
from hiddenbits.families.nodes.posterior import expected_counts as class_counts
from hiddenbits.maths.chow_liu import heaviest_forest, n_pairs, pair_number
from hiddenbits.maths.numerics import TINY, clip_probability, log_one_minus, share_or
from hiddenbits.maths.pair_counts import PairCounts, TwoByTwoTables, count_pairs
from hiddenbits.model_api import AsOnSubsample, Declared, Footprint, Key, Linked, Passes, Promises

START_MOVE_PROBABILITY = 0.1  # initial probability that a state is drawn anew, not copied from the parent
GAIN_RESOLUTION = (
    2.0**-36
)  # gains of links, as shares of the weight, are rounded to this: rounding errors do not decide
BATCH_COLUMNS = 64  # columns whose pairs with all later ones are processed together


@dataclass(frozen=True)
class StateTree(AsOnSubsample, Declared[HiddenTreeParams], Linked):
    """The model; hyperparameters only.

    Parameters
    ----------
    n_components : int
        K.
    prior_strength : float
        s.
    move_strength : float
        t.
    first_passes : int
        Iterations as a latent class model before the tree.
    """

    n_components: int = 4
    prior_strength: float = 1.0
    move_strength: float = 1.0
    first_passes: int = 20

    promises = Promises(start_sees_all=True)
    letters: ClassVar = {"K": ("n_components", "states")}
    params_type = HiddenTreeParams
    stats_type = HiddenTreeStats
    carry_type = None

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return the cost of a block: three products of K x K for each cell, 0 or 1."""
        K = self.n_components
        return Footprint(working=2 * n_columns * K, statistics=n_columns * K * K, flops=6 * n_columns * K * K)

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> HiddenTreeParams:
        """Return the Chow-Liu tree with the classes of a latent class model as states, and rare moves between them."""
        model = Classes(self.n_components, self.prior_strength)
        classes = model.start(summary, key, passes)
        for _ in range(self.first_passes if self.n_components > 1 else 0):
            classes = model.update(classes, passes(partial(class_counts, model.prepare(classes))))
        d, K = classes.probabilities.shape
        parents = chow_liu_parents(passes(count_pairs)) if d > 1 else np.full(d, -1.0)
        moves = np.tile(
            (1.0 - START_MOVE_PROBABILITY) * np.eye(K) + START_MOVE_PROBABILITY * classes.weights, (d, 1, 1)
        )
        moves[parents < 0] = classes.weights
        return HiddenTreeParams(parents, moves, classes.probabilities, classes.prior_mean)

    @property
    def has_prior(self) -> bool:
        """Whether the prior keeps parameters finite where a column does not vary."""
        return self.prior_strength > 0.0

    def prepare(self, params: HiddenTreeParams) -> None:
        """Compute the properties of the parameters that every block needs; they are cached."""
        _ = params.parent_numbers, params.order, params.rescaled, params.tree_arrays
        _ = params.transposed_moves, params.cell_probabilities, params.move_factors

    def expect(
        self, params: HiddenTreeParams, shared: None, block: Block, carry: None, key: Key
    ) -> tuple[HiddenTreeStats, None]:
        """E-step: expected counts from the posterior of every latent variable and of every pair of parent and child."""
        log_p, move_counts, ones, observed = expected_counts(params, block)
        bound, weight = np.asarray(block.weights @ log_p), np.asarray(block.weights.sum())
        return HiddenTreeStats(bound=bound, weight=weight, moves=move_counts, ones=ones, observed=observed), None

    def objective(self, params: HiddenTreeParams, stats: HiddenTreeStats) -> float:
        """Return log-likelihood plus log prior; the latter is 0 if every theta is m and all moves are equally probable.

        s Sum_jk [m ln(theta / m) + (1 - m) ln((1 - theta) / (1 - m))] + t/K Sum_jkl ln(K A_jkl)
        """
        theta, m, K = params.probabilities, params.prior_mean[:, None], params.n_states
        emission = np.sum(m * np.log(theta / m) + (1.0 - m) * (log_one_minus(theta) - log_one_minus(m)))
        has_parent = params.parents >= 0
        moves = np.sum(np.log(K * params.moves[has_parent])) + np.sum(np.log(K * params.moves[~has_parent][:, 0]))
        return float(stats.bound) + self.prior_strength * float(emission) + self.move_strength / K * float(moves)

    def update(self, params: HiddenTreeParams, stats: HiddenTreeStats) -> HiddenTreeParams:
        """M-step: A = (moves + t/K) / (rows of the parent's state + t), theta = (ones + s m) / (observed + s)."""
        s, t, m, weight = self.prior_strength, self.move_strength, params.prior_mean[:, None], float(stats.weight)
        theta = share_or(stats.ones + s * m, stats.observed + s, np.broadcast_to(m, stats.ones.shape), weight)
        counts = stats.moves + t / params.n_states
        counts[params.parents < 0] = counts[params.parents < 0][:, :1]
        moves = share_or(counts, counts.sum(axis=2, keepdims=True), params.moves, weight)
        return HiddenTreeParams(params.parents, _clipped_moves(moves), clip_probability(theta), params.prior_mean)

    # Row functions.

    def log_likelihood(self, params: HiddenTreeParams, shared: None, block: Block) -> Floats:
        """Return ln P(observed cells) of each row."""
        return log_likelihood(params, block)

    def _states(self, params: HiddenTreeParams, block: Block) -> Floats:
        """Return P(h_j = k | observed cells), (d, rows, K), in this thread's buffer."""
        b, u, _ = upward(params, block)
        return downward(params, b, u)

    def posterior(self, params: HiddenTreeParams, shared: None, block: Block) -> Floats:
        """Return P(h_j = k | observed cells), (n, d K)."""
        return self._states(params, block).transpose(1, 0, 2).reshape(block.n_rows, -1)

    def posterior_mode(self, params: HiddenTreeParams, shared: None, block: Block) -> Floats:
        """Return the most probable state of each latent variable, one-hot."""
        states = self._states(params, block).argmax(axis=2).T
        return np.asarray(np.eye(params.n_states)[states].reshape(block.n_rows, -1))

    def reconstruct(self, params: HiddenTreeParams, codes: Floats) -> Floats:
        """Return P(x = 1) given the probabilities g of the states: Sum_k g_jk theta_jk."""
        states = codes.reshape(len(codes), *params.probabilities.shape)
        return np.asarray(np.einsum("njk,jk->nj", states, params.probabilities))

    def fill(self, params: HiddenTreeParams, shared: None, block: Block) -> Floats:
        """Return P(x = 1 | observed cells) of every cell, as if it were observed anew."""
        return self.reconstruct(params, self.posterior(params, shared, block))

    def leave_one_out(self, params: HiddenTreeParams, shared: None, block: Block) -> Floats:
        """Return P(x_j = 1 | the other observed cells) of every cell: division by P(x_j | k) removes x_j from g."""
        g = self._states(params, block)
        g /= params.cell_probabilities[cell_numbers(block)]
        return np.asarray(np.einsum("jnk,jk->nj", g, params.probabilities) / g.sum(axis=2).T)

    def sample(self, params: HiddenTreeParams, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
        """Sample n rows from the root down, and their states (one-hot)."""
        d, K = params.probabilities.shape
        states = np.zeros((n, d), np.intp)
        for j in params.order:
            parent = params.parent_numbers[j]
            cumulative = params.moves[j][states[:, parent] if parent >= 0 else np.zeros(n, np.intp)].cumsum(axis=1)
            states[:, j] = np.minimum((rng.random(n)[:, None] >= cumulative).sum(axis=1), K - 1)
        x = rng.random((n, d)) < params.probabilities[np.arange(d), states]
        return x.view(np.uint8), np.eye(K)[states].reshape(n, -1)

    def hidden_states(self, params: HiddenTreeParams) -> Floats:
        """Return all combinations of states: K^d rows of d times K numbers, one-hot."""
        d, K = params.probabilities.shape
        return np.array([np.eye(K)[list(states)].ravel() for states in product(range(K), repeat=d)])

    def log_joint(self, params: HiddenTreeParams, x: Floats, h: Floats) -> float:
        """Return ln P(x, h) of one complete row: the definition."""
        states = h.reshape(params.probabilities.shape).argmax(axis=1)
        total = 0.0
        for j, k in enumerate(states):
            parent = params.parent_numbers[j]
            theta = params.probabilities[j, k]
            total += np.log(params.moves[j, states[parent] if parent >= 0 else 0, k])
            total += np.log(theta) if x[j] == 1 else np.log1p(-theta)
        return float(total)

    def pseudo_statistics(self, params: HiddenTreeParams, weight: float) -> HiddenTreeStats:
        """Return the expected statistics of rows from the model itself, from which online EM continues after a fit."""
        shares = weight * params.state_shares()
        parents = params.parents.astype(np.intp)
        moves = params.moves * shares[np.maximum(parents, 0)][:, :, None]
        moves[parents < 0] = 0.0
        moves[parents < 0, 0] = shares[parents < 0]
        return HiddenTreeStats(np.zeros(()), np.asarray(weight), moves, shares * params.probabilities, shares)


def chow_liu_parents(pairs: PairCounts) -> Floats:
    """Return each column's parent in the tree with the largest sum of mutual informations; -1 for the root.

    Columns are processed in batches, because the tables of all pairs need many times the memory of the counts.
    """
    d = pairs.n_columns
    gains = np.empty(n_pairs(d))
    total = float(np.max(pairs.seen)) or 1.0
    for start in range(0, d, BATCH_COLUMNS):
        batch = slice(start, min(start + BATCH_COLUMNS, d))
        batch_gains = _link_gains(pairs.cells(batch, slice(start, d)))
        first, second = np.triu_indices(batch.stop - start, 1, d - start)
        gains[pair_number(start + first, start + second, d)] = batch_gains[first, second]
    gains = np.round(gains / (GAIN_RESOLUTION * total)) * GAIN_RESOLUTION
    return heaviest_forest(gains, d, penalty=-1.0).astype(np.float64)


def _link_gains(cells: TwoByTwoTables) -> Floats:
    """Return weight x mutual information of each pair."""
    total = cells.total
    first, second = cells.one_one + cells.one_zero, cells.one_one + cells.zero_one
    gains = sum(xlogy(cell, cell) for cell in cells) + xlogy(total, total)
    return np.asarray(gains - sum(xlogy(margin, margin) for margin in (first, total - first, second, total - second)))


def _clipped_moves(moves: Floats) -> Floats:
    """Return probabilities of moves that are at least TINY."""
    np.maximum(moves, TINY, out=moves)
    moves /= moves.sum(axis=2, keepdims=True)
    return moves


# Messages along the tree: from the leaves to the root and back, for all rows of a block.
#
# Columns are processed one after another, so that the arrays of a column stay in the cache. Each thread reuses its
# buffers, because new memory for every block costs more than the arithmetic. `log_likelihood` and `expected_counts`
# have a compiled twin (`messages_numba.py`).


def cell_numbers(block: Block) -> AnyArray:
    """Return the row of `HiddenTreeParams.cell_probabilities` of each cell, (d, rows)."""
    cells = block.x.to_dense().T.astype(np.intp)
    if not isinstance(block.observed, AllOnes):
        cells[block.observed.to_dense().T == 0] = 2
    cells += 3 * np.arange(block.n_columns)[:, None]
    return cells


def _buffer(name: str, d: int, n: int, K: int) -> Floats:
    return scratch(name, (d * n, K)).reshape(d, n, K)


def upward(params: HiddenTreeParams, block: Block) -> tuple[Floats, Floats, Floats]:
    """Return b and u of all columns, (d, rows, K), in this thread's buffers, and ln P(x).

    To avoid underflow, b is scaled to a sum of 1 after some columns, and at the root after multiplication by P(h). The
    logs of these sums add up to ln P(x).
    """
    d, n, K = params.n_columns, block.n_rows, params.n_states
    b, u = _buffer("hidden tree, up", d, n, K), _buffer("hidden tree, messages", d, n, K)
    np.take(params.cell_probabilities, cell_numbers(block), axis=0, out=b, mode="clip")
    scales, ones = [], np.ones(K)

    def rescale(b_j: Floats) -> None:
        scale = b_j @ ones
        np.divide(b_j, scale[:, None], out=b_j)
        scales.append(scale)

    for j in reversed(params.order):
        parent, b_j = params.parent_numbers[j], b[j]
        if parent < 0:
            b_j *= params.moves[j, 0]
            rescale(b_j)
            continue
        np.matmul(b_j, params.transposed_moves[j], out=u[j])
        b[parent] *= u[j]
        if j in params.rescaled:
            rescale(b[parent])
    return b, u, np.log(np.array(scales)).sum(axis=0)


def downward(
    params: HiddenTreeParams, b: Floats, u: Floats, weights: Floats | None = None, move_counts: Floats | None = None
) -> Floats:
    """Return g, P(h_j = k | x) (times the row's weight), in the memory of b.

    The expected moves are written to `move_counts`, if given; a root's are in its first row.
    """
    ratio, from_parent = scratch("hidden tree, down", u.shape[1:]), scratch("hidden tree, moved", u.shape[1:])
    for j in params.order:
        parent, g_j = params.parent_numbers[j], b[j]  # b_j becomes g_j
        if parent < 0:
            if weights is not None:
                g_j *= weights[:, None]
            if move_counts is not None:
                move_counts[j, 0] = g_j.sum(axis=0)
            continue
        np.divide(b[parent], u[j], out=ratio)
        if move_counts is not None:
            np.matmul(ratio.T, g_j, out=move_counts[j])
            move_counts[j] *= params.moves[j]
        np.matmul(ratio, params.moves[j], out=from_parent)
        g_j *= from_parent
    return b


def log_likelihood(params: HiddenTreeParams, block: Block) -> Floats:
    """Return ln P(x) of each row."""
    kernels = fast_kernels()
    if kernels is None:
        return upward(params, block)[2]
    return _compiled(kernels, params, block, np.empty((0, 0, 0)), np.empty((0, 0, 0)))


def expected_counts(params: HiddenTreeParams, block: Block) -> tuple[Floats, Floats, Floats, Floats]:
    """Return ln P(x) of each row, the expected moves, (d, K, K), and the expected 1s and observed cells, (d, K) each.

    The moves of a root are in the first row of its matrix.
    """
    move_counts: Floats = np.zeros(params.moves.shape)
    kernels = fast_kernels()
    if kernels is not None:
        cells: Floats = np.zeros((params.n_columns, 2, params.n_states))
        log_p = _compiled(kernels, params, block, move_counts, cells)
        move_counts *= params.move_factors
        return log_p, move_counts, cells[:, 0], cells[:, 1]
    b, u, log_p = upward(params, block)
    g = downward(params, b, u, block.weights, move_counts)
    ones, observed = _sums_by_column(block.x.to_dense(), g), move_counts.sum(axis=1)
    if not isinstance(block.observed, AllOnes):
        observed = _sums_by_column(block.observed.to_dense(), g)
    return log_p, move_counts, ones, observed


def _sums_by_column(cells: AnyArray, g: Floats) -> Floats:
    """Return Sum_n cells_nj g_jnk, (d, K)."""
    return np.asarray(np.matmul(cells.T[:, None, :].astype(np.float64), g)[:, 0])


def _compiled(kernels: Any, params: HiddenTreeParams, block: Block, move_counts: Floats, cells: Floats) -> Floats:
    log_p: Floats = np.empty(block.n_rows)
    observed = np.empty((0, 0), np.uint8) if isinstance(block.observed, AllOnes) else block.observed.to_dense()
    buffer = scratch("hidden tree, rows last", (2 * params.n_columns, params.n_states * kernels.ROWS))
    constants = params.tree_arrays, params.cell_probabilities, params.moves, params.transposed_moves
    kernels.add_block(*constants, block.x.to_dense(), observed, block.weights, buffer, log_p, move_counts, cells)
    return log_p


fast_kernels = compiled_twin("hiddenbits.families.hidden_tree.messages_numba")
