"""The rows and columns that the models use: all of a small table, a fixed sample of a large one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from hiddenbits import evaluate
from hiddenbits.array_types import AnyArray, Bytes, Floats
from hiddenbits.diagnostics import exclusive_groups
from hiddenbits.reporting.text import plain, quoted, sentence, told_apart
from hiddenbits.tables import Piece, Table, map_pieces

MOST_ROWS, MOST_COLUMNS, MOST_CELLS = 20_000, 1_000, 400_000
FEWEST_ROWS, FEWEST_COLUMNS = 12, 2  # no model is fitted to fewer
MIN_ROWS_ONE_OF = 50  # with fewer, exactly one of several columns may be 1 in every row by chance
MIN_COLUMNS_LEFT = 3  # answers to one question are excluded only if so many columns remain
PIECE_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows and columns of a table as numbers, NaN for missing values.

    Attributes
    ----------
    cells : ndarray of shape (sampled rows, sampled columns)
        The sampled cells.
    rows, columns : ndarray
        Numbers of the sampled rows and columns in the table, from 0.
    values, all_values : Values
        What the sampled columns, or all columns of the table, and their 1s are called.
    own_names : list of str
        Names of the sampled columns in the table.
    beside : dict
        Metadata columns: by name, the cells of the sampled rows.
    summary : Summary
        Counts over the whole table.
    seed : int
        Random seed of the sample.
    groups : ndarray or None
        Labels of the sampled rows; rows with the same label are held out together.
    one_of : tuple of tuples of str
        Groups of columns of which exactly one is 1 in every row, such as the answers to one question. A model would
        find that they exclude each other, and nothing else; so all columns of a group are excluded, or one of a pair.
    answers : tuple of int
        Numbers in the table of the columns that are excluded for this reason.
    """

    cells: Floats
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: Values
    all_values: Values
    own_names: list[str]
    beside: dict[str, list[str]]
    summary: Any
    seed: int
    groups: AnyArray | None = None
    one_of: tuple[tuple[str, ...], ...] = ()
    answers: tuple[int, ...] = ()

    @property
    def names(self) -> list[str]:
        """Names of the columns as shown, with the value that is coded as 1 unless it means yes."""
        return self.values.names

    @property
    def every_row(self) -> bool:
        """Whether all rows are used."""
        return bool(len(self.rows) == self.summary.n_rows)

    @property
    def limited(self) -> bool:
        """Whether some columns are excluded only because there are too many."""
        return bool(self.summary.n_columns - len(self.summary.constant_columns) > MOST_COLUMNS)

    @property
    def enough_data(self) -> bool:
        """Whether there are enough rows and columns to fit a model."""
        n, d = self.cells.shape
        return bool(n >= FEWEST_ROWS and d >= FEWEST_COLUMNS)

    @property
    def shares(self) -> Floats:
        """Share of 1s among the observed cells of each column; every column has some."""
        return np.asarray(np.nanmean(self.cells, axis=0))

    @cached_property
    def links(self) -> Floats:
        """Association of each pair of columns in the sampled cells (`associations`)."""
        return associations(self.cells)

    def about(self) -> list[Markup]:
        """Describe what was excluded, in sentences."""
        notes = []
        if not self.every_row:
            notes.append(
                sentence(
                    "The models were fitted to {} rows, chosen at random (seed {}) from all {}; each section states "
                    "the number of rows that its values are based on.",
                    f"{len(self.rows):,}",
                    self.seed,
                    f"{self.summary.n_rows:,}",
                )
            )
        left = self.summary.n_columns - len(self.names)
        if left:
            notes.append(
                sentence(
                    "The models use {} of the {} columns: constant columns{} are excluded{}.",
                    f"{len(self.names):,}",
                    f"{self.summary.n_columns:,}",
                    " and answers to one question, a column each," if self.one_of else "",
                    f", and of the others only the {MOST_COLUMNS:,} that vary most are used"
                    if len(self.names) == MOST_COLUMNS
                    else "",
                )
            )
        return notes


