"""`open_table`: one door for every kind of table."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from hiddenbits.data.cell_checks import Blank, check_blank, dense_bits, packed_bits, sparse_bits
from hiddenbits.data.inputs.anndata import is_anndata, within_anndata
from hiddenbits.data.table import PART_BYTES, MemorySource, Table, TableError
from hiddenbits.quoting import cause, told


def open_table(
    data: Any,
    *,
    names: Any = None,
    blank: Blank = "auto",
    threshold: float | None = None,
    packed: bool = False,
    n_columns: int | None = None,
    kinds: Any = None,
    part_bytes: int = PART_BYTES,
    storage_options: Mapping[str, Any] | None = None,
    **reader_options: Any,
) -> Table:
    """Open a table of bits, or with `kinds` one whose columns are of several kinds.

    Parameters
    ----------
    data : array, sparse array or matrix, frame, AnnData, dask array or frame, path, glob or Table
        NumPy arrays (masked and memory-mapped ones too), SciPy sparse arrays and matrices, pandas, polars and Arrow
        frames, lazy frames and DuckDB's relations, which are collected, AnnData objects (X, or a layer with
        ``layer=``), dask arrays (of NumPy or SciPy sparse chunks) and dask DataFrames, whose chunks are computed part
        by part, or files: ``.npy``, ``.npz``, ``.parquet``, ``.csv``,
        ``.zarr`` (also ``.zarr.zip``), AnnData's ``.h5ad``, and baskets in FIMI format (``.dat``, ``.txt``, also
        gzipped). A path may be a glob or a list of paths; files are taken in natural order (2 before 10).
        A path may also be an address that fsspec understands, such as ``s3://bucket/events/*.parquet``, ``gs://...``
        or ``https://...``, where the protocol's package is installed (s3fs, gcsfs, aiohttp, ...). Parquet files and
        ``.npy`` files of bool or uint8 are read where they are, part by part, in every pass and by every worker;
        others are read into memory. ``simplecache::`` before the address keeps a local copy on each machine.
    names : sequence of str, optional
        Column names; by default those of the frame or file.
    blank : {"auto", "zero", "missing"}, default="auto"
        What a blank means: 0, or not observed. "auto" takes blanks of sparse formats (absent cells, items not in a
        basket) as 0 and all others (NaN, null, None, masked, empty) as not observed; so are pairs without a line, if
        lines say what was seen (``value=``).
    threshold : float, optional
        Turn numbers into bits: 1 where the number is above the threshold. By default only 0 and 1 are accepted.
    packed : bool, default=False
        The array or file (``.npy``, ``.npz``) holds packed bits, as from ``numpy.packbits(x, axis=1)``; needs
        `n_columns`.
    n_columns : int, optional
        Number of columns of packed bits, or of baskets or pairs of item numbers.
    kinds : "auto", {"binary", "real", "nominal", "ordered"}, list, dict or fitted model, optional
        For `LogisticPCA`: the columns of a frame, array, Parquet or CSV file are of these kinds: one for all, one for
        each, or by name, where a list of categories, lowest first, makes a column ordered. "auto" infers the kinds of
        frames and files as `LogisticPCA` does, and takes arrays as bits. A model that was fitted to such a table, as in
        ``open_table("new.parquet", kinds=model)``, stands for its kinds and categories. Parquet files stay on disk, and
        are gone through once when they are opened, unless a model is given. By default the table is one of bits.
    part_bytes : int
        How much of a table on disk is loaded at a time.
    storage_options : dict, optional
        What fsspec needs to reach an address, under the names that the protocol's package uses: credentials, endpoint,
        time limits. It goes with the table to the workers of a cluster; no message, repr or model file holds it.
        Redirects to another web server are refused, unless it has ``"allow_redirects": True``.
    **reader_options
        Options of the file's reader, such as ``column=`` for the list-of-items column of a Parquet file, or ``row=``,
        ``item=`` and ``value=`` for one that has a line for each pair of a row and an item, as in
        ``open_table("orders.parquet", row="order_id", item="product_id")``.

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
    if isinstance(data, Table):
        asked = [names is not None, blank != "auto", threshold is not None, packed, n_columns is not None]
        asked.append(kinds is not None)
        if any(asked) or reader_options or storage_options:
            raise TypeError(
                "The table is open already: give names=, blank=, threshold= and the like when it is opened."
            )
        return data if part_bytes == PART_BYTES else replace(data, part_bytes=part_bytes)
    if kinds is not None and (threshold is not None or packed or blank == "zero"):
        raise TypeError("kinds= takes cells as they are: leave out threshold=, packed= and blank='zero'.")
    if isinstance(data, (str, os.PathLike)) or _is_paths(data):
        from hiddenbits.data.readers import open_files

        reader_options |= {} if kinds is None else {"kinds": kinds}
        return replace(
            open_files(
                data,
                names=names,
                blank=blank,
                threshold=threshold,
                n_columns=n_columns,
                packed=packed,
                storage_options=storage_options,
                **reader_options,
            ),
            part_bytes=part_bytes,
        )
    if storage_options:
        raise TypeError("storage_options= is for addresses such as s3://bucket/x.parquet, but the table is in memory.")
    if kinds is not None and (mixed := _mixed(data, kinds, names)) is not None:
        return replace(mixed, part_bytes=part_bytes)
    if is_anndata(data):
        layer = reader_options.pop("layer", None)
        cells, names, more = within_anndata(data, names=names, layer=layer)
        reader_options |= {"blank": blank, "threshold": threshold, "packed": packed, "n_columns": n_columns}
        return open_table(cells, names=names, part_bytes=part_bytes, **more, **reader_options)
    if reader_options:
        raise TypeError(f"{', '.join(sorted(reader_options))}: option of a file reader, but the table is in memory.")
    check_blank(blank)
    named = None if names is None else tuple(str(name) for name in names)
    if is_dask(data):
        from hiddenbits.data.inputs.dask_tables import open_dask

        if packed:
            raise TableError("packed=True is for arrays in memory and files. Unpack the chunks with map_blocks first.")
        table = open_dask(data, names=named, blank=blank, threshold=threshold, n_columns=n_columns)
        return replace(table, part_bytes=part_bytes)
    if packed:
        if n_columns is None:
            raise TableError("packed=True needs n_columns=, the number of columns before packing.")
        bits = packed_bits(_array(data), n_columns)
    elif sparse.issparse(data):
        bits = sparse_bits(data, blank=blank, threshold=threshold, names=named)
    else:
        from hiddenbits.data.inputs.frames import frame_bits, is_frame

        if is_frame(data):
            *bits, frame_names = frame_bits(data, blank=blank, threshold=threshold)  # type: ignore[assignment]
            named = frame_names if named is None else named
        else:
            bits = dense_bits(_array(data), blank=blank, threshold=threshold, names=named)
    if n_columns is not None and bits[0].shape[1] != n_columns:
        raise TableError(f"n_columns={n_columns} was given, but the table has {bits[0].shape[1]} columns.")
    return Table(MemorySource(*bits), named, None, part_bytes)


