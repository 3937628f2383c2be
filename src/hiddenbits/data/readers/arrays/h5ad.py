"""AnnData's ``.h5ad`` files (HDF5): X or a layer, dense or sparse, with the names of the columns."""

from __future__ import annotations

from hiddenbits.data.cell_checks import MAX_BYTES, MAX_COLUMNS
from hiddenbits.data.readers.arrays.find_table import Wanted, local_files, open_stored
from hiddenbits.data.readers.arrays.h5_store import H5Store, check_h5py, survey
from hiddenbits.data.readers.arrays.stored import pieces_of
from hiddenbits.data.readers.request import FileRequest, reading
from hiddenbits.data.table import Table


def open_h5ad(
    request: FileRequest,
    *,
    layer: str | None = None,
    nan: bool | None = None,
    max_bytes: int = MAX_BYTES,
    max_columns: int = MAX_COLUMNS,
) -> Table:
    """Open ``.h5ad`` files as AnnData (0.7 and later) writes them.

    The rows stay on disk: opening reads the metadata and a few rows, and cells are checked as they are read. Absent
    cells of a sparse X are 0. Counts need `threshold`: with ``threshold=0`` a cell is 1 where anything was counted.
    Nothing outside the file is ever read: links, virtual datasets and external storage are refused. Chunks may be
    compressed with gzip or lzf. A sparse matrix by columns (CSC) is loaded whole and turned into rows.

    Parameters
    ----------
    request : FileRequest
        What every reader is asked.
    layer : str, optional
        A layer instead of X.
    nan : bool, optional
        Whether stored cells of a sparse float matrix may be NaN (not observed). By default the first million tell,
        and a NaN that turns up later is refused.
    max_bytes : int, default=4 GiB
        The most that a chunk, a row or the stored cells of one part may take in memory, or a whole CSC matrix.
    max_columns : int, default=10,000,000
        The most columns that a file may declare.
    """
    check_h5py()
    names = request.names is None
    stores = []
    for path in local_files(request):
        with reading(path):
            pieces_of(layer or "")
            stores.append(H5Store(str(path), path.stat().st_size, layer, names, max_bytes))
    survey(stores)  # of all files in one go
    return open_stored(request, stores, Wanted(None, layer, nan, max_bytes, max_columns))
