"""Zarr stores (``.zarr``, ``.zarr.zip``), local or at an address: one binary array, or an AnnData group."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hiddenbits.addresses import LEFT_OUT
from hiddenbits.data.arrays.find_table import open_stored
from hiddenbits.data.arrays.stored import Find, pieces_of
from hiddenbits.data.cell_checks import MAX_BYTES, MAX_COLUMNS
from hiddenbits.data.file_request import FileRequest
from hiddenbits.data.locations.places import Place, RemoteFile
from hiddenbits.data.locations.remote_errors import reaching
from hiddenbits.data.table import Table
from hiddenbits.exceptions import TableError


def open_zarr(
    request: FileRequest,
    *,
    array: str | None = None,
    layer: str | None = None,
    nan: bool | None = None,
    max_bytes: int = MAX_BYTES,
    max_columns: int = MAX_COLUMNS,
) -> Table:
    """Open Zarr stores of format 2 or 3: folders, zip archives of them, or folders at an address.

    A store contains a two-dimensional array of bool, int, uint or float, in which NaN is a missing value; or an AnnData
    group with a dense or sparse X and column names. The rows are not loaded: opening reads the metadata and a few rows,
    and cells are checked as they are read. Chunks of many rows that are smaller than a part are the fastest. A sparse
    matrix by columns (CSC) is loaded completely and converted to rows.

    Parameters
    ----------
    request : FileRequest
        The files and the options that all readers share.
    array : str, optional
        Path of the array, of a sparse matrix or of AnnData's group within the store. Not needed if the store
        is one array, contains one array, or was written by AnnData.
    layer : str, optional
        A layer of AnnData instead of X.
    nan : bool, optional
        Whether stored cells of a sparse float matrix may be NaN (not observed). By default this is
        determined from the first 250,000, and a later NaN is refused.
    max_bytes : int, default=4 GiB
        Maximum memory of a chunk, a row, the stored cells of one part, or a complete CSC matrix.
    max_columns : int, default=10,000,000
        Maximum number of columns that a store may declare.
    """
    zarr()
    stores = []
    for place in request.files:
        if isinstance(place, RemoteFile) and (place.shown.endswith(LEFT_OUT) or place.suffix == ".zip"):
            raise TableError(
                f"{place}: a Zarr store at an address is a folder of many files, so that a query or a zip archive "
                "cannot stand for it. Give the address of the folder, with credentials in storage_options=."
            )
        size = place.stat().st_size if isinstance(place, Path) and place.is_file() else None
        stores.append(ZarrStore(place, size, max_bytes))
    return open_stored(request, stores, array=array, layer=layer, nan=nan, max_columns=max_columns)


def zarr() -> Any:
    """Return zarr; if it is missing, the error says how to install it."""
    try:
        import zarr
        import zarr.storage
    except ImportError as error:
        raise ImportError("Zarr stores need zarr: pip install 'hiddenbits[files]'.") from error
    return zarr


@dataclass(frozen=True)
class ZarrStore:
    """A Zarr store: a folder, a zip archive of one, or a folder at an address.

    Attributes
    ----------
    place : Place
        The folder or archive.
    size : int or None
        Size of the archive in bytes, to detect that it was replaced.
    max_bytes : int
        Maximum memory of a chunk or a row.
    """

    place: Place
    size: int | None
    max_bytes: int

    @contextmanager
    def open(self) -> Iterator[Find]:
        """Open the store; errors of a server reveal no secret."""
        storage, place = zarr().storage, self.place
        if isinstance(place, RemoteFile):
            from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper

            with reaching(place.shown, place.secrets):
                files = AsyncFileSystemWrapper(place.fs, asynchronous=True)
                yield partial(_find, storage.FsspecStore(files, read_only=True, path=place.path))
        elif self.size is None:
            yield partial(_find, storage.LocalStore(place, read_only=True))
        elif place.stat().st_size != self.size:
            raise TableError("the file has changed since the table was opened. Open the table again.")
        else:
            with closing(storage.ZipStore(place, mode="r")) as store:
                yield partial(_find, store)


def _find(store: Any, name: str) -> Any:
    """Return the group or array at a path, None if there is nothing."""
    try:
        node = zarr().open(store, path="/".join(pieces_of(name)), mode="r")
    except FileNotFoundError:
        return None
    metadata = node.metadata
    codecs = [getattr(metadata, key, None) for key in ("filters", "compressor", "codecs")]
    if "pickle" in repr(codecs).lower():  # numcodecs has a codec that would run such programs
        raise TableError(f"{name!r} is stored as pickles, which are programs and never run. Write numbers.")
    return node
