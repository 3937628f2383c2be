"""The list of functions that open each form of data, and the search for the right function.

Tables in memory are recognized by their class, by a protocol or by their content, in the order of `OPENERS`; files by
their suffix. A new form or format needs one file with a function that opens it, and one line here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Mapping, Set
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Literal

import numpy as np
from scipy import sparse

from hiddenbits.data.arrays.anndata import within_anndata
from hiddenbits.data.arrays.dense import is_array
from hiddenbits.data.cell_checks import check_width
from hiddenbits.data.columns.gather import is_frame
from hiddenbits.data.request import Request
from hiddenbits.data.table import PART_BYTES, Table
from hiddenbits.exceptions import TableError

# Queries, datasets and streams; narwhals regards some as frames, and would collect them.
STREAMS = (
    "polars.LazyFrame",
    "duckdb.DuckDBPyRelation",
    "pyarrow.RecordBatchReader",
    "pyarrow.RecordBatch",
    "pyarrow.dataset.Dataset",
    "pyarrow.dataset.Scanner",
    "adbc_driver_manager.dbapi.Cursor",
)
# The errors for options that a form of data does not support.
REFUSALS = {
    "columns": "columns=, drop=, id=, recode=, missing=, column_types= and a column as sample_weight= are for frames, "
    "arrays and files with columns, not for {what}.",
    "reals": "reals=True is for frames and arrays in memory, not for {what}. Load the rows into one, or map the file.",
    "packed": "packed=True is for arrays, .npy and .npz files, not for {what}.",
    "storage_options": "storage_options= is for addresses such as s3://bucket/x.parquet, not for {what}.",
    "options": "{options}: option of a file reader, but the table is in memory: {what}.",
}
# The options of `REFUSALS` that forms of data support.
ANY, MEMORY, FILES = tuple(REFUSALS), ("columns", "reals"), ("columns", "storage_options", "options")
STREAM = (*MEMORY, "storage_options", "options")


@dataclass(frozen=True)
class Opener:
    """Opens one form of data.

    Attributes
    ----------
    what : str
        The form of data, for messages.
    accepts : function of (X, request)
        Whether X is of this form.
    function : str
        The function of (X, request) that returns a Table, as "module:function"; imported when first used.
    takes : tuple of str
        Which options of `REFUSALS` the function supports.
    form : {"array", "frame", "other"}
        How callers with additional rules, such as scikit-learn's, may treat X.
    """

    what: str
    accepts: Callable[[Any, Request], bool]
    function: str
    takes: tuple[str, ...] = ()
    form: Literal["array", "frame", "other"] = "other"

    def open(self, X: Any, request: Request) -> Table:
        """Return X as a Table."""
        _refuse(request, self.what, self.takes)
        table: Table = _load(self.function)(X, request)
        check_width(table.shape[1], request.n_columns)
        # a table that is already open keeps the size of its parts, unless another is requested
        return table if request.part_bytes == PART_BYTES else replace(table, part_bytes=request.part_bytes)


@dataclass(frozen=True)
class Format:
    """A format of files.

    Attributes
    ----------
    name : str
        Its name, as in ``format=``.
    suffixes : tuple of str
        The suffixes of its files.
    function : str
        The reader, as "module:function" within `hiddenbits.data`: it takes a `FileRequest` and options of its own, by
        keyword, which are options of `open_table`, and returns a Table; such as `named.arrow_files.open_feather`.
    takes : tuple of str
        Which options of `REFUSALS` the reader supports: "columns" if it reads columns of any values.
    gzipped, remote : bool
        Whether files may end in ``.gz``, and be at an address.
    """

    name: str
    suffixes: tuple[str, ...]
    function: str
    takes: tuple[str, ...] = ("columns",)
    gzipped: bool = False
    remote: bool = True


FORMATS = (
    Format("npy", (".npy",), "arrays.npy:open_npy", ("packed",)),
    Format("npz", (".npz",), "arrays.npz:open_npz", ("packed",)),
    Format("parquet", (".parquet", ".pq"), "named.parquet.open:open_parquet"),
    Format("csv", (".csv", ".tsv", ".tab"), "named.csv.read:open_csv", gzipped=True),
    Format("sheets", (".xlsx", ".ods", ".xlsm", ".xlsb", ".xls"), "named.sheets:open_sheets"),
    Format("labeled", (".sav", ".dta", ".zsav", ".por"), "named.labeled:open_labeled"),
    Format("jsonl", (".jsonl", ".ndjson"), "named.arrow_files:open_jsonl", gzipped=True),
    Format("feather", (".feather", ".arrow", ".ipc"), "named.arrow_files:open_feather"),
    Format("h5ad", (".h5ad",), "arrays.h5ad:open_h5ad", (), remote=False),
    Format("zarr", (".zarr",), "arrays.zarr:open_zarr", ()),
    Format("baskets", (".dat", ".txt", ".basket"), "items.baskets:open_baskets", (), gzipped=True),
)
SUFFIXES = ", ".join(known.suffixes[0] for known in FORMATS)


def is_a(X: Any, *classes: str) -> bool:
    """Whether X is an instance of one of the classes; their packages are not imported, and may not be installed."""
    for qualified in classes:
        package, _, name = qualified.rpartition(".")
        class_ = getattr(sys.modules.get(package), name, None)
        if class_ is not None and isinstance(X, class_):
            return True
    return False


def _is_stream(X: Any, _: Request) -> bool:
    """Whether rows come in batches: from a query, a dataset, or an object with an Arrow stream that is not a frame."""
    if is_a(X, *STREAMS):
        return True
    return hasattr(X, "__arrow_c_stream__") and not hasattr(X, "dtype") and not is_frame(X)  # a column has a dtype


def _is_delta(X: Any, _: Request) -> bool:
    """Whether X is a Delta table: the path of its folder, or an object of deltalake."""
    if isinstance(X, (str, os.PathLike)):
        return bool(_load("locations.paths:is_delta")(X))
    return is_a(X, "deltalake.DeltaTable")


def _are_paths(X: Any, _: Request) -> bool:
    is_list = isinstance(X, (list, tuple)) and bool(X) and all(isinstance(path, (str, os.PathLike)) for path in X)
    return is_list or isinstance(X, (str, os.PathLike))


def _are_columns(X: Any, _: Request) -> bool:
    return isinstance(X, Mapping) and bool(_load("named.object_columns:is_columns")(X))


def _are_records(X: Any, _: Request) -> bool:
    return _has_row(X, lambda row: isinstance(row, Mapping)) and bool(_load("named.object_columns:is_records")(X))


def _are_transactions(X: Any, _: Request) -> bool:
    may_be = _has_row(X, lambda row: isinstance(row, Set) or _begins_with_word(row))
    return may_be and bool(_load("items.transactions:is_transactions")(X))


def _is_dask(X: Any, _: Request) -> bool:
    return is_a(X, "dask.base.DaskMethodsMixin")


def _is_frame(X: Any, _: Request) -> bool:
    return not isinstance(X, (np.ndarray, list, tuple)) and is_frame(X)


def _has_text(X: Any, request: Request) -> bool:
    """Whether an array, or a list of rows, has cells of text, or options for columns."""
    if request.reals or not is_array(X):
        return False
    if request.choices or (request.coding is not None and not request.coding.named):
        return True
    if not isinstance(X, np.ndarray):
        return _has_row(X, _begins_with_word)
    return X.dtype.kind == "U" or (X.dtype.kind == "O" and any(isinstance(cell, str) for cell in X.flat))


def _has_row(X: Any, test: Callable[[Any], bool]) -> bool:
    return isinstance(X, (list, tuple)) and any(map(test, X))


def _begins_with_word(row: Any) -> bool:
    return isinstance(row, (list, tuple)) and len(row) > 0 and isinstance(row[0], str)


# The first opener that accepts the data opens it; comments explain the order where it matters. Functions are imported
# when needed, because most of them need a package that may not be installed.
OPENERS = (
    Opener("a Table", lambda X, _: isinstance(X, Table), "openers:_open_again", ANY),
    Opener("a query or dataset (LazyFrame, DuckDB, Arrow, ...)", _is_stream, "named.streams:open_stream", STREAM),
    Opener("a Delta table", _is_delta, "named.lakes:open_delta", FILES),
    Opener(f"the path of a file, or a list of them ({SUFFIXES})", _are_paths, "openers:_open_files", ANY),
    # before frames: a dask DataFrame would pass for a lazy one, and be collected
    Opener("a dask array or DataFrame", _is_dask, "arrays.dask:open_dask", ("columns",)),
    # before arrays in memory: an AnnData may hold any of them, or be in a file
    Opener("an AnnData object", lambda X, _: is_a(X, "anndata.AnnData"), "openers:_open_anndata", ANY[1:]),
    Opener("a dict of columns", _are_columns, "named.object_columns:open_dict", ("columns",)),
    Opener("a list of dicts", _are_records, "named.object_columns:open_dict", ("columns",)),
    # before lists of rows, which hold cells and not items
    Opener("a list of transactions", _are_transactions, "items.transactions:open_transactions"),
    # before all other arrays: this one holds bytes, not cells
    Opener("an array of packed bits", lambda _, request: request.packed, "arrays.dense:open_packed", ("packed",)),
    Opener("a SciPy sparse array", lambda X, _: sparse.issparse(X), "arrays.dense:open_sparse", form="array"),
    # before arrays: frames pass for arrays, without the names of their columns
    Opener("a frame (pandas, polars, Arrow, ...)", _is_frame, "named.frames:open_frame", MEMORY, "frame"),
    # before arrays of numbers, which scikit-learn checks
    Opener("an array of text", _has_text, "arrays.dense:open_text_array", ("columns",)),
    Opener("an array or a list of rows", lambda X, _: is_array(X), "arrays.dense:open_array", MEMORY, "array"),
)


def find_opener(X: Any, request: Request) -> Opener:
    """Return the opener for X."""
    for opener in OPENERS:
        if opener.accepts(X, request):
            return opener
    raise TableError(
        f"Expected a table with rows and columns, got an object of type {type(X).__name__}. Give one of: "
        f"{'; '.join(opener.what for opener in OPENERS)}."
    )


def _open_again(table: Table, request: Request) -> Table:
    """Return a table that is already open; the caller can change only the size of its parts."""
    if (
        replace(request, part_bytes=PART_BYTES, coding=None, plain_only=False, levels=False, handle_unknown="error")
        != Request()
    ):
        raise TypeError("The table is already open. Set names=, empty=, threshold= and other options when you open it.")
    return table


def _open_anndata(X: Any, request: Request) -> Table:
    """Open X or a layer of an AnnData, which may be of any form."""
    options = dict(request.options)
    cells, names, inner_options = within_anndata(X, names=request.names, layer=options.pop("layer", None))
    inner = replace(request, names=names, options=options | inner_options)
    return find_opener(cells, inner).open(cells, inner)


def _open_files(paths: Any, request: Request) -> Table:
    """Open files, all of one format."""
    from hiddenbits.data.file_request import FileRequest, check_options

    format_, files, values_by_file = find_files(paths, request)
    if not format_.remote and is_a(files[0], "hiddenbits.data.locations.places.RemoteFile"):
        raise TableError(
            f"{files[0]}: {format_.name} tables can only be read from a local disk. Copy the table there, or convert "
            "it to Parquet, which can be read from an address."
        )
    reader, options = _load(format_.function), {key: value for key, value in request.options.items() if key != "format"}
    _refuse(request, f"{format_.name} files", (*format_.takes, "storage_options", "options"))
    check_options(reader, options, format_.name)
    table: Table = reader(FileRequest(**vars(request), files=files, constants=values_by_file), **options)
    return table


def find_files(paths: Any, request: Request) -> tuple[Format, tuple[Any, ...], tuple[Mapping[str, Any], ...]]:
    """Return the format of the files at some paths, the files, and the values of columns in their paths."""
    from hiddenbits.data.locations import paths as locations
    from hiddenbits.data.named.parquet.hive import find_hive

    by_name = {known.name: known for known in FORMATS}
    parts = find_hive(paths, request.storage_options)
    if parts is not None:
        return by_name["parquet"], *parts
    files = locations.find_files(paths, request.storage_options)
    suffixes = {suffix: known.name for known in FORMATS for suffix in known.suffixes}
    gzipped = [known.name for known in FORMATS if known.gzipped]
    return by_name[locations.find_format(files, suffixes, gzipped, request.options.get("format"))], files, ()


def _refuse(request: Request, what: str, takes: Collection[str]) -> None:
    """Raise an error for options that a form of data does not support."""
    requested: dict[str, Any] = {"columns": request.choices, "reals": request.reals, "packed": request.packed}
    requested |= {"storage_options": request.storage_options, "options": request.options}
    for name, value in requested.items():
        if value and name not in takes:
            raise TypeError(REFUSALS[name].format(what=what, options=", ".join(sorted(request.options))))


def _load(function: str) -> Callable[..., Any]:
    """Return a function of this package by its name."""
    module, _, name = function.partition(":")
    loaded: Callable[..., Any] = getattr(import_module(f"hiddenbits.data.{module}"), name)
    return loaded
