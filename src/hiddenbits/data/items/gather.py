"""The one gatherer of items: lists of items, or pairs of a row and an item, become the rows of a table.

Batches of any format come in. Items are numbered, rows are found, and the items of each row end up ascending and
distinct, as compressed sparse rows: in memory, or above a size in temporary files (`SpilledTableWarning`).
"""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import AnyArray
from hiddenbits.data.bits import AllOnes, Bits, Pattern
from hiddenbits.data.cell_checks import MAX_BYTES, Blank, check_distinct
from hiddenbits.data.errors import SpilledTableWarning, TableError
from hiddenbits.data.file_request import FileRequest, naming, reading
from hiddenbits.data.items.spool import KeySpool, Spool
from hiddenbits.data.locations.places import find_place
from hiddenbits.data.request import Request
from hiddenbits.data.table import MemorySource, Source, Table
from hiddenbits.data.text_files import read_lines
from hiddenbits.quoting import printable, quoted

HELD_BYTES = 1 << 28  # what takes more while it is gathered goes to files
SORTED = 1 << 20  # items sorted at a time: sorting takes several times their memory
LINE_BYTES, RUN_BYTES = 32, 48  # of a line, and of lines with one key side by side, while lines are put in order
NULL = 2  # code of a value that is missing; 0 and 1 are themselves


class DuplicateItemsWarning(UserWarning):
    """An item occurs twice in one basket; it is counted once."""


class Batch(NamedTuple):
    """Some items, row after row.

    Attributes
    ----------
    path, unit, first : str, str, int
        The file, what a message counts there ("line" or "row"), and the number of the first of them.
    starts : ndarray of int64
        Where rows begin among the items; of pairs, the first may belong to a row that began before.
    items : ndarray, or tuple of ndarray and list
        Numbers of columns; or codes, and the names or numbers for which they stand.
    values : ndarray of uint8, optional
        Of pairs with a value: 0, 1 or `NULL`.
    keys : pyarrow.Array, optional
        Of pairs: the keys of the rows that begin.
    """

    path: str
    unit: str
    first: int
    starts: NDArray[np.int64]
    items: AnyArray | tuple[AnyArray, Sequence[Hashable]]
    values: AnyArray | None = None
    keys: Any = None

    def place(self, at: int) -> str:
        """Return where an item is: pairs have a line each."""
        within = at if self.keys is not None else int(np.searchsorted(self.starts, at, side="right")) - 1
        return f"{self.unit} {self.first + within}"


def open_items(
    request: Request, batches: Iterable[Batch], items: Any, max_columns: int, max_bytes: int, row: str = ""
) -> Table:
    """Open batches of items as a table.

    Parameters
    ----------
    request : Request
        What every reader is asked.
    batches : iterable of Batch
        The items.
    items : sequence of str, path or None
        Names of the items, as the user gave them. By default, items that are not numbers of columns are sorted.
    max_columns : int
        The most columns that there may be.
    max_bytes : int
        The most that lines may take while they are put in order, where those of a row do not stand together.
    row : str
        The name of the column of row keys, for messages.
    """
    names = item_names(items, request)
    gatherer = _Gatherer(names, number_of_columns(request, names, max_columns), max_columns)
    files = request.files if isinstance(request, FileRequest) else ()
    try:
        for batch in batches:
            with reading(batch.path):
                gatherer.add(batch)
        inside: AbstractContextManager[None] = naming(files[0]) if files else nullcontext()
        with inside:
            return gatherer.table(request, max_bytes, row)
    except BaseException:
        gatherer.remove()
        raise


