"""Splits into training and test rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hiddenbits.tables import Table

Rows = NDArray[np.int64]
QUARTERS = 4  # by default a quarter of the rows is held out, and then the next,
ENOUGH = 1000  # until this many rows have been scored
MOST = 40_000  # and of longer tables about so many rows take part, fitted and scored


class Split(NamedTuple):
    """The row numbers to fit on and to score on, each in increasing order."""

    train: Rows
    test: Rows


def splits(table: Table, cv: Any, seed: int, groups: ArrayLike | None = None) -> list[Split]:
    """Return the splits that `cv` asks for; rows of a group stay together.

    None holds out one quarter of the rows after the other until 1,000 rows have been scored: four quarters of a table
    with up to 1,333 rows, one quarter from 4,000 rows on, and of a table with more than 40,000 rows one quarter of
    40,000 rows drawn at random. A share makes one split; a number makes as many folds, each
    held out once. These assign groups at random; without groups every row is a group. A scikit-learn splitter and pairs
    of row numbers are used as they are.
    """
    n = table.shape[0]
    group = group_numbers(groups, n)
    many = int(group.max()) + 1
    if cv is None:
        rows = _drawn(group, seed)
        group = np.unique(group[rows], return_inverse=True)[1]
        folds = _folds(group, min(QUARTERS, int(group.max()) + 1), seed)[: -(-QUARTERS * ENOUGH // len(rows))]
        return [Split(rows[train], rows[test]) for train, test in folds]
    if isinstance(cv, (int, np.integer)):
        if not 2 <= cv <= many:
            words = "" if groups is None else f" There are {many} groups."
            raise ValueError(
                f"cv={cv}: give 2 to {many} folds, a share of the rows to hold out, or pairs of row numbers.{words}"
            )
        return _folds(group, int(cv), seed)
    if isinstance(cv, (float, np.floating)):
        return [_held_out(group, float(cv), seed)]
    try:
        if hasattr(cv, "split"):
            cv = cv.split(np.zeros((n, 1)), None, None if groups is None else group)
        pairs: Iterable[Any] = cv
        found = [Split(*(np.sort(np.asarray(rows, np.int64)) for rows in (train, test))) for train, test in pairs]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"cv={cv!r}: give a share of the rows to hold out, a number of folds, a scikit-learn splitter, or pairs "
            "(training rows, test rows)."
        ) from error
    for number, split in enumerate(found):
        _check(split, n, number)
        if np.intersect1d(group[split.train], group[split.test]).size:
            raise ValueError(
                f"Split {number} of cv= has rows of one group in both training and test. Keep groups together."
            )
    if not found:
        raise ValueError("cv= is empty. Give at least one pair (training rows, test rows).")
    return found


def group_numbers(groups: ArrayLike | None, n_rows: int) -> Rows:
    """Return the number of each row's group, from 0; without groups every row is its own."""
    if groups is None:
        return np.arange(n_rows)
    labels = np.asarray(groups)
    if labels.shape != (n_rows,):
        raise ValueError(f"groups= has shape {labels.shape}: give one label for each of the {n_rows} rows.")
    numbers = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    if numbers.max() == 0:
        raise ValueError("groups= puts all rows into one group: nothing can be held out.")
    return numbers


def _check(split: Split, n: int, number: int) -> None:
    if not len(split.train) or not len(split.test):
        raise ValueError(f"Split {number} of cv= has no training rows or no test rows.")
    if np.intersect1d(split.train, split.test).size:
        raise ValueError(f"Split {number} of cv= has rows in both training and test. Make the two disjoint.")
    if min(split.train[0], split.test[0]) < 0 or max(split.train[-1], split.test[-1]) >= n:
        raise ValueError(f"Split {number} of cv= has row numbers outside the table, which has {n} rows.")


def _drawn(group: Rows, seed: int) -> Rows:
    """Return the rows that take part by default: all, or those of groups drawn at random, about `MOST` rows."""
    if len(group) <= MOST:
        return np.arange(len(group))
    order = np.random.default_rng([seed, 14]).permutation(group.max() + 1)
    reached = np.cumsum(np.bincount(group)[order])
    kept = np.zeros(len(order), bool)
    kept[order[: max(QUARTERS, int(np.searchsorted(reached, MOST, side="right")))]] = True
    return np.flatnonzero(kept[group])


def _folds(group: Rows, number: int, seed: int) -> list[Split]:
    """Return folds of whole groups, equally many groups in each, each fold held out once."""
    if number < 2:
        raise ValueError("There is only one row: nothing can be held out.")
    fold = np.random.default_rng([seed, 11]).permutation(np.arange(group.max() + 1) % number)[group]
    return [Split(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(number)]


def _held_out(group: Rows, share: float, seed: int) -> Split:
    """Return one split that holds out a share of the groups, at least one and not all."""
    if not 0.0 < share < 1.0:
        raise ValueError(f"cv={share}: the share of rows to hold out must be between 0 and 1.")
    many = int(group.max()) + 1
    if many < 2:
        raise ValueError("There is only one row: nothing can be held out.")
    number = min(max(1, round(share * many)), many - 1)
    out = np.zeros(many, bool)
    out[np.random.default_rng([seed, 12]).permutation(many)[:number]] = True
    return Split(np.flatnonzero(~out[group]), np.flatnonzero(out[group]))
