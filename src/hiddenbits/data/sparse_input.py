"""SciPy sparse containers as a checked CSR array.

SciPy's conversions trust the index arrays (a wrong one makes them read or write outside their memory) and add
up duplicates. So SciPy has to check the indices first, and duplicates are an error: a cell has one value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from hiddenbits.array_types import AnyArray
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import redacted


def as_csr(matrix: Any, first_row: int = 0) -> Any:
    """Return a CSR array with sorted, checked indices; the original container is not changed.

    Messages count rows from `first_row`.
    """
    try:
        checked = _checked_container(matrix, matrix.format, tuple(matrix.shape))
        csr = checked.tocsr()
    except (ValueError, IndexError, TypeError, AttributeError, OverflowError, MemoryError) as error:
        raise TableError(
            f"The sparse table is damaged: {redacted(error)}. Create it again from the original data."
        ) from error
    if checked.format == "coo" and csr.nnz < checked.nnz:  # two values of a cell were added
        order = np.lexsort((checked.col, checked.row))
        _refuse_duplicates(checked.row[order], checked.col[order], first_row)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sort_indices()
        _refuse_duplicates(np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr)), csr.indices, first_row)
    return csr


def _checked_container(matrix: Any, kind: str, shape: tuple[int, int]) -> Any:
    """Return a container in which SciPy has checked every index: by rows, by columns, by blocks, or cell by cell."""
    if kind in ("csr", "csc", "bsr"):
        checked = getattr(sparse, f"{kind}_array")(
            (matrix.data, _checked_index(matrix.indices), _checked_index(matrix.indptr)), shape=shape
        )
        checked.check_format(full_check=True)
        if (np.diff(checked.indptr) < 0).any():  # SciPy does not check this if the last pointer is 0
            raise ValueError("its pointers to rows descend")
        if kind == "bsr" and (shape[0] % checked.blocksize[0] or shape[1] % checked.blocksize[1]):
            raise ValueError(f"blocks of {checked.blocksize} do not tile {shape} cells")
        return checked
    if kind == "dia":
        return sparse.dia_array((matrix.data, _checked_index(matrix.offsets)), shape=shape).tocoo()
    rows, columns, data = _cell_by_cell(matrix, kind, shape)
    return sparse.coo_array((np.asarray(data), (_checked_index(rows), _checked_index(columns))), shape=shape)


def _cell_by_cell(matrix: Any, kind: str, shape: tuple[int, int]) -> tuple[Any, Any, Any]:
    """Return the rows, columns and values of stored cells."""
    if kind == "dok":
        rows, columns = np.array(list(matrix.keys()), np.int64).reshape(-1, 2).T
        return rows, columns, list(matrix.values())
    if kind == "lil":
        if [*map(len, matrix.rows)] != [*map(len, matrix.data)]:
            raise ValueError("a row has different numbers of values and columns")
        rows = np.repeat(np.arange(shape[0]), [len(columns) for columns in matrix.rows])
        flat_columns, data = ([value for row in row_lists for value in row] for row_lists in (matrix.rows, matrix.data))
        return rows, flat_columns or np.zeros(0, np.int64), data
    return matrix.row, matrix.col, matrix.data


def _checked_index(index: Any) -> AnyArray:
    """Return a checked index array; SciPy would truncate fractions."""
    index = np.asarray(index)
    if index.ndim != 1 or index.dtype.kind not in "iu":
        raise ValueError(f"its indices are a {index.ndim}-D array of dtype {index.dtype}")
    return np.asarray(index)


def _refuse_duplicates(rows: AnyArray, columns: AnyArray, first_row: int) -> None:
    """Raise an error for two values of one cell; cells are in the order of the table."""
    repeated = (rows[1:] == rows[:-1]) & (columns[1:] == columns[:-1])
    if repeated.any():
        first = int(np.flatnonzero(repeated)[0])
        raise TableError(
            f"row {first_row + int(rows[first])}, column {columns[first]}: the sparse table holds two values for this "
            "cell. Keep one of them (sum_duplicates would add them to 2)."
        )
