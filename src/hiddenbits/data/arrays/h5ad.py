"""AnnData's ``.h5ad`` files (HDF5): X or a layer, dense or sparse, with the names of the columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hiddenbits.data.arrays.find_table import Wanted, open_stored
from hiddenbits.data.arrays.stored import Reader, library, pieces_of
from hiddenbits.data.cell_checks import MAX_BYTES, MAX_COLUMNS
from hiddenbits.data.errors import TableError
from hiddenbits.data.file_request import FileRequest, reading
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
    compressed with whatever filter HDF5 has at hand. A sparse matrix by columns (CSC) is loaded whole and turned into
    rows.

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
    h5py()
    stores = []
    for path in request.files:
        if not isinstance(path, Path):
            raise TableError(f"{path}: .h5ad files are read from local paths only. Copy it first.")
        with reading(path):
            stores.append(H5Store(path, path.stat().st_size, max_bytes))
    return open_stored(request, stores, Wanted(None, layer, nan, max_bytes, max_columns))


def h5py() -> Any:
    """Return h5py, or say how to install it."""
    try:
        import h5py
    except ImportError as error:
        raise ImportError(".h5ad files need h5py: pip install 'hiddenbits[files]'.") from error
    return h5py


@dataclass(frozen=True)
class H5Store:
    """An HDF5 file; opened again for every read, so that it can be read by any thread or process.

    Attributes
    ----------
    place : Path
        The file.
    size : int
        Its bytes, to notice one that was replaced.
    max_bytes : int
        The most that a chunk or a row may take in memory.
    """

    place: Path
    size: int
    max_bytes: int

    @contextmanager
    def open(self) -> Iterator[H5Reader]:
        """Open the file for a while."""
        if self.place.stat().st_size != self.size:
            raise TableError("the file has changed since the table was opened. Open the table again.")
        with library(""):
            file = h5py().File(self.place, "r", locking="best-effort")
        with file:
            yield H5Reader(file, self.max_bytes)


class H5Reader(Reader):
    """An opened HDF5 file. Nothing outside it is ever read."""

    def __init__(self, file: Any, max_bytes: int) -> None:
        super().__init__(max_bytes)
        self._file = file

    def _find(self, name: str) -> Any:
        """Return the group or dataset at a path, None if there is nothing; no link is followed."""
        node, pieces = self._file, pieces_of(name)
        for i, piece in enumerate(pieces):
            if not isinstance(node, h5py().Group) or not node.id.links.exists(piece.encode()):
                return None
            if node.id.links.get_info(piece.encode()).type != h5py().h5l.TYPE_HARD:
                raise TableError(
                    f"{'/'.join(pieces[: i + 1])!r} is a link to another place or file, and links are not followed. "
                    "Write what it points to into this file."
                )
            node = node[piece]
        return node if isinstance(node, (h5py().Group, h5py().Dataset)) else None

    def _check(self, node: Any, name: str) -> None:
        """Refuse an array whose cells are not in this file, or cannot be decoded."""
        with library(f"the array {name!r}"):
            plan = node.id.get_create_plist()
            filters = [plan.get_filter(i) for i in range(plan.get_nfilters())]
            missing = [code for code, *_ in filters if not h5py().h5z.filter_avail(code)]
            outside = node.is_virtual or node.external
        if outside:
            raise TableError(f"{name!r} is stored in other files, which are not read. Copy it into this file.")
        if node.shape is None:
            raise TableError(f"{name!r} is an empty dataset without a shape. Write the file again.")
        if missing:
            raise TableError(
                f"{name!r} is compressed with HDF5's filter number {missing[0]}, which is not installed. Import the "
                "package that has it, such as hdf5plugin, before the table is opened, or write it again with gzip."
            )

    def _texts(self, node: Any) -> list[Any] | None:
        """Return the cells of an array of text; None if it holds no text."""
        if h5py().check_string_dtype(node.dtype) is None:
            return None
        found: list[Any] = node.asstr("utf-8")[:].tolist()
        return found
