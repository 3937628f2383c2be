"""``.npz`` files: one of several arrays, or a SciPy sparse matrix."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
from scipy import sparse

from hiddenbits.data.arrays.npy import converter_for
from hiddenbits.data.arrays.source import CellConverter, memory_source
from hiddenbits.data.bits import Bits
from hiddenbits.data.cell_checks import MAX_BYTES, MAX_COLUMNS
from hiddenbits.data.file_request import FileRequest, check_shape, check_widths, reading
from hiddenbits.data.locations.places import open_file
from hiddenbits.data.table import Table
from hiddenbits.exceptions import TableError

SPARSE_KEYS = {"format", "shape", "data"}  # what scipy.sparse.save_npz writes, among others


def open_npz(
    request: FileRequest, *, key: str | None = None, max_bytes: int = MAX_BYTES, max_columns: int = MAX_COLUMNS
) -> Table:
    """Open ``.npz`` files: an array of `numpy.savez`, or a matrix of `scipy.sparse.save_npz`.

    Parameters
    ----------
    request : FileRequest
        The files and the options that all readers share.
    key : str, optional
        Name of the array; not needed if there is only one, or if the file is a sparse matrix.
    max_bytes : int, default=4 GiB
        Maximum memory of the arrays of one file.
    max_columns : int, default=10,000,000
        Maximum number of columns that a sparse matrix may declare.
    """
    pieces = []
    for path in request.files:
        with reading(path), open_file(path) as file:
            pieces.append(_read(file, request, key, max_bytes, max_columns))
    check_widths(request.files, [x.shape[1] for x, _ in pieces])
    return Table(memory_source(pieces), request.names)


def _read(
    file: io.BufferedReader, request: FileRequest, key: str | None, max_bytes: int, max_columns: int
) -> tuple[Bits, Bits]:
    """Return (x, observed) of one file."""
    sizes = {Path(entry.filename).stem: entry.file_size for entry in zipfile.ZipFile(file).infolist()}
    is_sparse = key is None and set(sizes) >= SPARSE_KEYS
    listed = ", ".join(repr(name) for name in sizes) or "none"
    if key is None and len(sizes) != 1 and not is_sparse:
        raise TableError(f"the file holds {len(sizes)} arrays: choose one with key=. They are: {listed}.")
    if key is not None and key not in sizes:
        raise TableError(f"the file holds no array {key!r}. Its arrays are: {listed}.")
    selected = list(sizes) if key is None else [key]
    total = sum(sizes[name] for name in selected)
    if total > max_bytes:
        raise TableError(
            f"the arrays take {total} bytes, above max_bytes={max_bytes}. Raise max_bytes=, or save the table as "
            ".npy or Parquet, which are read in parts."
        )
    file.seek(0)
    if not is_sparse:
        array = np.load(file, allow_pickle=False)[selected[0]]
        if array.ndim != 2:
            raise TableError(f"a table has rows and columns, but the array has {array.ndim} dimension(s).")
        check_shape(*array.shape)
        return converter_for(request, array.shape[1])(array, 0)
    if request.packed:
        raise TableError("packed=True, but the file holds a sparse matrix.")
    matrix = sparse.load_npz(file)
    check_shape(*matrix.shape)
    if matrix.shape[1] > max_columns:
        raise TableError(f"the sparse matrix declares {matrix.shape[1]} columns, above max_columns={max_columns}.")
    return CellConverter("sparse", matrix.shape[1], request.empty, request.threshold, request.names)(matrix, 0)
