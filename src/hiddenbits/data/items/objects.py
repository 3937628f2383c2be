"""Lists of transactions: sets, or lists of the names of items."""

from __future__ import annotations

import warnings
from collections.abc import Sequence, Set
from typing import Any

import numpy as np

from hiddenbits.data.bits import AllOnes, Pattern
from hiddenbits.data.errors import TableError
from hiddenbits.data.items.items import DuplicateItemsWarning
from hiddenbits.data.request import Request
from hiddenbits.data.table import MemorySource, Table
from hiddenbits.quoting import quoted

SPELLINGS = {"0", "1", "0.0", "1.0", "true", "false", "yes", "no", "", "na", "n/a", "nan", "null", "none", "?"}


def is_transactions(X: Any) -> bool:
    """Whether an object is a list of sets, or of lists of names that are not all of one length."""
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
    if all(word.strip().lower() in SPELLINGS for word in words):
        return False  # a table of text
    raise TableError(
        "A list of lists of words, all of one length, may be transactions or a table. Give transactions as sets, and "
        "a table as a dict of columns or a frame."
    )


def open_transactions(X: Sequence[Any], request: Request) -> Table:
    """Open transactions: a row for each, a column for each item, sorted; an item that a row has is a 1."""
    if request.threshold is not None:
        raise TableError("threshold= does not apply to baskets, which contain items, not numbers.")
    rows: list[list[str]] = []
    for number, row in enumerate(X):
        for item in row:
            if not isinstance(item, (str, int, np.integer)) or isinstance(item, bool):
                raise TableError(f"row {number}: {quoted(item)} is not the name or number of an item.")
        rows.append(sorted({str(item) for item in row}))
    listed = sorted({(item if not isinstance(item, str) else 0, str(item)) for row in X for item in row})
    names = list(dict.fromkeys(name for _, name in listed))  # numbers in their order, words by the alphabet
    if not names:
        raise TableError("All transactions are empty. A table needs at least one item.")
    repeated = sum(len(row) for row in X) - sum(map(len, rows))
    if repeated:
        warnings.warn(
            f"{repeated} items occur twice in their transaction; each is counted once.", DuplicateItemsWarning, 2
        )
    place = {name: j for j, name in enumerate(names)}
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.array([j for row in rows for j in sorted(place[item] for item in row)], np.int32)
    x = Pattern(indptr.astype(np.int64), indices, len(names))
    observed = x if request.blank == "missing" else AllOnes(x.shape)
    return Table(MemorySource(x, observed), tuple(names) if request.names is None else request.names)
