"""Baskets: rows given as lists of items, turned into the pattern of a table."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data.bits import AllOnes, Bits, Pattern
from hiddenbits.data.cell_checks import MAX_BYTES, Blank, check_distinct
from hiddenbits.data.errors import TableError
from hiddenbits.data.file_request import FileRequest, reading
from hiddenbits.data.locations.places import find_place
from hiddenbits.data.text_files import read_lines
from hiddenbits.quoting import printable


class DuplicateItemsWarning(UserWarning):
    """An item occurs twice in one basket; it is counted once."""


@dataclass
class Repeats:
    """How often an item was repeated within its basket, and where that was first seen."""

    count: int = 0
    first: str = ""

    def warn(self) -> None:
        """Give one warning for all of them."""
        if self.count:
            warnings.warn(
                f"{printable(self.first)}. There are {self.count} repeated items in all; each is counted once.",
                DuplicateItemsWarning,
                stacklevel=3,
            )


def sort_baskets(
    lengths: NDArray[np.int64], items: NDArray[Any], repeats: Repeats, where: str, first_row: int
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return (lengths, items) with the items of each basket ascending and distinct.

    Parameters
    ----------
    lengths : ndarray of shape (rows,)
        Number of items in each basket.
    items : ndarray
        Item numbers, basket after basket; not negative.
    repeats : Repeats
        Counts the items that are dropped.
    where, first_row : str, int
        How messages name a row: `where` followed by its number.
    """
    if not len(items):
        return lengths, items
    row = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    stride = int(items.max()) + 1
    key = row * stride + items
    step = np.diff(key)
    if (step > 0).all():  # most files are in order already
        return lengths, items
    key.sort()
    again = np.flatnonzero(np.diff(key) == 0)
    if len(again):
        if not repeats.count:
            at, item = divmod(int(key[again[0]]), stride)
            repeats.first = f"{where} {first_row + at}: item {item} occurs twice"
        repeats.count += len(again)
        key = np.delete(key, again)
    row, items = key // stride, (key % stride).astype(items.dtype)
    return np.bincount(row, minlength=len(lengths)).astype(np.int64), items


def basket_bits(lengths: NDArray[np.int64], items: NDArray[Any], n_columns: int, blank: Blank) -> tuple[Bits, Bits]:
    """Return (x, observed) of sorted baskets. With ``blank="missing"`` only the items were observed."""
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    x = Pattern(indptr, items.astype(np.int32, copy=False), n_columns)
    return x, (x if blank == "missing" else AllOnes(x.shape))


def row_of(lengths: NDArray[np.int64], at: int) -> int:
    """Return the row in which item number `at` of all the baskets lies."""
    return int(np.searchsorted(np.cumsum(lengths), at, side="right"))


def item_names(items: Any, request: FileRequest | None = None) -> tuple[str, ...] | None:
    """Return the item names of ``items=``: a sequence of them, or a text file with one a line."""
    if items is None:
        return None
    if isinstance(items, (str, os.PathLike)):
        path = find_place(items, {} if request is None else request.storage_options)
        names = read_lines(path, MAX_BYTES)
        with reading(path):
            check_distinct(names)
    else:
        names = tuple(str(item) for item in items)
        check_distinct(names)
    if not names:
        raise TableError("items= is empty. Give at least one item.")
    return names


def check_items(request: FileRequest, names: Sequence[str] | None, max_columns: int) -> int | None:
    """Return the number of columns that n_columns= or the names of the items give; None if neither."""
    if request.threshold is not None:
        raise TableError("threshold= does not apply to baskets, which contain items, not numbers.")
    given = request.n_columns if request.n_columns is not None else None if names is None else len(names)
    if names is not None and given != len(names):
        raise TableError(f"items= names {len(names)} items, but n_columns={request.n_columns}.")
    if given is not None and not 0 < given <= min(max_columns, 2**31 - 1):
        raise TableError(f"n_columns={given} is not between 1 and max_columns={max_columns}.")
    return given
