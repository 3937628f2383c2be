"""Binary sparse coding.

Bare, in the precision of the pass: Y @ W for every row; for each row's candidates the product with the table of states, the exponential of
every state and of every cause alone, and the product back; and Y.T @ <s>. The choice of candidates, the look-ups of their couplings, sums, shares and
counts of pairs are not in it.
"""

from typing import Any

import numpy as np

from hiddenbits.data import Grid, open_table
from hiddenbits.engine import block_height
from hiddenbits.families.binary_sparse_coding.model import SparseCoding
from hiddenbits.families.binary_sparse_coding.params import CodingParams
from hiddenbits.families.binary_sparse_coding.truncated_posterior import ROWS

from .turns import SEED, Job, pass_of


def problem(n: int, d: int, H: int, active: float, dtype: str) -> tuple[CodingParams, Any, Any]:
    """Return parameters near the truth, rows, and which causes are on in them."""
    rng = np.random.default_rng(SEED)
    W = rng.standard_normal((d, H))
    s = rng.random((n, H)) < active / H
    Y = (s @ W.T + rng.standard_normal((n, d))).astype(dtype)
    one = np.asarray(1.2)
    near = W + 0.1 * rng.standard_normal(W.shape)
    return CodingParams(near, np.full(H, active / H), one, one), Y, s


def two_products(Y: Any, W: Any, on: Any, height: int) -> None:
    """Y W and Y' <s>, block by block, and nothing else."""
    for start in range(0, len(Y), height):
        rows = Y[start : start + height]
        rows @ W
        rows.T @ on[start : start + height]


def states_and_products(grid: Grid, Y: Any, W: Any, table: Any) -> Any:
    """Return the bare pass."""
    H, (n_states, n_features) = W.shape[1], table.shape
    rng, dtype = np.random.default_rng(SEED), Y.dtype
    across = np.ascontiguousarray(table.T)
    features = -rng.random((ROWS, n_features)).astype(dtype)
    means, states = np.empty((grid.height, H), dtype), np.empty((ROWS, n_states), dtype)
    moments, joint = np.empty((ROWS, n_features), dtype), np.empty(W.shape, dtype)
    W = 0.01 * W

    def bare() -> None:
        for start in range(0, len(Y), grid.height):
            y = Y[start : start + grid.height]
            for first in range(0, len(y), ROWS):
                rows = slice(first, min(first + ROWS, len(y)))
                n, f = rows.stop - first, means[rows]
                np.matmul(y[rows], W, out=f)
                np.matmul(features[:n], across, out=states[:n])
                np.exp(states[:n], out=states[:n])
                np.exp(f, out=f)
                np.matmul(states[:n], table, out=moments[:n])
            np.matmul(y.T, means[: len(y)], out=joint)

    return bare


def coding(size: str, n: int, d: int, H: int, candidates: int, active: int, dtype: str) -> Job:
    params, Y, _ = problem(n, d, H, min(8.0, active), dtype)
    model = SparseCoding(H, candidates, active, dtype=dtype)
    grid = open_table(Y, reals=True).grid(block_height(model.footprint(d, float(d))))
    table = model.prepare(params).table
    bare = states_and_products(grid, Y, params.fields.astype(dtype), table)
    return Job(
        "BinarySparseCoding",
        size,
        table=f"{n:,} x {d:,}",
        hidden=f"{H} causes, {len(table)} states",
        dtype=dtype,
        storage="dense",
        ours=pass_of(model, params, grid),
        bare=bare,
    )
