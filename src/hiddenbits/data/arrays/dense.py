"""Arrays in memory: dense, masked or memory-mapped, packed, SciPy sparse, and lists of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hiddenbits.data.cell_checks import dense_bits, packed_bits, sparse_bits
from hiddenbits.data.reals import open_reals
from hiddenbits.data.request import Request
from hiddenbits.data.table import MemorySource, Table
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import redacted

PROTOCOLS = ("__array__", "__array_interface__", "__array_struct__", "__getitem__")


def is_array(X: Any) -> bool:
    """Whether NumPy can convert the object to an array of rows."""
    return not isinstance(X, (str, bytes, Mapping)) and any(hasattr(X, protocol) for protocol in PROTOCOLS)


def open_array(X: Any, request: Request) -> Table:
    """Open an array of 0, 1 and missing values, or an array-like; -1 and 1 are recoded."""
    if request.reals:
        return open_reals(X, request)
    array = as_array(X)
    try:
        bits = dense_bits(array, empty=request.empty, threshold=request.threshold, names=request.names)
    except TableError:
        if request.plain_only or request.threshold is not None or not _has_signs(array):
            raise
        return open_text_array(array, request)  # which reports the recoding
    return Table(MemorySource(*bits), request.names)


def open_text_array(X: Any, request: Request) -> Table:
    """Open an array or a list of rows with text, or with options about columns: columns without names."""
    from hiddenbits.data.coding.coded_columns import CodedColumn, Coding
    from hiddenbits.data.columns.gather import cells_of_array
    from hiddenbits.data.columns.open import open_cells

    request = replace(request, levels=False)  # in arrays, other types than binary are specified with column_types=
    array = as_array(X)
    if array.ndim == 2 and not array.size:
        return open_array(array.astype(float), request)
    cells = cells_of_array(array)
    if request.plain_only:
        request = replace(request, coding=Coding(tuple(CodedColumn(column.name) for column in cells), named=False))
        return replace(open_cells(cells, request, named=False), read_as=None)
    return open_cells(cells, request, named=False)


def _has_signs(array: Any) -> bool:
    """Whether some columns have only -1 and 1, and all others 0 and 1, apart from missing values."""
    if array.dtype.kind == "c":
        return False
    try:
        numbers = np.ma.filled(array.astype(np.float64), np.nan)
    except (TypeError, ValueError, OverflowError):
        return False
    if numbers.ndim != 2 or not (np.isin(numbers, (-1, 0, 1)) | np.isnan(numbers)).all():
        return False
    has_minus = (numbers == -1).any(axis=0)
    return bool(has_minus.any() and not (has_minus & (numbers == 0).any(axis=0)).any())


def open_sparse(X: Any, request: Request) -> Table:
    """Open a SciPy sparse array or matrix."""
    bits = sparse_bits(X, empty=request.empty, threshold=request.threshold, names=request.names)
    return Table(MemorySource(*bits), request.names)


def open_packed(X: Any, request: Request) -> Table:
    """Open bits packed by `numpy.packbits(..., axis=1)`."""
    if request.n_columns is None:
        raise TableError("packed=True needs n_columns=, the number of columns before packing.")
    return Table(MemorySource(*packed_bits(as_array(X), request.n_columns)), request.names)


def as_array(X: Any) -> Any:
    """Return lists and other array-likes as an array; masks are kept."""
    if isinstance(X, np.ndarray):
        return X
    try:
        if isinstance(X, (list, tuple)) and any(np.ma.isMaskedArray(row) for row in X):
            return np.ma.array(X)
        array = np.asarray(X)
        # If there is text, NumPy turns numbers into text, too. Objects keep them, for errors about single cells.
        return np.asarray(X, dtype=object) if array.dtype.kind in "US" else array
    except (ValueError, TypeError, OverflowError) as error:
        raise TableError(
            f"The table cannot be read as an array: {redacted(error)} Give every row the same number of cells."
        ) from error
