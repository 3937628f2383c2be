"""Logistic PCA, and its refine.

Bare, for each block of a pass of the variational stage: the bits as floats, x @ W, S @ V.T for every cell, one tanh for every cell, kappa @ V, kappa.T @ S and
x.T @ X, in the precision of the cells. It inverts nothing, takes no root, and knows no bound. S and V have
(q + 1)(q + 2)/2 columns: the numbers of a symmetric matrix.

Bare, for each block of a pass of the refine, which a default fit makes after its variational stage: x @ W, X @ W.T and C @ V.T
for the mean and the variance of every cell, one tanh for every cell, sigma @ W and slope @ V for the rows, sigma.T @ X,
slope.T @ M and x.T @ X for the columns. C has q(q + 1)/2 columns, M has (q + 1)(q + 2)/2. It evaluates every cell once; the
refine does so before and after a row's step, and integrates three functions of the cell, none of which has a closed form.
"""

from typing import Any

import numpy as np

from hiddenbits.data import Grid
from hiddenbits.families.logistic_pca.model import Logistic
from hiddenbits.families.logistic_pca.params import LogisticParams
from hiddenbits.families.logistic_pca.refine import RefinedLogistic
from hiddenbits.maths.packed_symmetric import packed_size

from .tables import FLOAT, described, grid_of
from .turns import SEED, Job, pass_of


def cells_of_map(grid: Grid, q: int, dtype: Any) -> Any:
    """Return the bare pass: the products and the tanh."""
    rng, p, d = np.random.default_rng(SEED), packed_size(q + 1), grid.table.shape[1]
    S, V, W, X = (
        rng.random(shape).astype(dtype) for shape in ((grid.height, p), (d, p), (d, q + 1), (grid.height, q + 1))
    )
    S /= p
    cells, G, linear = np.empty((grid.height, d), dtype), np.empty((grid.height, p), dtype), np.empty_like(X)
    moments, sums = np.empty((d, p), dtype), np.empty((d, q + 1), dtype)

    def bare() -> None:
        for block in grid.blocks:
            n = block.n_rows
            x = block.operands()[0] if cells.dtype == np.float64 else block.x.operand(np.float32, slot="x")
            out = cells[:n]
            np.matmul(x, W, out=linear[:n])
            np.matmul(S[:n], V.T, out=out)
            np.tanh(out, out=out)
            np.matmul(out, V, out=G[:n])
            np.matmul(out.T, S[:n], out=moments)
            np.matmul(x.T, X[:n], out=sums)

    return bare


def cells_of_refine(grid: Grid, q: int) -> Any:
    """Return the bare pass of the refine: its products, and one tanh for every cell."""
    rng, p, d = np.random.default_rng(SEED), packed_size(q + 1), grid.table.shape[1]
    C, V, W, X, M = (
        rng.random(shape) / p
        for shape in (
            (grid.height, packed_size(q)),
            (d, packed_size(q)),
            (d, q + 1),
            (grid.height, q + 1),
            (grid.height, p),
        )
    )
    means, cells = np.empty((grid.height, d)), np.empty((grid.height, d))
    rows, precisions = np.empty_like(X), np.empty_like(C)
    moments, sums = np.empty((d, p)), np.empty((d, q + 1))

    def bare() -> None:
        for block in grid.blocks:
            n, x = block.n_rows, block.operands()[0]
            np.matmul(x, W, out=rows[:n])
            np.matmul(X[:n], W.T, out=means[:n])
            np.matmul(C[:n], V.T, out=cells[:n])
            np.tanh(cells[:n], out=cells[:n])
            np.matmul(means[:n], W, out=rows[:n])
            np.matmul(cells[:n], V, out=precisions[:n])
            np.matmul(means[:n].T, X[:n], out=sums)
            np.matmul(cells[:n].T, M[:n], out=moments)
            np.matmul(x.T, X[:n], out=sums)

    return bare


def some_map(d: int, q: int, rng: np.random.Generator) -> LogisticParams:
    return LogisticParams(rng.standard_normal((d, q)) / np.sqrt(q), rng.standard_normal(d), np.zeros(d))


def logistic(size: str, n: int, d: int, q: int, dtype: Any = FLOAT, *, refine: bool = False) -> Job:
    rng = np.random.default_rng(SEED)
    params, model = some_map(d, q, rng), (RefinedLogistic if refine else Logistic)(q, dtype=dtype)
    X, _ = model.sample(params, n, rng)
    grid = grid_of(model, X)
    bare = cells_of_refine(grid, q) if refine else cells_of_map(grid, q, dtype)
    ours = pass_of(model, params, grid)
    what = "refine" if refine else "pass"
    hidden = f"{q} dimensions"
    return Job("LogisticPCA", size, hidden=hidden, dtype=dtype, ours=ours, bare=bare, what=what, **described(X))
