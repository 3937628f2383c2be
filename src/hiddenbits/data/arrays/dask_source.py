"""Rows that dask computes, chunk by chunk."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from importlib import import_module
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data.arrays.dask_chunks import Check, Count, compute, count_chunk, culled, moved, read_chunk
from hiddenbits.data.bits import AllOnes, Bits, Complement, Dense, Pattern
from hiddenbits.data.errors import TableError
from hiddenbits.data.masks import Mask, mask_bytes, observed_bits
from hiddenbits.data.stack import stack
from hiddenbits.quoting import discreet, told


@dataclass(frozen=True, eq=False)
class DaskSource:
    """Rows that dask computes: in the thread that reads them, or on the cluster that holds persisted chunks.

    Attributes
    ----------
    graph, keys : dict, tuple of tuple
        dask's graph, and the keys of the blocks of each chunk of rows.
    heights : tuple of int
        Rows of each chunk; -1 before they are counted.
    check : Check
        How chunks are checked.
    remote : bool
        Whether the graph needs what is persisted on a cluster.
    names : tuple of str or None
        Column names, for messages.
    mask : {"none", "missing", "dense", "observed"}
        Storage of the observed-mask, the same for all rows: none, the pattern of the missing cells, dense, or
        the pattern of the observed cells.
    share : float
        Share of the cells that is missing, as far as chunks were counted.
    row_ones : float
        Ones in a row of a sparse table, on average.
    anchor : object
        The collection, which keeps alive what is persisted. It does not travel.
    name : str
        Of the tasks that check chunks.
    """

    graph: dict[Any, Any]
    keys: tuple[tuple[Any, ...], ...]
    heights: tuple[int, ...]
    check: Check
    remote: bool
    names: tuple[str, ...] | None
    mask: Mask = "none"
    share: float = 0.0
    row_ones: float = 0.0
    anchor: Any = None
    name: str = field(default_factory=lambda: f"hiddenbits_rows-{uuid4().hex}")

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self.heights)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return sum(self.check.widths)

    @property
    def resident(self) -> bool:
        """The rows are to be computed."""
        return False

    @property
    def row_bytes(self) -> float:
        """Bytes of memory that one row takes when loaded."""
        mask = self.n_columns * mask_bytes(self.mask, self.share)
        return mask + (8 + 4 * self.row_ones if self.check.kind == "sparse" else self.n_columns)

    @property
    def row_cells(self) -> float:
        """Cells of a row that arithmetic touches: all, or the ones of a sparse table."""
        return self.row_ones if self.check.kind == "sparse" else float(self.n_columns)

    def read(self, start: int, stop: int) -> tuple[Bits, Bits]:
        """Return (x, observed) of rows start to stop; computes only the chunks that hold them."""
        stop = max(min(stop, self.n_rows), start)
        asked = {i: (self.heights[i], low, high, first) for i, low, high, first in self._pieces(start, stop)}
        pieces = self._compute(read_chunk, asked, f"rows {start} to {stop - 1}") if asked else []
        for i, piece in zip(asked, pieces, strict=True):
            if isinstance(piece, TableError):
                raise self._placed(piece, i)
            if piece[1] is not None and self.mask == "none":
                lie = "it has blanks that its dtype does not allow, or that were not there when the table was opened. "
                raise self._placed(TableError(lie + "Give dask the right dtype, and chunks that never change."), i)
        shape = stop - start, self.n_columns
        if self.check.kind == "sparse":
            return self._patterns([x for x, _ in pieces], [other for _, other in pieces], shape)
        return self._dense([x for x, _ in pieces], [other for _, other in pieces], shape)

    def count(self, chunks: Iterable[int]) -> list[Count]:
        """Count the rows, ones and blanks of some chunks, on the scheduler that dask would choose."""
        asked = {i: (self.heights[i],) for i in chunks}
        counts: list[Count] = self._compute(count_chunk, asked, "the chunks", leave_to_dask=True)
        row = sum(self.heights[: next(iter(asked))])
        for i, count in zip(asked, counts, strict=True):
            if count.error is not None:
                raise self._placed(moved(count.error, row), i, row)
            row += count.rows
        return counts

    def only(self, start: int, stop: int) -> DaskSource:
        """Return the source with what rows start to stop need and no more: less to send."""
        keys = [key for i, *_ in self._pieces(start, stop) for key in self.keys[i]]
        return replace(self, graph=culled(self.graph, keys))

    def __reduce__(self) -> tuple[Callable[[bytes], DaskSource], tuple[bytes]]:
        held = {one.name: getattr(self, one.name) for one in fields(self)} | {"anchor": None}
        return _unpickled, (import_module("cloudpickle").dumps(held),)  # graphs hold functions of all kinds

    def _pieces(self, start: int, stop: int) -> list[tuple[int, int, int, int]]:
        """Return (chunk, rows from and to within it, its first row) of the chunks that hold rows start to stop."""
        edges = np.concatenate([[0], np.cumsum(self.heights)]).astype(np.int64)
        low, high = np.clip(start - edges[:-1], 0, None), np.minimum(stop, edges[1:]) - edges[:-1]
        return [(int(i), int(low[i]), int(high[i]), int(edges[i])) for i in np.flatnonzero(low < high)]

    def _compute(
        self, function: Any, asked: Mapping[int, tuple[int, ...]], what: str, leave_to_dask: bool = False
    ) -> list[Any]:
        checked = partial(function, self.check)
        with discreet():
            try:
                return compute(self.graph, self.keys, checked, asked, self.name, self.remote, leave_to_dask)
            except Exception as error:  # whatever the chunks' own functions raise
                raise TableError(
                    f"{what} cannot be computed by dask ({type(error).__name__}: {told(error)}). Fix the code that "
                    "creates the chunks."
                ) from error

    def _placed(self, error: TableError, chunk: int, first_row: int | None = None) -> TableError:
        """Return the error with the name of its column, or the place of its chunk."""
        first = sum(self.heights[:chunk]) if first_row is None else first_row
        message = str(error)
        found = re.match(r"row \d+, column (\d+)(?=:)", message)
        if found and self.names and int(found[1]) < len(self.names):
            return TableError(f"{found[0]} ({self.names[int(found[1])]!r}){message[found.end() :]}")
        return error if message.startswith("row ") else TableError(f"chunk {chunk} (row {first} and after): {message}")

    def _dense(self, xs: Sequence[Bits], others: Sequence[Bits | None], shape: tuple[int, int]) -> tuple[Bits, Bits]:
        x = stack([Dense(np.zeros((0, shape[1]), np.uint8)), *xs]) if len(xs) != 1 else xs[0]
        if self.mask == "none":
            return x, AllOnes(shape)
        missing: NDArray[np.uint8] = np.zeros(shape, np.uint8)
        at = 0
        for piece, other in zip(xs, others, strict=True):
            if other is not None:
                missing[at : at + piece.shape[0]] = other.to_dense()
            at += piece.shape[0]
        return x, observed_bits(missing, self.mask)

    def _patterns(self, xs: Sequence[Bits], others: Sequence[Bits | None], shape: tuple[int, int]) -> tuple[Bits, Bits]:
        x = stack(xs) if xs else _empty(shape)
        if self.mask == "none":
            return x, AllOnes(shape)
        filled = [_empty(piece.shape) if other is None else other for piece, other in zip(xs, others, strict=True)]
        other = stack(filled) if filled else _empty(shape)
        return x, other if self.mask == "observed" else Complement(other)


def _empty(shape: tuple[int, int]) -> Pattern:
    """Return a pattern without ones."""
    wide = shape[1] > np.iinfo(np.int32).max
    return Pattern(np.zeros(shape[0] + 1, np.int64), np.zeros(0, np.int64 if wide else np.int32), shape[1])


def _unpickled(held: bytes) -> DaskSource:
    return DaskSource(**import_module("cloudpickle").loads(held))
