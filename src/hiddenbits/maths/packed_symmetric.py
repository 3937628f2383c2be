"""Packed symmetric matrices: the lower triangle row by row, off-diagonal elements times the square root of 2.

With that factor the inner product of two packed matrices is the trace of their product, so that w'M w is the product
of packed M and packed w w', and sums of k x k matrices over many rows are plain matrix products. The leading
(k - 1) x (k - 1) matrix comes first, then the last row of k numbers: both are slices.

Many small matrices are processed fastest in the *standing* layout, (numbers of a matrix, matrices), so that each
arithmetic step runs over all matrices at once. Functions that take or return this layout say so.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.data import Arrays
from hiddenbits.data.kernels import compiled_twin, kernels_pay

ROOT2 = float(np.sqrt(2.0))
_compiled = compiled_twin("hiddenbits.maths.packed_symmetric_numba")
MOST_SWEPT = 8  # largest k for which k x k matrices are inverted element by element, others by halves


def packed_size(k: int) -> int:
    """Return how many numbers a packed k x k matrix has."""
    return k * (k + 1) // 2


def _compiled_for(k: int) -> Any:
    """Return the compiled twins if they save time for k x k matrices, otherwise None."""
    return _compiled() if kernels_pay(packed_size(k + 1) / 6) else None


@lru_cache(maxsize=64)
def _positions(k: int) -> tuple[Rows, Rows, Floats]:
    columns, rows = np.tril_indices(k)
    return rows, columns, np.where(rows == columns, 1.0, ROOT2)


def inner_places(k: int) -> slice:
    """Return the positions of the leading (k - 1) x (k - 1) matrix in a packed k x k one."""
    return slice(0, packed_size(k - 1))


def edge_places(k: int) -> slice:
    """Return the positions of the first k - 1 elements of the last column in a packed k x k matrix."""
    return slice(packed_size(k - 1), packed_size(k) - 1)


def pack(matrices: AnyArray) -> AnyArray:
    """Return (..., k, k) symmetric matrices packed."""
    rows, columns, scale = _positions(matrices.shape[-1])
    return np.asarray(matrices[..., rows, columns] * scale)


def unpack(packed: AnyArray, k: int) -> AnyArray:
    """Return packed matrices as (..., k, k)."""
    rows, columns, scale = _positions(k)
    out = np.empty((*packed.shape[:-1], k, k), packed.dtype)
    values = packed / scale.astype(packed.dtype)
    out[..., rows, columns] = values
    out[..., columns, rows] = values
    return out


def pack_outer(vectors: AnyArray) -> AnyArray:
    """Return v v' packed, for each row v."""
    rows, columns, scale = _positions(vectors.shape[-1])
    out = vectors[..., rows]
    out *= vectors[..., columns]
    out *= scale.astype(vectors.dtype)
    return np.asarray(out)


def identity(k: int) -> Floats:
    """Return the packed identity."""
    rows, columns, _ = _positions(k)
    return np.asarray(rows == columns, np.float64)


def times(packed: AnyArray, vectors: AnyArray) -> AnyArray:
    """Return M v for packed M and v, row by row."""
    k = vectors.shape[-1]
    if k == 1:
        return np.asarray(packed * vectors)
    return np.asarray(np.matmul(unpack(packed, k), vectors[..., None])[..., 0])


def row_dot(a: AnyArray, b: AnyArray) -> Floats:
    """Return the inner product of each row of a with that of b, in double precision."""
    return np.asarray(np.einsum("ij,ij->i", a, b, dtype=np.float64))


def column_dot(a: AnyArray, b: AnyArray) -> Floats:
    """Return the inner product of each column of a with that of b, in double precision."""
    return np.asarray(np.einsum("ij,ij->j", a, b, dtype=np.float64))


def invert(packed: AnyArray, k: int) -> tuple[AnyArray, AnyArray]:
    """Return the inverses of packed positive definite matrices, packed, and the log determinants of the matrices."""
    inverse, log_determinant = invert_standing(np.ascontiguousarray(packed.T), k)
    return np.ascontiguousarray(inverse.T), log_determinant


