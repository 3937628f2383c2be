"""Which arrays of a file are the table: one array, a sparse matrix, or what AnnData writes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from hiddenbits.data.arrays.rows import (
    SLAB_BYTES,
    DenseRows,
    Piece,
    Pieces,
    SparseRows,
    cells_of,
    native,
    read_pointers,
)
from hiddenbits.data.arrays.stored import Reader, Store, StoredArray
from hiddenbits.data.bits import Bits
from hiddenbits.data.cell_checks import Blank, check_distinct, sparse_bits
from hiddenbits.data.errors import TableError
from hiddenbits.data.file_request import FileRequest, check_shape, check_widths, reading
from hiddenbits.data.masks import Mask, mask_for
from hiddenbits.data.stack import stack, stack_observed
from hiddenbits.data.table import MemorySource, Table

Kind = Literal["dense", "csr", "csc"]
SPARSE: dict[str, Kind] = {"csr_matrix": "csr", "csc_matrix": "csc"}  # AnnData's names
SAMPLE = 1 << 20  # stored cells of a sparse matrix in which NaN is looked for


@dataclass(frozen=True)
class Found:
    """A table in a file: its storage, shape, arrays, and the names of its columns."""

    kind: Kind
    shape: tuple[int, int]
    arrays: tuple[StoredArray, ...]
    names: tuple[str, ...] | None


@dataclass(frozen=True)
class Wanted:
    """What a user asks of a file of named arrays.

    Attributes
    ----------
    array : str or None
        Path of an array, of a sparse matrix, or of a group that AnnData wrote.
    layer : str or None
        A layer of AnnData instead of X.
    nan : bool or None
        Whether the stored cells of a sparse matrix may be NaN.
    max_bytes, max_columns : int
        Caps.
    """

    array: str | None
    layer: str | None
    nan: bool | None
    max_bytes: int
    max_columns: int


def open_stored(request: FileRequest, stores: Sequence[Store], wanted: Wanted) -> Table:
    """Open files of named arrays, one below the other, as one table."""
    found: list[Found] = []
    for store in stores:
        with reading(store.place), store.open() as reader, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # zarr's, about types of text that are not part of the standard yet
            found.append(_find(reader, wanted, request.names))
            _check_alike(found, request.files[0].name)
    check_widths(request.files, [one.shape[1] for one in found])
    names = request.names if request.names is not None else found[0].names
    if found[0].kind == "csc":
        pieces = [_whole(store, one, request, wanted, names) for store, one in zip(stores, found, strict=True)]
        return Table(MemorySource(stack([x for x, _ in pieces]), stack_observed([o for _, o in pieces])), names)
    starts = np.concatenate([[0], np.cumsum([one.shape[0] for one in found])])
    files = Pieces(
        tuple(Piece(store, one.arrays, one.shape[0]) for store, one in zip(stores, found, strict=True)),
        tuple(int(start) for start in starts),
    )
    n_columns = found[0].shape[1]
    if found[0].kind == "dense":
        mask, share = _mask(files, request.blank)
        return Table(DenseRows(files, n_columns, mask, share, request.threshold, names), names)
    with reading(stores[0].place):
        sparse_bits(sparse.csr_array((1, 1)), blank=request.blank, threshold=request.threshold)  # may these be asked?
    items = sum(one.arrays[1].shape[0] for one in found) / files.n_rows
    nan = request.blank != "zero" and (_sees_nan(files) if wanted.nan is None else bool(wanted.nan))
    source = SparseRows(files, n_columns, items, request.blank, nan, request.threshold, names, wanted.max_bytes)
    return Table(source, names)


def _check_alike(found: Sequence[Found], first: str) -> None:
    """Refuse a file that is stored in another way than the first, or with other names."""
    if found[-1].kind != found[0].kind:
        raise TableError(
            f"the table is stored as {found[-1].kind}, that of {first} as {found[0].kind}. Write all files alike."
        )
    if found[-1].names != found[0].names and found[-1].shape[1] == found[0].shape[1]:
        raise TableError(f"the names of the columns are not those of {first}. All files of a table need the same.")


def _join(*pieces: str | None) -> str:
    return "/".join(piece for piece in pieces if piece)


def _find(reader: Reader, wanted: Wanted, names: tuple[str, ...] | None) -> Found:
    """Return where the table is in one file."""
    root = wanted.array or ""
    if reader.kind(root) is None:
        listed = ", ".join(map(repr, reader.children(""))) or "nothing that can be listed"
        raise TableError(
            f"there is no array or group {root!r}; the file holds {listed}."
            if root
            else "there is no metadata of an array or group. The store is empty or damaged, or of another format."
        )
    if reader.kind(root) == "array" or _encoding(reader, root) in SPARSE:
        if wanted.layer is not None:
            raise TableError(f"layer={wanted.layer!r}, but this is one table, not what AnnData writes.")
        return _matrix(reader, root, names, wanted.max_columns)
    if reader.kind(_join(root, "var")) is None:
        inside = reader.children(root)
        arrays = [name for name in inside if reader.kind(_join(root, name)) == "array"]
        if len(arrays) == 1 and wanted.layer is None:
            return _matrix(reader, _join(root, arrays[0]), names, wanted.max_columns)
        listed = ", ".join(map(repr, inside)) or "nothing that can be listed"
        raise TableError(
            f"the group {root or '/'!r} is not what AnnData writes: it holds {listed}. Name an array with array=."
        )
    where = _join(root, "X") if wanted.layer is None else _join(root, "layers", wanted.layer)
    if reader.kind(where) is None or (wanted.layer is not None and not wanted.layer.strip("/")):
        listed = ", ".join(map(repr, reader.children(_join(root, "layers")))) or "none"
        what = "X" if wanted.layer is None else f"layer {wanted.layer!r}"
        raise TableError(f"there is no {what}. The layers are: {listed}; choose one with layer=.")
    found = _matrix(reader, where, names, wanted.max_columns)
    if names is not None:
        return found
    return Found(found.kind, found.shape, found.arrays, _names(reader, _join(root, "var"), found.shape[1]))


def _encoding(reader: Reader, name: str) -> str | None:
    """Return AnnData's word for how something is stored."""
    told = reader.attribute(name, "encoding-type")
    return told[:100] if isinstance(told, str) else None


