"""Plain Python objects: a dict of columns, a list of records, a list of transactions."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

from hiddenbits.data.bits import AllOnes, Pattern
from hiddenbits.data.errors import TableError
from hiddenbits.data.items.items import DuplicateItemsWarning
from hiddenbits.data.request import Request
from hiddenbits.data.table import MemorySource, Table
from hiddenbits.quoting import quoted

SPELLINGS = {"0", "1", "0.0", "1.0", "true", "false", "yes", "no", "", "na", "n/a", "nan", "null", "none", "?"}


def is_columns(X: Any) -> bool:
    """Whether an object is a dict of columns."""
    if not isinstance(X, Mapping) or hasattr(X, "shape"):  # SciPy's sparse arrays by key are mappings, too
        return False
    return len(X) > 0 and all(_is_column(column) for column in X.values())


def is_records(X: Any) -> bool:
    """Whether an object is a list of dicts, each a row."""
    return isinstance(X, (list, tuple)) and bool(X) and all(isinstance(row, Mapping) for row in X)


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


def columns_of(X: Any) -> dict[str, Any]:
    """Return a dict of columns, or a list of records, as columns of equal length; what a record lacks is a blank."""
    if not isinstance(X, Mapping):
        keys = dict.fromkeys(key for row in X for key in row)
        X = {key: [row.get(key) for row in X] for key in keys}
    names = [str(name) for name in X]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise TableError(f"Two columns are called {twice!r}. Give each column a unique name.")
    lengths = {name: len(column) for name, column in zip(names, X.values(), strict=True)}
    first = next(iter(lengths), "")
    for name, length in lengths.items():
        if length != lengths[first]:
            raise TableError(
                f"Column {name!r} has {length} cells, but {first!r} has {lengths[first]}. Give all columns the same."
            )
    return dict(zip(names, X.values(), strict=True))


def _is_column(column: Any) -> bool:
    if isinstance(column, (str, bytes, Mapping, Set)) or not hasattr(column, "__len__"):
        return False
    return getattr(column, "ndim", 1) == 1 and (hasattr(column, "__iter__") or hasattr(column, "__array__"))
