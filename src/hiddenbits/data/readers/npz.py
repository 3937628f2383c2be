"""``.npz`` files: an array among several, or a SciPy sparse matrix; sizes are checked before use."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any, BinaryIO, cast

from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy import sparse

from hiddenbits.data.bits import Bits
from hiddenbits.data.cell_checks import MAX_BYTES, MAX_COLUMNS, sparse_bits
from hiddenbits.data.readers.npy import MAX_HEADER, Header, array_bits, read_header
from hiddenbits.data.readers.remote.locations import open_place
from hiddenbits.data.readers.request import FileRequest, check_shape, check_widths, reading
from hiddenbits.data.stack import stack, stack_observed
from hiddenbits.data.table import MemorySource, Table, TableError

SPARSE_KEYS = {"format", "shape", "indptr", "indices", "data"}  # what scipy.sparse.save_npz writes for CSR

DEFLATE_RATIO = 1032  # no deflated data unpacks to more than this many times its size


def open_npz(
    request: FileRequest, *, key: str | None = None, max_bytes: int = MAX_BYTES, max_columns: int = MAX_COLUMNS
) -> Table:
    """Open ``.npz`` files: an array of `numpy.savez`, or a CSR matrix of `scipy.sparse.save_npz`.

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
        with reading(path), open_place(path, max_bytes) as file, zipfile.ZipFile(file) as archive:
            pieces.append(_read(archive, request, key, max_bytes, max_columns))
    check_widths(request.files, [x.shape[1] for x, _ in pieces])
    return Table(MemorySource(stack([x for x, _ in pieces]), stack_observed([o for _, o in pieces])), request.names)


def _read(
    archive: zipfile.ZipFile, request: FileRequest, key: str | None, max_bytes: int, max_columns: int
) -> tuple[Bits, Bits]:
    """Return (x, observed) of one file."""
    entries = {Path(info.filename).name.removesuffix(".npy"): info for info in archive.infolist()}
    if len(entries) < len(archive.infolist()):
        raise TableError("the file has two arrays with the same name. Write it again with numpy.savez.")
    if key is None and set(entries) >= SPARSE_KEYS:
        arrays = _load(archive, [entries[name] for name in sorted(SPARSE_KEYS)], max_bytes)
        return _csr_bits(dict(zip(sorted(SPARSE_KEYS), arrays, strict=True)), request, max_columns)
    if key is None and "format" in entries and "shape" in entries:
        raise TableError("the sparse matrix is not saved as CSR. Save matrix.tocsr() with scipy.sparse.save_npz.")
    listed = ", ".join(repr(name) for name in entries) or "none"
    if key is None and len(entries) != 1:
        raise TableError(f"the file holds {len(entries)} arrays: choose one with key=. They are: {listed}.")
    if key is not None and key not in entries:
        raise TableError(f"the file holds no array {key!r}. Its arrays are: {listed}.")
    entry = next(iter(entries.values())) if key is None else entries[key]
    return array_bits(_load(archive, [entry], max_bytes)[0], request)


def _load(archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo], max_bytes: int) -> list[NDArray[Any]]:
    """Return the arrays of some entries, after holding what they declare against their sizes and the cap."""
    headers = [_header(archive, entry) for entry in entries]
    total = sum(header.nbytes for header in headers)
    if total > max_bytes:
        raise TableError(
            f"the arrays take {total} bytes, above max_bytes={max_bytes}. Raise max_bytes=, or save the table as "
            ".npy or Parquet, which are read in parts."
        )
    arrays = []
    for entry in entries:
        with archive.open(entry) as file:
            arrays.append(npy.read_array(cast("BinaryIO", file), allow_pickle=False, max_header_size=MAX_HEADER))
            if file.read(1):  # also makes zipfile compare the checksum
                raise TableError(f"{entry.filename} holds more than its header declares. Write the file again.")
    return arrays


def _header(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Header:
    """Return the header of one entry. zipfile never unpacks more than the entry's declared size."""
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise TableError(f"{entry.filename} is compressed in a way that numpy.savez does not use. Write it again.")
    if entry.file_size > DEFLATE_RATIO * (entry.compress_size + 64):
        raise TableError(f"{entry.filename} cannot unpack to its declared {entry.file_size} bytes. Write it again.")
    with archive.open(entry) as file:
        return read_header(cast("BinaryIO", file), entry.file_size)


def _csr_bits(arrays: dict[str, NDArray[Any]], request: FileRequest, max_columns: int) -> tuple[Bits, Bits]:
    """Return (x, observed) of the arrays of a CSR matrix."""
    saved = arrays["format"].item()
    saved = saved.decode("ascii", "replace") if isinstance(saved, bytes) else str(saved)
    if saved != "csr":
        raise TableError(f"the sparse matrix is saved as {saved!r}. Save matrix.tocsr() with scipy.sparse.save_npz.")
    if arrays["shape"].shape != (2,) or any(
        arrays[name].dtype.kind not in "iu" for name in ("shape", "indptr", "indices")
    ):
        raise TableError("the sparse matrix is damaged: its shape and indices must be whole numbers. Write it again.")
    n_rows, n_columns = (int(length) for length in arrays["shape"])
    check_shape(n_rows, n_columns)
    if n_columns > max_columns:
        raise TableError(f"the sparse matrix declares {n_columns} columns, above max_columns={max_columns}.")
    if arrays["indptr"].shape != (n_rows + 1,):
        raise TableError(
            f"the sparse matrix is damaged: {n_rows} rows need {n_rows + 1} index pointers. Write it again."
        )
    if request.packed:
        raise TableError("packed=True, but the file holds a sparse matrix.")
    matrix = sparse.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=(n_rows, n_columns))
    return sparse_bits(matrix, blank=request.blank, threshold=request.threshold, names=request.names)
