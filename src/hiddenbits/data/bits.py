"""Matrices of 0 and 1: three storages, one algebra.

A `Bits` is a read-only 0/1 matrix of shape (rows, columns). It is stored dense (one byte per cell), as the
pattern of a CSR matrix (the positions of the 1s, no values), or packed eight to a byte. `AllOnes` and
`Complement` complete the family for masks of observed cells, which are matrices of bits, too: `AllOnes` if
nothing is missing, and the `Complement` of a short pattern if few cells are missing.

Computations use an *operand*: `bits.operand(dtype)` supports ``@`` and ``.T @``. It is created once for all
products with a block in an iteration::

    x, o = block.operands()
    values = x @ W          # (rows, k)
    counts = x.T @ R        # (columns, k)

Products of `AllOnes` have a single row, which broadcasts: all rows of the full result would be equal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from hiddenbits.array_types import AnyArray, Bytes, Floats
from hiddenbits.data.declared import aligned
from hiddenbits.data.operands import ComplementOperand, OnesOperand, Operand, floats_of, run_of_ones

ByteArray = Bytes


class Bits(ABC):
    """A read-only matrix of 0 and 1; see the module's docstring for the algebra."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(aligned(state))

    @abstractmethod
    def operand(self, dtype: DTypeLike = np.float64, slot: str | None = None) -> Operand:
        """Return an object `x` for which ``x @ W`` and ``x.T @ R`` are the matrix products, in `dtype`.

        With a `slot` the floats are in this thread's buffer of that name, where the next operand with the same slot
        overwrites them: new memory for every block would cost more than the products of a narrow table.
        """

    @property
    @abstractmethod
    def operand_bytes(self) -> int:
        """Bytes that an operand in float64 takes."""

    @abstractmethod
    def ones(self) -> tuple[AnyArray, AnyArray]:
        """Return (indptr, indices): the columns of row i's 1s are indices[indptr[i]:indptr[i+1]], ascending."""

    @abstractmethod
    def rows(self, start: int, stop: int) -> Bits:
        """Return rows start to stop, without copying if the storage allows it."""

    @abstractmethod
    def take(self, rows: AnyArray) -> Bits:
        """Return the given rows, in the order given."""

    @abstractmethod
    def to_dense(self) -> Bytes:
        """Return the matrix as a (rows, columns) array of uint8."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes held in memory."""

    def row_sums(self) -> NDArray[np.int64]:
        """Return the number of 1s in each row."""
        return np.diff(self.ones()[0]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Dense(Bits):
    """One byte per cell: `values` is a C-contiguous (rows, columns) array of uint8 holding 0 and 1."""

    values: Bytes

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.values.shape[0], self.values.shape[1]

    def operand(self, dtype: DTypeLike = np.float64, slot: str | None = None) -> Operand:
        """Return the values as floats: products then run in BLAS."""
        return floats_of(self.values, dtype, slot)

    @property
    def operand_bytes(self) -> int:
        """Bytes that an operand in float64 takes."""
        return 8 * self.values.size

    def ones(self) -> tuple[AnyArray, AnyArray]:
        """Return the pattern of the 1s."""
        return pattern_of(self.values)

    def rows(self, start: int, stop: int) -> Dense:
        """Return a view of rows start to stop."""
        return Dense(self.values[start:stop])

    def take(self, rows: AnyArray) -> Dense:
        """Return a copy of the given rows."""
        return Dense(self.values[rows])

    def to_dense(self) -> Bytes:
        """Return the values themselves."""
        return self.values

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self.values.nbytes)

    def row_sums(self) -> NDArray[np.int64]:
        """Return the number of 1s in each row."""
        return np.asarray(self.values.sum(axis=1, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Pattern(Bits):
    """Positions of the 1s: CSR index pointers (64-bit) and ascending column indices (32-bit where they fit)."""

    indptr: NDArray[np.int64]
    indices: AnyArray
    n_columns: int

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return len(self.indptr) - 1, self.n_columns

    def operand(self, dtype: DTypeLike = np.float64, slot: str | None = None) -> Operand:
        """Return a scipy CSR array over the same indices."""
        csr: Operand = self.csr(dtype)
        return csr

    def csr(self, dtype: DTypeLike = np.float64) -> Any:
        """Return a scipy CSR array over the same indices; its values are a shared array of ones."""
        local = self.indptr
        if len(self.indices) <= np.iinfo(self.indices.dtype).max:
            local = local.astype(self.indices.dtype)  # one index type, or scipy would copy the indices
        return sparse.csr_array((run_of_ones(len(self.indices), dtype), self.indices, local), shape=self.shape)

    @property
    def operand_bytes(self) -> int:
        """Bytes that an operand in float64 takes."""
        return 8 * len(self.indices) + self.nbytes

    def ones(self) -> tuple[AnyArray, AnyArray]:
        """Return the pattern itself."""
        return self.indptr, self.indices

    def rows(self, start: int, stop: int) -> Pattern:
        """Return rows start to stop; the indices are a view."""
        indptr = self.indptr[start : stop + 1]
        return Pattern(indptr - indptr[0], self.indices[indptr[0] : indptr[-1]], self.n_columns)

    def take(self, rows: AnyArray) -> Pattern:
        """Return a copy of the given rows."""
        rows = np.asarray(rows)
        lengths = np.diff(self.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        within = np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths)
        return Pattern(indptr, self.indices[np.repeat(self.indptr[:-1][rows], lengths) + within], self.n_columns)

    def to_dense(self) -> Bytes:
        """Return a dense copy."""
        dense = np.zeros(self.shape, np.uint8)
        dense[np.repeat(np.arange(self.shape[0]), np.diff(self.indptr)), self.indices] = 1
        return dense

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self.indptr.nbytes + self.indices.nbytes)


@dataclass(frozen=True, eq=False)
class Packed(Bits):
    """Eight cells per byte, as packed by `numpy.packbits(x, axis=1)` (first column in the highest bit)."""

    packed: Bytes
    n_columns: int

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.packed.shape[0], self.n_columns

    def operand(self, dtype: DTypeLike = np.float64, slot: str | None = None) -> Operand:
        """Return the unpacked values as floats: a block of them fits in the cache."""
        return floats_of(self.to_dense(), dtype, slot)

    @property
    def operand_bytes(self) -> int:
        """Bytes that an operand in float64 takes."""
        return 8 * self.shape[0] * self.shape[1]

    def ones(self) -> tuple[AnyArray, AnyArray]:
        """Return the pattern of the 1s."""
        return pattern_of(self.to_dense())

    def rows(self, start: int, stop: int) -> Packed:
        """Return a view of rows start to stop."""
        return Packed(self.packed[start:stop], self.n_columns)

    def take(self, rows: AnyArray) -> Packed:
        """Return a copy of the given rows."""
        return Packed(self.packed[rows], self.n_columns)

    def to_dense(self) -> Bytes:
        """Return an unpacked copy."""
        return np.unpackbits(self.packed, axis=1, count=self.n_columns)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self.packed.nbytes)

    def row_sums(self) -> NDArray[np.int64]:
        """Return the number of 1s in each row (the checks ensure that padding bits are 0)."""
        return np.asarray(np.bitwise_count(self.packed).sum(axis=1, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class AllOnes(Bits):
    """A matrix of ones that takes no memory: "every cell was observed"."""

    size: tuple[int, int]

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.size

    def operand(self, dtype: DTypeLike = np.float64, slot: str | None = None) -> Operand:
        """Return an operand whose products are column sums, as one row that broadcasts."""
        return OnesOperand(self.shape)

    @property
    def operand_bytes(self) -> int:
        """None are needed."""
        return 0

    def ones(self) -> tuple[AnyArray, AnyArray]:
        """Return the full pattern."""
        n, d = self.shape
        return np.arange(0, n * d + 1, d, dtype=np.int64) if d else np.zeros(n + 1, np.int64), np.tile(
            np.arange(d, dtype=np.int32), n
        )

    def rows(self, start: int, stop: int) -> AllOnes:
        """Return rows start to stop."""
        return AllOnes((min(stop, self.shape[0]) - start, self.shape[1]))

    def take(self, rows: AnyArray) -> AllOnes:
        """Return as many rows as given."""
        return AllOnes((len(rows), self.shape[1]))

    def to_dense(self) -> Bytes:
        """Return an array of ones."""
        return np.ones(self.shape, np.uint8)

    @property
    def nbytes(self) -> int:
        """None are held."""
        return 0

    def row_sums(self) -> NDArray[np.int64]:
        """Return the number of columns, for every row."""
        return np.full(self.shape[0], self.shape[1], np.int64)


@dataclass(frozen=True, eq=False)
class Complement(Bits):
    """The complement: 1 where `of` is 0. Its products cost as much as those of `of`."""

    of: Bits

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.of.shape

    def operand(self, dtype: DTypeLike = np.float64, slot: str | None = None) -> Operand:
        """Return an operand that subtracts the products of `of` from column sums."""
        return ComplementOperand(self.of.operand(dtype, slot))

    @property
    def operand_bytes(self) -> int:
        """Bytes that an operand in float64 takes."""
        return self.of.operand_bytes

    def ones(self) -> tuple[AnyArray, AnyArray]:
        """Return the pattern of the 1s."""
        return pattern_of(self.to_dense())

    def rows(self, start: int, stop: int) -> Complement:
        """Return rows start to stop."""
        return Complement(self.of.rows(start, stop))

    def take(self, rows: AnyArray) -> Complement:
        """Return the given rows."""
        return Complement(self.of.take(rows))

    def to_dense(self) -> Bytes:
        """Return a dense copy."""
        return 1 - self.of.to_dense()

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.of.nbytes

    def row_sums(self) -> NDArray[np.int64]:
        """Return the number of 1s in each row."""
        return self.shape[1] - self.of.row_sums()


def pattern_of(dense: AnyArray) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return (indptr, indices) of the non-zero cells of a dense array."""
    rows, columns = np.nonzero(dense)
    counts = np.bincount(rows, minlength=dense.shape[0])
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), columns.astype(np.int32)


def with_columns(bits: Bits, added: Bytes) -> Bits:
    """Return a matrix with more columns at its end, in the same storage."""
    n, d = bits.shape
    width = d + added.shape[1]
    if isinstance(bits, AllOnes) and added.all():
        return AllOnes((n, width))
    if isinstance(bits, Complement):
        return Complement(with_columns(bits.of, 1 - added))
    if isinstance(bits, Pattern):
        rows, columns = np.nonzero(added)
        indptr = bits.indptr + np.searchsorted(rows, np.arange(n + 1))
        indices = np.insert(bits.indices, bits.indptr[rows + 1], columns + d)
        return Pattern(indptr, indices.astype(bits.indices.dtype), width)
    if isinstance(bits, Packed):
        packed = np.zeros((n, -(-width // 8)), np.uint8)
        packed[:, : bits.packed.shape[1]] = bits.packed
        for j, column in enumerate(added.T, start=d):
            packed[:, j // 8] |= column << (7 - j % 8)
        return Packed(packed, width)
    return Dense(np.hstack([bits.to_dense(), added]))


def with_nan(x: Bits, observed: Bits) -> Floats:
    """Return the cells as floats, NaN where not observed: for users and tests, not for computations."""
    values = x.to_dense().astype(np.float64)
    values[observed.to_dense() == 0] = np.nan
    return values
