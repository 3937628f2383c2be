"""Tables for the jobs: random bits, dense or sparse, opened and cut into blocks as a fit would."""

from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

import hiddenbits
from hiddenbits.data import Grid
from hiddenbits.engine import block_height

from .turns import SEED

FLOAT = "float64"


@lru_cache(maxsize=2)
def dense_bits(n: int, d: int, share: float = 0.3) -> Any:
    """Return bits of which a share is 1, in classes, so that models have something to tell apart."""
    rng = np.random.default_rng(SEED)
    centers = np.clip(share * rng.uniform(0.3, 1.7, (4, d)), 0.0, 0.95)
    X = np.empty((n, d), np.uint8)
    for start in range(0, n, 4096):
        rows = slice(start, min(start + 4096, n))
        kinds = rng.integers(0, 4, rows.stop - start)
        X[rows] = rng.random((rows.stop - start, d)) < centers[kinds]
    return X


@lru_cache(maxsize=2)
def sparse_bits(n: int, d: int, share: float) -> Any:
    """Return a sparse table of which a share is 1: some columns are frequent, most are not."""
    rng = np.random.default_rng(SEED)
    columns = (d * rng.random(int(n * d * share)) ** 2).astype(np.int64)
    cells = np.unique(rng.integers(0, n, len(columns)) * d + columns)
    indptr = np.searchsorted(cells, np.arange(0, n * d + 1, d))
    return sparse.csr_array((np.ones(len(cells), np.uint8), cells % d, indptr), shape=(n, d))


def grid_of(model: Any, X: Any) -> Grid:
    """Open the table and cut it into the blocks that the model asks for."""
    table = hiddenbits.open_table(X)
    return table.grid(block_height(model.footprint(table.shape[1], table.source.row_cells)))


def described(X: Any) -> dict[str, str]:
    """Return the words that describe a table in a job."""
    n, d = X.shape
    if sparse.issparse(X):
        return {"table": f"{n:,} x {d:,}, {100 * X.nnz / (n * d):.2g}% ones", "storage": "sparse"}
    return {"table": f"{n:,} x {d:,}", "storage": "dense"}


def times(operand: Any, matrix: Any, out: Any) -> Any:
    """Return operand @ matrix: into `out` by BLAS; scipy has no place to put the product of a sparse matrix."""
    if isinstance(operand, np.ndarray):
        return np.matmul(operand, matrix, out=out)
    return operand @ matrix
