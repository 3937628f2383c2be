"""Mixtures of trees, and hidden trees.

Bare for a mixture of trees, for each block: the bits as floats (or a CSR view), x @ A and x @ B (a bit alone, and with its parent), exp of every
(row, class), x.T @ R twice: what the links cost if every parent were 1, without looking any up. In a pass that looks for trees,
x.T @ (r x) for every class, too, as if every row were in every class.

Bare for a hidden tree, for each block and column: b @ A', part.T @ b, part @ A of (rows, K), one log of every cell, and the product that counts
ones. Products of messages, quotients and scales of every (row, column, state) are not in it.
"""

from typing import Any

import numpy as np

from hiddenbits.data import Grid
from hiddenbits.families.hidden_tree.model import StateTree
from hiddenbits.families.hidden_tree.params import HiddenTreeParams
from hiddenbits.families.tree_mixture.model import Trees
from hiddenbits.families.tree_mixture.params import TreeParams

from .tables import FLOAT, described, grid_of, times
from .turns import SEED, Job, pass_of


def four_products(grid: Grid, K: int, looks: bool) -> Any:
    """Return the bare pass of a mixture of trees."""
    rng, d = np.random.default_rng(SEED), grid.table.shape[1]
    A, B = (0.1 * rng.standard_normal((d, K)) for _ in range(2))
    scores, further, sums = np.empty((grid.height, K)), np.empty((grid.height, K)), np.empty((d, K))
    weighted, pairs = (np.empty((grid.height, d)), np.empty((d, d))) if looks else (np.empty(0), np.empty(0))

    def bare() -> None:
        for block in grid.blocks:
            x, n = block.operands()[0], block.n_rows
            r = times(x, A, scores[:n])
            times(x, B, further[:n])
            np.exp(r, out=r)
            times(x.T, r, sums)
            times(x.T, r, sums)
            for k in range(K if looks else 0):
                np.multiply(x, r[:, k : k + 1], out=weighted[:n])
                np.matmul(x.T, weighted[:n], out=pairs)

    return bare


def trees(size: str, X: Any, K: int, looks: bool = False) -> Job:
    rng, d = np.random.default_rng(SEED), X.shape[1]
    parents = np.array([[rng.integers(0, j) if j else -1 for _ in range(K)] for j in range(d)], np.float64)
    means = np.clip(np.asarray(X.mean(axis=0)).ravel()[:, None] * rng.uniform(0.5, 1.5, (d, K)), 1e-4, 0.99)
    if_one = np.where(parents < 0, means, np.clip(means * rng.uniform(0.8, 1.2, (d, K)), 1e-4, 0.99))
    params = TreeParams(np.full(K, 1.0 / K), parents, means, if_one, np.full(d, 0.5), np.zeros(0))
    model = Trees(K, part=0 if looks else None)
    grid = grid_of(model, X)
    model.prepare(params)
    ours, bare = pass_of(model, params, grid), four_products(grid, K, looks)
    what = "pass that looks for trees" if looks else "pass"
    return Job("TreeMixture", size, hidden=f"{K} classes", dtype=FLOAT, ours=ours, bare=bare, what=what, **described(X))


def messages(grid: Grid, K: int) -> Any:
    """Return the bare pass of a hidden tree."""
    rng, d = np.random.default_rng(SEED), grid.table.shape[1]
    A = rng.random((d, K, K))
    b, u = 0.5 + rng.random((d, grid.height, K)), np.empty((d, grid.height, K))
    part, moved = rng.random((grid.height, K)), np.empty((grid.height, K))
    scales, logs = 0.5 + rng.random((d, grid.height)), np.empty((d, grid.height))
    counts, ones = np.empty((d, K, K)), np.empty((d, 1, K))

    def bare() -> None:
        for block in grid.blocks:
            n = block.n_rows
            cells = block.x.to_dense().T[:, None, :].astype(np.float64)
            for j in range(d):
                np.matmul(b[j, :n], A[j], out=u[j, :n])
            np.log(scales[:, :n], out=logs[:, :n])
            for j in range(d):
                np.matmul(part[:n].T, b[j, :n], out=counts[j])
                np.matmul(part[:n], A[j], out=moved[:n])
                np.matmul(cells[j], b[j, :n], out=ones[j])

    return bare


def hidden_tree(size: str, X: Any, K: int) -> Job:
    rng, d = np.random.default_rng(SEED), X.shape[1]
    parents = np.array([-1.0, *((j - 1) // 2 for j in range(1, d))])
    moves = rng.dirichlet(np.full(K, 2.0), (d, K))
    moves[0] = moves[0, 0]
    params = HiddenTreeParams(parents, moves, rng.uniform(0.1, 0.9, (d, K)), np.full(d, 0.5))
    model = StateTree(K)
    grid = grid_of(model, X)
    ours, bare = pass_of(model, params, grid), messages(grid, K)
    return Job("HiddenTree", size, hidden=f"{K} states", dtype=FLOAT, ours=ours, bare=bare, **described(X))
