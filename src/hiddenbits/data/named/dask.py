"""dask DataFrames as named columns: partitions are computed as they are needed, and never all at once."""

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

PRIORITY = 10  # of chunks over parts, where both are tasks of one cluster: parts wait for chunks
AT_ONCE = 1 << 24  # cells of partitions that are computed together, so that what they share is made once

Piece = tuple[int, int, int, int]  # a chunk, its rows from and to, and its first row in the table

# Whether dask may compute where it would (its threads, or the client in force): while a table is opened. Later each
# part is computed in the thread that reads it, so that no task ever waits for another.
_opening: ContextVar[bool] = ContextVar("_opening", default=False)


@contextmanager
def opening() -> Iterator[None]:
    """Compute where dask would, for a while."""
    before = _opening.set(True)
    try:
        yield
    finally:
        _opening.reset(before)


@dataclass(frozen=True, eq=False)
class DaskChunks:
    """Chunks of rows that dask computes: in the thread that asks, or on the cluster that holds persisted ones.

    Attributes
    ----------
    graph, keys : dict, tuple of tuple
        dask's graph, and the keys of the blocks of each chunk of rows.
    heights : tuple of int
        Rows of each chunk; -1 before they are counted.
    remote : bool
        Whether the graph needs what is persisted on a cluster. Then the cluster computes, and a worker's thread that
        waits for it makes room for another (`Client.get` secedes).
    anchor : object
        The collection, which keeps alive what is persisted. It does not travel.
    """

    graph: dict[Any, Any] = field(repr=False)  # which holds cells of frames from memory
    keys: tuple[tuple[Any, ...], ...]
    heights: tuple[int, ...]
    remote: bool
    anchor: Any = field(default=None, repr=False)

    @classmethod
    def of(cls, data: Any, heights: Sequence[int] | None = None) -> DaskChunks:
        """Return the chunks of a collection, whose graph is optimized once and for all."""
        # dask.optimize takes every key of a frame's graph for a partition.
        lean = data.optimize() if heights is None else import_module("dask").optimize(data)[0]
        graph = dict(lean.__dask_graph__())
        keys = tuple(tuple(row) if isinstance(row, list) else (row,) for row in lean.__dask_keys__())
        # What is persisted on a cluster is a future in the graph, or is not in it any more.
        needed = {need for node in graph.values() for need in getattr(node, "dependencies", ())}.union(*keys)
        futures = any(type(node).__module__.startswith("distributed") for node in graph.values())
        remote = futures or not needed <= graph.keys()
        heights = (-1,) * len(keys) if heights is None else tuple(heights)
        return cls(graph, keys, heights, remote, data if remote else None)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self.heights)

    def pieces(self, start: int, stop: int) -> list[Piece]:
        """Return the chunks that hold rows start to stop, and which of their rows."""
        found, row = [], 0
        for i, height in enumerate(self.heights):
            low, high = max(start - row, 0), min(stop - row, height)
            found += [(i, low, high, row)] if low < high else []
            row += height
        return found

    def counted(self) -> DaskChunks:
        """Return the chunks with their heights, for which all of them are computed."""
        counts = self.compute(_height, [(i, 0, 0, 0) for i in range(len(self.keys))])
        return replace(self, heights=tuple(counts))

    def compute(self, function: Callable[..., Any], pieces: Sequence[Piece]) -> list[Any]:
        """Return function(blocks, height, low, high, first row) of chunks, in one computation.

        It runs in dask's own tasks, right after a chunk is made. An error comes back as a value, not as the exception
        of a task: so the one that is raised is the first in the order of the table.
        """
        spec: Any = import_module("dask._task_spec")  # as dask's specification of graphs says; `delayed` is slower
        tasks = self._culled(pieces)
        made: list[Any] = []
        name = f"hiddenbits_rows-{uuid4().hex}"  # of this call: another may ask for other results of the same rows
        for i, low, high, row in pieces:
            made.append((name, i, low, high))
            blocks = spec.List(*(spec.TaskRef(key) for key in self.keys[i]))
            tasks[made[-1]] = spec.Task(made[-1], partial(_or_error, function), blocks, self.heights[i], low, high, row)
        with discreet():
            try:
                found = list(self._get()(tasks, made))
            except Exception as error:  # whatever the chunks' own functions raise
                what = f"chunks {pieces[0][0]} to {pieces[-1][0]}"
                if pieces[-1][2]:
                    what = f"rows {pieces[0][3] + pieces[0][1]} to {pieces[-1][3] + pieces[-1][2] - 1}"
                raise TableError(
                    f"{what} cannot be computed by dask ({type(error).__name__}: {redacted(error)}). Fix the code that "
                    "creates the chunks."
                ) from error
        for (i, _, _, row), one in zip(pieces, found, strict=True):
            if isinstance(one, TableError):
                raise one if str(one).startswith("row ") else one.in_file(f"chunk {i} (row {row} and after)")
        return found

    def _get(self) -> Any:
        dask: Any = import_module("dask")
        if self.remote:
            return partial(import_module("distributed").get_client().get, priority=PRIORITY)
        if _opening.get():
            return dask.base.get_scheduler() or import_module("dask.threaded").get
        return dask.get  # the synchronous scheduler

    def _culled(self, pieces: Sequence[Piece]) -> dict[Any, Any]:
        """Return what chunks need of the graph. What is persisted on a cluster need not be in it."""
        cull: Any = import_module("dask.optimization").cull
        return dict(cull(self.graph, [key for i, *_ in pieces for key in self.keys[i] if key in self.graph])[0])

    def only(self, start: int, stop: int) -> DaskChunks:
        """Return the chunks with what rows start to stop need and no more: less to send."""
        return replace(self, graph=self._culled(self.pieces(start, stop)))

    def __reduce__(self) -> tuple[Callable[[bytes], DaskChunks], tuple[bytes]]:
        held = {one.name: getattr(self, one.name) for one in fields(self)} | {"anchor": None}
        return _unpickled, (import_module("cloudpickle").dumps(held),)  # graphs hold functions of all kinds


