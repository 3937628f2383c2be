"""`open_table`: one function for every kind of table."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from hiddenbits.data.cell_checks import Empty, check_empty, check_threshold
from hiddenbits.data.coding.choices import Choices
from hiddenbits.data.coding.coded_columns import Coding
from hiddenbits.data.columns.recipe import read_recipe
from hiddenbits.data.openers import find_opener
from hiddenbits.data.request import Request
from hiddenbits.data.table import PART_BYTES, Table
from hiddenbits.quoting import discreet


@discreet()
def open_table(
    data: Any,
    *,
    names: Any = None,
    empty: Empty = "auto",
    threshold: float | None = None,
    packed: bool = False,
    n_columns: int | None = None,
    reals: bool = False,
    columns: Any = None,
    drop: Any = None,
    id: Any = None,  # noqa: A002
    recode: Any = None,
    missing: Any = None,
    column_types: Any = None,
    sample_weight: ArrayLike | None = None,
    recipe: str | os.PathLike[str] | None = None,
    part_bytes: int = PART_BYTES,
    storage_options: Mapping[str, Any] | None = None,
    **reader_options: Any,
) -> Table:
    """Open a table of columns of any type, or with `reals` one of nothing but real numbers.

    Parameters
    ----------
    data : array, sparse array or matrix, frame, query, dict, list, AnnData, dask array or frame, path, glob or Table
        NumPy arrays (masked and memory-mapped ones too), SciPy sparse arrays and matrices, pandas, polars and Arrow
        frames, dicts of columns, lists of dicts, transactions (lists of sets, or of lists of names), AnnData objects
        (X, or a layer with ``layer=``), dask arrays (of NumPy or SciPy sparse chunks) and dask DataFrames, whose chunks
        are computed part by part; queries and streams: lazy frames, DuckDB's relations, cursors of ADBC's,
        ``pyarrow.dataset``, ``RecordBatchReader``, all objects with ``__arrow_c_stream__``; or files: ``.npy``,
        ``.npz``, ``.parquet``, ``.csv``, ``.tsv``, ``.xlsx``, ``.ods``, ``.sav``, ``.dta``, ``.jsonl``, ``.feather``,
        ``.zarr`` (also ``.zarr.zip``), AnnData's ``.h5ad``, and baskets of item numbers (FIMI format) or names
        (``.dat``, ``.txt``, also gzipped); or the folder of a Delta table, of which the newest version is read, or that
        of ``version=``. Delta tables, datasets of Parquet files (local or through fsspec) and folders with partitions
        (``year=2024/...``, whose columns are those of the files and of the paths) are read from their files in every
        pass over the data. Other queries and streams can be read only once: up to 64 MiB are held in memory, more is
        written to temporary files (`SpilledTableWarning`).
        A path may be a glob or a list of paths; files are taken in natural order (2 before 10).
        A path may also be an address that fsspec understands, such as ``s3://bucket/events/*.parquet``, ``gs://...``
        or ``https://...``, where the protocol's package is installed (s3fs, gcsfs, aiohttp, ...). Parquet files and
        ``.npy`` files of bool or uint8 are read where they are, part by part, in every pass and by every worker;
        others are read into memory. ``simplecache::`` before the address keeps a local copy on each machine.
    names : sequence of str, optional
        Column names; by default those of the frame or file.
    empty : {"auto", "zero", "missing"}, default="auto"
        What an empty cell means: 0, or not observed. "auto" reads empty cells of sparse formats (absent cells, items
        not in a basket) as 0 and all others (NaN, null, None, masked, empty) as not observed; so are pairs without a
        line, if lines have values (``value=``).
    threshold : float, optional
        Make numbers binary: 1 if the number is above the threshold. By default only 0 and 1 are accepted.
    packed : bool, default=False
        The array or file (``.npy``, ``.npz``) holds packed bits, as from ``numpy.packbits(x, axis=1)``; needs
        `n_columns`.
    n_columns : int, optional
        Number of columns of packed bits, or of baskets or pairs of item numbers.
    reals : bool, default=False
        The cells of a frame or array in memory are real numbers, for `BinarySparseCoding` and for
        ``CombinationMachine(visible="reals")``. An array of float32 stays one, and a memory map is not read.
    columns, drop : name, number or list of them, optional
        The columns that enter the model, or those that do not; a name may be a pattern such as ``"q*"``, and
        ``columns="binary"`` are those that hold only 0, 1 and missing values. Columns that do not enter stay with the
        rows (`Table.beside`); those of Parquet files above 64 MiB stay in the files.
    id : name, number or list of them, optional
        Columns that name the rows: they do not enter, and results are written next to them.
    recode : dict or fitted model, optional
        By column, which values are 1 and which 0, as in ``{"q3": {"yes": 1}}``: all others are 0. ``""`` stands for a
        missing value. ``"> 40"`` makes a binary column that is 1 above 40, ``"one-hot"`` one for each value; these
        exclude each other, which violates the local independence of latent class models. A fitted model stands for the
        coding of its fit.
    missing : value, list or dict by column, optional
        Values that mean "not observed", such as ``[-99]``; an empty list means that there are none. Columns with this
        option are not searched for codes; they can be ambiguous for other reasons.
    column_types : "auto", str, list or dict, optional
        For models of columns that are not binary, such as `LatentClassAnalysis`: the types of columns, as there. A list
        of levels, lowest first, makes a column ordinal; "metadata" does not enter. By default every column must be
        binary.
    sample_weight : str or array of shape (rows,), optional
        Weights of the rows, or the name of the column that has them: how often each row occurs in a table of counts.
        That column does not enter the model; its numbers are finite, not negative and not all 0.
    recipe : path, optional
        A TOML file with the options above, as written by ``hiddenbits look --write-recipe``. Arguments override it.
    part_bytes : int
        How much of a table on disk is loaded at a time.
    storage_options : dict, optional
        Options of fsspec for an address, under the names that the protocol's package uses: credentials, endpoint, time
        limits. The workers of a cluster receive them with the table; no message, repr or model file contains them.
    **reader_options
        Options of the file's reader, such as ``column=`` for the list-of-items column of a Parquet file, or ``row=``,
        ``item=`` and ``value=`` for one that has a line for each pair of a row and an item, as in
        ``open_table("orders.parquet", row="order_id", item="product_id")``. ``version=`` is the number of a version
        of a Delta table.

    Returns
    -------
    table : Table

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import open_table
    >>> open_table(np.packbits([[0, 1, 1], [1, 0, 0]], axis=1), packed=True, n_columns=3).shape
    (2, 3)
    """
    column_options = {
        "columns": columns,
        "drop": drop,
        "id": id,
        "recode": recode,
        "missing": missing,
        "column_types": column_types,
    }
    if isinstance(sample_weight, str) and not isinstance(data, Table):  # which has its columns
        column_options["sample_weight"] = sample_weight
    request = Request(
        names=None if names is None else tuple(str(name) for name in names),
        empty=empty,
        threshold=check_threshold(threshold),
        packed=packed,
        n_columns=n_columns,
        reals=reals,
        levels=column_types is not None,
        part_bytes=part_bytes,
        storage_options=storage_options or {},
        options=reader_options,
        **column_options_of(column_options, recipe),
    )
    check_empty(empty)
    if not isinstance(request.storage_options, Mapping):
        raise TypeError("storage_options= must be a dict of options for the file system, as in fsspec.")
    if reals and (threshold is not None or packed or empty == "zero"):
        raise TypeError("reals=True uses cells as they are. Remove threshold=, packed= and empty='zero'.")
    if reals and (request.choices or request.coding is not None):
        raise TypeError("reals=True uses all columns. Remove the options for columns, and select the columns before.")
    table = find_opener(data, request).open(data, request)
    if sample_weight is None and request.choices:
        sample_weight = request.choices.sample_weight
    return table.with_sample_weight(sample_weight)


def column_options_of(arguments: Mapping[str, Any], recipe: Any) -> dict[str, Any]:
    """Return the fields of a `Request` that come from options for columns, or from the coding of a fitted model."""
    options = {name: value for name, value in arguments.items() if value is not None}
    model: Any = options.get("recode")
    if not hasattr(model, "coding_"):
        choices = Choices.of(**options)
        return {"choices": (choices if recipe is None else choices.completed_by(read_recipe(recipe))) or None}
    if not set(options) <= {"recode", "id", "sample_weight"} or recipe is not None:
        raise TypeError("recode=model reads columns as the fit did. Remove columns=, drop=, missing= and recipe=.")
    coding: Coding | None = model.coding_
    if coding is not None and "id" in options:
        coding = replace(coding, ids=tuple(str(name) for name in Choices.of(id=options["id"]).id))
    weights = Choices.of(sample_weight=options.get("sample_weight")) if coding is None else None
    unknown = getattr(model, "handle_unknown", "error")
    return {"coding": coding, "handle_unknown": unknown, "plain_only": coding is None, "choices": weights or None}
