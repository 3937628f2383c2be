"""Checks of all cells before any computation: only 0, 1 and empty cells pass; errors name the cell and the remedy.

An empty cell (NaN, None, a masked cell, a cell absent from a sparse format) has two possible meanings. *Not observed*
is missing data; *absent means 0* is how sparse formats write a zero. `empty=` sets the meaning; the default "auto"
reads empty cells of sparse formats as 0 and all others as not observed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from numbers import Number
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import AnyArray, Bytes, Floats
from hiddenbits.data.bits import AllOnes, Bits, Complement, Dense, Packed, Pattern
from hiddenbits.data.masks import mask_for, observed_bits
from hiddenbits.data.sparse_input import as_csr
from hiddenbits.exceptions import CellTypeError, TableError
from hiddenbits.quoting import quoted

MAX_BYTES = 4 * 2**30  # the most memory that a file may take after decompression, unless the user changes it
MAX_COLUMNS = 10_000_000  # a larger item number counts as damage, unless the user changes it

Empty = Literal["auto", "zero", "missing"]

MAX_SHOWN_NAMES = 20  # in a message
CHUNK_CELLS = 1 << 22  # cells checked at a time, so that checking a large array takes little memory


def check_empty(empty: str) -> None:
    """Raise an error for anything but the three meanings of an empty cell."""
    if empty not in ("auto", "zero", "missing"):
        raise TableError(f"empty={empty!r} is not one of 'auto', 'zero', 'missing'.")


def check_threshold(threshold: float | None) -> float | None:
    """Raise an error for a threshold that is not a finite number."""
    if threshold is None:
        return None
    if not isinstance(threshold, (int, float, np.integer, np.floating)) or not np.isfinite(threshold):
        raise TableError(f"threshold={threshold!r} is not a finite number.")
    return float(threshold)


def check_form(array: AnyArray) -> None:
    """Raise an error for an array that is not two-dimensional, and for complex numbers."""
    if array.ndim != 2:
        raise TableError(
            f"Expected a table with rows and columns, got an array with {array.ndim} dimension(s). Reshape your data: "
            "X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one row."
        )
    if array.dtype.kind == "c":
        raise TableError("Complex data not supported. Give real numbers.")


def check_width(n_columns: int, n_expected: int | None) -> None:
    """Raise an error if the table does not have the expected number of columns."""
    if n_expected is not None and n_columns != n_expected:
        raise TableError(f"n_columns={n_expected} was given, but the table has {n_columns} columns.")


def dense_bits(
    values: AnyArray,
    *,
    empty: Empty = "auto",
    threshold: float | None = None,
    names: tuple[str, ...] | None = None,
    first_row: int = 0,
) -> tuple[Bits, Bits]:
    """Check a two-dimensional array and return (x, observed).

    Parameters
    ----------
    values : ndarray or masked array of shape (rows, columns)
        0, 1, True, False; NaN, None and masked cells are empty.
    empty : {"auto", "zero", "missing"}
        What an empty cell means.
    threshold : float, optional
        If given, any finite number is accepted, and a bit is 1 if the number is above the threshold.
    names : tuple of str, optional
        Column names, for error messages.
    first_row : int
        Number of the first row, for error messages.
    """
    check_empty(empty)
    threshold = check_threshold(threshold)
    masked = np.ma.getmaskarray(values) if np.ma.isMaskedArray(values) else None
    values = np.asarray(np.ma.getdata(values))
    check_form(values)
    if values.dtype.kind not in "biufO":
        raise TableError(
            f"Cells must be 0, 1 or empty, got an array of dtype {values.dtype}. Recode the two values as 0 and 1."
        )
    n, d = values.shape
    if values.dtype == np.bool_ and masked is None and threshold is None:
        x = np.ascontiguousarray(values).view(np.uint8)
        if x.max(initial=0) > 1:  # to NumPy any byte but 0 is True
            x = (x != 0).view(np.uint8)
        return Dense(x), AllOnes((n, d))
    reuses_values = values.dtype == np.uint8 and threshold is None and masked is None
    x = np.ascontiguousarray(values) if reuses_values else np.empty((n, d), np.uint8)
    missing: Bytes | None = None
    step = max(1, CHUNK_CELLS // max(d, 1))
    for start in range(0, n, step):
        chunk = slice(start, min(start + step, n))
        bits, missing_cells = check_cells(
            values[chunk], None if masked is None else masked[chunk], threshold, names, first_row + start
        )
        if not reuses_values:
            x[chunk] = bits
        if missing_cells is not None and empty != "zero":
            if missing is None:
                missing = np.zeros((n, d), np.uint8)
            missing[chunk] = missing_cells
    return Dense(x), AllOnes((n, d)) if missing is None else observed_from_missing(missing)


def check_cells(
    values: AnyArray,
    masked: NDArray[np.bool_] | None,
    threshold: float | None,
    names: tuple[str, ...] | None,
    first_row: int,
    first_column: int = 0,
) -> tuple[AnyArray, NDArray[np.bool_] | None]:
    """Check some rows of an array and return (bits, missing cells or None); messages count from the first row."""
    if values.dtype.kind == "O":
        if masked is not None:
            values = np.where(masked, np.nan, values)
        values = _numbers_from_objects(values, names, first_row, threshold)
    missing = np.isnan(values) if values.dtype.kind == "f" else None
    if masked is not None:
        missing = masked if missing is None else missing | masked
    if missing is not None and not missing.any():
        missing = None
    if threshold is not None:
        valid = np.isfinite(values) if values.dtype.kind == "f" else np.ones(values.shape, bool)
        with np.errstate(over="ignore"):  # a threshold beyond the range of a float16 becomes infinite
            bits = values > threshold
    elif values.dtype == np.uint8:
        if values.size == 0 or values.max() <= 1:
            return values if missing is None else np.where(missing, np.uint8(0), values), missing
        valid, bits = values <= 1, values
    else:
        bits = values == 1
        valid = bits | (values == 0)
    if missing is not None:
        valid |= missing
        bits = np.where(missing, np.uint8(0), bits)
    if not valid.all():
        row, column = (int(i) for i in np.argwhere(~valid)[0])
        raise bad_cell(values[row, column], first_row + row, first_column + column, names, threshold)
    return bits, missing


def _numbers_from_objects(
    values: AnyArray, names: tuple[str, ...] | None, first_row: int, threshold: float | None
) -> Floats:
    """Turn Python objects into floats; None, NaN and a frame library's NA become NaN."""
    numbers = np.full(values.shape, np.nan)
    for (row, column), value in np.ndenumerate(values):
        if value is None or type(value).__name__ in ("NAType", "NaTType"):
            continue
        if isinstance(value, (str, bytes)) or not np.isscalar(value):
            raise bad_cell(value, first_row + row, column, names, threshold)
        try:
            numbers[row, column] = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError) as error:
            raise bad_cell(value, first_row + row, column, names, threshold) from error
    return numbers


