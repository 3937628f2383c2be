"""Finds the table in a file of named arrays: one array, a sparse matrix, or an AnnData group."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from hiddenbits.data.arrays.source import CellConverter, Storage, memory_source, open_rows
from hiddenbits.data.arrays.stored import DenseRows, Find, SparseRows, Store, StoredArray, declared, library
from hiddenbits.data.bits import Bits
from hiddenbits.data.cell_checks import check_distinct
from hiddenbits.data.file_request import FileRequest, check_shape, check_widths, reading
from hiddenbits.data.table import Table
from hiddenbits.exceptions import TableError

SPARSE_FORMATS = {"csr_matrix": "csr", "csc_matrix": "csc"}  # AnnData's names
MAX_SHOWN_NAMES = 100  # maximum number of names in a message

Names = tuple[str, ...] | None


def open_stored(
    request: FileRequest,
    stores: Sequence[Store],
    *,
    layer: str | None,
    nan: bool | None,
    max_columns: int,
    array: str | None = None,
) -> Table:
    """Open stacked files of named arrays as one table.

    Parameters
    ----------
    request : FileRequest
        The files and the options that all readers share.
    stores : sequence of Store
        The files.
    layer : str or None
        A layer of AnnData instead of X.
    nan : bool or None
        Whether the stored cells of a sparse matrix may be NaN.
    max_columns : int
        Maximum number of columns that a file may declare.
    array : str or None
        Path of an array, of a sparse matrix, or of a group that AnnData wrote.
    """
    tables: list[tuple[DenseRows | SparseRows, Names]] = []
    for store in stores:
        with reading(store.place), library(), store.open() as find, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # zarr's, about text types that are not standardized yet
            find_cached = cache(find)  # arrays and groups are looked up several times
            path, var = _find(find_cached, array or "", layer)
            rows = _table(store, find_cached, path)
            check_shape(*rows.shape)
            if rows.shape[1] > max_columns:
                raise TableError(f"the table declares {rows.shape[1]} columns, above max_columns={max_columns}.")
            names = None if request.names is not None or var is None else _names(find_cached, var, rows.shape[1])
            tables.append((rows, names))
            if rows.kind != tables[0][0].kind or (names != tables[0][1] and rows.shape[1] == tables[0][0].shape[1]):
                first = tables[0][0].kind
                difference = (
                    "its column names differ from those"
                    if rows.kind == first
                    else f"stored as {rows.kind}, not as {first} as"
                )
                raise TableError(f"{difference} in {request.files[0].name}. Write all files of a table alike.")
    arrays = [rows for rows, _ in tables]
    check_widths(request.files, [rows.shape[1] for rows in arrays])
    names = tables[0][1] if request.names is None else request.names
    n_columns = arrays[0].shape[1]
    storage: Storage = "dense" if arrays[0].kind == "dense" else "sparse"
    converter = CellConverter(storage, n_columns, request.empty, request.threshold, names)
    with reading(request.files[0]):
        converter.convert_no_rows()  # checks the options
    if arrays[0].kind != "csc":
        return Table(open_rows(arrays, converter, nan=nan), names)
    pieces: list[tuple[Bits, Bits]] = []
    for rows in arrays:
        with reading(rows.place):
            pieces += rows.mapped(converter, 0, n_columns)
    return Table(memory_source(pieces), names)


def _join(*pieces: str | None) -> str:
    return "/".join(piece for piece in pieces if piece)


def _find(find: Find, root: str, layer: str | None) -> tuple[str, str | None]:
    """Return the paths of the table in a file and of the column names, if AnnData wrote them."""
    node = find(root)
    if node is None:
        listed = _listed(find(""))
        raise TableError(f"there is no array or group {root!r}, or no metadata of it. The file holds {listed}.")
    if not _is_table(node):
        if find(_join(root, "var")) is not None:
            path = _join(root, "X") if layer is None else _join(root, "layers", layer)
            if find(path) is None or layer == "":
                raise TableError(
                    f"there is no {path!r} in the file. The layers are: {_listed(find(_join(root, 'layers')))}."
                )
            return path, _join(root, "var")
        arrays = [str(name) for name in node if _is_table(find(_join(root, str(name))))]
        if len(arrays) != 1:
            raise TableError(
                f"the group {root or '/'!r} is not what AnnData writes: it holds {_listed(node)}. Name an array with "
                "array=."
            )
        root = _join(root, arrays[0])
    if layer is not None:
        raise TableError(f"layer={layer!r}, but this is one table, not what AnnData writes.")
    return root, None


def _listed(group: Any) -> str:
    """Return the names in a group, for messages."""
    return ", ".join(sorted(repr(str(name)) for name in group or ())[:MAX_SHOWN_NAMES]) or "nothing that can be listed"


def _is_table(node: Any) -> bool:
    return hasattr(node, "dtype") or (node is not None and _attribute(node, "encoding-type") in SPARSE_FORMATS)


def _attribute(node: Any, key: str) -> Any:
    """Return an attribute of a group or array as a Python object, None if there is none of that name."""
    value = node.attrs.get(key)
    value = value.tolist() if isinstance(value, np.ndarray) else value
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _table(store: Store, find: Find, name: str) -> DenseRows | SparseRows:
    """Return the array or sparse matrix at a path."""
    node = find(name)
    if hasattr(node, "dtype"):
        array = _part(store, find, name)
        if len(array.shape) != 2:
            raise TableError(
                f"a table has rows and columns, but the array {name!r} has {len(array.shape)} dimension(s)."
            )
        return DenseRows(store, array)
    encoding, shape = _attribute(node, "encoding-type"), _attribute(node, "shape")
    if encoding not in SPARSE_FORMATS:
        raise TableError(f"{name!r} is stored as {encoding!r}, not as an array, a csr_matrix or a csc_matrix.")
    if not isinstance(shape, list) or len(shape) != 2 or any(type(number) is not int for number in shape):
        raise TableError(f"the sparse table {name!r} is damaged: its shape is {str(shape)[:100]}. Write it again.")
    parts = [_part(store, find, _join(name, part)) for part in ("indptr", "indices", "data")]
    indptr, indices, data = parts
    n_runs = shape[0] if encoding == "csr_matrix" else shape[1]
    if (
        any(np.dtype(part.dtype).kind not in "iu" for part in (indptr, indices))
        or indptr.shape != (n_runs + 1,)
        or len(indices.shape) != 1
        or indices.shape != data.shape
    ):
        raise TableError(
            f"the sparse table {name!r} is damaged: {shape} cells need {n_runs + 1} index pointers and as many indices "
            f"as values, all of them whole numbers, but there are {indptr.shape} {indptr.dtype}, {indices.shape} "
            f"{indices.dtype} and {data.shape}. Write it again."
        )
    return SparseRows(store, "csr" if encoding == "csr_matrix" else "csc", (shape[0], shape[1]), indptr, indices, data)


def _part(store: Store, find: Find, name: str) -> StoredArray:
    return declared(find(name), name, store.max_bytes)


def _names(find: Find, var: str, n_columns: int) -> tuple[str, ...]:
    """Return the column names, from the index of AnnData's `var`."""
    index_name = _attribute(find(var), "_index")
    index = _join(var, index_name if isinstance(index_name, str) else "_index")
    node = find(index)
    if node is not None and not hasattr(node, "dtype"):  # nullable text
        node = find(_join(index, "values"))
    if node is None or node.shape != (n_columns,):
        raise TableError(f"there are no {n_columns} column names at {index[:100]!r}. Give them with names=.")
    texts = (node.asstr("utf-8") if hasattr(node, "asstr") and node.dtype.kind in "OS" else node)[:].tolist()
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise TableError(f"{index!r} does not hold the columns' names as text. Give them with names=.")
    check_distinct(texts)
    return tuple(texts)
