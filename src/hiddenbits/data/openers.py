"""The one list of what opens which kind of table, and who finds the opener.

A new format is one file with a function that opens it, and one line in `OPENERS`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse

from hiddenbits.data.arrays.anndata import within_anndata
from hiddenbits.data.arrays.dense import is_array
from hiddenbits.data.cell_checks import check_width
from hiddenbits.data.errors import TableError
from hiddenbits.data.request import Request
from hiddenbits.data.table import PART_BYTES, Table

if TYPE_CHECKING:
    from hiddenbits.data.columns import Choices


# Queries, datasets and streams, by package and class; to narwhals some are frames, which it would collect.
STREAMS = (
    ("polars", "LazyFrame"),
    ("duckdb", "DuckDBPyRelation"),
    ("_duckdb", "DuckDBPyRelation"),
    ("pyarrow", "RecordBatchReader"),
    ("pyarrow", "RecordBatch"),
    ("pyarrow", "Dataset"),
    ("pyarrow", "Scanner"),
    ("adbc_driver_manager", "Cursor"),
)


@dataclass(frozen=True)
class Memory:
    """Opens one form of data in memory.

    Attributes
    ----------
    what : str
        What it opens, for messages.
    test : function of (X, request)
        Whether X is of this form.
    function : str
        The function of (X, request) that returns a Table of bits, as "module:function"; imported when first used.
    reals : str
        The function for tables of real numbers; empty where there is none.
    form : {"array", "frame", "other"}
        How callers with rules of their own, such as scikit-learn's, may look at X.
    said : str
        The function where the user said something about columns; empty where there is none.
    checks : bool
        Whether options are refused here; otherwise the function does that.
    """

    what: str
    test: Callable[[Any, Request], bool]
    function: str
    reals: str = ""
    form: Literal["array", "frame", "other"] = "other"
    said: str = ""
    checks: bool = True

    def accepts(self, X: Any, request: Request) -> bool:
        """Whether this opener is the one for X."""
        return self.test(X, request)

    def open(self, X: Any, request: Request) -> Table:
        """Return X as a Table."""
        if self.checks:
            _refuse_file_options(request)
        if request.choices and not self.said:
            raise TypeError(
                "columns=, drop=, id=, code=, missing=, column_types= and a column as sample_weight= are for frames, "
                f"arrays and files with columns, not for {self.what}."
            )
        said = request.choices or (request.coding is not None and not request.coding.named)
        function = self.reals if request.reals else self.said if said else self.function
        if not function:
            raise _in_memory()
        table: Table = _load(function)(X, request)
        check_width(table.shape[1], request.n_columns)
        # a table that was open already keeps the size of its parts, unless another is asked for
        return table if request.part_bytes == PART_BYTES else replace(table, part_bytes=request.part_bytes)


@dataclass(frozen=True)
class Format:
    """Opens files of one format.

    Attributes
    ----------
    name : str
        The name of the format, as in ``format=``.
    suffixes : tuple of str
        The suffixes of its files.
    function : str
        The reader, a function of a `FileRequest` and options of its own, as "module:function".
    packed, gzipped, remote, choices : bool
        Whether bits may be packed, files end in ``.gz``, and be at an address; and whether the reader hands over
        columns of any values (`columns.open_cells`), which the user may speak of.
    """

    name: str
    suffixes: tuple[str, ...]
    function: str
    packed: bool = False
    gzipped: bool = False
    remote: bool = True
    choices: bool = True
    form: Literal["other"] = "other"

    @property
    def what(self) -> str:
        """What it opens, for messages: the suffix of its files."""
        return self.suffixes[0]

    def accepts(self, X: Any, request: Request) -> bool:
        """Whether X are files of this format; `find_opener` has found them."""
        return isinstance(X, _Files) and X.format == self.name

    def open(self, X: _Files, request: Request) -> Table:
        """Return the files as one Table."""
        from hiddenbits.data.file_request import FileRequest, check_options
        from hiddenbits.data.locations.places import RemoteFile

        far = next((file for file in X.locations if isinstance(file, RemoteFile)), None)
        if far is not None and not self.remote:
            raise TableError(
                f"{far}: {self.name} tables can only be read from a local disk. Copy the table there, or convert it "
                "to Parquet, which can be read from an address."
            )
        if request.packed and not self.packed:
            raise TableError(f"packed=True is for .npy and .npz files, not for {self.name} files.")
        if request.reals:
            raise _in_memory()
        reader, options = _load(self.function), {k: v for k, v in request.options.items() if k != "format"}
        if request.choices and not self.choices:
            options |= _choices_as_options(request.choices)
        of_columns = ("columns", "drop", "id", "code", "missing") if self.choices else ()
        check_options(reader, options, self.name, of_columns)
        table: Table = reader(FileRequest(**vars(request), files=X.locations, given=X.given), **options)
        if request.n_columns is not None and table.shape[1] != request.n_columns:
            raise TableError(
                f"{X.locations[0]}: the table has {table.shape[1]} columns, not n_columns={request.n_columns}."
            )
        return replace(table, part_bytes=request.part_bytes)


def _in_memory() -> TableError:
    """Return the error about real numbers that are neither in an array nor in a frame."""
    return TableError("reals=True is for frames and arrays in memory. Load the rows into one; a memory map will do.")


def _choices_as_options(choices: Choices) -> dict[str, Any]:
    """Return what was said about columns as options of a reader; those that it does not have are refused."""
    said: dict[str, Any] = {"columns": choices.columns, "drop": choices.drop, "id": choices.id, "code": choices.code}
    said["sample_weight"] = choices.sample_weight
    return {name: value for name, value in said.items() if value} | (
        {} if choices.missing is None else {"missing": choices.missing}
    )


@dataclass(frozen=True)
class _Files:
    """What a path, an address, a pattern or a list of them stands for."""

    locations: tuple[Any, ...]
    format: str
    given: tuple[Any, ...] = ()  # as `FileRequest` has them


def _comes_from(X: Any, package: str, name: str | None = None) -> bool:
    """Whether the class of X, or one that it inherits from, is of a package, without importing it."""
    return any(
        str(kind.__module__).partition(".")[0] == package and name in (None, kind.__name__) for kind in type(X).__mro__
    )


def _is_frame(X: Any) -> bool:
    if isinstance(X, (np.ndarray, list, tuple)):
        return False
    from hiddenbits.data.columns.gather import is_frame

    return is_frame(X)


def _is_stream(X: Any) -> bool:
    """Whether rows come in batches: a query, a dataset, or what hands over a stream of Arrow's and is no frame."""
    if any(_comes_from(X, *kind) for kind in STREAMS):
        return True
    return hasattr(X, "__arrow_c_stream__") and not hasattr(X, "dtype") and not _is_frame(X)  # a column has a dtype


