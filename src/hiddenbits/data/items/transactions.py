"""Lists of transactions in memory: sets, or lists of item names."""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import chain
from typing import Any

import numpy as np

from hiddenbits.data.cell_checks import MAX_COLUMNS
from hiddenbits.data.items.gather import ItemBatch, open_items
from hiddenbits.data.request import Request
from hiddenbits.data.table import Table
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import quoted

CELL_WORDS = {"0", "1", "0.0", "1.0", "true", "false", "yes", "no", "", "na", "n/a", "nan", "null", "none", "?"}


def is_transactions(X: Any) -> bool:
    """Whether an object is a list of sets, or of lists of names that differ in length."""
    if not isinstance(X, (list, tuple)) or not X:
        return False
    if all(isinstance(row, Set) for row in X):
        return True
    if not all(isinstance(row, (list, tuple, Set)) for row in X):
        return False
    words = [item for row in X for item in row]
    if not words or not all(isinstance(item, str) for item in words):
        return False
    if len({len(row) for row in X}) > 1:
        return True
    if all(word.strip().lower() in CELL_WORDS for word in words):
        return False  # a table of text
    raise TableError(
        "A list of lists of words, all of one length, may be transactions or a table. Give transactions as sets, and "
        "a table as a dict of columns or a frame."
    )


def open_transactions(X: Sequence[Any], request: Request) -> Table:
    """Open transactions: a row for each, a column for each item, sorted; 1 if a transaction contains the item."""
    if request.threshold is not None:
        raise TableError("threshold= does not apply to baskets, which contain items, not numbers.")
    for number, row in enumerate(X):
        for item in row:
            if not isinstance(item, (str, int, np.integer)) or isinstance(item, bool):
                raise TableError(f"row {number}: {quoted(item)} is not the name or number of an item.")
    lengths = np.array([len(row) for row in X])
    items = list(chain.from_iterable(X))
    if any(isinstance(item, str) for item in items):
        items = list(map(str, items))  # numbers without names are sorted as numbers
    code_of = {item: code for code, item in enumerate(dict.fromkeys(items))}
    codes = np.array([code_of[item] for item in items], np.int32)
    batch = ItemBatch("", "row", 0, np.cumsum(lengths) - lengths, (codes, list(code_of)))
    return open_items(request, [batch], None, MAX_COLUMNS, 0)
