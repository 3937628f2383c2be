"""Logistic PCA and mixtures of its maps.

Bare, for each block and map: the bits as floats, x @ W, S @ V.T for every cell, one tanh for every cell, kappa @ V, kappa.T @ S and
x.T @ X, in the precision of the cells. It inverts nothing, takes no root, and knows no bound. S and V have
(q + 1)(q + 2)/2 columns: the numbers of a symmetric matrix.
"""

from typing import Any

import numpy as np

from hiddenbits.data import Block, Grid
from hiddenbits.engine import Key
from hiddenbits.models import Logistic, LogisticMixture
from hiddenbits.models.logistic_cells import Blanks, tangent_standing
from hiddenbits.models.logistic_mixture_params import MapsParams
from hiddenbits.models.logistic_params import LogisticParams
from hiddenbits.models.packed import identity, invert_standing, moments_standing, packed_size

from .tables import FLOAT, described, grid_of
from .turns import SEED, Job, pass_of, seconds_of


def cells_of_maps(grid: Grid, q: int, n_maps: int, dtype: Any) -> Any:
    """Return the bare pass: the products and the tanh of every map."""
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
            for _ in range(n_maps):
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
    ours, bare = pass_of(model, params, grid), cells_of_maps(grid, q, 1, dtype)
    return Job("LogisticPCA", size, hidden=f"{q} dimensions", dtype=dtype, ours=ours, bare=bare, **described(X))


def logistic_maps(size: str, n: int, d: int, q: int, n_maps: int) -> Job:
    rng = np.random.default_rng(SEED)
    maps = [some_map(d, q, rng) for _ in range(n_maps)]
    params, model = MapsParams.of(np.full(n_maps, 1.0 / n_maps), maps), LogisticMixture(q, n_maps, polish=False)
    X, _ = Logistic(q).draw(maps[0], n, rng)
    grid = grid_of(model, X)
    ours, bare = pass_of(model, params, grid), cells_of_maps(grid, q, n_maps, FLOAT)
    hidden = f"{n_maps} maps, {q} dimensions"
    return Job("LogisticPCAMixture", size, hidden=hidden, dtype=FLOAT, ours=ours, bare=bare, **described(X))


def shares(model: Logistic, params: LogisticParams, block: Block, turns: int) -> dict[str, float]:
    """Microseconds a row of the parts of a pass, each on its own."""
    n, q, shared = block.n_rows, model.n_components, model.prepare(params)
    dtype = shared.V4.dtype
    carry = model.expect(params, shared, block, None, Key(SEED))[1]
    mean, covariance = (np.ascontiguousarray(a.T, dtype) for a in (carry.mean, carry.covariance))
    out, blanks = np.empty((packed_size(q + 1), n), dtype), Blanks.of(block.observed)
    S = moments_standing(mean, covariance, np.ones(n, dtype), out).copy()
    cells = np.empty((block.n_columns, n), dtype)
    kappa = tangent_standing(S, shared.V4, blanks)[0].copy()
    P = identity(q)[:, None] + (shared.V4.T @ kappa)[: packed_size(q)]

    def bare_cells() -> None:
        np.matmul(shared.V4, S, out=cells)
        np.tanh(cells, out=cells)

    parts = {
        "cells, with their product": lambda: tangent_standing(S, shared.V4, blanks),
        "cells, bare": bare_cells,
        "inverse": lambda: invert_standing(P, q),
        "moments, twice": lambda: [moments_standing(mean, covariance, np.ones(n, dtype), out) for _ in range(2)],
        "pass of the block": lambda: model.expect(params, shared, block, carry, Key(SEED)),
    }
    return {name: round(1e6 * min(seconds_of(part) for _ in range(turns)) / n, 3) for name, part in parts.items()}
