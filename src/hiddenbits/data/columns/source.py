"""Named columns as rows of bits: the one source of all their formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from hiddenbits.array_types import AnyArray
from hiddenbits.data.bits import Bits
from hiddenbits.data.cell_checks import bad_cell, check_cells
from hiddenbits.data.coding.coded_columns import LEVELS, MISSING, UNKNOWN, Coded, CodedColumn, Coding
from hiddenbits.data.coding.vocabulary import key_of
from hiddenbits.data.columns.look import ColumnProfile
from hiddenbits.data.columns.protocol import Batch, Columns
from hiddenbits.data.masks import Mask, RowsToFill, mask_bytes, mask_for
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import quoted

CHUNK_ROWS = 1 << 16  # rows that are coded at once, so that little memory is needed besides the rows
MOST_UNKNOWN = 8  # values that the fit did not see, which a message names
TILE = 2048  # rows transposed at a time, so that a tile of 128 columns stays in the cache


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
    """

    columns: Columns
    coding: Coding
    mask: Mask
    share: float

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
        filled = RowsToFill((max(min(stop, self.n_rows) - start, 0), self.n_columns), self.mask)
        for batch in self.columns.batches(start, stop, [column.name for column in self.coding.columns]):
            with batch.reading():
                coded = list(zip(_coded(self.coding, batch), self.coding.bits_of(), strict=True))
                for first in range(0, batch.n_rows, CHUNK_ROWS):
                    self._fill(coded, slice(first, min(first + CHUNK_ROWS, batch.n_rows)), filled)
        return filled.bits()

    def only(self, start: int, stop: int) -> CodedSource:
        """Return the source with what rows start to stop need and no more: less to send, where columns can be large."""
        return replace(self, columns=self.columns.only(start, stop)) if hasattr(self.columns, "only") else self

    def _fill(self, coded: Sequence[tuple[Coded, slice]], some: slice, filled: RowsToFill) -> None:
        """Write some rows of a batch."""
        x, missing = filled.next(some.stop - some.start)
        columns, gaps = np.empty(x.shape[::-1], np.uint8), None
        for of, bits in coded:
            columns[bits], gone = of(some)
            if gone is None or not gone.any():
                continue
            if missing is None:
                raise TableError(
                    f"column {self.coding.labels[bits.start]!r} has missing values, but had none when the table was "
                    "opened, or by the metadata of the file. Open the table again, or write the file again."
                )
            gaps = np.zeros_like(columns) if gaps is None else gaps
            gaps[bits] = gone
        for start in range(0, len(x), TILE):  # columns to rows, tile by tile: 3 times quicker than column by column
            tile = slice(start, start + TILE)
            x[tile] = columns[:, tile].T
            if gaps is not None and missing is not None:
                missing[tile] = gaps[:, tile].T


def mask_of(coding: Coding, profiles: Mapping[str, ColumnProfile], n_rows: int) -> tuple[Mask, float]:
    """Return how the observed-mask is stored, for the whole table, and the share of its bits that is missing.

    Without profiles nobody knows how much is missing.
    """
    if not profiles:
        return "dense", 0.5
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


def _coded(coding: Coding, batch: Batch) -> list[Coded]:
    """Return how the rows of each column become bits; refuse values that are not of the fit, those of all columns."""
    coded: list[Coded] = []
    unknown: list[tuple[CodedColumn, int, object]] = []
    names = tuple(one.name for one in coding.columns)
    for number, column in enumerate(coding.columns):
        numbers = batch.numbers(column.name) if column.how in ("bits", "above") else None
        if numbers is not None:
            coded.append(_of_numbers(column, number, names, numbers, batch.first_row))
            continue
        cells = batch.cells(column.name)
        codes = np.array([column.code_of(key, cells.number) for key in cells.keys], np.int32)
        coded.append(column.coded(codes, cells.rows))
        for k in np.flatnonzero(codes == UNKNOWN).tolist():
            if (cells.rows == k).any():
                row = batch.first_row + cells.first_row(k)
                if column.how in ("bits", "above"):
                    raise bad_cell(cells.values[k], row, number, names, column.threshold)
                unknown.append((column, row, cells.values[k]))
    if unknown:
        raise _not_of_the_fit(unknown)
    return coded


def _not_of_the_fit(unknown: Sequence[tuple[CodedColumn, int, object]]) -> TableError:
    listed = "; ".join(f"row {row}, column {one.name!r}: {quoted(value)}" for one, row, value in unknown[:MOST_UNKNOWN])
    if len(unknown) > 1:
        more = f"; and {len(unknown) - MOST_UNKNOWN} more" if len(unknown) > MOST_UNKNOWN else ""
        return TableError(
            f"{listed}{more}. These are not among the values of the fit. Correct the cells or make them missing, or "
            "fit again with these values."
        )
    column = unknown[0][0]
    known = ", ".join(quoted(value) for value in (*column.ones, *column.zeros)[:8])
    more = ", ..." if len(column.ones) + len(column.zeros) > 8 else ""
    return TableError(
        f"{listed} is not among the values of the fit, which are {known}{more}. Correct the cell or make it missing, "
        "or fit again with this value."
    )


def _of_numbers(column: CodedColumn, number: int, names: tuple[str, ...], values: AnyArray, first_row: int) -> Coded:
    """Return a column of numbers as bits, checked as an array is; a threshold is compared in the type of the column."""
    masked = np.ma.getmaskarray(values) if np.ma.isMaskedArray(values) else None
    values, coded = np.ma.getdata(values), None
    if column.missing:
        coded = np.isin(values, [key for key in map(key_of, column.missing) if isinstance(key, float)])
        masked = coded if masked is None else masked | coded
    mask = None if masked is None else masked[:, None]
    found, missing = check_cells(values[:, None], mask, column.threshold, names, first_row, number)
    bits = np.asarray(found[:, 0], np.uint8)
    gone = coded if column.blank == 0 or missing is None else missing[:, 0]  # of a blank that is 0, codes are missing
    return lambda some: (bits[some], None if gone is None else gone[some])
