"""dask arrays and dask frames as tables: chunks are computed as they are needed, and never all at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

from hiddenbits.data.arrays.dask_chunks import Check, Count
from hiddenbits.data.arrays.dask_source import DaskSource
from hiddenbits.data.cell_checks import (
    MAX_BYTES,
    MAX_COLUMNS,
    Blank,
    check_distinct,
    check_width,
    dense_bits,
    sparse_bits,
)
from hiddenbits.data.errors import TableError
from hiddenbits.data.masks import mask_for
from hiddenbits.data.request import Request
from hiddenbits.data.table import Table


def open_dask(data: Any, request: Request) -> Table:
    """Open a dask array or a dask DataFrame; chunks and partitions stay as they are.

    Chunks are NumPy arrays (masked ones too) or SciPy sparse arrays and matrices. The graph is run again for each part
    of the table that is loaded: persist what is costly to make. Opening an array of whole numbers computes nothing.
    Where cells can be blank, the first chunk is looked at; and the lengths that dask does not know (those of all
    partitions of a frame), or how much sparse chunks hold, are counted in one computation.

    Parameters
    ----------
    data : dask.array.Array or dask.dataframe.DataFrame
        A table of two dimensions.
    request : Request
        What every opener is asked.

    Returns
    -------
    table : Table

    Examples
    --------
    >>> import dask.array as da
    >>> from hiddenbits import open_table
    >>> open_table(da.ones((1000, 3), chunks=(400, 3), dtype=bool)).shape
    (1000, 3)
    """
    homes = [kind.__module__ for kind in type(data).__mro__]
    is_array = any(home.startswith("dask.array") for home in homes)
    if not is_array and not (any(home.startswith("dask.dataframe") for home in homes) and data.ndim == 2):
        raise TableError(
            f"A dask {type(data).__name__} is not a table. Give a two-dimensional dask array or a dask DataFrame."
        )
    if data.ndim != 2:
        raise TableError(f"Expected a table with rows and columns, got an array with {data.ndim} dimension(s).")
    check_width(data.shape[1], request.n_columns)  # before anything is computed
    if is_array:
        return Table(_array_source(data, request.names, request.blank, request.threshold), request.names)
    source = _frame_source(data, request.blank, request.threshold)
    return Table(source, source.names if request.names is None else request.names)


def _array_source(data: Any, names: tuple[str, ...] | None, blank: Blank, threshold: float | None) -> DaskSource:
    """Return the source of an array, after holding what it declares against the caps."""
    is_sparse = sparse.issparse(data._meta)
    if not is_sparse and not isinstance(data._meta, np.ndarray):
        raise TableError(
            f"The chunks are of type {type(data._meta).__name__}. Convert them to NumPy or SciPy sparse arrays first, "
            "with map_blocks."
        )
    if is_sparse:  # refuse a type, or options, with which no chunk could be read
        sparse_bits(data._meta, blank=blank, threshold=threshold)
    else:
        dense_bits(np.zeros((0, 0), data.dtype), blank=blank, threshold=threshold)
    if any(math.isnan(width) for width in data.chunks[1]):
        raise TableError("dask does not know the number of columns. Call compute_chunk_sizes() on the array first.")
    widths = tuple(int(width) for width in data.chunks[1])
    heights = tuple(-1 if math.isnan(height) else int(height) for height in data.chunks[0])
    n_columns, tallest = sum(widths), max(heights, default=0)
    if not is_sparse and n_columns > MAX_COLUMNS:
        raise TableError(f"The table has {n_columns} columns, more than the limit of {MAX_COLUMNS}. Use sparse chunks.")
    if tallest > 1 << 27 or (not is_sparse and tallest * n_columns * data.dtype.itemsize > MAX_BYTES):
        raise TableError(
            f"A chunk of {tallest} rows and {n_columns} columns of {data.dtype} is too large to be computed at once. "
            "Use smaller chunks: rechunk the array."
        )
    check = Check("sparse" if is_sparse else "dense", widths, None, blank, threshold)
    source = _source(data, heights, check, names)
    if is_sparse or -1 in heights:
        return _counted(source)
    blanks = (data.dtype.kind in "fO" or np.ma.isMaskedArray(data._meta)) and blank != "zero"
    return _sampled(source) if blanks and any(heights) and n_columns else source


def _frame_source(data: Any, blank: Blank, threshold: float | None) -> DaskSource:
    """Return the source of a frame, its partitions counted."""
    names = tuple(str(name) for name in data.columns)
    if not names:
        raise TableError("The frame has no columns. A table needs at least one.")
    check_distinct(names)
    return _counted(_source(data, None, Check("frame", (len(names),), names, blank, threshold), names))


def _source(data: Any, heights: tuple[int, ...] | None, check: Check, names: tuple[str, ...] | None) -> DaskSource:
    """Return the source of a collection, whose graph is optimized once and for all."""
    dask: Any = import_module("dask")
    # dask.optimize takes every key of a frame's graph for a partition.
    lean = data.optimize() if check.kind == "frame" else dask.optimize(data)[0]
    graph = dict(lean.__dask_graph__())
    keys = tuple(tuple(row) if isinstance(row, list) else (row,) for row in lean.__dask_keys__())
    # What is persisted on a cluster is a future in the graph, or is not in it any more.
    needed = {need for node in graph.values() for need in getattr(node, "dependencies", ())}.union(*keys)
    remote = not needed <= graph.keys() or any(type(node).__module__[:11] == "distributed" for node in graph.values())
    heights = (-1,) * len(keys) if heights is None else heights
    return DaskSource(graph, keys, heights, check, remote, names, anchor=data if remote else None)


def _counted(source: DaskSource) -> DaskSource:
    """Compute every chunk once; return the source with its lengths, and the mask that suits the whole table."""
    counts = source.count(range(len(source.keys)))
    source = replace(source, heights=tuple(count.rows for count in counts))
    return _with_mask(source, counts, none_if_full=True)


def _sampled(source: DaskSource) -> DaskSource:
    """Compute the first chunk that holds rows; return the source with the mask that suits it."""
    first = next(i for i, height in enumerate(source.heights) if height)
    return _with_mask(source, source.count([first]), none_if_full=False)


def _with_mask(source: DaskSource, counts: Sequence[Count], none_if_full: bool) -> DaskSource:
    """Return the source with a storage of the observed-mask, the same for all rows; see `observed_from_missing`."""
    marked, rows = sum(count.marked for count in counts), sum(count.rows for count in counts)
    source = replace(source, row_ones=sum(count.ones for count in counts) / max(rows, 1))
    share = marked / max(rows * source.n_columns, 1)
    if source.check.kind == "sparse":
        if source.check.blank == "missing":  # what is marked was observed
            return replace(source, mask="observed", share=1 - share)
        return replace(source, mask="missing" if marked else "none", share=share)
    if none_if_full and not marked:
        return replace(source, mask="none")
    return replace(source, mask=mask_for(share), share=share)
