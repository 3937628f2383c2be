"""Co-occurrence counts: in how many rows two columns are both 1, a.T @ diag(w) @ b for any two binary matrices.

The method depends on the storage. Two sparse patterns are a sparse product. Everything else is counted in float32 by
BLAS, some rows at a time, which is exact for fewer than 2**24 rows; or, with numba and if there is enough work, by AND
and population count on 64-bit words (`cooccurrence_numba.py`). Rows with different weights are added in float64. For
`AllOnes` and `Complement` the counts follow from column sums.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import DTypeLike

from hiddenbits.array_types import AnyArray, Bytes, Floats
from hiddenbits.data.bits import AllOnes, Bits, Complement, Packed, Pattern
from hiddenbits.data.kernels import compiled_twin
from hiddenbits.data.operands import floats_of

CHUNK_CELLS = 1 << 23  # cells that are converted to floats at a time: 32 MB of float32
SPARSE = 1 / 1024  # share of pairs of cells that are both 1, up to which a sparse product is faster
KERNEL_WORK = 1 << 33  # rows x columns x columns from which the kernel is worth loading: .1 s of a matrix product
BYTE_ROWS = 255  # whose counts fit in a byte


def co_counts(a: Bits, b: Bits, weights: Floats | None = None) -> Floats:
    """Return a.T @ diag(weights) @ b: the weight of the rows in which column i of a and column j of b are both 1.

    Exact, in any storage, if all weights are the same whole number. If `a` is `AllOnes` the result has one row, if `b`
    is `AllOnes` one column: it broadcasts.

    Parameters
    ----------
    a, b : Bits
        Two matrices with the same rows. Passing the same object twice, for x.T @ x, takes half the time.
    weights : ndarray of shape (rows,), optional
        Row weights; 1 by default.

    Returns
    -------
    counts : ndarray of shape (columns of a, columns of b)

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits.data import Dense
    >>> x = Dense(np.array([[1, 1, 0], [0, 1, 1], [1, 1, 0]], np.uint8))
    >>> co_counts(x, x)
    array([[2., 2., 0.],
           [2., 3., 1.],
           [0., 1., 1.]])
    """
    if weights is None or len(weights) == 0:
        return _counts(a, b, None)
    if (weights == weights[0]).all():
        counts = _counts(a, b, None)
        return counts if weights[0] == 1.0 else counts * weights[0]
    return _counts(a, b, weights)


def column_sums(bits: Bits, weights: Floats | None = None) -> Floats:
    """Return the weight of the rows in which each column is 1."""
    n, d = bits.shape
    if isinstance(bits, AllOnes):
        return np.full(d, float(n) if weights is None else weights.sum())
    if isinstance(bits, Complement):
        return (n if weights is None else weights.sum()) - column_sums(bits.of, weights)
    if isinstance(bits, Pattern):
        repeated = None if weights is None else np.repeat(weights, np.diff(bits.indptr))
        return np.bincount(bits.indices, repeated, minlength=d).astype(np.float64)
    sums = np.zeros(d)
    if weights is None:
        for start in range(0, n, BYTE_ROWS):  # NumPy adds bytes 10 times faster
            sums += np.add.reduce(bits.rows(start, min(start + BYTE_ROWS, n)).to_dense(), axis=0, dtype=np.uint8)
        return sums
    for rows in _chunks(n, d):
        sums += weights[rows] @ _floats(bits, rows, np.float64, "a")
    return sums


def _counts(a: Bits, b: Bits, weights: Floats | None) -> Floats:
    """Return a.T @ diag(weights) @ b; None means weights of 1."""
    if isinstance(b, AllOnes):
        return column_sums(a, weights)[: 1 if isinstance(a, AllOnes) else None, None]
    if isinstance(a, AllOnes):
        return column_sums(b, weights)[None, :]
    if isinstance(b, Complement):
        return np.asarray(column_sums(a, weights)[:, None] - _counts(a, b.of, weights))
    if isinstance(a, Complement):
        return np.asarray(column_sums(b, weights)[None, :] - _counts(a.of, b, weights))
    if isinstance(a, Pattern) and isinstance(b, Pattern) and _share_of_ones(a) * _share_of_ones(b) < SPARSE:
        left, right = a.csr(), b.csr()
        if weights is not None:
            left.data = np.repeat(weights, np.diff(a.indptr))
        return np.asarray((left.T @ right).toarray())
    if weights is not None:
        return _weighted_product(a, b, weights)
    if a.shape[0] * a.shape[1] * b.shape[1] >= KERNEL_WORK and (kernel := _kernel()) is not None:
        a_words = kernel.column_words(_packed(a), a.shape[1])
        b_words = a_words if b is a else kernel.column_words(_packed(b), b.shape[1])
        return np.asarray(kernel.count_pairs(a_words, b_words, b is a))
    return _product(a, b)


def _product(a: Bits, b: Bits) -> Floats:
    """Return a.T @ b by float32 products of some rows each, which are exact."""
    counts = np.zeros((a.shape[1], b.shape[1]))
    for rows in _chunks(a.shape[0], max(a.shape[1], b.shape[1])):
        left = _floats(a, rows, np.float32, "a")
        counts += left.T @ (left if b is a else _floats(b, rows, np.float32, "b"))  # for x.T @ x NumPy computes half
    return counts


def _weighted_product(a: Bits, b: Bits, weights: Floats) -> Floats:
    """Return a.T @ diag(weights) @ b in float64."""
    counts = np.zeros((a.shape[1], b.shape[1]))
    for rows in _chunks(a.shape[0], max(a.shape[1], b.shape[1])):
        left = _floats(a, rows, np.float64, "a")
        left *= weights[rows, None]
        counts += left.T @ _floats(b, rows, np.float64, "b")
    return counts


def _floats(bits: Bits, rows: slice, dtype: DTypeLike, slot: str) -> AnyArray:
    """Return some rows as floats in a buffer of this thread; also of a `Pattern`, which has many 1s here."""
    return floats_of(bits.rows(rows.start, rows.stop).to_dense(), dtype, f"co-occurrence {slot}")


def _chunks(n_rows: int, n_columns: int) -> Iterator[slice]:
    step = max(1, CHUNK_CELLS // max(n_columns, 1))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def _share_of_ones(pattern: Pattern) -> float:
    """Return the share of cells that are 1."""
    n, d = pattern.shape
    return len(pattern.indices) / max(n * d, 1)


def _packed(bits: Bits) -> Bytes:
    """Return the rows with eight cells per byte."""
    if isinstance(bits, Packed):
        return np.ascontiguousarray(bits.packed)
    n, d = bits.shape
    packed = np.empty((n, (d + 7) // 8), np.uint8)
    for rows in _chunks(n, d):
        packed[rows] = np.packbits(bits.rows(rows.start, rows.stop).to_dense(), axis=1)
    return packed


_kernel = compiled_twin("hiddenbits.maths.cooccurrence_numba")
