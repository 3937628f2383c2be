"""What the lines of pair files say: which column an item is, what was seen there, and the bits of whole rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data.bits import AllOnes, Bits, Pattern
from hiddenbits.data.cell_checks import Blank
from hiddenbits.data.errors import TableError
from hiddenbits.data.items.items import Repeats, basket_bits, sort_baskets
from hiddenbits.data.named.parquet.columns import column_bits
from hiddenbits.data.named.parquet.files import pyarrow
from hiddenbits.data.named.parquet.pair_lines import plain
from hiddenbits.quoting import quoted

NULL = 2  # code of a value that is null; 0 and 1 are themselves
SORTED = 1 << 20  # cells sorted at a time: sorting takes several times their memory
KEPT = 1 << 20  # items found in single batches, before they are joined with those known


class Vocabulary:
    """The distinct items of many batches."""

    def __init__(self, kind: str, max_columns: int, max_bytes: int) -> None:
        self._known = pyarrow().array([], kind)
        self._new: list[Any] = []
        self._max_columns, self._max_bytes = max_columns, max_bytes

    def add(self, items: Any) -> None:
        """Take note of the items of a batch."""
        self._new.append(items.unique())
        if sum(map(len, self._new)) > KEPT:
            self._join()

    def _join(self) -> None:
        self._known, self._new = pyarrow().concat_arrays([self._known, *self._new]).unique(), []
        if len(self._known) > self._max_columns:
            raise TableError(f"more than max_columns={self._max_columns} items. Raise max_columns=, or remove some.")
        if self._known.nbytes > self._max_bytes:
            raise TableError(
                f"the item names take more than max_bytes={self._max_bytes} bytes. Use numbers instead of names."
            )

    def items(self) -> list[Any]:
        """Return all items, ascending."""
        self._join()
        return sorted(self._known.to_pylist())


@dataclass(frozen=True, eq=False)
class ItemColumns:
    """Which column an item is.

    Attributes
    ----------
    column, kind : str
        The column of the file that holds the items, and the Arrow type in which they are compared.
    n_columns : int
        Number of columns of the table.
    items : tuple of str, ndarray of int, or None
        The items in the order of the table's columns; numbers ascend. None: item i is column i.
    """

    column: str
    kind: str
    n_columns: int
    items: tuple[str, ...] | NDArray[Any] | None

    def finder(self) -> Callable[[Any, int], NDArray[np.int32]]:
        """Return a function that makes column numbers of a batch of items whose first line it is told."""
        if self.items is None:
            return self._numbered
        if isinstance(self.items, tuple):
            known = {name: j for j, name in enumerate(self.items)}

            def by_name(array: Any, first: int) -> NDArray[np.int32]:
                encoded = plain(array, self.kind, self.column, first).dictionary_encode()  # look each name up once
                found = np.array([known.get(name, -1) for name in encoded.dictionary.to_pylist()], np.int32)
                return self._known(found[encoded.indices.to_numpy(zero_copy_only=False)], array, first)

            return by_name
        return self._searched

    def _numbered(self, array: Any, first: int) -> NDArray[np.int32]:
        items = plain(array, self.kind, self.column, first).to_numpy(zero_copy_only=False)
        bad = (items < 0) | (items >= self.n_columns)
        if bad.any():
            at = int(np.argmax(bad))
            said = "is negative" if items[at] < 0 else f"is beyond the {self.n_columns} columns"
            raise TableError(
                f"line {first + at}: item {quoted(items[at])} {said}. Without n_columns= every item that occurs is a "
                "column."
            )
        return np.asarray(items, np.int32)

    def _searched(self, array: Any, first: int) -> NDArray[np.int32]:
        items = plain(array, self.kind, self.column, first).to_numpy(zero_copy_only=False)
        held = np.asarray(self.items)
        found = np.minimum(np.searchsorted(held, items), len(held) - 1)
        return self._known(np.where(held[found] == items, found, -1).astype(np.int32), array, first)

    def _known(self, found: NDArray[np.int32], array: Any, first: int) -> NDArray[np.int32]:
        if len(found) and found.min() < 0:
            at = int(np.argmin(found))
            raise TableError(
                f"line {first + at}: the item {quoted(array[at].as_py())} is not one of the table's items. List all "
                "items with items=, or open the table again if the file has changed."
            )
        return found


def value_codes(array: Any, threshold: float | None, column: str, first: int) -> NDArray[np.uint8]:
    """Check a batch of values and return their codes: 0, 1, or `NULL`."""
    try:
        bits, blanks = column_bits(array, threshold, column, first)
    except TableError as error:
        raise TableError(re.sub(r"^row (\d+), column 0 \(", r"line \1, column (", str(error))) from error
    return bits if blanks is None else np.where(blanks, np.uint8(NULL), bits)


def pair_bits(
    lengths: NDArray[np.int64],
    items: NDArray[np.int32],
    codes: NDArray[np.uint8] | None,
    n_columns: int,
    blank: Blank,
    where: str,
    first_row: int = 0,
) -> tuple[Bits, Bits]:
    """Return (x, observed) of rows.

    Parameters
    ----------
    lengths : ndarray of shape (rows,)
        Number of lines of each row.
    items : ndarray of shape (lines,)
        Column numbers, row after row.
    codes : ndarray of shape (lines,), optional
        What was seen there: 0, 1 or `NULL`. By default every line is a 1.
    n_columns, blank
        Of the table. With codes a cell without a line was not observed, unless ``blank="zero"``.
    where, first_row : str, int
        How messages name a row: `where` followed by its number.
    """
    repeats = Repeats()
    kept_lengths, kept_items, kept_codes = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)], [np.zeros(0, np.uint8)]
    for rows, cells in _slices(lengths):
        some, row = lengths[rows], first_row + rows.start
        if codes is None:
            some, held = sort_baskets(some, items[cells], repeats, where, row)
        else:
            some, held, seen = _sort_values(some, items[cells], codes[cells], repeats, where, row)
            kept_codes.append(seen)
        kept_lengths.append(some)
        kept_items.append(held)
    repeats.warn()
    lengths, items = np.concatenate(kept_lengths), np.concatenate(kept_items)
    if codes is None:
        return basket_bits(lengths, items, n_columns, blank)
    codes = np.concatenate(kept_codes)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    x = _pattern(indptr, items, codes == 1, n_columns)
    return x, AllOnes(x.shape) if blank == "zero" else _pattern(indptr, items, codes != NULL, n_columns)


def _slices(lengths: NDArray[np.int64]) -> Iterator[tuple[slice, slice]]:
    """Yield (rows, cells) of a few rows at a time."""
    ends = np.cumsum(lengths)
    row = cell = 0
    while row < len(lengths):
        stop = max(row + 1, int(np.searchsorted(ends, cell + SORTED, side="right")))
        yield slice(row, stop), slice(cell, int(ends[stop - 1]))
        row, cell = stop, int(ends[stop - 1])


def _sort_values(
    lengths: NDArray[np.int64],
    items: NDArray[np.int32],
    codes: NDArray[np.uint8],
    repeats: Repeats,
    where: str,
    first_row: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]]:
    """Return (lengths, items, codes) with the items of each row ascending and distinct; see `sort_baskets`."""
    row = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    stride = int(items.max(initial=0)) + 1
    cell = row * stride + items
    if not (np.diff(cell) > 0).all():
        order = np.lexsort((codes, cell))
        cell, codes = cell[order], codes[order]
        again = np.flatnonzero(np.diff(cell) == 0)
        other = again[codes[again] != codes[again + 1]]
        if len(other):
            at, item = divmod(int(cell[other[0]]), stride)
            seen = " and ".join("null" if code == NULL else quoted(code) for code in codes[other[0] : other[0] + 2])
            raise TableError(f"{where} {first_row + at}: item {item} has the values {seen}. Keep one line per pair.")
        if len(again):
            if not repeats.count:
                at, item = divmod(int(cell[again[0]]), stride)
                repeats.first = f"{where} {first_row + at}: item {item} occurs twice"
            repeats.count += len(again)
            cell, codes = np.delete(cell, again), np.delete(codes, again)
        row, items = cell // stride, (cell % stride).astype(np.int32)
    return np.bincount(row, minlength=len(lengths)).astype(np.int64), items, codes


def _pattern(indptr: NDArray[np.int64], items: NDArray[np.int32], keep: NDArray[np.bool_], n_columns: int) -> Pattern:
    """Return the pattern of the cells to keep."""
    before = np.concatenate([[0], np.cumsum(keep)]).astype(np.int64)
    return Pattern(before[indptr], items[keep], n_columns)
