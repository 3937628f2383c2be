"""Splits into training and test rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hiddenbits.tables import Table

Rows = NDArray[np.int64]
QUARTERS = 4  # by default one quarter of the rows is held out after the other,
MIN_SCORED_ROWS = 1000  # until this many rows have been scored
MAX_ROWS = 40_000  # larger tables are sampled to about this many rows, fitted and scored


class Split(NamedTuple):
    """The row numbers to fit on and to score on, each in increasing order."""

    train: Rows
    test: Rows


def splits(table: Table, cv: Any, seed: int, groups: ArrayLike | None = None) -> list[Split]:
    """Return the splits that `cv` specifies; rows of a group stay together.

    None holds out one quarter of the rows after the other until 1,000 rows have been scored: four quarters of a table
    with up to 1,333 rows, one quarter from 4,000 rows on, and one quarter of 40,000 random rows of a larger
    table. A share makes one split; a number makes as many folds, each held out once. All of these assign groups at
    random; without groups every row is a group. A scikit-learn splitter and pairs of row numbers are used as they are.
    """
    n = table.shape[0]
    group = group_numbers(groups, n)
    n_groups = int(group.max()) + 1
    if cv is None:
        rows = _sampled_rows(group, seed)
        group = np.unique(group[rows], return_inverse=True)[1]
        folds = _folds(group, min(QUARTERS, int(group.max()) + 1), seed)[: -(-QUARTERS * MIN_SCORED_ROWS // len(rows))]
        return [Split(rows[train], rows[test]) for train, test in folds]
    if isinstance(cv, (int, np.integer)):
        if not 2 <= cv <= n_groups:
            hint = "" if groups is None else f" There are {n_groups} groups."
            raise ValueError(
                f"cv={cv}: give 2 to {n_groups} folds, a share of the rows to hold out, or pairs of row numbers.{hint}"
            )
        return _folds(group, int(cv), seed)
    if isinstance(cv, (float, np.floating)):
        return [_held_out(group, float(cv), seed)]
    try:
        if hasattr(cv, "split"):
            cv = cv.split(np.zeros((n, 1)), None, None if groups is None else group)
        pairs: Iterable[Any] = cv
        all_splits = [Split(*(np.sort(np.asarray(rows, np.int64)) for rows in (train, test))) for train, test in pairs]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"cv={cv!r}: give a share of the rows to hold out, a number of folds, a scikit-learn splitter, or pairs "
            "(training rows, test rows)."
        ) from error
    for number, split in enumerate(all_splits):
        _check(split, n, number)
        if np.intersect1d(group[split.train], group[split.test]).size:
            raise ValueError(
                f"Split {number} of cv= has rows of one group in both training and test. Keep groups together."
            )
    if not all_splits:
        raise ValueError("cv= is empty. Give at least one pair (training rows, test rows).")
    return all_splits


def group_numbers(groups: ArrayLike | None, n_rows: int) -> Rows:
    """Return the number of each row's group, from 0; without groups every row is a group."""
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


def _sampled_rows(group: Rows, seed: int) -> Rows:
    """Return the rows to use by default: all, or those of groups sampled at random, about `MAX_ROWS` rows."""
    if len(group) <= MAX_ROWS:
        return np.arange(len(group))
    order = np.random.default_rng([seed, 14]).permutation(group.max() + 1)
    total_rows = np.cumsum(np.bincount(group)[order])
    is_sampled = np.zeros(len(order), bool)
    is_sampled[order[: max(QUARTERS, int(np.searchsorted(total_rows, MAX_ROWS, side="right")))]] = True
    return np.flatnonzero(is_sampled[group])


def _folds(group: Rows, number: int, seed: int) -> list[Split]:
    """Return folds of whole groups, with equally many groups in each; each fold is held out once."""
    if number < 2:
        raise ValueError("There is only one row: nothing can be held out.")
    fold = np.random.default_rng([seed, 11]).permutation(np.arange(group.max() + 1) % number)[group]
    return [Split(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(number)]


def _held_out(group: Rows, share: float, seed: int) -> Split:
    """Return one split that holds out a share of the groups, at least one and not all."""
    if not 0.0 < share < 1.0:
        raise ValueError(f"cv={share}: the share of rows to hold out must be between 0 and 1.")
    n_groups = int(group.max()) + 1
    if n_groups < 2:
        raise ValueError("There is only one row: nothing can be held out.")
    n_held_out = min(max(1, round(share * n_groups)), n_groups - 1)
    held_out = np.zeros(n_groups, bool)
    held_out[np.random.default_rng([seed, 12]).permutation(n_groups)[:n_held_out]] = True
    return Split(np.flatnonzero(~held_out[group]), np.flatnonzero(held_out[group]))
