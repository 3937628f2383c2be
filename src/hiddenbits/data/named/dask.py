"""dask DataFrames as named columns: partitions are computed when they are needed, never all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from functools import partial
from importlib import import_module
from typing import Any
from uuid import uuid4

import narwhals.stable.v2 as nw
import numpy as np

from hiddenbits.data.cell_checks import check_distinct
from hiddenbits.data.columns.gather import cells_of_numbers, cells_of_series, is_frame
from hiddenbits.data.columns.open import check_names, open_columns
from hiddenbits.data.columns.protocol import HeldColumns
from hiddenbits.data.request import Request
from hiddenbits.data.table import Table
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import discreet, redacted

PRIORITY = 10  # of tasks for chunks; higher than that of parts on the same cluster, which wait for chunks
MAX_BATCH_CELLS = 1 << 24  # limit for partitions that are computed together, so that shared tasks run once

Piece = tuple[int, int, int, int]  # a chunk, its rows from and to, and its first row in the table

# Whether a table is being opened: then dask uses its own scheduler (threads, or the current client). Later each part
# is computed in the thread that reads it, so that no task ever waits for another.
_opening: ContextVar[bool] = ContextVar("_opening", default=False)


@contextmanager
def opening() -> Iterator[None]:
    """Compute with dask's own scheduler within the block."""
    token = _opening.set(True)
    try:
        yield
    finally:
        _opening.reset(token)


@dataclass(frozen=True, eq=False)
class DaskChunks:
    """Chunks of rows that dask computes: in the calling thread, or on the cluster that holds persisted ones.

    Attributes
    ----------
    graph, keys : dict, tuple of tuple
        dask's graph, and the keys of the blocks of each chunk of rows.
    heights : tuple of int
        Rows of each chunk; -1 before they are counted.
    remote : bool
        Whether the graph needs results that are persisted on a cluster. Then the cluster computes, and the thread of a
        worker that waits for a result lets another task run (`Client.get` secedes).
    anchor : object
        The collection, which keeps persisted results alive. It is not pickled.
    """

    graph: dict[Any, Any] = field(repr=False)  # contains cells of frames in memory
    keys: tuple[tuple[Any, ...], ...]
    heights: tuple[int, ...]
    remote: bool
    anchor: Any = field(default=None, repr=False)

    @classmethod
    def of(cls, data: Any, heights: Sequence[int] | None = None) -> DaskChunks:
        """Return the chunks of a collection, whose graph is optimized once."""
        # dask.optimize regards every key of a frame's graph as a partition.
        optimized = data.optimize() if heights is None else import_module("dask").optimize(data)[0]
        graph = dict(optimized.__dask_graph__())
        keys = tuple(tuple(row) if isinstance(row, list) else (row,) for row in optimized.__dask_keys__())
        # Results persisted on a cluster are futures in the graph, or are no longer in it.
        dependencies = {key for node in graph.values() for key in getattr(node, "dependencies", ())}.union(*keys)
        futures = any(type(node).__module__.startswith("distributed") for node in graph.values())
        remote = futures or not dependencies <= graph.keys()
        heights = (-1,) * len(keys) if heights is None else tuple(heights)
        return cls(graph, keys, heights, remote, data if remote else None)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self.heights)

    def pieces(self, start: int, stop: int) -> list[Piece]:
        """Return the chunks that hold rows start to stop, and which of their rows."""
        pieces, row = [], 0
        for i, height in enumerate(self.heights):
            low, high = max(start - row, 0), min(stop - row, height)
            pieces += [(i, low, high, row)] if low < high else []
            row += height
        return pieces

    def with_heights(self) -> DaskChunks:
        """Return the chunks with their heights; all chunks are computed for this."""
        counts = self.compute(_height, [(i, 0, 0, 0) for i in range(len(self.keys))])
        return replace(self, heights=tuple(counts))

    def compute(self, function: Callable[..., Any], pieces: Sequence[Piece]) -> list[Any]:
        """Return function(blocks, height, low, high, first row) of chunks, in one computation.

        It runs in dask's own tasks, right after a chunk is computed. Errors are returned as values, not raised in
        tasks, so that the first error in the order of the table is raised.
        """
        spec: Any = import_module("dask._task_spec")  # from dask's specification of graphs; `delayed` is slower
        tasks = self._culled(pieces)
        task_keys: list[Any] = []
        safe_function = partial(_result_or_error, function)
        name = f"hiddenbits_rows-{uuid4().hex}"  # unique: another call may compute other results of the same rows
        for i, low, high, row in pieces:
            task_keys.append((name, i, low, high))
            blocks = spec.List(*(spec.TaskRef(key) for key in self.keys[i]))
            tasks[task_keys[-1]] = spec.Task(task_keys[-1], safe_function, blocks, self.heights[i], low, high, row)
        with discreet():
            try:
                results = list(self._get()(tasks, task_keys))
            except Exception as error:  # the chunks' own functions may raise anything
                label = f"chunks {pieces[0][0]} to {pieces[-1][0]}"
                if pieces[-1][2]:
                    label = f"rows {pieces[0][3] + pieces[0][1]} to {pieces[-1][3] + pieces[-1][2] - 1}"
                raise TableError(
                    f"{label} cannot be computed by dask ({type(error).__name__}: {redacted(error)}). Fix the code "
                    "that creates the chunks."
                ) from error
        for (i, _, _, row), result in zip(pieces, results, strict=True):
            if isinstance(result, TableError):
                raise result if str(result).startswith("row ") else result.in_file(f"chunk {i} (row {row} and after)")
        return results

    def _get(self) -> Any:
        dask: Any = import_module("dask")
        if self.remote:
            return partial(import_module("distributed").get_client().get, priority=PRIORITY)
        if _opening.get():
            return dask.base.get_scheduler() or import_module("dask.threaded").get
        return dask.get  # the synchronous scheduler

    def _culled(self, pieces: Sequence[Piece]) -> dict[Any, Any]:
        """Return the tasks that chunks need. Results persisted on a cluster need not be in the graph."""
        cull: Any = import_module("dask.optimization").cull
        return dict(cull(self.graph, [key for i, *_ in pieces for key in self.keys[i] if key in self.graph])[0])

    def only(self, start: int, stop: int) -> DaskChunks:
        """Return the chunks with only the tasks that rows start to stop need, so that less is sent."""
        return replace(self, graph=self._culled(self.pieces(start, stop)))

    def __reduce__(self) -> tuple[Callable[[bytes], DaskChunks], tuple[bytes]]:
        state = {attribute.name: getattr(self, attribute.name) for attribute in fields(self)} | {"anchor": None}
        return _unpickled, (import_module("cloudpickle").dumps(state),)  # graphs contain functions of all kinds


