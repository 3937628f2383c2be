"""The tables that are mapped: bits, and a class of every row that no program is given."""

from typing import Any, NamedTuple

import numpy as np
from benchmarks.peers import drawn
from numpy.typing import NDArray

from hiddenbits.datasets import data_folder, load_senate109, load_usps, load_zoo

SEED, ROWS, MANY = 0, 2_000, 20_000
FEWER = 500  # rows of news100 and digits that are mapped


class Mapped(NamedTuple):
    """A table to map; `new` are further rows, none where the table has no more; `metric` is umap-learn's."""

    X: NDArray[Any]
    classes: NDArray[np.int64]
    what: str
    new: NDArray[Any]
    metric: str = "jaccard"


def labelled(X: Any, labels: Any, what: str, rows: int, metric: str = "hamming") -> Mapped:
    """Return some rows of a table, chosen at random, and as many others as new ones."""
    classes = np.unique(labels, return_inverse=True)[1]
    order = np.random.default_rng(SEED).permutation(len(X))
    some, rest = (order[:rows], order[rows : 2 * rows]) if rows < len(X) else (np.arange(len(X)), order[:0])
    return Mapped(X[some], classes[some], what, X[rest], metric)


def zoo(rows: int = ROWS) -> Mapped:
    found = load_zoo()
    return labelled(found.X, found.type, "type", rows)


def senate(rows: int = ROWS) -> Mapped:
    found = load_senate109()
    return labelled(found.X, found.party, "party", rows)


def news(rows: int = ROWS) -> Mapped:
    with np.load(data_folder() / "tables" / "news100.npz") as arrays:
        return labelled(arrays["X"].astype(np.uint8), arrays["group"], "newsgroup", rows, "jaccard")


def digits(rows: int = ROWS) -> Mapped:
    found = load_usps()
    return labelled(found.train, found.train_label, "digit", rows)


def peers(rows: int = ROWS) -> Mapped:
    found = drawn.mixture(rows)
    return Mapped(found.train, found.truth["classes"], "class", found.test)


TABLES = {"zoo": zoo, "senate109": senate, "news100": news, "digits": digits, "ten classes": peers}
