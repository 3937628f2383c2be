"""SciPy sparse containers as a checked CSR array.

SciPy's conversions trust the index arrays (a wrong one makes them read or write outside their memory) and add
up duplicates. Here the indices are checked first, and duplicates are refused: a cell has one value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from hiddenbits.array_types import AnyArray
from hiddenbits.data.errors import TableError
from hiddenbits.quoting import told

EMPTY_ROWS = 1 << 27  # rows that a container may declare whatever it stores: index pointers of 1 GB


def as_csr(matrix: Any) -> Any:
    """Return a CSR array with sorted, checked indices; the container that came in is not changed."""
    shape, kind = tuple(matrix.shape), matrix.format
    if any(not isinstance(size, (int, np.integer)) or size < 0 for size in shape):
        raise _damaged(f"it declares the shape {shape}")
    try:
        stored = matrix.data.size if kind in ("csc", "bsr", "coo", "dia") else 0
        if kind != "csr" and shape[0] > max(EMPTY_ROWS, 16 * stored):
            raise _damaged(f"it declares {shape[0]} rows, far more than the cells that it stores")
        csr = _converted(matrix, shape, kind)
    except TableError:
        raise
    except (ValueError, IndexError, TypeError, AttributeError, OverflowError) as error:
        raise _damaged(told(error)) from error
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sort_indices()
        _refuse_duplicates(np.repeat(np.arange(shape[0]), np.diff(csr.indptr)), csr.indices)
    return csr


def _converted(matrix: Any, shape: tuple[int, int], kind: str) -> Any:
    n, d = shape
    if kind == "csr":
        _check_pointers(matrix.indptr, matrix.indices, len(matrix.data), n, d, "row")
        return sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=shape)
    if kind == "csc":
        _check_pointers(matrix.indptr, matrix.indices, len(matrix.data), d, n, "column")
        return sparse.csc_array((matrix.data, matrix.indices, matrix.indptr), shape=shape).tocsr()
    if kind == "bsr":
        _, high, wide = matrix.data.shape
        if not high or not wide or n % high or d % wide:
            raise _damaged(f"blocks of {high} x {wide} do not tile {n} x {d} cells")
        _check_pointers(matrix.indptr, matrix.indices, len(matrix.data), n // high, d // wide, "block row")
        return sparse.bsr_array((matrix.data, matrix.indices, matrix.indptr), shape=shape).tocsr()
    if kind == "coo":
        return _from_cells(matrix.row, matrix.col, matrix.data, shape)
    if kind == "dok":
        cells = np.array(list(matrix.keys())) if len(matrix.keys()) else np.empty((0, 2), np.int64)
        return _from_cells(cells[:, 0], cells[:, 1], np.array(list(matrix.values())), shape)
    if kind == "lil":
        lengths = [len(row) for row in matrix.rows]
        if lengths != [len(row) for row in matrix.data]:
            raise _damaged("a row's column indices and values differ in number")
        indices = np.array([column for row in matrix.rows for column in row] or np.empty(0, np.int64))
        data = np.array([value for row in matrix.data for value in row])
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        _check_pointers(indptr, indices, len(data), n, d, "row")
        return sparse.csr_array((data, indices, indptr), shape=shape)
    if kind == "dia":
        offsets = matrix.offsets
        if offsets.dtype.kind not in "iu" or (offsets < -n).any() or (offsets > d).any():
            raise _damaged(f"its diagonals are not whole numbers from {-n} to {d}")
        return sparse.dia_array((matrix.data, offsets), shape=shape).tocsr()
    raise TableError(f"Unknown sparse format {kind!r}. Convert the table with tocsr().")


def _from_cells(rows: AnyArray, columns: AnyArray, data: AnyArray, shape: tuple[int, int]) -> Any:
    """Return the CSR array of cells given one by one."""
    for name, index, size in (("row", rows, shape[0]), ("column", columns, shape[1])):
        _check_indices(index, size, name)
    csr = sparse.coo_array((data, (rows, columns)), shape=shape).tocsr()
    if len(csr.data) < len(data):
        order = np.lexsort((columns, rows))
        _refuse_duplicates(rows[order], columns[order])
    return csr


def _check_indices(index: AnyArray, size: int, name: str) -> None:
    """Refuse indices that are not whole numbers from 0 to size - 1."""
    if index.ndim != 1 or index.dtype.kind not in "iu":
        raise _damaged(f"its {name} indices are a {index.ndim}-D array of dtype {index.dtype}")
    if len(index) and (index.min() < 0 or index.max() >= size):
        wrong = index[(index < 0) | (index >= size)][0]
        raise _damaged(f"{name} index {wrong} is outside 0 to {size - 1}")


def _check_pointers(indptr: AnyArray, indices: AnyArray, n_stored: int, n_major: int, n_minor: int, major: str) -> None:
    """Refuse pointers that do not cut the indices into `n_major` runs, and indices outside the table."""
    if indptr.ndim != 1 or indptr.dtype.kind not in "iu":
        raise _damaged(f"its index pointers are a {indptr.ndim}-D array of dtype {indptr.dtype}")
    if len(indptr) != n_major + 1:
        raise _damaged(f"it has {len(indptr)} index pointers, not {n_major + 1}")
    if len(indices) != n_stored:
        raise _damaged(f"it holds {len(indices)} indices and {n_stored} values")
    falls = indptr[1:] < indptr[:-1]
    if indptr[0] != 0 or falls.any():
        raise _damaged(f"{major} {int(np.argmax(falls))}: its index pointers do not ascend from 0")
    if indptr[-1] > n_stored:
        raise _damaged(f"the index pointers reach {indptr[-1]}, beyond the {n_stored} values")
    used = indices[: int(indptr[-1])]
    try:
        _check_indices(used, n_minor, "column" if major != "column" else "row")
    except TableError as error:
        if used.ndim != 1 or used.dtype.kind not in "iu":
            raise
        at = int(np.flatnonzero((used < 0) | (used >= n_minor))[0])
        where = int(np.searchsorted(indptr, at, side="right") - 1)
        raise TableError(f"{major} {where}: {error}") from None


def _refuse_duplicates(rows: AnyArray, columns: AnyArray) -> None:
    """Refuse two values for one cell; cells come in the order of the table."""
    again = (rows[1:] == rows[:-1]) & (columns[1:] == columns[:-1])
    if again.any():
        at = int(np.flatnonzero(again)[0])
        raise TableError(
            f"row {rows[at]}, column {columns[at]}: the sparse table holds two values for this cell. "
            "Keep one of them (sum_duplicates would add them to 2)."
        )


def _damaged(what: str) -> TableError:
    return TableError(f"The sparse table is damaged: {what}. Create it again from the original data.")
