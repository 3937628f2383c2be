"""Hidden tree: each column has a hidden variable of its own with K states, and the hidden variables form a tree.

    P(x, h) = Prod_j P(h_j | h_parent(j)) P(x_j | h_j)

| letter | meaning | shape |
|---|---|---|
| x, o | bits; observed | (rows, d) |
| h | states of the hidden variables, 0 to K - 1 | (rows, d) |
| A | P(h_j = l, given h_parent(j) = k) | (d, K, K) |
| theta | P(x_j = 1, given h_j = k) | (d, K) |
| m, s | center and strength of theta's prior, as in a Bernoulli mixture | (d,), number |
| t | strength of A's prior: pseudo-rows of each state, spread evenly | number |

The tree is the Chow-Liu tree of the columns (Chow & Liu 1968); with hidden variables on it the model is the "hidden
Chow-Liu tree" of Liu & Van den Broeck (2021). Sums over all h are exact, by messages from the leaves to the root and
back (Pearl 1988): with b_j(k) = P(bits of j and below | h_j = k), a child sends its parent u_j = A_j b_j, and

    b_j(k) = P(x_j | k) Prod over children u_c(k)          leaves to root
    g_j(l) = b_j(l) Sum_k A_j(k, l) g_parent(k) / u_j(k)   root to leaves; P(h_j = l, given x)
    P(h_parent = k, h_j = l, given x) = g_parent(k) / u_j(k) A_j(k, l) b_j(l)

If every A is the identity, all variables have the same state and the model is a Bernoulli mixture of K classes. A fit
begins near there: with a mixture after a few passes, and moves between its classes that are rare. From random A it
ends far lower, because what distant columns have in common is lost on the way.
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

MOVING = 0.1  # share of rows that leave their class from one column to the next, at the start
EQUAL = 2.0**-36  # gains of links closer than this (share of the weight) are equal: rounding must not choose trees
STRIP = 64  # columns whose pairs with all others are looked at together


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
        Passes as a Bernoulli mixture before the tree.
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
        """Return what a block costs: three products of K x K for each cell, whatever it holds."""
        K = self.n_components
        return Footprint(working=2 * n_columns * K, statistics=n_columns * K * K, flops=6 * n_columns * K * K)

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> HiddenTreeParams:
        """Return the Chow-Liu tree with a Bernoulli mixture on it, whose rows change their class now and then."""
        model = Classes(self.n_components, self.prior_strength)
        classes = model.start(summary, key, passes)
        for _ in range(self.first_passes if self.n_components > 1 else 0):
            classes = model.update(classes, passes(partial(class_counts, model.prepare(classes))))
        d, K = classes.probabilities.shape
        parents = chow_liu_parents(passes(count_pairs)) if d > 1 else np.full(d, -1.0)
        moves = np.tile((1.0 - MOVING) * np.eye(K) + MOVING * classes.weights, (d, 1, 1))
        moves[parents < 0] = classes.weights
        return HiddenTreeParams(parents, moves, classes.probabilities, classes.prior_mean)

    @property
    def has_prior(self) -> bool:
        """Whether a prior keeps parameters finite where a column does not vary."""
        return self.prior_strength > 0.0

    def prepare(self, params: HiddenTreeParams) -> None:
        """Make what every block needs, once: it stays with the parameters."""
        _ = params.above, params.order, params.rescaled, params.turned, params.of_bits, params.walk, params.factors

    def expect(
        self, params: HiddenTreeParams, shared: None, block: Block, carry: None, key: Key
    ) -> tuple[HiddenTreeStats, None]:
        """E-step: the posterior of every hidden variable and of every pair of parent and child."""
        log_p, counted, ones, observed = expected_counts(params, block)
        bound, weight = np.asarray(block.weights @ log_p), np.asarray(block.weights.sum())
        return HiddenTreeStats(bound=bound, weight=weight, moves=counted, ones=ones, observed=observed), None

    def objective(self, params: HiddenTreeParams, stats: HiddenTreeStats) -> float:
        """Return log-likelihood plus log prior, which is 0 where every theta is m and all moves are alike.

        s Sum_jk [m ln(theta / m) + (1 - m) ln((1 - theta) / (1 - m))] + t/K Sum_jkl ln(K A_jkl)
        """
        theta, m, K = params.probabilities, params.prior_mean[:, None], params.n_states
        emission = np.sum(m * np.log(theta / m) + (1.0 - m) * (log_one_minus(theta) - log_one_minus(m)))
        child = params.parents >= 0
        moving = np.sum(np.log(K * params.moves[child])) + np.sum(np.log(K * params.moves[~child][:, 0]))
        return float(stats.bound) + self.prior_strength * float(emission) + self.move_strength / K * float(moving)

    def update(self, params: HiddenTreeParams, stats: HiddenTreeStats) -> HiddenTreeParams:
        """M-step: A = (moves + t/K) / (rows of the parent's state + t), theta = (ones + s m) / (observed + s)."""
        s, t, m, weight = self.prior_strength, self.move_strength, params.prior_mean[:, None], float(stats.weight)
        theta = share_or(stats.ones + s * m, stats.observed + s, np.broadcast_to(m, stats.ones.shape), weight)
        counts = stats.moves + t / params.n_states
        counts[params.parents < 0] = counts[params.parents < 0][:, :1]
        moves = share_or(counts, counts.sum(axis=2, keepdims=True), params.moves, weight)
        return HiddenTreeParams(params.parents, _lawful_moves(moves), clip_probability(theta), params.prior_mean)

    # Row functions: what the estimators' verbs rest on.

    def log_likelihood(self, params: HiddenTreeParams, shared: None, block: Block) -> Floats:
        """Return ln P(observed bits) of each row."""
        return log_likelihood(params, block)

    def _states(self, params: HiddenTreeParams, block: Block) -> Floats:
        """Return P(h_j = k | observed bits), (d, rows, K), in this thread's buffer."""
        b, u, _ = upward(params, block)
        return downward(params, b, u)

    def posterior(self, params: HiddenTreeParams, shared: None, block: Block) -> Floats:
        """Return P(h_j = k | observed bits): K numbers for each column."""
        return self._states(params, block).transpose(1, 0, 2).reshape(block.n_rows, -1)

    def posterior_mode(self, params: HiddenTreeParams, shared: None, block: Block) -> Floats:
        """Return the most probable state of each hidden variable, as 1 among zeros."""
        states = self._states(params, block).argmax(axis=2).T
        return np.asarray(np.eye(params.n_states)[states].reshape(block.n_rows, -1))

    def reconstruct(self, params: HiddenTreeParams, codes: Floats) -> Floats:
        """Return P(bit = 1) given the probabilities of states: Sum_k g_jk theta_jk."""
        states = codes.reshape(len(codes), *params.probabilities.shape)
        return np.asarray(np.einsum("njk,jk->nj", states, params.probabilities))

    def fill(self, params: HiddenTreeParams, shared: None, block: Block) -> Floats:
        """Return P(bit = 1 | observed bits) for every cell, as if that cell had to be drawn again."""
        return self.reconstruct(params, self.posterior(params, shared, block))

    def leave_one_out(self, params: HiddenTreeParams, shared: None, block: Block) -> Floats:
        """Return P(x_j = 1 | the other observed bits) for every cell: without bit j, g is g / P(x_j | k)."""
        others = self._states(params, block)
        others /= params.of_bits[rows_of_bits(block)]
        return np.asarray(np.einsum("jnk,jk->nj", others, params.probabilities) / others.sum(axis=2).T)

    def sample(self, params: HiddenTreeParams, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
        """Draw n rows from the root down, and their states (1 among zeros)."""
        d, K = params.probabilities.shape
        states = np.zeros((n, d), np.intp)
        for j in params.order:
            above = int(params.parents[j])
            chances = params.moves[j][states[:, above] if above >= 0 else np.zeros(n, np.intp)].cumsum(axis=1)
            states[:, j] = np.minimum((rng.random(n)[:, None] >= chances).sum(axis=1), K - 1)
        x = rng.random((n, d)) < params.probabilities[np.arange(d), states]
        return x.view(np.uint8), np.eye(K)[states].reshape(n, -1)

    def hidden_states(self, params: HiddenTreeParams) -> Floats:
        """Return all states of all hidden variables: K^d rows of d times K numbers, 1 among zeros."""
        d, K = params.probabilities.shape
        return np.array([np.eye(K)[list(states)].ravel() for states in product(range(K), repeat=d)])

    def log_joint(self, params: HiddenTreeParams, x: Floats, h: Floats) -> float:
        """Return ln P(x, h) of one complete row: the definition."""
        states = h.reshape(params.probabilities.shape).argmax(axis=1)
        total = 0.0
        for j, k in enumerate(states):
            above = int(params.parents[j])
            theta = params.probabilities[j, k]
            total += np.log(params.moves[j, states[above] if above >= 0 else 0, k])
            total += np.log(theta) if x[j] == 1 else np.log1p(-theta)
        return float(total)

    def pseudo_statistics(self, params: HiddenTreeParams, weight: float) -> HiddenTreeStats:
        """Return the statistics of rows that are just as the model expects, for online EM to continue from a fit."""
        shares = weight * params.state_shares()
        above = params.parents.astype(np.intp)
        moves = params.moves * shares[np.maximum(above, 0)][:, :, None]
        moves[above < 0] = 0.0
        moves[above < 0, 0] = shares[above < 0]
        return HiddenTreeStats(np.zeros(()), np.asarray(weight), moves, shares * params.probabilities, shares)


def chow_liu_parents(pairs: PairCounts) -> Floats:
    """Return each column's parent in the tree with the largest sum of mutual informations; -1 for the root.

    Some columns at a time: the tables of all pairs, with their logarithms, would take many times what was counted.
    """
    d = pairs.n_columns
    run = np.empty(n_pairs(d))
    total = float(np.max(pairs.seen)) or 1.0
    for start in range(0, d, STRIP):
        some = slice(start, min(start + STRIP, d))
        gains = _link_gains(pairs.cells(some, slice(start, d)))
        first, second = np.triu_indices(some.stop - start, 1, d - start)
        run[pair_number(start + first, start + second, d)] = gains[first, second]
    run = np.round(run / (EQUAL * total)) * EQUAL
    return heaviest_forest(run, d, penalty=-1.0).astype(np.float64)


def _link_gains(cells: TwoByTwoTables) -> Floats:
    """Return weight x mutual information of each pair."""
    total = cells.total
    one, other = cells.one_one + cells.one_zero, cells.one_one + cells.zero_one
    gains = sum(xlogy(cell, cell) for cell in cells) + xlogy(total, total)
    return np.asarray(gains - sum(xlogy(margin, margin) for margin in (one, total - one, other, total - other)))


def _lawful_moves(moves: Floats) -> Floats:
    """Return shares none of which is below TINY."""
    np.maximum(moves, TINY, out=moves)
    moves /= moves.sum(axis=2, keepdims=True)
    return moves


# Messages along a hidden tree: from the leaves to the root and back, all rows of a block at a time.
#
# Letters as in `model.py`. One column after the other: what is worked on stays in the cache, and the buffers are
# those of the thread, because fresh memory for every block costs more than the arithmetic. `log_likelihood` and
# `expected_counts` have a compiled twin (`messages_numba.py`).


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
