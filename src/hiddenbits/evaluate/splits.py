"""Which rows are fitted and which are held out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiddenbits import Table

Rows = NDArray[np.int64]


class Split(NamedTuple):
    """Numbers of the rows to fit on and of those to judge on, each in rising order."""

    train: Rows
    test: Rows


def splits(table: Table, cv: Any, seed: int) -> list[Split]:
    """Return the splits that `cv` asks for.

    A share makes one split, a number as many folds, each of which is held out once; both deal the rows at random. What
    scikit-learn calls a splitter, and pairs of row numbers, are taken as they are.
    """
    n = table.shape[0]
    if isinstance(cv, (int, np.integer)):
        if not 2 <= cv <= n:
            raise ValueError(f"cv={cv}: give 2 to {n} folds, a share of the rows to hold out, or pairs of row numbers.")
        fold = np.random.default_rng([seed, 11]).permutation(np.arange(n) % int(cv))
        return [Split(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(int(cv))]
    if isinstance(cv, (float, np.floating)):
        return [held_out(np.arange(n), float(cv), seed)]
    try:
        pairs: Iterable[Any] = cv.split(np.zeros((n, 1))) if hasattr(cv, "split") else cv
        found = [Split(*(np.sort(np.asarray(rows, np.int64)) for rows in (train, test))) for train, test in pairs]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"cv={cv!r}: give a share of the rows to hold out, a number of folds, a scikit-learn splitter, or pairs "
            "(training rows, test rows)."
        ) from error
    for number, split in enumerate(found):
        _check(split, n, number)
    if not found:
        raise ValueError("cv= has no split in it. Give at least one pair (training rows, test rows).")
    return found


def _check(split: Split, n: int, number: int) -> None:
    if not len(split.train) or not len(split.test):
        raise ValueError(f"Split {number} of cv= has no training rows or no test rows.")
    if np.intersect1d(split.train, split.test).size:
        raise ValueError(f"Split {number} of cv= has rows that are fitted and judged. A test row is never fitted.")
    if min(split.train[0], split.test[0]) < 0 or max(split.train[-1], split.test[-1]) >= n:
        raise ValueError(f"Split {number} of cv= names rows that the table does not have: it has {n}.")


def held_out(rows: Rows, share: float, seed: int, *, key: int = 12) -> Split:
    """Return the given rows dealt in two at random, a share of them held out, at least one and not all."""
    if not 0.0 < share < 1.0:
        raise ValueError(f"{share} is no share of rows to hold out: give a number between 0 and 1.")
    if len(rows) < 2:
        raise ValueError("There is only one row: nothing can be held out.")
    many = min(max(1, round(share * len(rows))), len(rows) - 1)
    out = np.zeros(len(rows), bool)
    out[np.random.default_rng([seed, key]).permutation(len(rows))[:many]] = True
    return Split(np.asarray(rows)[~out], np.asarray(rows)[out])