def moments_standing(mean: AnyArray, covariance: AnyArray, factor: AnyArray, out: AnyArray) -> AnyArray:
    """Put factor <x^ x^'>, packed and standing, into `out`; x^ = (x, 1), and x has this mean (q, n) and covariance.

    Multiplying by the factor of each row costs nothing here, and saves a step for everything made from the moments.
    """
    q = len(mean)
    if compiled := _compiled_for(q):
        compiled.moments(mean, covariance, factor, out)
        return out
    size = packed_size(q)
    np.multiply(covariance, factor, out=out[:size])
    scaled, buffer = ROOT2 * factor * mean, np.empty_like(mean)
    for i in range(q):
        product = np.multiply(mean[: i + 1], scaled[i], out=buffer[: i + 1])
        product[i] *= 1.0 / ROOT2
        out[packed_size(i) : packed_size(i + 1)] += product
    out[size : size + q] = scaled
    out[size + q] = factor
    return out


def times_standing(packed: AnyArray, vectors: AnyArray) -> AnyArray:
    """Return M v for standing packed M and standing v, (k, n)."""
    out = np.empty_like(vectors)
    first, scaled = 0, vectors * (1.0 / ROOT2)
    for i in range(len(vectors)):
        np.multiply(packed[first + i], vectors[i], out=out[i])
        if i:
            off_diagonal = packed[first : first + i]
            out[i] += np.einsum("jn,jn->n", off_diagonal, scaled[:i])
            out[:i] += off_diagonal * scaled[i]
        first += i + 1
    return out


def invert_standing(packed: AnyArray, k: int) -> tuple[AnyArray, AnyArray]:
    """Return the inverses of standing positive definite matrices, and the log determinants of the matrices."""
    if k == 1:
        return 1.0 / packed, np.log(packed[0])
    if k == 2:
        determinant = packed[0] * packed[2]
        determinant -= 0.5 * packed[1] * packed[1]
        inverse = packed[::-1] / determinant
        np.negative(inverse[1], out=inverse[1])
        return inverse, np.log(determinant)
    if _compiled_for(k):
        return solve_standing(packed, np.zeros((k, packed.shape[1])))[:2]
    if k > MOST_SWEPT:
        matrices, log_determinant = _invert_large(packed, k)
        return _standing(matrices), log_determinant
    triangle = np.zeros((k, k, packed.shape[1]))
    for i, first, scale in _rows(k):
        np.multiply(packed[first : first + i + 1], 1.0 / scale, out=triangle[i, : i + 1])
    log_determinant = _sweep(triangle)
    out = np.empty_like(packed)
    for i, first, scale in _rows(k):
        np.multiply(triangle[i, : i + 1], scale, out=out[first : first + i + 1])
    return out, log_determinant


