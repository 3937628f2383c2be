"""dask arrays: chunks are computed when they are needed, never all at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, TypeVar

import numpy as np
from scipy import sparse

from hiddenbits.data.arrays.source import CellConverter, Storage, open_rows
from hiddenbits.data.cell_checks import MAX_BYTES, MAX_COLUMNS, check_width
from hiddenbits.data.file_request import check_shape
from hiddenbits.data.named.dask import DaskChunks, open_dask_frame, opening
from hiddenbits.data.request import Request
from hiddenbits.data.sparse_input import as_csr
from hiddenbits.data.table import Table
from hiddenbits.exceptions import TableError

T = TypeVar("T")


def open_dask(data: Any, request: Request) -> Table:
    """Open a dask array or a dask DataFrame; chunks and partitions stay as they are.

    Chunks are NumPy arrays (masked ones too) or SciPy sparse arrays and matrices. The graph is run again for each part
    of the table that is loaded: persist results that are expensive to compute. Opening an array of integers computes
    nothing. If cells can be missing, the first chunks are computed, and lengths that dask does not know are counted in
    one computation. Columns of a frame may have any values: all partitions are computed to describe them.

    Parameters
    ----------
    data : dask.array.Array or dask.dataframe.DataFrame
        A table of two dimensions.
    request : Request
        The options that all openers share.

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
    modules = [base.__module__ for base in type(data).__mro__]
    is_array = any(module.startswith("dask.array") for module in modules)
    if not is_array and not (any(module.startswith("dask.dataframe") for module in modules) and data.ndim == 2):
        raise TableError(
            f"A dask {type(data).__name__} is not a table. Give a two-dimensional dask array or a dask DataFrame."
        )
    if data.ndim != 2:
        raise TableError(f"Expected a table with rows and columns, got an array with {data.ndim} dimension(s).")
    check_width(data.shape[1], request.n_columns)  # before anything is computed
    if not is_array:
        return open_dask_frame(data, request)
    if request.choices:
        raise TypeError("columns=, drop=, id=, recode= and missing= are for dask DataFrames, not for dask arrays.")
    with opening():
        return _open_array(data, request)


def _open_array(data: Any, request: Request) -> Table:
    """Open an array, after checking its declared sizes against the limits."""
    is_sparse = sparse.issparse(data._meta)
    if not is_sparse and not isinstance(data._meta, np.ndarray):
        raise TableError(
            f"The chunks are of type {type(data._meta).__name__}. Convert them to NumPy or SciPy sparse arrays first, "
            "with map_blocks."
        )
    if any(math.isnan(width) for width in data.chunks[1]):
        raise TableError("dask does not know the number of columns. Call compute_chunk_sizes() on the array first.")
    widths = tuple(int(width) for width in data.chunks[1])
    heights = tuple(-1 if math.isnan(height) else int(height) for height in data.chunks[0])
    n_columns, tallest = sum(widths), max(heights, default=0)
    storage: Storage = "sparse" if is_sparse else "dense"
    converter = CellConverter(storage, n_columns, request.empty, request.threshold, request.names)
    if not is_sparse:
        converter(np.zeros((0, n_columns if n_columns < MAX_COLUMNS else 0), data.dtype), 0)  # refuses other types
        if n_columns > MAX_COLUMNS:
            raise TableError(
                f"The table has {n_columns} columns, more than the limit of {MAX_COLUMNS}. Use sparse chunks."
            )
    if tallest * (1 if is_sparse else n_columns * data.dtype.itemsize) > MAX_BYTES:
        raise TableError(
            f"A chunk of {tallest} rows and {n_columns} columns of {data.dtype} is too large to be computed at once. "
            "Use smaller chunks: rechunk the array."
        )
    chunks = DaskChunks.of(data, heights)
    chunks = chunks.with_heights() if -1 in heights else chunks
    check_shape(chunks.n_rows, n_columns)
    can_miss = data.dtype.kind in "fO" or np.ma.isMaskedArray(data._meta)
    rows = DaskRows(chunks, widths, is_sparse, float(n_columns), can_miss)
    if is_sparse:  # the first rows determine how much is stored
        first_chunk = chunks.pieces(0, chunks.n_rows)[:1]
        (n_items,) = chunks.compute(partial(_from_blocks, widths, is_sparse, _n_items), first_chunk)
        rows = replace(rows, row_items=n_items / (first_chunk[0][2] - first_chunk[0][1]))
    return Table(open_rows([rows], converter, nan=True if is_sparse else None), request.names)


@dataclass(frozen=True, eq=False)
class DaskRows:
    """Rows of a dask array; cells are checked in dask's tasks, so that only `Bits` are sent.

    Attributes
    ----------
    chunks : DaskChunks
        The chunks that hold the rows.
    widths : tuple of int
        Number of columns of each of the adjacent blocks of a chunk.
    is_sparse : bool
        Whether blocks are SciPy sparse arrays.
    row_items : float
        Stored cells of a row.
    can_miss : bool
        Whether cells may be missing.
    """

    chunks: DaskChunks
    widths: tuple[int, ...]
    is_sparse: bool
    row_items: float
    can_miss: bool

    place: ClassVar[None] = None

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.chunks.n_rows, sum(self.widths)

    def mapped(self, function: Callable[[Any, int], T], start: int, stop: int) -> Iterator[T]:
        """Yield function(rows, first row) of each chunk; all are computed together."""
        block_function = partial(_from_blocks, self.widths, self.is_sparse, function)
        yield from self.chunks.compute(block_function, self.chunks.pieces(start, stop))

    def only(self, start: int, stop: int) -> DaskRows:
        """Return the rows with only the chunks that rows start to stop need, so that less is sent."""
        return replace(self, chunks=self.chunks.only(start, stop))


def _n_items(values: Any, _: int) -> int:
    return int(values.nnz)


def _from_blocks(
    widths: Sequence[int],
    is_sparse: bool,
    function: Callable[[Any, int], T],
    blocks: Sequence[Any],
    height: int,
    low: int,
    high: int,
    first_row: int,
) -> T:
    """Return `function` of some rows of a chunk, after comparing its blocks with dask's metadata."""
    for block, width in zip(blocks, widths, strict=True):
        if not (sparse.issparse(block) if is_sparse else isinstance(block, np.ndarray)):
            raise TableError(
                f"it is a {type(block).__name__}, but dask expects a {'SciPy sparse' if is_sparse else 'NumPy'} array. "
                "Set the right meta= where it is created."
            )
        if tuple(block.shape) != (height, width):
            raise TableError(
                f"its shape is {tuple(block.shape)}, but dask expects {(height, width)}. Set the right shape where it "
                "is created."
            )
    if is_sparse:
        matrices = [as_csr(block, first_row) for block in blocks]
        values = matrices[0] if len(matrices) == 1 else sparse.hstack(matrices, format="csr")
    else:
        concatenate: Any = np.ma.concatenate if any(map(np.ma.isMaskedArray, blocks)) else np.concatenate
        values = blocks[0] if len(blocks) == 1 else concatenate(blocks, axis=1)
    return function(values[low:high], first_row + low)