def _matrix(reader: Reader, name: str, names: tuple[str, ...] | None, max_columns: int) -> Found:
    """Return the array or sparse matrix at a path."""
    if reader.kind(name) == "array":
        array = reader.array(name)
        if len(array.shape) != 2:
            raise TableError(
                f"a table has rows and columns, but the array {name!r} has {len(array.shape)} dimension(s)."
            )
        _check_sizes((array.shape[0], array.shape[1]), max_columns)
        return Found("dense", (array.shape[0], array.shape[1]), (array,), names)
    encoding = _encoding(reader, name)
    if encoding not in SPARSE:
        raise TableError(f"{name!r} is stored as {encoding!r}, not as an array, a csr_matrix or a csc_matrix.")
    kind, shape = SPARSE[encoding], _shape(reader.attribute(name, "shape"), name)
    _check_sizes(shape, max_columns)
    arrays = tuple(reader.array(_join(name, part)) for part in ("indptr", "indices", "data"))
    pointers, indices, data = arrays
    for array in (pointers, indices):
        if np.dtype(array.dtype).kind not in "iu":
            raise TableError(f"the array {array.name!r} holds {array.dtype}, not whole numbers. Write it again.")
    n_runs = shape[0] if kind == "csr" else shape[1]
    if pointers.shape != (n_runs + 1,) or len(indices.shape) != 1 or indices.shape != data.shape:
        raise TableError(
            f"the sparse table {name!r} is damaged: {shape} cells need {n_runs + 1} index pointers and as many indices "
            f"as values, but the shapes are {pointers.shape}, {indices.shape} and {data.shape}. Write it again."
        )
    return Found(kind, shape, arrays, names)


def _check_sizes(shape: tuple[int, int], max_columns: int) -> None:
    """Refuse a shape that is empty, or that damage made."""
    check_shape(*shape)
    if shape[1] > max_columns:
        raise TableError(f"the table declares {shape[1]} columns, above max_columns={max_columns}.")
    if shape[0] >= 2**62:
        raise TableError(f"the table declares {shape[0]} rows. Its metadata is damaged; write it again.")


