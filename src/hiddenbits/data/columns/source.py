"""Named columns as rows of bits and numbers: one source for all formats."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data.bits import Bits
from hiddenbits.data.cell_checks import bad_cell, check_cells
from hiddenbits.data.coding.coded_columns import (
    LEVELS,
    MISSING,
    NUMBERS,
    UNKNOWN,
    VALUE_METHODS,
    BitCoder,
    CodedColumn,
    Coding,
)
from hiddenbits.data.coding.vocabulary import key_of
from hiddenbits.data.columns.profiles import ColumnProfile, profile_columns
from hiddenbits.data.columns.protocol import ColumnBatch, Columns
from hiddenbits.data.masks import Mask, RowsToFill, mask_bytes, mask_for
from hiddenbits.data.numbers import MAX_NUMBER, BitsAndNumbers
from hiddenbits.exceptions import TableError, UnknownValuesWarning
from hiddenbits.quoting import quoted

CHUNK_ROWS = 1 << 16  # rows that are coded at once, so that little memory is needed besides the rows
MAX_COUNT = 2.0**53  # whole numbers up to here are exact
MAX_UNKNOWN = 8  # values unknown from the fit that a message names
READ_AS_MISSING = "Models of columns of every type can also read them as missing: handle_unknown='missing'."
TILE_ROWS = 2048  # rows transposed at a time, so that a tile of 128 columns stays in the cache


@dataclass(frozen=True, eq=False)
class CodedSource:
    """Rows of named columns, whose values are coded as they are read; `read` may be called by any process.

    Attributes
    ----------
    columns : Columns
        The columns that hold the rows.
    coding : Coding
        How values become bits.
    mask : {"none", "missing", "dense", "observed"}
        Storage of the observed-mask, the same for all rows, or sums over parts would depend on where parts begin.
    share : float
        Share of missing bits, as far as it is known.
    unknown_is_missing : bool
        Whether values that did not occur in the fit count as missing; otherwise they are an error.
    """

    columns: Columns
    coding: Coding
    mask: Mask
    share: float
    unknown_is_missing: bool = False

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
    def n_numbers(self) -> int:
        """Number of columns of numbers."""
        return len(self.coding.number_columns)

    @property
    def row_bytes(self) -> float:
        """Bytes of memory that one row takes when loaded."""
        return self.n_columns * (1 + mask_bytes(self.mask, self.share)) + 8.0 * self.n_numbers

    @property
    def row_cells(self) -> float:
        """Cells of a row that computations use: all."""
        return float(self.n_columns)

    def read(self, start: int, stop: int) -> tuple[Bits, Bits]:
        """Return (x, observed) of rows start to stop."""
        n_rows = max(min(stop, self.n_rows) - start, 0)
        rows_to_fill = RowsToFill((n_rows, self.n_columns), self.mask)
        numbers, first_row = np.empty((n_rows, self.n_numbers)), 0
        for batch in self.columns.batches(start, stop, [column.name for column in self.coding.columns]):
            with batch.reading():
                for j, column in enumerate(self.coding.number_columns):
                    numbers[first_row : first_row + batch.n_rows, j] = _numbers(column, batch)
                first_row += batch.n_rows
                functions = _bit_coders(self.coding, batch, unknown_is_missing=self.unknown_is_missing)
                coders = list(zip(functions, self._bits_of_coders, strict=True))
                for first in range(0, batch.n_rows, CHUNK_ROWS):
                    self._fill(coders, slice(first, min(first + CHUNK_ROWS, batch.n_rows)), rows_to_fill)
        x, observed = rows_to_fill.bits()
        return (BitsAndNumbers(x, numbers) if self.n_numbers else x), observed

    @cached_property
    def _bits_of_coders(self) -> list[slice]:
        bits_of = zip(self.coding.columns, self.coding.bits_of(), strict=True)
        return [bits for column, bits in bits_of if column.how not in NUMBERS]

    def only(self, start: int, stop: int) -> CodedSource:
        """Return the source with only the data that rows start to stop need: columns can be large to send."""
        return replace(self, columns=self.columns.only(start, stop)) if hasattr(self.columns, "only") else self

    def _fill(self, coders: Sequence[tuple[BitCoder, slice]], selected: slice, rows_to_fill: RowsToFill) -> None:
        """Write some rows of a batch."""
        x, missing = rows_to_fill.next(selected.stop - selected.start)
        columns, missing_columns = np.empty(x.shape[::-1], np.uint8), None
        for code_rows, bits in coders:
            columns[bits], is_missing = code_rows(selected)
            if is_missing is None or not is_missing.any():
                continue
            if missing is None:
                raise TableError(
                    f"column {self.coding.labels[bits.start]!r} has missing values, but had none when the table was "
                    "opened, or none according to the metadata of the file. Open the table again, or rewrite the file."
                )
            missing_columns = np.zeros_like(columns) if missing_columns is None else missing_columns
            missing_columns[bits] = is_missing
        for start in range(0, len(x), TILE_ROWS):  # columns to rows, tile by tile: 3 times faster than column by column
            tile = slice(start, start + TILE_ROWS)
            x[tile] = columns[:, tile].T
            if missing_columns is not None and missing is not None:
                missing[tile] = missing_columns[:, tile].T


def mask_of(coding: Coding, profiles: Mapping[str, ColumnProfile], n_rows: int) -> tuple[Mask, float]:
    """Return the storage of the observed-mask of the whole table, and the share of missing bits.

    Without profiles the share is unknown.
    """
    if not profiles:
        return "dense", 0.5
    n_missing, is_uncertain = 0, False
    for column in coding.columns:
        if column.how in (*LEVELS, *NUMBERS):  # columns of levels and numbers need no mask
            continue
        profile = profiles[column.name]
        missing = [value for value, key in profile.keys.items() if column.code_of(key) in (MISSING, UNKNOWN)]
        n_missing += sum(profile.counts[value] for value in missing) * len(column.labels)
        is_uncertain |= bool(profile.max_counted and column.missing)
    if not n_missing and not is_uncertain:
        return "none", 0.0
    share = n_missing / (n_rows * len(coding.labels))
    return mask_for(share), share


def _bit_coders(coding: Coding, batch: ColumnBatch, *, unknown_is_missing: bool) -> list[BitCoder]:
    """Return the function that codes the rows of each column; raise one error for all values unknown from the fit.

    With `unknown_is_missing` such values of nominal, ordinal and recoded columns count as missing.
    """
    coders: list[BitCoder] = []
    unknown: list[tuple[CodedColumn, int, object]] = []
    names = tuple(column.name for column in coding.columns)
    for number, column in enumerate(coding.columns):
        if column.how in NUMBERS:
            continue
        numbers = batch.numbers(column.name) if column.how in ("binary", "above") else None
        if numbers is not None:
            coders.append(_coder_of(column, number, names, numbers, batch.first_row))
            continue
        if column.how == "quantiles" and (numbers := batch.numbers(column.name)) is not None:
            coders.append(column.bit_coder(*column.levels_of(numbers)))
            continue
        cells = batch.cells(column.name)
        codes = np.array([column.code_of(key, cells.number) for key in cells.keys], np.int32)
        if unknown_is_missing and column.how in VALUE_METHODS:
            codes[codes == UNKNOWN] = MISSING
        coders.append(column.bit_coder(codes, cells.rows))
        for k in np.flatnonzero(codes == UNKNOWN).tolist():
            if (cells.rows == k).any():
                row = batch.first_row + cells.first_row(k)
                if column.how in ("binary", "above"):
                    raise bad_cell(cells.values[k], row, number, names, column.threshold)
                unknown.append((column, row, cells.values[k]))
    if unknown:
        raise _unknown_values(unknown)
    return coders


def _unknown_values(unknown: Sequence[tuple[CodedColumn, int, object]]) -> TableError:
    """Return the error for values that did not occur in the fit."""
    cells = [f"row {row}, column {column.name!r}: {quoted(value)}" for column, row, value in unknown[:MAX_UNKNOWN]]
    if len(unknown) > 1:
        further = f"; and {len(unknown) - MAX_UNKNOWN} more" if len(unknown) > MAX_UNKNOWN else ""
        return TableError(
            f"{'; '.join(cells)}{further}. These are not among the values of the fit. Correct the cells or make them "
            f"missing, or fit again with these values. {READ_AS_MISSING}"
        )
    column = unknown[0][0]
    known = ", ".join(quoted(value) for value in (*column.ones, *column.zeros)[:8])
    dots = ", ..." if len(column.ones) + len(column.zeros) > 8 else ""
    return TableError(
        f"{cells[0]} is not among the values of the fit, which are {known}{dots}. Correct the cell or make it missing, "
        f"or fit again with this value. {READ_AS_MISSING}"
    )


def warn_of_unknown(coding: Coding, columns: Columns, profiles: Mapping[str, ColumnProfile]) -> None:
    """Warn of all values that did not occur in the fit and count as missing; without profiles, count them first.

    One process counts before any rows are coded, so that there is one warning, wherever rows are read.
    """
    by_values = [column for column in coding.columns if column.how in VALUE_METHODS]
    profiles = profiles or profile_columns(columns, [column.name for column in by_values])
    unknown = [
        (count, f"{quoted(value)} ({count:,}) in {column.name!r}")
        for column, profile in ((column, profiles[column.name]) for column in by_values)
        for (value, key), count in zip(profile.keys.items(), profile.counts.values(), strict=True)
        if count and column.code_of(key) == UNKNOWN
    ]
    if not unknown:
        return
    n_cells, further = sum(count for count, _ in unknown), len(unknown) - MAX_UNKNOWN
    listed = ", ".join(text for _, text in unknown[:MAX_UNKNOWN]) + (f"; and {further} more" if further > 0 else "")
    cells = "1 cell has a value" if n_cells == 1 else f"{n_cells:,} cells have values"
    warnings.warn(
        f"{cells} that did not occur in the fit and will count as missing: {listed}.",
        UnknownValuesWarning,
        stacklevel=2,
    )


def _numbers(column: CodedColumn, batch: ColumnBatch) -> Floats:
    """Return the rows of a column of numbers, NaN where missing; raise an error for the first other cell."""
    values = batch.numbers(column.name)
    if values is not None:
        numbers = column.numbers(values)
        invalid = np.flatnonzero(_is_invalid(column, numbers))
        if not len(invalid):
            return numbers
        row, value = int(invalid[0]), values[invalid[0]]
    else:
        cells = batch.cells(column.name)
        numbers = column.numbers(cells.key_numbers())
        words = [isinstance(key, str) and column.code_of(key) == UNKNOWN for key in cells.keys]
        invalid = np.flatnonzero((_is_invalid(column, numbers) | np.array(words))[cells.rows])
        if not len(invalid):
            return np.asarray(numbers[cells.rows])
        row = int(invalid[0])
        value = cells.values[cells.rows[row]]
    needed = "a whole number from 0" if column.how == "count" else f"a finite number of at most {MAX_NUMBER:g}"
    raise TableError(
        f"row {batch.first_row + row}, column {column.name!r}: {quoted(value)} is not {needed}. Correct the cell, make "
        f"it missing, or give the column another type than {column.how!r}."
    )


def _is_invalid(column: CodedColumn, numbers: Floats) -> AnyArray:
    if column.how == "count":
        return np.asarray(
            ~((numbers >= 0.0) & (numbers <= MAX_COUNT) & (np.rint(numbers) == numbers) | np.isnan(numbers))
        )
    return np.asarray(np.abs(numbers) > MAX_NUMBER)


def _coder_of(column: CodedColumn, number: int, names: tuple[str, ...], values: AnyArray, first_row: int) -> BitCoder:
    """Return a column of numbers as bits, checked like an array; a threshold is compared in the type of the column."""
    masked = np.ma.getmaskarray(values) if np.ma.isMaskedArray(values) else None
    values, is_code = np.ma.getdata(values), None
    if column.missing:
        is_code = np.isin(values, [key for key in map(key_of, column.missing) if isinstance(key, float)])
        masked = is_code if masked is None else masked | is_code
    mask = None if masked is None else masked[:, None]
    checked, missing = check_cells(values[:, None], mask, column.threshold, names, first_row, number)
    bits = np.asarray(checked[:, 0], np.uint8)
    # if an empty cell is 0, only codes are missing
    is_missing = is_code if column.if_missing == 0 or missing is None else missing[:, 0]
    return lambda rows: (bits[rows], None if is_missing is None else is_missing[rows])
