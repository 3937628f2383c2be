"""Chunks of dask arrays and partitions of dask frames: computed, checked, turned into bits.

The checks run inside dask's own tasks, right after a chunk is made, so that only bits travel and a chunk's memory is
free again before the next one is made. An error comes back as a value, not as the exception of a task: so the one
that is raised is the first in the order of the table, whichever chunk was computed first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from hiddenbits.data.bits import AllOnes, Bits, Complement, Dense, Pattern
from hiddenbits.data.cell_checks import Blank, dense_bits, pattern, sparse_bits
from hiddenbits.data.columns.gather import is_frame
from hiddenbits.data.errors import TableError
from hiddenbits.data.named.frames import open_frame
from hiddenbits.data.request import Request

PRIORITY = 10  # of chunks over parts, where both are tasks of one cluster: parts wait for chunks
TYPES = {"dense": "a NumPy array", "sparse": "a SciPy sparse array", "frame": "a frame"}


@dataclass(frozen=True)
class Check:
    """What is known of every chunk, and how its cells are checked.

    Attributes
    ----------
    kind : {"dense", "sparse", "frame"}
        NumPy arrays, SciPy sparse arrays or matrices, or frames.
    widths : tuple of int
        Columns of the blocks that stand side by side in a chunk of rows.
    columns : tuple of str or None
        Columns of a frame.
    blank, threshold
        As for `open_table`.
    """

    kind: Literal["dense", "sparse", "frame"]
    widths: tuple[int, ...]
    columns: tuple[str, ...] | None
    blank: Blank
    threshold: float | None


class Count(NamedTuple):
    """What a chunk holds.

    Attributes
    ----------
    rows, ones : int
        Their numbers.
    marked : int
        Missing cells; or observed ones, if absent cells of sparse chunks are missing.
    error : TableError or None
        What was wrong, its row counted within the chunk.
    """

    rows: int
    ones: int
    marked: int
    error: TableError | None


def compute(
    graph: Mapping[Any, Any],
    keys: Sequence[Sequence[Any]],
    function: Any,
    arguments: Mapping[int, tuple[Any, ...]],
    name: str,
    remote: bool,
    leave_to_dask: bool,
) -> list[Any]:
    """Return function(blocks, *arguments[i]) for each chunk i of the arguments, in their order.

    Parameters
    ----------
    graph, keys : mapping, sequence of sequence
        dask's graph, and the keys of the blocks of each chunk of rows.
    function, arguments : callable, mapping
        What is to be made of which chunks.
    name : str
        Of the tasks that do it.
    remote : bool
        Whether the graph needs what is persisted on a cluster. Then the cluster computes, and a worker's thread that
        waits for it makes room for another (`Client.get` secedes). Otherwise no task ever waits for another.
    leave_to_dask : bool
        Compute where dask would (its threads, or the client in force), not in this thread. For the opening of a table.
    """
    dask: Any = import_module("dask")  # its modules are partly typed only
    spec: Any = import_module("dask._task_spec")  # as dask's specification of graphs says; `delayed` is much slower
    tasks = culled(graph, [key for i in arguments for key in keys[i]])
    made: list[Any] = []
    for i, given in arguments.items():
        made.append((name, i, *given))
        blocks = spec.List(*(spec.TaskRef(key) for key in keys[i]))
        tasks[made[-1]] = spec.Task(made[-1], function, blocks, *given)
    if remote:
        client: Any = import_module("distributed").get_client()
        return list(client.get(tasks, made, priority=PRIORITY))
    get = dask.get  # the synchronous scheduler
    if leave_to_dask:
        get = dask.base.get_scheduler() or import_module("dask.threaded").get
    return list(get(tasks, made))


def culled(graph: Mapping[Any, Any], keys: Sequence[Any]) -> dict[Any, Any]:
    """Return what the keys need of the graph. What is persisted on a cluster need not be in it."""
    cull: Any = import_module("dask.optimization").cull
    return dict(cull(graph, [key for key in keys if key in graph])[0])


def count_chunk(check: Check, blocks: Sequence[Any], n_rows: int) -> Count:
    """Count a whole chunk; `n_rows` is -1 if it is not known yet."""
    rows = n_rows
    try:
        rows = _rows(check, blocks, n_rows)
        x, other = _bits(check, blocks, 0, rows, 0)
    except TableError as error:
        return Count(rows, 0, 0, error)
    return Count(rows, int(x.row_sums().sum()), 0 if other is None else int(other.row_sums().sum()), None)


def read_chunk(
    check: Check, blocks: Sequence[Any], n_rows: int, low: int, high: int, first_row: int
) -> tuple[Bits, Bits | None] | TableError:
    """Return (ones, missing cells or None) of rows low to high of a chunk.

    If absent cells of sparse chunks are missing, the second are the observed cells.
    """
    try:
        _rows(check, blocks, n_rows)
        return _bits(check, blocks, low, high, first_row)
    except TableError as error:
        return error


def moved(error: TableError, rows: int, columns: int = 0) -> TableError:
    """Return the error with its row and column counted from further up and left."""

    def place(found: re.Match[str]) -> str:
        column = "" if found[2] is None else f", column {int(found[2]) + columns}"
        return f"row {int(found[1]) + rows}{column}"

    return TableError(re.sub(r"^row (\d+)(?:, column (\d+))?", place, str(error)))


def _rows(check: Check, blocks: Sequence[Any], n_rows: int) -> int:
    """Return the number of rows, after holding the blocks against what dask was told of them."""
    for block, width in zip(blocks, check.widths, strict=True):
        valid = {"dense": isinstance(block, np.ndarray), "sparse": sparse.issparse(block)}
        if not (valid[check.kind] if check.kind in valid else is_frame(block)):
            raise TableError(
                f"it is a {type(block).__name__}, but dask expects {TYPES[check.kind]}. Set the right meta= "
                "where it is created."
            )
        shape = tuple(block.shape)
        n_rows = shape[0] if n_rows < 0 and shape else n_rows
        if shape != (n_rows, width):
            raise TableError(
                f"its shape is {shape}, but dask expects {(n_rows, width)}. Set the right shape where it is created."
            )
    return n_rows


def _bits(check: Check, blocks: Sequence[Any], low: int, high: int, first_row: int) -> tuple[Bits, Bits | None]:
    """Return what `read_chunk` does, or raise."""
    if check.kind == "dense":
        return _dense(check, blocks, low, high, first_row)
    if check.kind == "sparse":
        return _sparse(check, blocks, low, high, first_row)
    return _frame(check, blocks[0], low, high, first_row)


def _frame(check: Check, part: Any, low: int, high: int, first_row: int) -> tuple[Bits, Bits | None]:
    columns = tuple(str(name) for name in part.columns)
    if columns != check.columns:
        odd = next(name for name, told in zip(columns, check.columns or (), strict=True) if name != told)
        raise TableError(f"it has a column {odd!r} where dask expects another. Give all partitions the same columns.")
    part = part.iloc[low:high]
    if not len(part):
        return Dense(np.empty(part.shape, np.uint8)), None
    part.columns = list(columns)  # partitions share an index of columns, and pandas' lookups in it race between threads
    try:
        source = open_frame(part, Request(blank=check.blank, threshold=check.threshold, plain_only=True)).source
        x, observed = source.read(0, len(part))
    except TableError as error:
        raise moved(error, first_row + low) from error
    return x, None if isinstance(observed, AllOnes) else Dense(1 - observed.to_dense())


def _dense(check: Check, blocks: Sequence[Any], low: int, high: int, first_row: int) -> tuple[Bits, Bits | None]:
    x = np.empty((high - low, sum(check.widths)), np.uint8)
    missing = None
    left = 0
    for block in blocks:
        columns = slice(left, left + block.shape[1])
        try:
            bits, observed = dense_bits(block[low:high], blank=check.blank, threshold=check.threshold)
        except TableError as error:
            raise moved(error, first_row + low, left) from error
        x[:, columns] = bits.to_dense()
        if not isinstance(observed, AllOnes):
            missing = np.zeros_like(x) if missing is None else missing
            missing[:, columns] = 1 - observed.to_dense()
        left = columns.stop
    return Dense(x), None if missing is None else Dense(missing)


def _sparse(check: Check, blocks: Sequence[Any], low: int, high: int, first_row: int) -> tuple[Bits, Bits | None]:
    xs: list[Bits] = []
    marked: list[Bits] = []
    left = 0
    for block in blocks:
        try:
            x, observed = sparse_bits(block, blank=check.blank, threshold=check.threshold)
        except TableError as error:
            raise moved(error, first_row, left) from error
        xs.append(x.rows(low, high))
        if isinstance(observed, AllOnes):
            marked.append(Pattern(np.zeros(high - low + 1, np.int64), x.ones()[1][:0], x.shape[1]))
        else:
            marked.append((observed.of if isinstance(observed, Complement) else observed).rows(low, high))
        left += block.shape[1]
    other = _beside(marked)
    return _beside(xs), other if check.blank == "missing" or len(other.ones()[1]) else None


def _beside(patterns: Sequence[Bits]) -> Bits:
    """Return patterns, checked already, side by side."""
    if len(patterns) == 1:
        return patterns[0]
    joined = sparse.hstack([one.operand(np.uint8) for one in patterns], format="csr")
    return Pattern(*pattern(joined.indptr, joined.indices, joined.shape[1]), joined.shape[1])
