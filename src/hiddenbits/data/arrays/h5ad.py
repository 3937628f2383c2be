"""AnnData's ``.h5ad`` files (HDF5): X or a layer, dense or sparse, with the names of the columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hiddenbits.data.arrays.find_table import open_stored
from hiddenbits.data.arrays.stored import Find, pieces_of
from hiddenbits.data.cell_checks import MAX_BYTES, MAX_COLUMNS
from hiddenbits.data.file_request import FileRequest, reading
from hiddenbits.data.table import Table
from hiddenbits.exceptions import TableError


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
    cells of a sparse X are 0. Counts need `threshold`: with ``threshold=0`` a cell is 1 if its count is positive.
    Nothing outside the file is ever read: links, virtual datasets and external storage are refused. Chunks may be
    compressed with any filter that HDF5 has. A sparse matrix by columns (CSC) is loaded completely and converted to
    rows.

    Parameters
    ----------
    request : FileRequest
        The files and the options that all readers share.
    layer : str, optional
        A layer instead of X.
    nan : bool, optional
        Whether stored cells of a sparse float matrix may be NaN (not observed). By default this is
        determined from the first 250,000, and a later NaN is refused.
    max_bytes : int, default=4 GiB
        Maximum memory of a chunk, a row, the stored cells of one part, or a complete CSC matrix.
    max_columns : int, default=10,000,000
        Maximum number of columns that a file may declare.
    """
    h5py()
    stores = []
    for path in request.files:
        with reading(path):
            stores.append(H5Store(path, path.stat().st_size, max_bytes))  # type: ignore[arg-type, union-attr]
    return open_stored(request, stores, layer=layer, nan=nan, max_columns=max_columns)


def h5py() -> Any:
    """Return h5py; if it is missing, the error says how to install it."""
    try:
        import h5py
    except ImportError as error:
        raise ImportError(".h5ad files need h5py: pip install 'hiddenbits[files]'.") from error
    return h5py


@dataclass(frozen=True)
class H5Store:
    """An HDF5 file; opened again for every read, so that any thread or process can read it.

    Attributes
    ----------
    place : Path
        The file.
    size : int
        Its size in bytes, to detect that it was replaced.
    max_bytes : int
        Maximum memory of a chunk or a row.
    """

    place: Path
    size: int
    max_bytes: int

    @contextmanager
    def open(self) -> Iterator[Find]:
        """Open the file for a while. Nothing outside it is ever read."""
        if self.place.stat().st_size != self.size:
            raise TableError("the file has changed since the table was opened. Open the table again.")
        with h5py().File(self.place, "r", locking="best-effort") as file:
            yield partial(_find, file)


def _find(file: Any, name: str) -> Any:
    """Return the group or dataset at a path, None if there is nothing; no link is followed."""
    node, pieces = file, pieces_of(name)
    for i, piece in enumerate(pieces):
        if not isinstance(node, h5py().Group) or not node.id.links.exists(piece.encode()):
            return None
        if node.id.links.get_info(piece.encode()).type != h5py().h5l.TYPE_HARD:
            raise TableError(
                f"{'/'.join(pieces[: i + 1])!r} is a link to another location or file, and links are not followed. "
                "Write its target into this file."
            )
        node = node[piece]
    if isinstance(node, h5py().Dataset):
        if node.is_virtual or node.external:
            raise TableError(f"{name!r} is stored in other files, which are not read. Copy it into this file.")
        if node.shape is None:
            raise TableError(f"{name!r} is an empty dataset without a shape. Write the file again.")
    return node
