"""Named columns as rows of bits: the one source of all their formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Bytes
from hiddenbits.data.bits import AllOnes, Bits, Dense
from hiddenbits.data.cell_checks import observed_from_missing
from hiddenbits.data.coding.cells import ColumnCells
from hiddenbits.data.coding.coded_columns import LEVELS, MISSING, CodedColumn, Coding, codes_of
from hiddenbits.data.columns.look import ColumnProfile
from hiddenbits.data.columns.protocol import Batch, Columns, HeldColumns
from hiddenbits.data.errors import TableError
from hiddenbits.data.masks import Mask, mask_bytes, mask_for, observed_bits
from hiddenbits.data.table import MemorySource

Codes = tuple[CodedColumn, ColumnCells, NDArray[np.int32]]

CHUNK_ROWS = 1 << 13  # rows that are written at once, column by column, while they are in the processor's cache


@dataclass(frozen=True, eq=False)
class CodedSource:
    """Rows of named columns, whose values become bits as they are read; `read` may be called by any process.

    Attributes
    ----------
    columns : Columns
        Where the rows are.
    coding : Coding
        How values become bits.
    mask : {"none", "missing", "dense", "observed"}
        How the observed-mask is stored, for all rows alike, or sums over parts would depend on where parts begin.
    share : float
        Share of the bits that is missing, as far as that is known.
    missing_is_zero : bool
        Whether a missing value is a 0.
    """

    columns: Columns
    coding: Coding
    mask: Mask
    share: float
    missing_is_zero: bool

    resident: ClassVar[bool] = False

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.columns.n_rows

    @property
    def n_columns(self) -> int:
        """Number of bits of a row."""
        return len(self.coding.labels)

    @property
    def row_bytes(self) -> float:
        """Bytes of memory that one row takes when loaded."""
        return self.n_columns * (1 + mask_bytes(self.mask, self.share))

    @property
    def row_cells(self) -> float:
        """Cells of a row that arithmetic touches: all."""
        return float(self.n_columns)

    def read(self, start: int, stop: int) -> tuple[Bits, Bits]:
        """Return (x, observed) of rows start to stop."""
        shape = max(min(stop, self.n_rows) - start, 0), self.n_columns
        x = np.empty(shape, np.uint8)
        missing = None if self.mask == "none" else np.zeros(shape, np.uint8)
        at = 0
        for batch in self.columns.batches(start, stop, [column.name for column in self.coding.columns]):
            rows = slice(at, at + batch.n_rows)
            with batch.reading():
                gaps = None if missing is None else missing[rows]
                _fill(self.coding, _codes(self.coding, batch), x[rows], gaps, self.missing_is_zero)
            at = rows.stop
        return Dense(x), AllOnes(shape) if missing is None else observed_bits(missing, self.mask)


def held_rows(columns: HeldColumns, coding: Coding, *, missing_is_zero: bool) -> MemorySource:
    """Return the rows of columns in memory, made once."""
    x = np.empty((columns.n_rows, len(coding.labels)), np.uint8)
    names = [column.name for column in coding.columns]
    (batch,) = columns.batches(0, columns.n_rows, names)
    codes = _codes(coding, batch)
    has_missing = any((code == MISSING).any() for column, _, code in codes if column.how not in LEVELS)
    missing = np.zeros_like(x) if has_missing and not missing_is_zero else None
    _fill(coding, codes, x, missing, missing_is_zero)
    if missing is None or not missing.any():
        return MemorySource(Dense(x), AllOnes((len(x), x.shape[1])))
    return MemorySource(Dense(x), observed_from_missing(missing))


def mask_of(coding: Coding, profiles: Mapping[str, ColumnProfile], n_rows: int) -> tuple[Mask, float]:
    """Return how the observed-mask is stored, for the whole table, and the share of its bits that is missing."""
    missing, unsure = 0, False
    for column in coding.columns:
        if column.how in LEVELS:  # which need no mask
            continue
        profile = profiles[column.name]
        gone = [value for value, key in profile.keys.items() if column.code_of(key) == MISSING]
        missing += sum(profile.counts[value] for value in gone) * len(column.labels)
        unsure |= bool(profile.cut and column.missing)
    if not missing and not unsure:
        return "none", 0.0
    share = missing / (n_rows * len(coding.labels))
    return mask_for(share), share


def _codes(coding: Coding, batch: Batch) -> list[Codes]:
    """Return each column of a batch with the codes of its distinct values; refuse values that the fit did not see."""
    cells = [batch.cells(column.name) for column in coding.columns]
    return list(zip(coding.columns, cells, codes_of(coding.columns, cells, batch.first_row), strict=True))


def _fill(coding: Coding, codes: list[Codes], x: Bytes, missing: Bytes | None, missing_is_zero: bool) -> None:
    """Write the bits of a batch into x, and where they are missing."""
    places = list(zip(codes, coding.bits_of(), strict=True))
    for start in range(0, len(x), CHUNK_ROWS):
        some = slice(start, start + CHUNK_ROWS)
        for (column, one, code), bits in places:
            x[some, bits], gone = column.bits_at(code, one.rows[some])
            if missing is not None:
                missing[some, bits] = gone
            elif not missing_is_zero and gone.any():
                raise TableError(
                    f"column {column.name!r} has missing values, but had none when the table was opened. Open the "
                    "table again."
                )
