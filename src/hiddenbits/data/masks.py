"""The storage of the observed-mask of a table: one choice for the whole table, so that all its parts agree."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from hiddenbits.array_types import Bytes
from hiddenbits.data.bits import AllOnes, Bits, Complement, Dense, Pattern, pattern_of

MAX_PATTERN_SHARE = 0.1  # a mask is stored as a pattern if at most this share of the cells is missing, or observed

Mask: TypeAlias = Literal["none", "missing", "dense", "observed"]
"""Nothing missing; the pattern of the missing cells; dense; or the pattern of the observed cells."""


def mask_for(share: float) -> Mask:
    """Return the storage for a table with this share of missing cells."""
    return "missing" if share <= MAX_PATTERN_SHARE else "observed" if share >= 1 - MAX_PATTERN_SHARE else "dense"


def mask_bytes(mask: Mask, share: float) -> float:
    """Return the bytes that a cell of the table takes in the mask, on average."""
    return {"none": 0.0, "missing": 4.0 * share, "dense": 1.0, "observed": 4.0 * (1.0 - share)}[mask]


def observed_bits(missing: Bytes, mask: Mask) -> Bits:
    """Return the observed-mask of some rows in the storage of their table; overwrites `missing`."""
    if mask == "none":
        return AllOnes((missing.shape[0], missing.shape[1]))
    if mask == "missing":
        return Complement(Pattern(*pattern_of(missing), missing.shape[1]))
    np.subtract(1, missing, out=missing)
    return Dense(missing) if mask == "dense" else Pattern(*pattern_of(missing), missing.shape[1])


def in_storage(observed: Bits, mask: Mask) -> Bits:
    """Return the observed-mask of some rows in the storage of their table."""
    if mask == "none":
        return AllOnes(observed.shape)
    if mask == "dense":
        return observed if isinstance(observed, Dense) else Dense(observed.to_dense())
    if mask == "observed":
        return observed if isinstance(observed, Pattern) else Pattern(*observed.ones(), observed.shape[1])
    if isinstance(observed, AllOnes):
        n_rows, n_columns = observed.shape
        return Complement(Pattern(np.zeros(n_rows + 1, np.int64), np.zeros(0, np.int32), n_columns))
    if isinstance(observed, Complement):
        return observed
    return Complement(Pattern(*pattern_of(observed.to_dense() == 0), observed.shape[1]))


class RowsToFill:
    """Rows of bits that are written a few at a time, with their observed-mask in the storage of the whole table.

    Parameters
    ----------
    shape : tuple of int
        (rows, columns).
    mask : {"none", "missing", "dense", "observed"}
        How the observed-mask is stored.

    Examples
    --------
    >>> rows = RowsToFill((3, 2), "missing")
    >>> x, missing = rows.next(2)
    >>> x[:], missing[:] = [[1, 0], [0, 1]], [[0, 0], [1, 0]]
    >>> x, missing = rows.next(1)
    >>> x[:] = 1
    >>> x, observed = rows.bits()
    >>> x.to_dense().tolist(), observed.to_dense().tolist()
    ([[1, 0], [0, 1], [1, 1]], [[1, 1], [0, 1], [1, 1]])
    """

    def __init__(self, shape: tuple[int, int], mask: Mask) -> None:
        self._mask, self._start = mask, 0
        self._x = np.empty(shape, np.uint8)
        self._missing = None if mask == "none" else np.zeros(shape, np.uint8)

    def next(self, n_rows: int) -> tuple[Bytes, Bytes | None]:
        """Return two arrays for the next rows: write bits into the first, and 1 for missing bits into the second.

        The second is None if nothing can be missing; otherwise it is 0 everywhere.
        """
        rows = slice(self._start, self._start + n_rows)
        self._start = rows.stop
        return self._x[rows], None if self._missing is None else self._missing[rows]

    def bits(self) -> tuple[Bits, Bits]:
        """Return (x, observed), once all rows are written."""
        x = self._x
        if self._missing is None:
            return Dense(x), AllOnes((len(x), x.shape[1]))
        return Dense(x), observed_bits(self._missing, self._mask)
