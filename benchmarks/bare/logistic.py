"""Logistic PCA.

Bare, for each block and map: the bits as floats, x @ W, S @ V.T for every cell, one tanh for every cell, kappa @ V, kappa.T @ S and
x.T @ X, in the precision of the cells. It inverts nothing, takes no root, and knows no bound. S and V have
(q + 1)(q + 2)/2 columns: the numbers of a symmetric matrix.
"""

from typing import Any

import numpy as np

from hiddenbits.data import Grid
from hiddenbits.families.logistic_pca.model import Logistic
from hiddenbits.families.logistic_pca.params import LogisticParams
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


def some_map(d: int, q: int, rng: np.random.Generator) -> LogisticParams:
    return LogisticParams.at(rng.standard_normal((d, q)) / np.sqrt(q), rng.standard_normal(d), np.zeros(d))


def logistic(size: str, n: int, d: int, q: int, dtype: Any = FLOAT) -> Job:
    rng = np.random.default_rng(SEED)
    params, model = some_map(d, q, rng), Logistic(q, polish=False, dtype=dtype)
    X, _ = model.draw(params, n, rng)
    grid = grid_of(model, X)
    ours, bare = pass_of(model, params, grid), cells_of_map(grid, q, dtype)
    return Job("LogisticPCA", size, hidden=f"{q} dimensions", dtype=dtype, ours=ours, bare=bare, **described(X))
