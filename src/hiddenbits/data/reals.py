"""Tables of real numbers, stored as one matrix: patches of images, spectra, traces.

`Reals` replace the bits in a block. Their operand is the matrix itself if it has the right type, so that a large table
in memory, or a memory map, is never copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data.bits import AllOnes, Bits, Dense
from hiddenbits.data.cell_checks import CHUNK_CELLS, check_form, observed_from_missing
from hiddenbits.data.columns.gather import cells_of_objects, is_frame, numbers_of, opened_frame
from hiddenbits.data.numbers import MAX_NUMBER
from hiddenbits.data.operands import floats_of
from hiddenbits.data.request import Request
from hiddenbits.data.table import HeldRows, Table
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import quoted


@dataclass(frozen=True, eq=False)
class Reals(Bits):
    """Rows of real numbers.

    Attributes
    ----------
    numbers : ndarray of float32 or float64, shape (rows, columns)
        0 where not observed.
    """

    numbers: AnyArray

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.numbers.shape[0], self.numbers.shape[1]

    def operand(self, dtype: DTypeLike = np.float64, slot: str | None = None) -> AnyArray:
        """Return the numbers in this type, without a copy if they already have it."""
        return self.numbers if self.numbers.dtype == dtype else floats_of(self.numbers, dtype, slot)

    @property
    def operand_bytes(self) -> int:
        """Bytes that an operand in float64 takes."""
        return 8 * self.shape[0] * self.shape[1]

    def ones(self) -> tuple[AnyArray, AnyArray]:
        """Raise an error: real numbers have no 1s."""
        raise TableError("A table of real numbers has no pattern of 1s.")

    def row_sums(self) -> NDArray[np.int64]:
        """Raise an error: real numbers have no 1s."""
        raise TableError("A table of real numbers has no 1s to count.")

    def to_dense(self) -> Any:
        """Return the numbers as float64."""
        return self.operand()

    def rows(self, start: int, stop: int) -> Reals:
        """Return a view of rows start to stop."""
        return Reals(self.numbers[start:stop])

    def take(self, rows: AnyArray) -> Reals:
        """Return a copy of the given rows."""
        return Reals(self.numbers[rows])

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self.numbers.nbytes)

    def without(self, observed: Bits, hidden: NDArray[np.bool_]) -> tuple[Reals, Bits]:
        """Return (numbers, observed) with some cells not observed; `hidden` is of shape (rows, columns)."""
        numbers = np.where(hidden, 0.0, self.numbers).astype(self.numbers.dtype)
        return Reals(numbers), Dense(np.where(hidden, 0, observed.to_dense()).astype(np.uint8))


@dataclass(frozen=True, eq=False)
class RealsSource(HeldRows):
    """Checked rows of real numbers in memory. Not a `MemorySource`: there are no equal rows to collapse."""

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.x.shape[1]

    @property
    def row_cells(self) -> float:
        """Cells of a row that computations use: all."""
        return float(self.n_columns)


@dataclass(frozen=True, eq=False)
class RealsTable(Table):
    """A table of real numbers in memory, from `open_table` with ``reals=True``. Its source reads `Reals`."""

    @classmethod
    def of_rows(cls, x: Any, observed: Bits, names: tuple[str, ...] | None, levels: Any = None) -> RealsTable:  # noqa: ARG003
        """Return a table over checked rows in memory."""
        return cls(RealsSource(x, observed), names)

    @property
    def only_bits(self) -> bool:
        """Always False."""
        return False

    def observed_cells(self) -> NDArray[np.bool_]:
        """Return which cells were observed, (rows, columns)."""
        _, observed = self.source.read(0, self.shape[0])
        return np.asarray(observed.to_dense() == 1)

    def hiding(self, hidden: NDArray[np.bool_], rows: AnyArray) -> RealsTable:
        """Return a table of some rows, without weights, with some of their cells not observed."""
        x, observed = self.source.read(0, self.shape[0])
        reals: Any = x.take(rows)
        cells, observed_cells = reals.without(observed.take(rows), hidden)
        return self.of_rows(cells, observed_cells, self.names)


def open_reals(X: Any, request: Request) -> Table:
    """Open an array, a list of rows or a frame of real numbers; NaN, null and masked cells are missing.

    An array of float32 stays one, and rows without missing values are not copied.

    Examples
    --------
    >>> table = open_reals(np.array([[0.5, np.nan], [2.0, 3.0]], np.float32), Request())
    >>> table.shape, table.n_missing, table.source.x.numbers.dtype
    ((2, 2), 1, dtype('float32'))
    """
    if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
        return _of_array(X, request.names)
    if not is_frame(X):
        array = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
        check_form(array)
        if array.dtype.kind not in "biufOUS":
            raise TableError(f"The array is of type {array.dtype}. Give numbers, text or categories.")
        if array.dtype.kind in "OUS" and array.size:
            columns = [_numbers(j, f"x{j}", column) for j, column in enumerate(np.ma.filled(array, None).T)]
            return _of_array(np.column_stack(columns), request.names)
        return _of_array(array, request.names)
    frame = opened_frame(X)
    names = tuple(map(str, frame.columns)) if request.names is None else request.names
    if not all(frame.shape):
        return _of_array(np.zeros(frame.shape), names)
    columns = [_numbers(j, str(name), numbers_of(frame[:, j])) for j, name in enumerate(frame.columns)]
    return _of_array(np.column_stack(columns), names)


def _of_array(array: AnyArray, names: Sequence[str] | None) -> RealsTable:
    check_form(array)
    if np.ma.isMaskedArray(array):
        array = np.where(np.ma.getmaskarray(array), np.nan, np.ma.getdata(array))
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    array = np.ascontiguousarray(array) if not array.flags.c_contiguous else array
    has_missing = _check(array)
    observed: Bits = AllOnes((array.shape[0], array.shape[1]))
    if has_missing:
        missing = np.isnan(array)
        observed, array = observed_from_missing(missing.view(np.uint8)), np.where(missing, array.dtype.type(0), array)
    return RealsTable.of_rows(Reals(array), observed, None if names is None else tuple(names))


def _numbers(number: int, name: str, column: AnyArray) -> Floats:
    """Return the numbers of a column; raise an error with the position for a word."""
    if column.dtype.kind in "biuf":
        return np.asarray(column, np.float64)
    cells = cells_of_objects(name, column.tolist())
    word = next((k for k, value in enumerate(cells.values) if isinstance(value, str)), None)
    if word is None:
        return cells.numbers()
    place = f"row {cells.first_row(word)}, column {number} ({name!r})"
    raise TableError(f"{place}: {quoted(cells.values[word])} is not a number.")


def _check(array: AnyArray) -> bool:
    """Raise an error for infinite and too large numbers; return whether any are missing."""
    largest = min(MAX_NUMBER, float(np.sqrt(np.finfo(array.dtype).max)))
    has_missing, step = False, max(1, CHUNK_CELLS // max(array.shape[1], 1))
    for start in range(0, len(array), step):
        rows = np.abs(array[start : start + step])
        missing = np.isnan(rows)
        has_missing = has_missing or bool(missing.any())
        invalid = np.argwhere(~((rows <= largest) | missing))
        if len(invalid):
            row, column = int(invalid[0][0]) + start, int(invalid[0][1])
            raise TableError(
                f"row {row}, column {column}: {quoted(array[row, column])} is infinite or too large. Use NaN for a "
                "cell that was not observed."
            )
    return has_missing
