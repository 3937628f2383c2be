"""Gathers items: lists of items, or pairs of a row and an item, become the rows of a table.

Batches come from any format. Items are numbered, pairs are grouped by row, and the items of each row are sorted and
made distinct, as compressed sparse rows: in memory, or if large in temporary files (`SpilledTableWarning`).
"""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Hashable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import AnyArray
from hiddenbits.data.bits import AllOnes, Bits, Pattern
from hiddenbits.data.cell_checks import MAX_BYTES, Empty, check_distinct
from hiddenbits.data.file_request import FileRequest, naming, reading
from hiddenbits.data.items.spool import KeySpool, Spool
from hiddenbits.data.locations.places import find_place
from hiddenbits.data.request import Request
from hiddenbits.data.table import MemorySource, Source, Table
from hiddenbits.data.text_files import read_lines
from hiddenbits.exceptions import DuplicateItemsWarning, SpilledTableWarning, TableError
from hiddenbits.quoting import printable, quoted

HELD_BYTES = 1 << 28  # memory limit for gathered items; larger data are written to files
SORT_ITEMS = 1 << 20  # items sorted at a time, as sorting takes several times their memory
LINE_BYTES = 80  # memory of a line while lines are grouped by row
MAX_ITEMS = 1 << 29  # because four times an item number must fit in 32 bits
NULL = 2  # code of a missing value; 0 and 1 are their own codes


class ItemBatch(NamedTuple):
    """Items of some rows, row by row.

    Attributes
    ----------
    path, unit, first : str, str, int
        The file, the unit that messages count ("line" or "row"), and the number of the first one.
    starts : ndarray of int64
        Positions among the items at which rows begin; the first pairs may belong to a row that began before.
    items : ndarray, or tuple of ndarray and list
        Column numbers; or codes, and for each code the name or number of its item.
    values : ndarray of uint8, optional
        Values of pairs: 0, 1 or `NULL`.
    keys : pyarrow.Array, optional
        For pairs, the keys of the rows that begin.
    """

    path: str
    unit: str
    first: int
    starts: NDArray[np.int64]
    items: AnyArray | tuple[AnyArray, Sequence[Hashable]]
    values: AnyArray | None = None
    keys: Any = None

    def label(self, item: int) -> str:
        """Return the line or row of an item, for messages; each pair has its own line."""
        offset = item if self.keys is not None else int(np.searchsorted(self.starts, item, side="right")) - 1
        return f"{self.unit} {self.first + offset}"


