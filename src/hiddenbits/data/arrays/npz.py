"""``.npz`` files: an array among several, or a SciPy sparse matrix; sizes are checked before use."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

from numpy.lib import format as npy
from scipy import sparse

from hiddenbits.data.arrays.npy import MAX_HEADER, Header, array_bits, read_header
from hiddenbits.data.bits import Bits
from hiddenbits.data.cell_checks import MAX_BYTES, MAX_COLUMNS, sparse_bits
from hiddenbits.data.errors import TableError
from hiddenbits.data.file_request import FileRequest, check_shape, check_widths, reading
from hiddenbits.data.locations.places import open_file
from hiddenbits.data.stack import stack, stack_observed
from hiddenbits.data.table import MemorySource, Table

SPARSE_KEYS = {"format", "shape", "data"}  # what scipy.sparse.save_npz writes, with some of these:
INDEX_KEYS = {"shape", "indptr", "indices", "row", "col", "coords", "offsets"}
Cells: TypeAlias = tuple[Bits, Bits]

DEFLATE_RATIO = 1032  # no deflated data unpacks to more than this many times its size


def open_npz(
    request: FileRequest, *, key: str | None = None, max_bytes: int = MAX_BYTES, max_columns: int = MAX_COLUMNS
) -> Table:
    """Open ``.npz`` files: an array of `numpy.savez`, or a matrix of `scipy.sparse.save_npz`.

    Parameters
    ----------
    request : FileRequest
        What every reader is asked.
    key : str, optional
        Which array of the file; not needed when there is one, or when the file is a sparse matrix.
    max_bytes : int, default=4 GiB
        The most that the arrays of one file may take in memory.
    max_columns : int, default=10,000,000
        The most columns that a sparse matrix may declare.
    """
    pieces = []
    for path in request.files:
        with reading(path), open_file(path) as file:
            pieces.append(_read(file, request, key, max_bytes, max_columns))
    check_widths(request.files, [x.shape[1] for x, _ in pieces])
    return Table(MemorySource(stack([x for x, _ in pieces]), stack_observed([o for _, o in pieces])), request.names)


def _read(file: io.BufferedReader, request: FileRequest, key: str | None, max_bytes: int, max_columns: int) -> Cells:
    """Return (x, observed) of one file."""
    archive = zipfile.ZipFile(file)
    entries = {Path(info.filename).name.removesuffix(".npy"): info for info in archive.infolist()}
    if len(entries) < len(archive.infolist()):
        raise TableError("the file has two arrays with the same name. Write it again with numpy.savez.")
    if key is None and set(entries) >= SPARSE_KEYS:
        headers = _headers(archive, entries, max_bytes)
        if any(headers[name].dtype.kind not in "iu" for name in INDEX_KEYS & set(entries)):
            raise TableError(
                "the sparse matrix is damaged: its shape and indices must be whole numbers. Write it again."
            )
        return _sparse(file, request, max_columns)
    listed = ", ".join(repr(name) for name in entries) or "none"
    if key is None and len(entries) != 1:
        raise TableError(f"the file holds {len(entries)} arrays: choose one with key=. They are: {listed}.")
    if key is not None and key not in entries:
        raise TableError(f"the file holds no array {key!r}. Its arrays are: {listed}.")
    (entry,) = entries.values() if key is None else (entries[key],)
    _headers(archive, {entry.filename: entry}, max_bytes)
    with archive.open(entry) as packed:
        array = npy.read_array(cast("BinaryIO", packed), allow_pickle=False, max_header_size=MAX_HEADER)
        if packed.read(1):  # also makes zipfile compare the checksum
            raise TableError(f"{entry.filename} holds more than its header declares. Write the file again.")
    return array_bits(array, request)


def _sparse(file: io.BufferedReader, request: FileRequest, max_columns: int) -> Cells:
    """Return (x, observed) of a sparse matrix."""
    file.seek(0)
    matrix = sparse.load_npz(file)
    check_shape(*matrix.shape)
    if matrix.shape[1] > max_columns:
        raise TableError(f"the sparse matrix declares {matrix.shape[1]} columns, above max_columns={max_columns}.")
    if request.packed:
        raise TableError("packed=True, but the file holds a sparse matrix.")
    return sparse_bits(matrix, blank=request.blank, threshold=request.threshold, names=request.names)


def _headers(archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo], max_bytes: int) -> dict[str, Header]:
    """Return the headers of some entries, after holding what they declare against their sizes and the cap."""
    headers = {name: _header(archive, entry) for name, entry in entries.items()}
    total = sum(header.nbytes for header in headers.values())
    if total > max_bytes:
        raise TableError(
            f"the arrays take {total} bytes, above max_bytes={max_bytes}. Raise max_bytes=, or save the table as "
            ".npy or Parquet, which are read in parts."
        )
    return headers


def _header(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Header:
    """Return the header of one entry. zipfile never unpacks more than the entry's declared size."""
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise TableError(f"{entry.filename} is compressed in a way that numpy.savez does not use. Write it again.")
    if entry.file_size > DEFLATE_RATIO * (entry.compress_size + 64):
        raise TableError(f"{entry.filename} cannot unpack to its declared {entry.file_size} bytes. Write it again.")
    with archive.open(entry) as file:
        return read_header(cast("BinaryIO", file), entry.file_size)