class _Gatherer:
    """Items as they come; see `open_items`."""

    def __init__(self, names: tuple[str, ...] | None, n_columns: int | None, max_columns: int) -> None:
        self._names, self._n_columns, self._max_columns = names, n_columns, max_columns
        self._known: dict[Any, int] = {name: j for j, name in enumerate(names or ())}
        self._limit, self._largest = n_columns or min(max_columns, 2**31 - 1), -1
        self._starts, self._items = Spool(np.int64), Spool(np.int32)
        self._values: Spool | None = None
        self._keys: KeySpool | None = None
        self._by_code = False  # whether items come as codes of names or numbers
        # Of each file: its first row, how a message names its rows, and what to subtract from their numbers.
        self._files: list[tuple[int, str, int]] = []
        self._folder: Path | None = None
        self._repeats, self._first = 0, ""

    def add(self, batch: Batch) -> None:
        """Take some items."""
        label = f"{batch.path}: {batch.unit}" if batch.path else batch.unit
        if not self._files or self._files[-1][1] != label:
            self._files.append((self._starts.n, label, self._starts.n - batch.first))
        self._starts.add(batch.starts + self._items.n)
        self._items.add(self._numbers(batch))
        if batch.values is not None:
            self._values = self._values or Spool(np.uint8)
            self._values.add(batch.values)
        if batch.keys is not None:
            self._keys = self._keys or KeySpool()
            self._keys.add(batch.keys)
        if self._folder is None and sum(spool.nbytes for _, spool in self._spools()) > HELD_BYTES:
            self._folder = Path(tempfile.mkdtemp(prefix="hiddenbits-"))
            for name, spool in self._spools():
                spool.spill(self._folder / name)

    def _spools(self) -> Iterator[tuple[str, Spool | KeySpool]]:
        named = {"starts": self._starts, "items": self._items, "values": self._values, "keys": self._keys}
        return ((name, spool) for name, spool in named.items() if spool is not None)

    def remove(self) -> None:
        """Remove the files."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _numbers(self, batch: Batch) -> AnyArray:
        """Return numbers of columns, or of items in the order in which they were first seen."""
        if isinstance(batch.items, np.ndarray):
            numbers = batch.items
            bad = (numbers < 0) | (numbers >= self._limit)
            self._largest = max(self._largest, int(numbers.max()) if len(numbers) else -1)
        else:
            codes, distinct = batch.items
            known, self._by_code = self._known, True
            if self._names is None:
                place = [known.setdefault(one, len(known)) for one in distinct]
            else:
                place = [known.get(one, -1) for one in distinct]
            numbers = np.array(place, np.int32)[codes]
            bad = numbers < 0
            if len(known) > max(self._max_columns, len(self._names or ())):
                raise TableError(
                    f"more than max_columns={self._max_columns} items. Raise max_columns=, or list the items with "
                    "items=."
                )
        if bad.any():
            at = int(np.argmax(bad))
            item = batch.items[at] if isinstance(batch.items, np.ndarray) else batch.items[1][batch.items[0][at]]
            raise TableError(f"{batch.place(at)}: item {quoted(item)} {self._why(item)}")
        return numbers

    def _why(self, item: Any) -> str:
        """Return what is wrong with an item."""
        if self._by_code:
            return "is not in items=. List all items there."
        if item < 0:
            return "is negative."
        if self._n_columns is None:
            return f"is not below max_columns={self._limit}. Raise max_columns= if it is an item."
        return f"is beyond the {self._limit} columns. Give a larger n_columns=, or more items=."

    def table(self, request: Request, max_bytes: int, row: str) -> Table:
        """Return the table of what was added."""
        self._starts.add(np.array([self._items.n]))
        if self._starts.n == 1:
            raise TableError("the file is empty. A table needs at least one row.")
        names, place = self._columns()
        keys = None if self._keys is None else self._in_order(self._keys, max_bytes, row)
        n_columns = self._n_columns or (self._largest + 1 if names is None else len(names))
        if not n_columns:
            raise TableError("All baskets are empty. Give the number of columns with n_columns=.")
        n_ones = self._sort(place, names)
        source = self._source(n_columns, n_ones, keys, request.blank)
        return Table(source, names if request.names is None else request.names)

    def _columns(self) -> tuple[tuple[str, ...] | None, AnyArray | None]:
        """Return the names of the columns, and the column of each item where items are numbered otherwise."""
        if not self._by_code or self._names is not None:
            return self._names, None
        listed = sorted(self._known)
        if self._n_columns not in (None, len(listed)):
            raise TableError(f"{len(listed)} items found, not n_columns={self._n_columns}. Name them with items=.")
        place = np.empty(len(listed), np.int32)
        place[[self._known[item] for item in listed]] = np.arange(len(listed))
        return tuple(map(str, listed)), place

    def _in_order(self, spool: KeySpool, max_bytes: int, row: str) -> Any:
        """Bring lines of one key together, if they are not, and return the keys of the rows."""
        keys, n_runs = spool.all(), self._starts.n - 1
        if spool.ordered:
            return keys
        needed = RUN_BYTES * n_runs + spool.nbytes
        if needed > max_bytes:
            raise TableError(
                f"the lines are not sorted by {row!r}. Checking whether the lines of each row are adjacent needs "
                f"{needed} bytes, above max_bytes={max_bytes}. Sort the lines by {row!r}, or raise max_bytes=."
            )
        encoded = keys.combine_chunks().dictionary_encode()
        rows, distinct = encoded.indices.to_numpy(), encoded.dictionary
        if len(distinct) == n_runs:
            return keys
        needed += LINE_BYTES * self._items.n
        if needed > max_bytes:
            back = int(np.argmax(rows != np.arange(n_runs)))  # rows are numbered as they first appear
            raise TableError(
                f"{row!r} is {quoted(distinct[int(rows[back])].as_py())} again, after other rows. Grouping the "
                f"{self._items.n} lines in memory needs {needed} bytes, above max_bytes={max_bytes}. Sort the lines by "
                f"{row!r}, so that they can be read in parts, or raise max_bytes=."
            )
        starts = self._starts.get()
        cells = Pattern(starts, np.arange(self._items.n), 1).take(np.argsort(rows)).indices
        lengths = np.bincount(rows, np.diff(starts), minlength=len(distinct))
        self._starts = _in_memory(np.concatenate([[0], np.cumsum(lengths)]), np.int64)
        self._items = _in_memory(self._items.get()[cells], np.int32)
        self._values = None if self._values is None else _in_memory(self._values.get()[cells], np.uint8)
        self.remove()
        return distinct

    def _sort(self, place: AnyArray | None, names: Sequence[str] | None) -> int:
        """Bring the items of each row in order, each once, where they are; return how many of them are 1."""
        row, end, n_ones = 0, 0, 0
        while row < self._starts.n - 1:
            starts = self._starts.get(row, row + SORTED + 1)
            height = max(1, int(np.searchsorted(starts, starts[0] + SORTED, side="right")) - 1)
            lengths, first, stop = np.diff(starts[: height + 1]), int(starts[0]), int(starts[height])
            items = self._items.get(first, stop)
            values = None if self._values is None else self._values.get(first, stop)
            lengths, items, values = self._distinct(
                row, lengths, items if place is None else place[items], values, names
            )
            self._starts.put(row, end + np.cumsum(lengths) - lengths)
            self._items.put(end, items)
            if self._values is not None and values is not None:
                self._values.put(end, values)
            n_ones += len(items) if values is None else int((values == 1).sum())
            row, end = row + height, end + len(items)
        self._starts.put(row, np.array([end]))
        if self._repeats:
            warnings.warn(
                f"{printable(self._first)}. There are {self._repeats} repeated items in all; each is counted once.",
                DuplicateItemsWarning,
                stacklevel=3,
            )
        return n_ones

    def _distinct(
        self, row: int, lengths: AnyArray, items: AnyArray, values: AnyArray | None, names: Sequence[str] | None
    ) -> tuple[AnyArray, AnyArray, AnyArray | None]:
        """Return the items of some rows, ascending and distinct, and how many each row has."""
        stride = int(items.max(initial=0)) + 1
        cells = np.repeat(np.arange(len(lengths)) * stride, lengths) + items
        if (cells[1:] > cells[:-1]).all():  # most files are in order already
            return lengths, items, values
        if values is None:
            cells.sort()
        else:
            cells = np.sort(4 * cells + values)
            cells, values = cells >> 2, (cells & 3).astype(np.uint8)
        again = np.flatnonzero(cells[1:] == cells[:-1])
        if len(again):
            other = again if values is None else again[values[again] != values[again + 1]]
            at = int(other[0] if values is not None and len(other) else again[0])
            item = int(cells[at]) % stride
            where = (
                f"{self._place(row + int(cells[at]) // stride)}: item {item if names is None else quoted(names[item])}"
            )
            if values is not None and len(other):
                said = " and ".join("null" if value == NULL else quoted(value) for value in values[at : at + 2])
                raise TableError(f"{where} has the values {said}. Keep one line per pair.")
            self._first = self._first or f"{where} occurs twice"
            self._repeats += len(again)
            cells, values = np.delete(cells, again), None if values is None else np.delete(values, again)
        rows, items = np.divmod(cells, stride)
        return np.bincount(rows, minlength=len(lengths)), items, values

    def _place(self, row: int) -> str:
        """Return how a message names a row: by its place in its file, or its number where its lines may be anywhere."""
        if self._keys is not None:
            return f"row {row}"
        label, before = next((label, before) for start, label, before in reversed(self._files) if start <= row)
        return f"{label} {row - before}"

    def _source(self, n_columns: int, n_ones: int, keys: Any, blank: Blank) -> Source:
        """Return the rows: in memory, or in files that are removed with the source."""
        if self._folder is None:
            starts = self._starts.get()
            values = None if self._values is None else self._values.get(0, starts[-1])
            return HeldItems(*_bits(starts, self._items.get(0, starts[-1]), values, n_columns, blank), keys)
        source = SpilledItems(self._starts, self._items, self._values, self._keys, n_columns, n_ones, blank)
        weakref.finalize(source, shutil.rmtree, self._folder, ignore_errors=True)
        warnings.warn(
            f"The {source.n_rows:,} rows with {n_ones:,} items were written to {self._folder}, as they take more than "
            f"{HELD_BYTES / 1e6:.0f} MB. The files are removed when the table is no longer used. For workers on other "
            "machines set TMPDIR to a folder that all of them can read.",
            SpilledTableWarning,
            stacklevel=3,
        )
        return source


@dataclass(frozen=True, eq=False)
class HeldItems(MemorySource):
    """Rows in memory; those of pairs have keys."""

    keys: Any = None

    def row_keys(self, start: int, stop: int) -> NDArray[Any]:
        """Return the keys of rows start to stop."""
        return _key_array(self.keys, start, stop)


@dataclass(frozen=True, eq=False)
class SpilledItems:
    """Rows in temporary files; `read` opens the files again, in any thread or process.

    Attributes
    ----------
    starts, items, values : Spool
        Where rows begin among the items, numbers of columns, and what was seen there, if that is told.
    keys : KeySpool or None
        The keys of rows that were pairs.
    n_columns, n_ones : int
        Number of columns, and of ones.
    blank : {"auto", "zero", "missing"}
        What an item that is not listed means.
    """

    starts: Spool
    items: Spool
    values: Spool | None
    keys: KeySpool | None
    n_columns: int
    n_ones: int
    blank: Blank

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.starts.n - 1

    @property
    def resident(self) -> bool:
        """The rows are on disk."""
        return False

    @property
    def row_bytes(self) -> float:
        """Bytes of memory that one row takes when loaded, on average."""
        return 16 + (4 if self.values is None else 8) * self.items.n / self.n_rows

    @property
    def row_cells(self) -> float:
        """Cells of a row that arithmetic touches: its ones."""
        return self.n_ones / self.n_rows

    def read(self, start: int, stop: int) -> tuple[Bits, Bits]:
        """Return (x, observed) of rows start to stop."""
        starts = self.starts.get(start, max(start, min(stop, self.n_rows)) + 1)
        first, last = int(starts[0]), int(starts[-1])
        values = None if self.values is None else self.values.get(first, last)
        return _bits(starts - first, self.items.get(first, last), values, self.n_columns, self.blank)

    def row_keys(self, start: int, stop: int) -> NDArray[Any]:
        """Return the keys of rows start to stop."""
        return _key_array(None if self.keys is None else self.keys.all(), start, stop)


def _bits(
    starts: AnyArray, items: AnyArray, values: AnyArray | None, n_columns: int, blank: Blank
) -> tuple[Bits, Bits]:
    """Return (x, observed) of rows. With values, a cell without a line was not observed, unless ``blank="zero"``."""

    def kept(keep: AnyArray) -> Pattern:
        before = np.concatenate([[0], np.cumsum(keep)])
        return Pattern(before[starts], items[keep], n_columns)

    x = Pattern(starts, items, n_columns) if values is None else kept(values == 1)
    if blank == "zero" or (blank == "auto" and values is None):
        return x, AllOnes(x.shape)
    return x, x if values is None else kept(values != NULL)


def _key_array(keys: Any, start: int, stop: int) -> NDArray[Any]:
    if keys is None:
        raise TableError("The rows are lists of items, and have no keys.")
    return np.asarray(keys[start:stop].to_numpy(zero_copy_only=False))


def _in_memory(array: AnyArray, dtype: Any) -> Spool:
    spool = Spool(dtype)
    spool.add(array)
    return spool


def item_names(items: Any, request: Request) -> tuple[str, ...] | None:
    """Return the item names of ``items=``: a sequence of them, or a text file with one a line."""
    if items is None:
        return None
    if isinstance(items, (str, os.PathLike)):
        path = find_place(items, request.storage_options)
        names = read_lines(path, MAX_BYTES)
        with reading(path):
            check_distinct(names)
    else:
        names = tuple(str(item) for item in items)
        check_distinct(names)
    if not names:
        raise TableError("items= is empty. Give at least one item.")
    return names


def number_of_columns(request: Request, names: Sequence[str] | None, max_columns: int) -> int | None:
    """Return the number of columns that n_columns= or the names of the items give; None if neither."""
    given = request.n_columns if request.n_columns is not None else None if names is None else len(names)
    if names is not None and given != len(names):
        raise TableError(f"items= names {len(names)} items, but n_columns={request.n_columns}.")
    if given is not None and not 0 < given <= min(max_columns, 2**31 - 1):
        raise TableError(f"n_columns={given} is not between 1 and max_columns={max_columns}.")
    return given