def open_items(
    request: Request, batches: Iterable[ItemBatch], items: Any, max_columns: int, max_bytes: int, row: str = ""
) -> Table:
    """Open batches of items as a table.

    Parameters
    ----------
    request : Request
        The options that all readers share.
    batches : iterable of ItemBatch
        The items.
    items : sequence of str, path or None
        Names of the items, as the user gave them. By default, items that are not column numbers are sorted.
    max_columns : int
        Maximum number of columns.
    max_bytes : int
        Maximum memory for grouping lines by row, if the lines of a row are not consecutive.
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
        context: AbstractContextManager[None] = naming(files[0]) if files else nullcontext()
        with context:
            return gatherer.table(request, max_bytes, row)
    except BaseException:
        gatherer.remove()
        raise


class _Gatherer:
    """Gathers batches; see `open_items`. A cell is an item number, or four times that plus the value of a pair."""

    def __init__(self, names: tuple[str, ...] | None, n_columns: int | None, max_columns: int) -> None:
        self._names, self._n_columns, self._max_columns = names, n_columns, max_columns
        self._known: dict[Any, int] = {name: j for j, name in enumerate(names or ())}
        self._has_codes = False  # whether batches have codes of names or numbers
        self._starts, self._cells = Spool(np.int64), Spool(np.int32)
        self._keys: KeySpool | None = None
        self._scale, self._largest, self._n_ones = 1, -1, 0
        # For each file: its first row, the label of its rows in messages, and the offset of its row numbers.
        self._files: list[tuple[int, str, int]] = []
        self._folder: Path | None = None
        self._n_repeats, self._first_repeat = 0, ""

    def add(self, batch: ItemBatch) -> None:
        """Add the items of a batch."""
        label = f"{batch.path}: {batch.unit}" if batch.path else batch.unit
        if not self._files or self._files[-1][1] != label:
            self._files.append((self._starts.n, label, self._starts.n - batch.first))
        numbers = self._numbers(batch)
        self._starts.add(batch.starts + self._cells.n)
        if batch.values is not None:
            self._scale, numbers = 4, 4 * numbers + batch.values
        self._cells.add(numbers)
        if batch.keys is not None:
            self._keys = self._keys or KeySpool()
            self._keys.add(batch.keys)
        spools = {"starts": self._starts, "cells": self._cells} | ({} if self._keys is None else {"keys": self._keys})
        if self._folder is None and sum(spool.nbytes for spool in spools.values()) > HELD_BYTES:
            self._folder = Path(tempfile.mkdtemp(prefix="hiddenbits-"))
            for name, spool in spools.items():
                spool.spill(self._folder / name)

    def remove(self) -> None:
        """Remove the files."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _numbers(self, batch: ItemBatch) -> AnyArray:
        """Return column numbers, or numbers of items in order of first appearance."""
        if isinstance(batch.items, np.ndarray):
            limit = self._n_columns or min(self._max_columns, MAX_ITEMS)
            out_of_range = (batch.items < 0) | (batch.items >= limit)
            if out_of_range.any():
                index = int(np.argmax(out_of_range))
                raise TableError(
                    f"{batch.label(index)}: item {quoted(batch.items[index])} is not between 0 and {limit - 1}, the "
                    f"last column. If valid, {'raise max_columns=' if self._n_columns is None else 'give n_columns='}."
                )
            self._largest = max(self._largest, int(batch.items.max()) if len(batch.items) else -1)
            return batch.items
        codes, distinct = batch.items
        known, self._has_codes = self._known, True
        if self._names is None:
            number_of = [known.setdefault(item, len(known)) for item in distinct]
            if len(known) > self._max_columns:
                raise TableError(
                    f"more than max_columns={self._max_columns} items. Raise it, or list some with items=."
                )
        else:
            number_of = [known.get(item, -1) for item in distinct]
        numbers = np.array(number_of, np.int32)[codes]
        if len(numbers) and numbers.min() < 0:
            i = int(np.argmin(numbers))
            raise TableError(f"{batch.label(i)}: item {quoted(distinct[codes[i]])} is not in items=. List all items.")
        return numbers

    def table(self, request: Request, max_bytes: int, row: str) -> Table:
        """Return the table of all batches."""
        self._starts.add(np.array([self._cells.n]))
        if self._starts.n == 1:
            raise TableError("the file is empty. A table needs at least one row.")
        names, column_of = self._columns()
        keys = None if self._keys is None else self._group_rows(self._keys, max_bytes, row)
        n_columns = self._n_columns or (self._largest + 1 if names is None else len(names))
        if not n_columns:
            raise TableError("All baskets are empty. Give the number of columns with n_columns=.")
        self._sort(column_of, names)
        return Table(self._source(n_columns, keys, request.empty), names if request.names is None else request.names)

    def _columns(self) -> tuple[tuple[str, ...] | None, AnyArray | None]:
        """Return the column names, and the column of each item unless items are column numbers already."""
        if not self._has_codes or self._names is not None:
            return self._names, None
        items = sorted(self._known)
        if self._n_columns not in (None, len(items)):
            raise TableError(f"{len(items)} items found, not n_columns={self._n_columns}. Name them with items=.")
        column_of = np.empty(len(items), np.int32)
        column_of[[self._known[item] for item in items]] = np.arange(len(items))
        return tuple(map(str, items)), column_of

    def _group_rows(self, spool: KeySpool, max_bytes: int, row: str) -> Any:
        """Group the lines by key, unless they are grouped already, and return the keys of the rows."""
        keys = spool.all()
        if spool.ordered:
            return keys
        n_bytes = LINE_BYTES * self._cells.n + spool.nbytes
        if n_bytes > max_bytes:
            raise TableError(
                f"the lines are not sorted by {row!r}. Grouping the {self._cells.n} lines in memory needs {n_bytes} "
                f"bytes, above max_bytes={max_bytes}. Sort the lines by {row!r}, so that they can be read in parts, or "
                "raise max_bytes=."
            )
        encoded = keys.combine_chunks().dictionary_encode()
        rows, distinct = encoded.indices.to_numpy(), encoded.dictionary
        if len(distinct) == len(rows):
            return keys
        starts = self._starts.get()
        lengths = np.bincount(rows, np.diff(starts), minlength=len(distinct))
        order = Pattern(starts, np.arange(self._cells.n), 1).take(np.argsort(rows)).indices
        cells, self._starts, self._cells = self._cells.get(), Spool(np.int64), Spool(np.int32)
        self._starts.add(np.concatenate([[0], np.cumsum(lengths)]))
        self._cells.add(cells[order])
        self.remove()
        return distinct

    def _sort(self, column_of: AnyArray | None, names: Sequence[str] | None) -> None:
        """Sort the items of each row and drop repeated ones, in place."""
        row = end = 0
        while row < self._starts.n - 1:
            starts = self._starts.get(row, row + SORT_ITEMS + 1)
            height = max(1, int(np.searchsorted(starts, starts[0] + SORT_ITEMS, side="right")) - 1)
            lengths, cells = np.diff(starts[: height + 1]), self._cells.get(starts[0], starts[height])
            if column_of is not None:
                cells = column_of[cells // self._scale] * self._scale + cells % self._scale
            lengths, cells = self._distinct(row, lengths, cells, names)
            self._starts.put(row, end + np.cumsum(lengths) - lengths)
            self._cells.put(end, cells)
            self._n_ones += len(cells) if self._scale == 1 else int((cells % 4 == 1).sum())
            row, end = row + height, end + len(cells)
        self._starts.put(row, np.array([end]))
        if self._n_repeats:
            warnings.warn(
                f"{printable(self._first_repeat)}. There are {self._n_repeats} repeated items in all; each is counted "
                "once.",
                DuplicateItemsWarning,
                stacklevel=3,
            )

    def _distinct(
        self, first: int, lengths: AnyArray, cells: AnyArray, names: Sequence[str] | None
    ) -> tuple[AnyArray, AnyArray]:
        """Return the number of distinct items of each row, and their cells in ascending order."""
        stride = (int(cells.max(initial=0)) // self._scale + 1) * self._scale
        sorted_cells = np.repeat(np.arange(len(lengths)) * stride, lengths) + cells
        pairs = sorted_cells // self._scale
        if (pairs[1:] > pairs[:-1]).all():  # most files are sorted already
            return lengths, cells
        sorted_cells.sort()
        pairs = sorted_cells // self._scale
        repeats = np.flatnonzero(pairs[1:] == pairs[:-1])
        if len(repeats):
            conflicts = repeats[sorted_cells[repeats] != sorted_cells[repeats + 1]]
            first_pair = int((conflicts if len(conflicts) else repeats)[0])
            row, item = divmod(int(pairs[first_pair]), stride // self._scale)
            label = f"{self._row_label(first + row)}: item {item if names is None else quoted(names[item])}"
            if len(conflicts):
                pair_values = sorted_cells[first_pair : first_pair + 2] % self._scale
                values = ["null" if value == NULL else quoted(value) for value in pair_values]
                raise TableError(f"{label} has the values {' and '.join(values)}. Keep one line per pair.")
            self._first_repeat = self._first_repeat or f"{label} occurs twice"
            self._n_repeats += len(repeats)
            sorted_cells = np.delete(sorted_cells, repeats)
        rows, cells = np.divmod(sorted_cells, stride)
        return np.bincount(rows, minlength=len(lengths)), cells

    def _row_label(self, row: int) -> str:
        """Return the name of a row in messages: its position in its file, or its number if rows were grouped."""
        if self._keys is not None:
            return f"row {row}"
        label, offset = next((label, offset) for start, label, offset in reversed(self._files) if start <= row)
        return f"{label} {row - offset}"

    def _source(self, n_columns: int, keys: Any, empty: Empty) -> Source:
        """Return the source of the rows: in memory, or in files that are removed with the source."""
        if self._folder is None:
            starts = self._starts.get()
            return HeldItems(*_bits(starts, self._cells.get(0, starts[-1]), n_columns, empty, self._scale), keys)
        source = SpilledItems(self._starts, self._cells, self._keys, n_columns, self._n_ones, empty, self._scale)
        weakref.finalize(source, shutil.rmtree, self._folder, ignore_errors=True)
        warnings.warn(
            f"The {source.n_rows:,} rows of items were written to {self._folder}, because they take more than "
            f"{HELD_BYTES / 1e6:.0f} MB. The files are removed when the table is no longer used. For workers on other "
            "machines set TMPDIR to a folder that all of them can read.",
            SpilledTableWarning,
            stacklevel=3,
        )
        return source


@dataclass(frozen=True, eq=False)
class HeldItems(MemorySource):
    """Rows in memory; rows of pairs have keys."""

    keys: Any = None

    def row_keys(self, start: int, stop: int) -> NDArray[Any]:
        """Return the keys of rows start to stop."""
        return np.asarray(self.keys[start:stop].to_numpy(zero_copy_only=False))


@dataclass(frozen=True, eq=False)
class SpilledItems:
    """Rows in temporary files; `read` opens the files again, in any thread or process.

    Attributes
    ----------
    starts, cells : Spool
        Positions at which rows begin, and the cells: column numbers, or four times these plus the value of a pair.
    keys : KeySpool or None
        The keys of rows of pairs.
    n_columns, n_ones : int
        Number of columns, and of 1s.
    empty : {"auto", "zero", "missing"}
        What an item that is not listed means.
    scale : int
        4 if cells hold values, otherwise 1.
    """

    starts: Spool
    cells: Spool
    keys: KeySpool | None
    n_columns: int
    n_ones: int
    empty: Empty
    scale: int

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
        return 16 + 2 * self.cells.nbytes / self.n_rows

    @property
    def row_cells(self) -> float:
        """Cells of a row that arithmetic uses: its 1s."""
        return self.n_ones / self.n_rows

    def read(self, start: int, stop: int) -> tuple[Bits, Bits]:
        """Return (x, observed) of rows start to stop."""
        starts = self.starts.get(start, max(start, min(stop, self.n_rows)) + 1)
        cells = self.cells.get(starts[0], starts[-1])
        return _bits(starts - starts[0], cells, self.n_columns, self.empty, self.scale)

    def row_keys(self, start: int, stop: int) -> NDArray[Any]:
        """Return the keys of rows start to stop."""
        keys = None if self.keys is None else self.keys.all()[start:stop]
        return np.asarray(keys if keys is None else keys.to_numpy())


def _bits(starts: AnyArray, cells: AnyArray, n_columns: int, empty: Empty, scale: int) -> tuple[Bits, Bits]:
    """Return (x, observed) of rows. If pairs have values, cells without a line are missing, unless ``empty="zero"``."""
    if scale == 1:
        x = Pattern(starts, cells, n_columns)
        return x, x if empty == "missing" else AllOnes(x.shape)
    items, values = np.divmod(cells, 4)

    def pattern_of(mask: AnyArray) -> Pattern:
        return Pattern(np.concatenate([[0], np.cumsum(mask)])[starts], items[mask], n_columns)

    x = pattern_of(values == 1)
    return x, AllOnes(x.shape) if empty == "zero" else pattern_of(values != NULL)


def item_names(items: Any, request: Request) -> tuple[str, ...] | None:
    """Return the item names in ``items=``: a sequence, or a text file with one name per line."""
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
    """Return the number of columns from n_columns= or the item names; None if neither is given."""
    n_columns = request.n_columns if request.n_columns is not None else None if names is None else len(names)
    if names is not None and n_columns != len(names):
        raise TableError(f"items= names {len(names)} items, but n_columns={request.n_columns}.")
    if n_columns is not None and not 0 < n_columns <= min(max_columns, MAX_ITEMS):
        raise TableError(f"n_columns={n_columns} is not between 1 and max_columns={max_columns}.")
    return n_columns