def solve_standing(packed: AnyArray, right: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return the inverses of standing matrices M, ln |M|, and M^-1 v for standing vectors v, (k, n)."""
    k = len(right)
    if k > 2 and (compiled := _compiled_for(k)):
        inverse, log_determinant, solution = np.empty_like(packed), np.empty(packed.shape[1]), np.empty(right.shape)
        compiled.solve(packed, right, inverse, log_determinant, solution)
        return inverse, log_determinant, solution
    if k <= MOST_SWEPT:
        inverse, log_determinant = invert_standing(packed, k)
        return inverse, log_determinant, times_standing(inverse, right)
    matrices, log_determinant = _invert_large(packed, k)
    return _standing(matrices), log_determinant, np.ascontiguousarray(np.matmul(matrices, right.T[..., None])[..., 0].T)


def _invert_large(packed: AnyArray, k: int) -> tuple[AnyArray, AnyArray]:
    """Return the inverses (n, k, k) of standing matrices, and the log determinants of the matrices."""
    full = np.zeros((packed.shape[1], k, k))
    for i, first, scale in _rows(k):
        np.multiply(packed[first : first + i + 1].T, 1.0 / scale[:, 0], out=full[:, i, : i + 1])
    inverse = np.empty_like(full)
    return inverse, _invert_halves(full, inverse)


def _standing(matrices: AnyArray) -> AnyArray:
    """Return symmetric matrices (n, k, k) packed and standing."""
    n, k, _ = matrices.shape
    out = np.empty((packed_size(k), n))
    for i, first, scale in _rows(k):
        np.multiply(matrices[:, i, : i + 1].T, scale, out=out[first : first + i + 1])
    return out


@lru_cache(maxsize=64)
def _rows(k: int) -> tuple[tuple[int, int, Floats], ...]:
    """Return, for each row of the triangle: its number, first position, and the scale of its numbers, (i + 1, 1)."""
    return tuple((i, packed_size(i), np.array([ROOT2] * i + [1.0])[:, None]) for i in range(k))


def _sweep(A: AnyArray) -> Floats:
    """Invert standing symmetric matrices (k, k, n) in place by Gauss and Jordan; return the log determinants.

    Only the lower triangles are read, and only these hold the inverse afterwards.
    """
    k = len(A)
    pivots, column, outer = np.empty(A.shape[1:]), np.empty(A.shape[1:]), np.empty_like(A)
    for j in range(k):
        pivots[j] = A[j, j]
        reciprocal = 1.0 / pivots[j]
        column[:j], column[j:] = A[j, :j], A[j:, j]
        column[j] = 0.0
        scaled = column * reciprocal
        np.multiply(column[:, None], scaled, out=outer)
        A -= outer
        A[j, :j], A[j:, j] = scaled[:j], scaled[j:]
        np.negative(reciprocal, out=A[j, j])
    np.negative(A, out=A)
    return np.asarray(np.log(pivots).sum(axis=0))


def _invert_halves(full: AnyArray, out: AnyArray) -> Floats:
    """Put the inverses of symmetric (n, k, k), whose lower triangles are read, into `out`; return ln |.|.

    With A, B, D the blocks: S = D - B A^-1 B' is positive definite, too, and the inverse is
    [ A^-1 + T' S^-1 T, . ; -S^-1 T, S^-1 ], T = B A^-1. Products of stacked blocks are much faster than a factorization
    of each matrix.
    """
    k = full.shape[1]
    if k <= MOST_SWEPT:
        standing = np.ascontiguousarray(full.transpose(1, 2, 0))
        log_determinant = _sweep(standing)
        for i in range(1, k):
            standing[:i, i] = standing[i, :i]
        out[...] = standing.transpose(2, 0, 1)
        return log_determinant
    half = k // 2
    first, last = out[:, :half, :half], out[:, half:, half:]
    B = full[:, half:, :half]
    log_determinant = _invert_halves(full[:, :half, :half], first)
    T = B @ first
    log_determinant += _invert_halves(full[:, half:, half:] - T @ B.transpose(0, 2, 1), last)
    ST = last @ T
    first += T.transpose(0, 2, 1) @ ST
    np.negative(ST, out=out[:, half:, :half])
    out[:, :half, half:] = out[:, half:, :half].transpose(0, 2, 1)
    return log_determinant


# Gaussian posteriors of many rows: means, packed covariances, moments.


@dataclass(frozen=True, eq=False)
class Posterior(Arrays):
    """The Gaussian posterior of each row's x: its mean (rows, q) and packed covariance (rows, q(q + 1)/2)."""

    mean: Floats
    covariance: Floats

    def extended(self) -> Floats:
        """Return x^ = (mean, 1)."""
        return np.column_stack([self.mean, np.ones(len(self.mean))])

    def moments(self) -> Floats:
        """Return S = <x^ x^'>, packed."""
        S: Floats = pack_outer(self.extended())
        S[:, inner_places(self.mean.shape[1] + 1)] += self.covariance
        return S

    def divergence(self, log_det_precision: Floats) -> Floats:
        """Return KL(q || N(0, I)) = (1/2) [ tr C + mean.mean - q - ln |C| ] of each row."""
        q = self.mean.shape[1]
        trace = self.covariance @ identity(q)
        return np.asarray(0.5 * (trace + row_dot(self.mean, self.mean) - q + log_det_precision))