def drawn(table: Table, beside: Mapping[str, Sequence[str]], seed: int, groups: NDArray[Any] | None = None) -> Sample:
    """Summarize a table, and sample the rows and columns for the models."""
    summary = evaluate.describe(table)
    n_rows, n_columns = table.shape
    means = np.nan_to_num(summary.means)
    variation = means * (1.0 - means) * summary.observed
    order = np.argsort(-variation, kind="stable")[:MOST_COLUMNS]
    columns = np.sort(order[variation[order] > 0.0])
    max_rows = min(MOST_ROWS, max(FEWEST_ROWS, MOST_CELLS // max(1, len(columns))))
    rng = np.random.default_rng(seed)
    rows = np.arange(n_rows) if n_rows <= max_rows else np.sort(rng.choice(n_rows, max_rows, replace=False))
    pieces = list(map_pieces(_SampledCells(rows, columns), table, max(1, PIECE_CELLS // n_columns)))
    cells = np.concatenate(pieces).astype(np.float64)
    cells[cells > 1.0] = np.nan
    varying = (cells == 0.0).any(axis=0) & (cells == 1.0).any(axis=0)  # a rare column may be constant in the sample
    cells, columns = cells[:, varying], columns[varying]
    every_value, own_names = Values.of(summary.names, table.coding), list(summary.names)
    one_of = _answers(cells)
    excluded = {j for group in one_of for j in (group if len(group) > 2 else group[1:])}
    if cells.shape[1] - len(excluded) < MIN_COLUMNS_LEFT:
        one_of, excluded = [], set()
    answers = tuple(tuple(every_value.names[columns[j]] for j in group) for group in one_of)
    numbers = tuple(int(columns[j]) for j in sorted(excluded))
    remaining = [j for j in range(cells.shape[1]) if j not in excluded]
    cells, columns = cells[:, remaining], columns[remaining]
    return Sample(
        cells,
        rows,
        columns,
        every_value.taken(columns.tolist()),
        every_value,
        [own_names[j] for j in columns],
        {key: [str(values[i]) for i in rows] for key, values in beside.items()},
        summary,
        seed,
        None if groups is None else groups[rows],
        answers,
        numbers,
    )


def _answers(cells: Floats) -> list[tuple[int, ...]]:
    """Return the groups of columns of which exactly one is 1 in every row; none in tables with few rows."""
    if len(cells) < MIN_ROWS_ONE_OF:
        return []
    ones, recorded = np.nan_to_num(cells), (~np.isnan(cells)).astype(np.float64)
    return exclusive_groups(ones.T @ ones, recorded.T @ recorded)


@dataclass(frozen=True)
class _SampledCells:
    """Reads the sampled cells of a piece of rows, 2 if missing; a class, so that it can be sent to a cluster."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]

    def __call__(self, piece: Piece) -> Bytes:
        x, observed = piece.table.source.read(0, piece.table.shape[0])
        first, last = np.searchsorted(self.rows, [piece.start, piece.start + piece.table.shape[0]])
        rows = self.rows[first:last] - piece.start
        if not len(rows):
            return np.zeros((0, len(self.columns)), np.uint8)
        cells = x.to_dense()[rows][:, self.columns].astype(np.uint8)
        is_observed = observed.to_dense()[rows][:, self.columns]
        return np.where(is_observed != 0, cells, np.uint8(2))


# Pairs of columns: whether they are associated, and whether missing values of one depend on the other.

MIN_ERRORS, MIN_SHIFT = 4.0, 0.05  # of a share of 1s, if missing values of another column depend on it


def associations(cells: Floats) -> Floats:
    """Return phi sqrt(n - 1) of each pair of columns, a normal deviate if they are independent; (columns, columns).

    Each pair uses the n rows in which both are observed. If one column is constant there, the result is 0, as on the
    diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> cells = np.array([[0, 0, np.nan], [1, 1, 0], [1, 1, 1], [0, 0, 1], [1, 1, 0]])
    >>> associations(cells).round(2)
    array([[ 0.,  2., -1.],
           [ 2.,  0., -1.],
           [-1., -1.,  0.]])
    """
    ones, observed = np.nan_to_num(cells), (~np.isnan(cells)).astype(np.float64)
    both, n, first = ones.T @ ones, observed.T @ observed, ones.T @ observed
    second = first.T
    spread = first * (n - first) * second * (n - second)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (n * both - first * second) * np.sqrt((n - 1.0) / spread)
    z[~(spread > 0.0)] = 0.0
    np.fill_diagonal(z, 0.0)
    return np.asarray(z)


def blanks_follow(cells: Floats) -> AnyArray:
    """Return for each pair of columns whether missing values of one depend on the other's value.

    If so, the rows in which both are observed are not a random sample, and the share with two 1s is biased.
    """
    ones, observed = np.nan_to_num(cells), (~np.isnan(cells)).astype(np.float64)
    x, n = ones.T @ observed, observed.T @ observed  # 1s and cells of the first if the second is observed
    x_missing, n_missing = ones.sum(axis=0)[:, None] - x, observed.sum(axis=0)[:, None] - n  # the same if it is missing
    p, q = (x + 0.5) / (n + 1.0), (x_missing + 0.5) / (n_missing + 1.0)
    error = np.sqrt(p * (1.0 - p) / (n + 1.0) + q * (1.0 - q) / (n_missing + 1.0))
    depends = (np.abs(p - q) > np.maximum(MIN_ERRORS * error, MIN_SHIFT)) & (n_missing > 0.0)
    return np.asarray(depends | depends.T)


def supported(columns: Sequence[int], signs: Floats, z: Floats, min_z: float) -> list[int]:
    """Return the columns whose signs agree with the associations of the table, in the same order.

    A model may give the same sign to columns that are not associated, or opposite signs to columns that are. An
    association z of two columns agrees with their signs if z times both signs is at least `min_z`, and contradicts them
    if it is at most `-min_z`. Columns are checked in order. A column is chosen if its strongest association with the
    chosen columns does not contradict, and if its associations with more than half of the chosen columns of the same
    sign agree. If there are none of its sign, its strongest association with any of `columns` must agree.
    """
    numbers = np.asarray(columns, np.int64)
    sign = signs[numbers]
    agree = z[np.ix_(numbers, numbers)] * np.outer(sign, sign)
    chosen: list[int] = []
    for j in range(len(numbers)):
        same_sign = [k for k in chosen if sign[k] == sign[j]]
        strongest = agree[j, np.argmax(np.abs(agree[j]))]
        linked = 2 * (agree[j, same_sign] >= min_z).sum() > len(same_sign) if same_sign else strongest >= min_z
        if linked and (not chosen or agree[j, max(chosen, key=lambda k: abs(agree[j, k]))] > -min_z):
            chosen.append(j)
    return [int(numbers[j]) for j in chosen] if len(chosen) > 1 else []


# What a report calls a 1: 1 or yes if the table does, otherwise the value that is coded as 1.

COUNTED = "counted as yes"


@dataclass(frozen=True)
class Values:
    """The names of some or all columns of a table, and the values that are coded as 1 and 0.

    `bare` are the names as shown. `names` add the value that is coded as 1, unless it means yes ("sex = female").
    `meanings` are those of the table's coding, None for a table of 0 and 1. `one` and `ones` are used in sentences
    about all columns: "1" and "1s". If some columns have codes such as 1 and 2, which could be confused with 0 and 1,
    they are "2" and "cells that are 2", or "counted as yes" and "cells counted as yes" if the columns differ.
    """

    bare: list[str]
    names: list[str]
    meanings: tuple[Any, ...] | None = None
    one: str = "1"
    ones: str = "1s"

    @classmethod
    def of(cls, columns: Sequence[str], coding: Any) -> Values:
        """Return the names and values of the columns of a table with this coding."""
        if coding is None or not coding.sentence():
            return cls(told_apart(columns), told_apart(columns))
        meanings = coding.meanings
        names = told_apart(columns, [meaning.tail for meaning in meanings])
        one, ones = "1", "1s"
        if any(meaning.form == "codes" for meaning in meanings):
            values = {meaning.one for meaning in meanings}
            value = values.pop() if len(values) == 1 else ""
            one, ones = (value, f"cells that are {value}") if value else (COUNTED, f"cells {COUNTED}")
        return cls(told_apart(columns), names, meanings, one, ones)

    def taken(self, columns: Sequence[int]) -> Values:
        """Return the same for some of the columns."""
        meanings = None if self.meanings is None else tuple(self.meanings[j] for j in columns)
        return Values([self.bare[j] for j in columns], [self.names[j] for j in columns], meanings, self.one, self.ones)

    @property
    def all_yes(self) -> bool:
        """Whether the value coded as 1 is 1 or a word for yes in every column."""
        return self.meanings is None or all(meaning.is_yes for meaning in self.meanings)

    @property
    def probability(self) -> str:
        """What a sentence calls the probability of a 1."""
        return "probability" if self.one == COUNTED else f"probability of {self.one}"

    def cell(self, column: int, bit: float) -> str:
        """Return a cell as it is in the table: 1, “female”, 2, > 40."""
        if self.meanings is None or self.meanings[column].form in ("bit", "level"):
            return f"{bit:.0f}"
        meaning = self.meanings[column]
        text = meaning.one if bit else meaning.zero
        return text if meaning.form in ("codes", "above") else quoted(text)

    def labels(self, column: int) -> tuple[str, str]:
        """Return 0 and 1 as the values of the table: male and female, 1 and 2; or 0 and 1."""
        if self.meanings is None or self.meanings[column].form in ("bit", "level"):
            return "0", "1"
        meaning = self.meanings[column]
        return plain(meaning.zero), plain(meaning.one)

    def is_one(self, column: int) -> str:
        """Say that a column is 1: “milk” is 1, “sex” is “female”."""
        return f"{quoted(self.bare[column])} is {self.cell(column, 1.0)}"

    def both_one(self, first: int, second: int) -> str:
        """Say that two columns are 1: “milk” and “tea” are both 1, “milk” is 1 and “sex” is “female”."""
        if self.cell(first, 1.0) == self.cell(second, 1.0):
            return f"{quoted(self.bare[first])} and {quoted(self.bare[second])} are both {self.cell(first, 1.0)}"
        return f"{self.is_one(first)} and {self.is_one(second)}"

    def has(self, column: int, bit: float) -> tuple[str, str]:
        """Return a verb and a name that say what a row has: has “milk”, lacks “milk”, has “sex = male”."""
        meaning = None if self.meanings is None else self.meanings[column]
        if meaning is None or not meaning.tail:
            return ("has" if bit else "lacks"), self.names[column]
        if bit:
            return "has", self.names[column]
        tail = f" {meaning.zero}" if meaning.form == "above" else f" = {meaning.zero}"
        return "has", f"{self.bare[column]}{tail}"

    @property
    def share(self) -> str:
        """What a sentence calls a share of 1s."""
        return f"share of {self.ones}"