def _mixed(data: Any, kinds: Any, names: Any) -> Table | None:
    """Return a frame or array in memory as a table of several kinds of columns; None where all of them are bits."""
    from hiddenbits.data.inputs.frames import is_frame
    from hiddenbits.data.mixed.encode import open_mixed

    if is_dask(data) or sparse.issparse(data) or is_anndata(data):
        raise TableError(
            "kinds= is for frames and arrays in memory, Parquet and CSV files. Load the rows into a frame, or write "
            "them to Parquet."
        )
    if isinstance(kinds, str) and kinds == "auto" and not is_frame(data):
        return None
    table = open_mixed(data, kinds=kinds, names=None if names is None else tuple(str(name) for name in names))
    return None if table.layout.only_bits else table


def is_dask(data: Any) -> bool:
    """Whether the object is one of dask's, without importing it."""
    return any(str(kind.__module__).partition(".")[0] == "dask" for kind in type(data).__mro__)


def _array(data: Any) -> Any:
    """Return lists and other array-likes as an array; masks are kept."""
    if isinstance(data, np.ndarray):
        return data
    try:
        if isinstance(data, (list, tuple)) and any(np.ma.isMaskedArray(row) for row in data):
            return np.ma.array(data)
        return np.asarray(data)
    except (ValueError, TypeError, OverflowError) as error:
        raise TableError(
            f"The table cannot be read as an array: {told(error)} Give every row the same number of cells."
        ) from cause(error)


def _is_paths(data: Any) -> bool:
    """Whether the argument is a non-empty list of paths."""
    return isinstance(data, (list, tuple)) and bool(data) and all(isinstance(p, (str, os.PathLike)) for p in data)