def bad_cell(
    value: object, row: int, column: int, names: tuple[str, ...] | None, threshold: float | None
) -> TableError:
    """Return the error for an invalid cell: what is wrong, where, and what to do."""
    where = f"row {row}, column {column}" + (f" ({names[column]!r})" if names and column < len(names) else "")
    shown = quoted(value)
    if threshold is not None and not isinstance(value, (str, bytes, Number)):
        return CellTypeError(f"{where}: {shown}: the argument must be a string or a real number.")
    if threshold is not None:
        return TableError(f"{where}: {shown} is not a finite number, so threshold= cannot be applied. Fix the cell.")
    if shown in ("inf", "-inf"):
        return TableError(f"{where}: infinity ({shown}) is not a bit. Use NaN for a cell that was not observed.")
    return TableError(
        f"{where}: {shown} is not a bit. Cells must be 0, 1 or empty. Recode the column, or set threshold= to make "
        "numbers binary. LatentClassAnalysis and ItemResponseModel model other columns: column_types='ordinal', "
        "'nominal' or 'continuous'."
    )


def observed_from_missing(missing: Bytes) -> Bits:
    """Return the observed-mask in the best storage: dense, or a pattern of the missing or observed cells if few."""
    return observed_bits(missing.copy(), mask_for(missing.mean() if missing.size else 0.0))


def packed_bits(packed: AnyArray, n_columns: int, first_row: int = 0) -> tuple[Bits, Bits]:
    """Check an array of `numpy.packbits(x, axis=1)` and return (x, observed); rows are numbered from `first_row`."""
    if isinstance(n_columns, bool) or not isinstance(n_columns, (int, np.integer)) or n_columns < 0:
        raise TableError(f"n_columns={n_columns!r} is not a number of columns.")
    if np.ma.isMaskedArray(packed):
        raise TableError("Packed bits cannot be masked: a byte holds eight cells. Unpack the table first.")
    if packed.ndim != 2 or packed.dtype != np.uint8:
        raise TableError(f"Packed bits are a two-dimensional uint8 array, got {packed.ndim}-D {packed.dtype}.")
    if packed.shape[1] != (n_columns + 7) // 8:
        raise TableError(
            f"{n_columns} columns pack into {(n_columns + 7) // 8} bytes per row, got {packed.shape[1]}. "
            "Give the number of columns before packing as n_columns=, and pack with axis=1."
        )
    n_padding = packed.shape[1] * 8 - n_columns
    if n_padding:
        padding_bits = packed[:, -1] & ((1 << n_padding) - 1)
        if padding_bits.any():
            row = first_row + int(np.flatnonzero(padding_bits)[0])
            raise TableError(
                f"row {row}: bits are set beyond column {n_columns - 1}. "
                "Give the right n_columns=, and pack with bitorder='big'."
            )
    return Packed(np.ascontiguousarray(packed), int(n_columns)), AllOnes((packed.shape[0], n_columns))


