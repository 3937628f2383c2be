"""Zarr stores (``.zarr``, ``.zarr.zip``): one array of bits, or what AnnData writes."""

from __future__ import annotations

from hiddenbits.data.cell_checks import MAX_BYTES, MAX_COLUMNS
from hiddenbits.data.readers.arrays.find_table import Wanted, local_files, open_stored
from hiddenbits.data.readers.arrays.zarr_layout import zarr_library
from hiddenbits.data.readers.arrays.zarr_store import ZarrStore
from hiddenbits.data.readers.request import FileRequest
from hiddenbits.data.table import Table


def open_zarr(
    request: FileRequest,
    *,
    array: str | None = None,
    layer: str | None = None,
    nan: bool | None = None,
    max_bytes: int = MAX_BYTES,
    max_columns: int = MAX_COLUMNS,
) -> Table:
    """Open Zarr stores of format 2 or 3, folders or zip archives of them.

    A store holds a two-dimensional array of bool, int, uint or float, in which NaN is a blank; or what AnnData writes,
    with a dense or sparse X and the names of its columns. The rows stay on disk: opening reads the metadata and a
    few rows, and cells are checked as they are read. Chunks are unfolded here, not by zarr, so that none takes more
    memory than the metadata declares; they may be compressed with blosc, zstd, gzip, zlib or lz4, and lie in shards.
    Chunks of many rows that are small against a part are the quickest. A sparse matrix by columns (CSC) is
    loaded whole and turned into rows.

    Parameters
    ----------
    request : FileRequest
        What every reader is asked.
    array : str, optional
        Path of the array, of a sparse matrix or of AnnData's group within the store. Not needed when the store
        is one array, holds one array, or was written by AnnData.
    layer : str, optional
        A layer of AnnData instead of X.
    nan : bool, optional
        Whether stored cells of a sparse float matrix may be NaN (not observed). By default the first million tell,
        and a NaN that turns up later is refused.
    max_bytes : int, default=4 GiB
        The most that a chunk, a row or the stored cells of one part may take in memory, or a whole CSC matrix.
    max_columns : int, default=10,000,000
        The most columns that a store may declare.
    """
    zarr_library()
    stores = [
        ZarrStore(str(path), None if path.is_dir() else path.stat().st_size, max_bytes) for path in local_files(request)
    ]
    return open_stored(request, stores, Wanted(array, layer, nan, max_bytes, max_columns))