def _unpickled(state: bytes) -> DaskChunks:
    return DaskChunks(**import_module("cloudpickle").loads(state))


def _result_or_error(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except TableError as error:
        return error


def _height(blocks: Sequence[Any], *_: int) -> int:
    return int(blocks[0].shape[0])


@dataclass(frozen=True, eq=False)
class DaskColumns:
    """The columns of a dask DataFrame."""

    chunks: DaskChunks
    names: tuple[str, ...]
    labels: tuple[str, ...]  # in the frame

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.chunks.n_rows

    def batches(self, start: int, stop: int, names: Sequence[str]) -> Iterator[HeldColumns]:
        """Yield rows start to stop of some columns, one partition at a time; several are computed together."""
        positions = {name: j for j, name in enumerate(self.names)}
        selected = {name: positions[name] for name in names}
        pending: list[Piece] = []
        pieces = self.chunks.pieces(start, stop)
        for number, piece in enumerate(pieces):
            pending.append(piece)
            n_cells = sum(high - low for _, low, high, _ in pending) * len(names)
            if n_cells >= MAX_BATCH_CELLS or number == len(pieces) - 1:
                yield from self.chunks.compute(partial(_batch, self.labels, selected), pending)
                pending = []

    def only(self, start: int, stop: int) -> DaskColumns:
        """Return the columns with only what rows start to stop need."""
        return replace(self, chunks=self.chunks.only(start, stop))


def _batch(
    labels: tuple[str, ...],
    positions: Mapping[str, int],
    blocks: Sequence[Any],
    height: int,
    low: int,
    high: int,
    first_row: int,
) -> HeldColumns:
    """Return the cells of some rows and columns of a partition, after comparing it with dask's metadata."""
    (part,) = blocks
    if not is_frame(part):
        raise TableError(
            f"it is a {type(part).__name__}, but dask expects a frame. Set the right meta= where it is created."
        )
    names = tuple(str(name) for name in part.columns)
    if names != labels or len(part) != height:
        raise TableError(
            f"it has {len(part)} rows of the columns {', '.join(names[:8])}, but dask expects {height} rows of "
            f"{', '.join(labels[:8])}. Give all partitions the same columns, and the same rows each time."
        )
    rows = part.iloc[low:high]
    types = set(rows.dtypes)
    common_type = types.pop() if len(types) == 1 else None
    if isinstance(common_type, np.dtype) and common_type.kind in "biuf":  # pandas is slow column by column
        numbers, boolean = rows.to_numpy(), common_type.kind == "b"
        cells = {name: cells_of_numbers(name, numbers[:, j], boolean=boolean) for name, j in positions.items()}
    else:
        # by position: partitions share an index of names, and pandas' lookups in it race between threads
        columns = {name: nw.from_native(rows.iloc[:, j], series_only=True) for name, j in positions.items()}
        cells = {name: cells_of_series(name, series) for name, series in columns.items()}
    return HeldColumns(cells, first_row + low)


def open_dask_frame(data: Any, request: Request) -> Table:
    """Open a dask DataFrame, after its partitions are counted and their columns described."""
    labels = tuple(str(name) for name in data.columns)
    if not labels:
        raise TableError("The frame has no columns. A table needs at least one.")
    names = labels if request.names is None else request.names
    check_names(names, len(labels))
    check_distinct(labels)
    check_distinct(names)
    with opening():
        columns = DaskColumns(DaskChunks.of(data).with_heights(), names, labels)
        if not columns.n_rows:
            raise TableError(f"The table has 0 rows and {len(names)} columns. It needs at least one of each.")
        return open_columns(columns, request)