def sparse_bits(
    matrix: Any,
    *,
    empty: Empty = "auto",
    threshold: float | None = None,
    names: tuple[str, ...] | None = None,
    first_row: int = 0,
) -> tuple[Bits, Bits]:
    """Check a SciPy sparse array or matrix and return (x, observed).

    Absent cells are 0. With ``empty="missing"`` they are missing, and all stored cells, also zeros, are observed.
    A stored NaN is a cell that was not observed. `first_row` is the number of the first row, for messages.
    """
    check_empty(empty)
    threshold = check_threshold(threshold)
    if threshold is not None and threshold < 0 and empty != "missing":
        raise TableError("A threshold below 0 would turn every absent cell of a sparse table into 1. Use 0 or more.")
    if matrix.ndim != 2:
        raise TableError(f"Expected a table with rows and columns, got {matrix.ndim} dimension(s).")
    if matrix.format == "dia" and empty == "missing":
        raise TableError(
            "A DIA array cannot distinguish zeros from absent cells. With empty='missing', use another format."
        )
    csr = as_csr(matrix, first_row)
    if csr.dtype.kind not in "biuf":
        raise TableError(f"Cells must be 0, 1 or empty, got a sparse array of dtype {csr.dtype}.")
    data, n_columns = csr.data, csr.shape[1]
    indptr, indices = pattern(csr.indptr, csr.indices, n_columns)
    missing = np.isnan(data) if data.dtype.kind == "f" else np.zeros(len(data), bool)
    with np.errstate(over="ignore"):
        is_one = data > threshold if threshold is not None else data == 1
    valid = np.isfinite(data) if threshold is not None else is_one | (data == 0)
    valid |= missing
    if not valid.all():
        position = int(np.flatnonzero(~valid)[0])
        row = int(np.searchsorted(indptr, position, side="right") - 1)
        raise bad_cell(data[position], first_row + row, int(indices[position]), names, threshold)
    x = Pattern(*_pick(indptr, indices, is_one & ~missing), n_columns)
    if empty == "missing":
        return x, Pattern(*_pick(indptr, indices, ~missing), n_columns)
    if empty == "auto" and missing.any():
        return x, Complement(Pattern(*_pick(indptr, indices, missing), n_columns))
    return x, AllOnes(csr.shape)


def pattern(indptr: AnyArray, indices: AnyArray, n_columns: int) -> tuple[NDArray[np.int64], AnyArray]:
    """Return index pointers as 64-bit and column indices as 32-bit integers where these fit."""
    index_type = np.int32 if n_columns <= np.iinfo(np.int32).max else np.int64
    return indptr.astype(np.int64), indices.astype(index_type, copy=False)


def _pick(indptr: NDArray[np.int64], indices: AnyArray, keep: NDArray[np.bool_]) -> tuple[NDArray[np.int64], AnyArray]:
    """Return the pattern of the stored cells to keep."""
    if keep.all():
        return indptr, indices
    before = np.concatenate([[0], np.cumsum(keep)])
    return before[indptr].astype(np.int64), indices[keep]


def check_distinct(fields: Sequence[str]) -> None:
    """Raise an error if two columns have the same name."""
    if len(set(fields)) == len(fields):
        return
    counts = Counter(fields)
    repeated = [name for name in counts if counts[name] > 1]
    count = "Two" if counts[repeated[0]] == 2 else f"{counts[repeated[0]]:,}"
    others = f" (likewise {', '.join(map(repr, repeated[1:9]))})" if len(repeated) > 1 else ""
    example = f", such as names={_with_suffixes(fields)!r}" if len(fields) <= MAX_SHOWN_NAMES else " with names=[...]"
    raise TableError(f"{count} columns are called {repeated[0]!r}{others}. Give each column a unique name{example}.")


def _with_suffixes(fields: Sequence[str]) -> list[str]:
    """Return distinct names: the second "a" becomes "a.2"."""
    used, new_names = set(fields), []
    for position, name in enumerate(fields):
        count, new_name = 1, name
        while position > 0 and new_name in new_names:
            count += 1
            new_name = f"{name}.{count}" if f"{name}.{count}" not in used else name
        new_names.append(new_name)
    return new_names