def _is_lake(X: Any) -> bool:
    """Whether X is a Delta table: the path of its folder, or what deltalake has opened."""
    if isinstance(X, (str, os.PathLike)):
        return bool(_load("locations.paths:is_delta")(X))
    return _comes_from(X, "deltalake", "DeltaTable")


def _has_rows(X: Any, kind: type) -> bool:
    """Whether a list has a row of some type."""
    return isinstance(X, (list, tuple)) and any(isinstance(row, kind) for row in X)


def _has_words(X: Any) -> bool:
    """Whether a list has a row that begins with a word."""
    return isinstance(X, (list, tuple)) and any(
        isinstance(row, (list, tuple)) and len(row) > 0 and isinstance(row[0], str) for row in X
    )


def _is_text_array(X: Any) -> bool:
    """Whether an array, or a list of rows, has cells of text."""
    if isinstance(X, (list, tuple)):
        return _has_words(X) and len({len(row) if hasattr(row, "__len__") else -1 for row in X}) == 1
    if not isinstance(X, np.ndarray) or X.ndim != 2:
        return False
    return X.dtype.kind == "U" or (X.dtype.kind == "O" and any(isinstance(cell, str) for cell in X.flat))


# The first that accepts opens the table. Where the order matters, the line says why. Functions are named and not
# imported: most of them need a package that may not be installed.
OPENERS: tuple[Memory | Format, ...] = (
    Memory("a Table", lambda X, _: isinstance(X, Table), "openers:_open_again", "openers:_open_again", checks=False),
    Memory(
        "a query or dataset (LazyFrame, DuckDB, Arrow, ...)",
        lambda X, request: _is_stream(X) and not request.packed,
        "named.streams:open_stream",
        said="named.streams:open_stream",
        checks=False,
    ),
    Memory(
        "a Delta table",
        lambda X, request: _is_lake(X) and not request.packed,
        "named.lakes:open_delta",
        said="named.lakes:open_delta",
        checks=False,
    ),
    Format("npy", (".npy",), "arrays.npy:open_npy", packed=True, choices=False),
    Format("npz", (".npz",), "arrays.npz:open_npz", packed=True, choices=False),
    Format("parquet", (".parquet", ".pq"), "named.parquet.open:open_parquet"),
    Format("csv", (".csv", ".tsv", ".tab"), "named.csv.read:open_csv", gzipped=True),
    Format("sheets", (".xlsx", ".ods", ".xlsm", ".xlsb", ".xls"), "named.sheets:open_sheets"),
    Format("labelled", (".sav", ".dta", ".zsav", ".por"), "named.labelled:open_labelled"),
    Format("jsonl", (".jsonl", ".ndjson"), "named.arrow_files:open_jsonl", gzipped=True),
    Format("feather", (".feather", ".arrow", ".ipc"), "named.arrow_files:open_feather"),
    Format("h5ad", (".h5ad",), "arrays.h5ad:open_h5ad", remote=False, choices=False),
    Format("zarr", (".zarr",), "arrays.zarr:open_zarr", choices=False),
    Format("baskets", (".dat", ".txt", ".basket"), "items.baskets:open_baskets", gzipped=True, choices=False),
    # before frames: a dask DataFrame would pass for a lazy one, and be collected
    Memory("a dask array or DataFrame", lambda X, _: _comes_from(X, "dask"), "arrays.dask_tables:open_dask"),
    # before arrays in memory: what it holds may be any of these, or in a file
    Memory(
        "an AnnData object", lambda X, _: _comes_from(X, "anndata", "AnnData"), "openers:_open_anndata", checks=False
    ),
    Memory(
        "a dict of columns",
        lambda X, _: isinstance(X, Mapping) and _load("named.object_columns:is_columns")(X),
        "named.object_columns:open_dict",
        said="named.object_columns:open_dict",
    ),
    Memory(
        "a list of dicts",
        lambda X, _: _has_rows(X, Mapping) and _load("named.object_columns:is_records")(X),
        "named.object_columns:open_dict",
        said="named.object_columns:open_dict",
    ),
    # before lists of rows, which have cells and not items
    Memory(
        "a list of transactions",
        lambda X, _: (_has_rows(X, Set) or _has_words(X)) and _load("items.transactions:is_transactions")(X),
        "items.transactions:open_transactions",
    ),
    # before all arrays: what they hold are bytes, not cells
    Memory("an array of packed bits", lambda _, request: request.packed, "arrays.dense:open_packed"),
    Memory("a SciPy sparse array", lambda X, _: sparse.issparse(X), "arrays.dense:open_sparse", form="array"),
    # before arrays: frames pass for arrays, without the names of their columns
    Memory(
        "a frame (pandas, polars, Arrow, ...)",
        lambda X, _: _is_frame(X),
        "named.frames:open_frame",
        "reals:open_reals",
        form="frame",
        said="named.frames:open_frame",
    ),
    # before arrays of numbers, which scikit-learn checks
    Memory(
        "an array of text",
        lambda X, request: not request.reals and _is_text_array(X),
        "arrays.dense:open_text_array",
        said="arrays.dense:open_text_array",
    ),
    Memory(
        "an array or a list of rows",
        lambda X, _: is_array(X),
        "arrays.dense:open_array",
        "reals:open_reals",
        form="array",
        said="arrays.dense:open_text_array",
    ),
)
FORMATS = tuple(opener for opener in OPENERS if isinstance(opener, Format))