def _unpickled(held: bytes) -> DaskChunks:
    return DaskChunks(**import_module("cloudpickle").loads(held))


def _or_error(function: Callable[..., Any], *arguments: Any) -> Any:
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
    labels: tuple[str, ...]  # as the frame has them

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.chunks.n_rows

    def batches(self, start: int, stop: int, names: Sequence[str]) -> Iterator[HeldColumns]:
        """Yield rows start to stop of some columns, a partition at a time; some are computed together."""
        places = {name: j for j, name in enumerate(self.names)}
        wanted = {name: places[name] for name in names}
        together: list[Piece] = []
        pieces = self.chunks.pieces(start, stop)
        for number, piece in enumerate(pieces):
            together.append(piece)
            n_cells = sum(high - low for _, low, high, _ in together) * len(names)
            if n_cells >= AT_ONCE or number == len(pieces) - 1:
                yield from self.chunks.compute(partial(_batch, self.labels, wanted), together)
                together = []

    def only(self, start: int, stop: int) -> DaskColumns:
        """Return the columns with what rows start to stop need and no more."""
        return replace(self, chunks=self.chunks.only(start, stop))


def _batch(
    labels: tuple[str, ...],
    wanted: Mapping[str, int],
    blocks: Sequence[Any],
    height: int,
    low: int,
    high: int,
    row: int,
) -> HeldColumns:
    """Return the cells of some rows and columns of a partition, after holding it against what dask was told."""
    (part,) = blocks
    if not is_frame(part):
        raise TableError(
            f"it is a {type(part).__name__}, but dask expects a frame. Set the right meta= where it is created."
        )
    found = tuple(str(name) for name in part.columns)
    if found != labels or len(part) != height:
        raise TableError(
            f"it has {len(part)} rows of the columns {', '.join(found[:8])}, but dask expects {height} rows of "
            f"{', '.join(labels[:8])}. Give all partitions the same columns, and the same rows each time."
        )
    some = part.iloc[low:high]
    types = set(some.dtypes)
    of_all = types.pop() if len(types) == 1 else None
    if isinstance(of_all, np.dtype) and of_all.kind in "biuf":  # one by one pandas takes longer than its cells do
        numbers, boolean = some.to_numpy(), of_all.kind == "b"
        cells = {name: cells_of_numbers(name, numbers[:, j], boolean=boolean) for name, j in wanted.items()}
    else:
        # by place: partitions share an index of names, and pandas' lookups in it race between threads
        columns = {name: nw.from_native(some.iloc[:, j], series_only=True) for name, j in wanted.items()}
        cells = {name: cells_of_series(name, series) for name, series in columns.items()}
    return HeldColumns(cells, row + low)


def open_dask_frame(data: Any, request: Request) -> Table:
    """Open a dask DataFrame: its partitions are counted, and looked at."""
    labels = tuple(str(name) for name in data.columns)
    if not labels:
        raise TableError("The frame has no columns. A table needs at least one.")
    names = labels if request.names is None else request.names
    check_names(names, len(labels))
    check_distinct(labels)
    check_distinct(names)
    with opening():
        columns = DaskColumns(DaskChunks.of(data).counted(), names, labels)
        if not columns.n_rows:
            raise TableError(f"The table has 0 rows and {len(names)} columns. It needs at least one of each.")
        return open_columns(columns, request)