def _shape(told: Any, name: str) -> tuple[int, int]:
    """Return the shape that a sparse matrix tells in its attributes."""
    numbers = told.tolist() if isinstance(told, np.ndarray) else told
    if not isinstance(numbers, list) or len(numbers) != 2 or any(type(number) is not int for number in numbers):
        raise TableError(f"the sparse table {name!r} is damaged: its shape is {str(numbers)[:100]}. Write it again.")
    return numbers[0], numbers[1]


def _names(reader: Reader, var: str, n_columns: int) -> tuple[str, ...]:
    """Return the names of the columns, from the index of AnnData's `var`."""
    if reader.kind(var) != "group":
        raise TableError("'var' is written as AnnData did before 0.7. Write the file again, or give names=.")
    told = reader.attribute(var, "_index")
    index = _join(var, told if isinstance(told, str) else "_index")
    if reader.kind(index) == "group" and reader.kind(_join(index, "values")) == "array":  # text that may be missing
        mask = reader.array(_join(index, "mask"))
        if mask.shape != (n_columns,) or cells_of(reader, mask, 0, n_columns).any():
            raise TableError(f"some of the names in {index!r} are missing. Name all columns, or give names=.")
        index = _join(index, "values")
    if reader.kind(index) != "array":
        raise TableError(f"there are no column names at {index[:100]!r}. Give them with names=.")
    names = reader.texts(index, n_columns)
    check_distinct(names)
    return names


def _mask(files: Pieces, blank: Blank) -> tuple[Mask, float]:
    """Decide, from the first rows of each file, how the observed-mask is stored; any choice is right for any rows."""
    missing = cells = 0
    for piece in files.pieces:
        (array,) = piece.arrays
        if np.dtype(array.dtype).kind != "f" or blank == "zero":
            continue
        stop = min(piece.n_rows, max(1, SLAB_BYTES // array.row_bytes))
        with reading(piece.store.place), piece.store.open() as reader:
            values = reader.rows(array, 0, stop)
        missing += int(np.isnan(values).sum())
        cells += values.size
    if not cells:
        return "none", 0.0
    share = missing / cells
    return mask_for(share), share


def _sees_nan(files: Pieces) -> bool:
    """Whether any of the first stored cells of a file is NaN."""
    for piece in files.pieces:
        data = piece.arrays[2]
        if np.dtype(data.dtype).kind != "f":
            continue
        with reading(piece.store.place), piece.store.open() as reader:
            if np.isnan(reader.rows(data, 0, min(SAMPLE, data.shape[0]))).any():
                return True
    return False


def _whole(
    store: Store, found: Found, request: FileRequest, wanted: Wanted, names: tuple[str, ...] | None
) -> tuple[Bits, Bits]:
    """Return (x, observed) of a matrix that is stored by columns: it is loaded whole and turned into rows."""
    pointers, indices, data = found.arrays
    size = indices.shape[0] * (indices.row_bytes + data.row_bytes + 12) + 8 * (found.shape[0] + found.shape[1])
    with reading(store.place), store.open() as reader:
        if size > wanted.max_bytes:
            raise TableError(
                f"the table is stored by columns (CSC), so that it must be loaded whole, and comes to {size} bytes, "
                f"above max_bytes={wanted.max_bytes}. Write it by rows (X.tocsr()), which are read part by part, or "
                "raise max_bytes=."
            )
        try:
            indptr = read_pointers(reader, pointers, 0, found.shape[1], indices.shape[0], found.shape[0])
        except TableError as error:
            raise TableError(str(error).replace("row ", "column ", 1)) from error
        matrix: Any = sparse.csc_array(found.shape, dtype=np.uint8)
        matrix.indptr = indptr
        matrix.indices = native(reader.rows(indices, 0, indices.shape[0]))
        matrix.data = native(cells_of(reader, data, 0, data.shape[0]))
        return sparse_bits(matrix, blank=request.blank, threshold=request.threshold, names=names)
