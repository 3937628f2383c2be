"""The forms of `Bits` for computations: floats for BLAS, a CSR view, or column sums."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import DTypeLike

from hiddenbits.array_types import AnyArray


class Operand(Protocol):
    """A matrix for products: an array, a scipy CSR array, or one of the two below."""

    @property
    def T(self) -> Operand:  # noqa: N802  (NumPy's name for the transpose)
        """The transpose."""

    def __matmul__(self, other: AnyArray, /) -> AnyArray: ...


@dataclass(frozen=True)
class OnesOperand:
    """The operand of a matrix of ones: a product is one row of column sums, which broadcasts."""

    shape: tuple[int, int]

    @property
    def T(self) -> OnesOperand:  # noqa: N802  (NumPy's name for the transpose)
        """The transpose."""
        return OnesOperand(self.shape[::-1])

    def __matmul__(self, other: AnyArray) -> AnyArray:
        return column_sums(np.asarray(other))


@dataclass(frozen=True)
class ComplementOperand:
    """The operand of a complement: column sums minus the product of the other operand."""

    of: Operand

    @property
    def T(self) -> ComplementOperand:  # noqa: N802
        """The transpose."""
        return ComplementOperand(self.of.T)

    def __matmul__(self, other: AnyArray) -> AnyArray:
        return np.asarray(column_sums(other) - self.of @ other)


def column_sums(matrix: AnyArray) -> AnyArray:
    """Return the sum of each column, as one row; a product is faster than NumPy's sum over the first axis."""
    return np.asarray(run_of_ones(len(matrix), matrix.dtype)[None, :] @ matrix)


class _Buffers(threading.local):
    """The buffers of this thread, by name and type."""

    def __init__(self) -> None:
        self.by_name: dict[tuple[str, DTypeLike], AnyArray] = {}


_buffers = _Buffers()


def scratch(slot: str, shape: tuple[int, int], dtype: DTypeLike = np.float64) -> AnyArray:
    """Return this thread's buffer with the name `slot`; the next call with this name returns the same memory.

    New memory for every block can cost as much as the computations: on dask's workers, whose allocator returns all
    memory immediately, the pages of each new array must be allocated again.
    """
    buffers, name, size = _buffers.by_name, (slot, dtype), shape[0] * shape[1]
    buffer = buffers.get(name)
    if buffer is None or buffer.size < size:
        buffer = buffers[name] = np.empty(size, dtype)
    return buffer[:size].reshape(shape)


def product(operand: Operand, matrix: AnyArray, slot: str | None) -> AnyArray:
    """Return ``operand @ matrix``, in this thread's buffer for `slot` if given and the product is computed by BLAS."""
    if slot is None or not isinstance(operand, np.ndarray):
        return np.asarray(operand @ matrix)
    return np.matmul(operand, matrix, out=scratch(slot, (len(operand), matrix.shape[1]), matrix.dtype))


def sums_over_rows(operand: Operand, r: AnyArray) -> AnyArray:
    """Return ``operand.T @ r``.

    For arrays, as the transpose of ``r.T @ operand``: with up to a few hundred columns in r, BLAS computes it in a
    quarter to two thirds of the time.
    """
    if isinstance(operand, np.ndarray):
        return np.ascontiguousarray((r.T @ operand).T)
    return np.asarray(operand.T @ r)


def floats_of(values: AnyArray, dtype: DTypeLike, slot: str | None) -> AnyArray:
    """Return the values as floats, in this thread's buffer for `slot` if there is one."""
    if slot is None:
        return values.astype(dtype)
    floats = scratch(slot, (values.shape[0], values.shape[1]), dtype)
    np.copyto(floats, values)
    return floats


_ones_by_type: dict[DTypeLike, AnyArray] = {}


def run_of_ones(length: int, dtype: DTypeLike) -> AnyArray:
    """Return `length` ones, a view of one shared run: the values of every binary CSR matrix."""
    ones = _ones_by_type.get(dtype)
    if ones is None or len(ones) < length:
        ones = np.ones(max(length, 1 << 16), dtype)
        ones.flags.writeable = False
        _ones_by_type[dtype] = ones  # two threads may both create one: either can be used
    return ones[:length]


def product_with_totals(operand: Operand, matrix: AnyArray, totals: AnyArray) -> AnyArray:
    """Return ``operand @ matrix``, given the column sums of `matrix`.

    So the sums are computed once per iteration, not once per block; if nothing is missing they are the whole product.
    """
    if isinstance(operand, OnesOperand):
        return totals
    if isinstance(operand, ComplementOperand):
        return np.asarray(totals - operand.of @ matrix)
    return np.asarray(operand @ matrix)