def find_opener(X: Any, request: Request) -> tuple[Memory | Format, Any]:
    """Return the opener for X, and what it opens: X, or the files that a path stands for."""
    if (isinstance(X, (str, os.PathLike)) and not _is_lake(X)) or is_paths(X):
        X = _find_files(X, request)
    for opener in OPENERS:
        if opener.accepts(X, request):
            return opener, X
    raise TableError(
        f"Expected a table with rows and columns, got an object of type {type(X).__name__}. Give one of: "
        f"{'; '.join(opener.what for opener in OPENERS if isinstance(opener, Memory))}; or the path of a file, or a "
        f"list of them: {', '.join(known.what for known in FORMATS)}."
    )


def _open_again(table: Table, request: Request) -> Table:
    """Return a table that is open; only the size of its parts may be asked for."""
    given = [request.names, request.threshold, request.n_columns, request.choices]
    if (
        any(one is not None for one in given)
        or request.blank != "auto"
        or request.packed
        or request.reals
        or request.storage_options
        or request.options
    ):
        raise TypeError(
            "The table is already open. Give names=, blank=, threshold= and other options when you open it."
        )
    return table


def _open_anndata(X: Any, request: Request) -> Table:
    """Open X or a layer of an AnnData, whatever it is."""
    options = dict(request.options)
    cells, names, more = within_anndata(X, names=request.names, layer=options.pop("layer", None))
    inner = replace(request, names=names, reals=False, options=options | more)
    opener, found = find_opener(cells, inner)
    return opener.open(found, inner)


def _find_files(paths: Any, request: Request) -> _Files:
    """Return the files that paths stand for, with their format."""
    from hiddenbits.data.locations.paths import find_files, find_format
    from hiddenbits.data.named.parquet.hive import find_hive

    parts = find_hive(paths, request.storage_options)
    if parts is not None:
        return _Files(parts[0], "parquet", given=parts[1])
    locations = find_files(paths, request.storage_options)
    suffixes = {suffix: known.name for known in FORMATS for suffix in known.suffixes}
    gzipped = [known.name for known in FORMATS if known.gzipped]
    return _Files(locations, find_format(locations, suffixes, gzipped, request.options.get("format")))


def _refuse_file_options(request: Request) -> None:
    """Refuse what only files can have."""
    if request.storage_options:
        raise TypeError("storage_options= is for addresses such as s3://bucket/x.parquet, but the table is in memory.")
    if request.options:
        listed = ", ".join(sorted(request.options))
        raise TypeError(f"{listed}: option of a file reader, but the table is in memory.")


def _load(function: str) -> Callable[..., Any]:
    """Return a function of this package by its name."""
    module, _, name = function.partition(":")
    found: Callable[..., Any] = getattr(import_module(f"hiddenbits.data.{module}"), name)
    return found


def is_paths(data: Any) -> bool:
    """Whether the argument is a non-empty list of paths."""
    return isinstance(data, (list, tuple)) and bool(data) and all(isinstance(p, (str, os.PathLike)) for p in data)
