"""Clipped PCA: one pass that counts in how many rows two columns are 1 together.

Bare, for each block: the bits as float32, x.T @ x by BLAS, added up in float64; of a sparse table the product of its CSR view with itself,
as a dense array.
"""

from functools import partial
from typing import Any

import numpy as np

import hiddenbits
from hiddenbits.data import Grid
from hiddenbits.engine import Local
from hiddenbits.maths.pair_counts import block_rows, count_pairs

from .tables import described
from .turns import Job


def gram(grid: Grid, is_sparse: bool) -> Any:
    """Return the bare pass."""
    d = grid.table.shape[1]
    total = np.empty((d, d))
    floats, part = (np.empty((0 if is_sparse else grid.height, d), np.float32), np.empty((d, d), np.float32))

    def bare() -> None:
        total[:] = 0.0
        for block in grid.blocks:
            if is_sparse:
                x = block.x.operand()
                np.add(total, (x.T @ x).toarray(), out=total)
                continue
            x = floats[: block.n_rows]
            np.copyto(x, block.x.to_dense())
            np.matmul(x.T, x, out=part)
            np.add(total, part, out=total)

    return bare


def pairs(size: str, X: Any) -> Job:
    table = hiddenbits.open_table(X)
    grid, local = table.grid(block_rows(table.shape[1], table.source.row_cells)), Local()
    words = described(X)
    bare = gram(grid, words["storage"] == "sparse")
    return Job(
        "ClippedPCA",
        size,
        hidden="",
        dtype="float32",
        ours=partial(local.reduce, count_pairs, grid),
        bare=bare,
        what="counts of pairs",
        **words,
    )
