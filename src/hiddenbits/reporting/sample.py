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
FEWEST_ROWS, FEWEST_COLUMNS = 12, 2  # with fewer, no model is fitted
ROWS_TO_TELL = 50  # below, columns may complete each other by chance
FEWEST_LEFT = 3  # columns that must be left where answers to one question are left out
PIECE_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows and columns of a table as numbers, NaN for missing values.

    `rows` and `columns` are their numbers in the table, from 0; `values` what the columns and their 1s are called,
    and `every_value` the same of all columns of the table; `own_names` are the columns as the table has them; `beside`
    the cells of other columns of the same rows; `look` the summary of the whole table; `groups` the labels of rows that
    are held out together; `one_of` the names of columns that are excluded because exactly one of them is 1 in every
    row: a model would find that they exclude each other, and nothing else; `answers` are the numbers of these columns
    in the table.
    """

    cells: Floats
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: Values
    every_value: Values
    own_names: list[str]
    beside: dict[str, list[str]]
    look: Any
    seed: int
    groups: AnyArray | None = None
    one_of: tuple[tuple[str, ...], ...] = ()
    answers: tuple[int, ...] = ()

    @property
    def names(self) -> list[str]:
        """The columns as shown, with the value that is 1 where that is not yes."""
        return self.values.names

    @property
    def every_row(self) -> bool:
        """Whether all rows are used."""
        return bool(len(self.rows) == self.look.n_rows)

    @property
    def limited(self) -> bool:
        """Whether some columns are excluded only because there are too many."""
        return bool(self.look.n_columns - len(self.look.constant_columns) > MOST_COLUMNS)

    @property
    def worth_it(self) -> bool:
        """Whether there is enough to fit a model to."""
        n, d = self.cells.shape
        return bool(n >= FEWEST_ROWS and d >= FEWEST_COLUMNS)

    @property
    def shares(self) -> Floats:
        """Share of 1s among the observed cells of each column; every column has some."""
        return np.asarray(np.nanmean(self.cells, axis=0))

    @cached_property
    def links(self) -> Floats:
        """How strongly each pair of columns is associated, by the sampled cells alone (`associations`)."""
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
                    f"{self.look.n_rows:,}",
                )
            )
        left = self.look.n_columns - len(self.names)
        if left:
            notes.append(
                sentence(
                    "The models use {} of the {} columns: constant columns{} are excluded{}.",
                    f"{len(self.names):,}",
                    f"{self.look.n_columns:,}",
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
    varied = means * (1.0 - means) * summary.observed
    order = np.argsort(-varied, kind="stable")[:MOST_COLUMNS]
    columns = np.sort(order[varied[order] > 0.0])
    most = min(MOST_ROWS, max(FEWEST_ROWS, MOST_CELLS // max(1, len(columns))))
    rng = np.random.default_rng(seed)
    rows = np.arange(n_rows) if n_rows <= most else np.sort(rng.choice(n_rows, most, replace=False))
    pieces = list(map_pieces(_SampledCells(rows, columns), table, max(1, PIECE_CELLS // n_columns)))
    cells = np.concatenate(pieces).astype(np.float64)
    cells[cells > 1.0] = np.nan
    kept = (cells == 0.0).any(axis=0) & (cells == 1.0).any(axis=0)  # in the sample a rare column may be constant
    cells, columns = cells[:, kept], columns[kept]
    every, own = Values.of(summary.names, table.coding), list(summary.names)
    one_of = _answers(cells)
    left_out = {j for group in one_of for j in (group if len(group) > 2 else group[1:])}
    if cells.shape[1] - len(left_out) < FEWEST_LEFT:
        one_of, left_out = [], set()
    answers = tuple(tuple(every.names[columns[j]] for j in group) for group in one_of)
    numbers = tuple(int(columns[j]) for j in sorted(left_out))
    stay = [j for j in range(cells.shape[1]) if j not in left_out]
    cells, columns = cells[:, stay], columns[stay]
    return Sample(
        cells,
        rows,
        columns,
        every.taken(columns.tolist()),
        every,
        [own[j] for j in columns],
        {key: [str(values[i]) for i in rows] for key, values in beside.items()},
        summary,
        seed,
        None if groups is None else groups[rows],
        answers,
        numbers,
    )


def _answers(cells: Floats) -> list[tuple[int, ...]]:
    """Return the groups of columns of which exactly one is 1 in every row, in tables where that is not chance."""
    if len(cells) < ROWS_TO_TELL:
        return []
    ones, recorded = np.nan_to_num(cells), (~np.isnan(cells)).astype(np.float64)
    return exclusive_groups(ones.T @ ones, recorded.T @ recorded)


@dataclass(frozen=True)
class _SampledCells:
    """Reads the sampled cells of a piece; a class, so that it can be sent to a cluster. A missing value is 2."""

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

BLANKS, SHIFT = 4.0, 0.05  # standard errors, and share of 1s, beyond which missing values depend on another column


def associations(cells: Floats) -> Floats:
    """Return phi sqrt(n - 1) of each pair of columns, a normal deviate if they are independent; (columns, columns).

    Each pair rests on the n rows that have both; 0 where one of them does not vary there, and on the diagonal.

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

    Then the rows that have both are not a random sample, and the share of them in which both are 1 is biased.
    """
    ones, observed = np.nan_to_num(cells), (~np.isnan(cells)).astype(np.float64)
    x, n = ones.T @ observed, observed.T @ observed  # 1s of the first, and its cells, where the second is observed
    x_missing, n_missing = ones.sum(axis=0)[:, None] - x, observed.sum(axis=0)[:, None] - n  # where it is missing
    p, q = (x + 0.5) / (n + 1.0), (x_missing + 0.5) / (n_missing + 1.0)
    error = np.sqrt(p * (1.0 - p) / (n + 1.0) + q * (1.0 - q) / (n_missing + 1.0))
    depends = (np.abs(p - q) > np.maximum(BLANKS * error, SHIFT)) & (n_missing > 0.0)
    return np.asarray(depends | depends.T)


def supported(columns: Sequence[int], signs: Floats, links: Floats, least: float) -> list[int]:
    """Return the columns whose signs the pairs of the table support, in the same order.

    A model may put columns side by side that have nothing to do with each other, or oppose columns that go together.
    Columns are taken in their order. One stays if it does not contradict those that stay: its strongest association
    with them, if it is at least `least`, has the sign that the model gives the pair. And it has to be linked, by an
    association of that sign and size, to more than half of those on its own side, or as the first of its side to that
    of all columns with which it is associated most strongly.
    """
    places = np.asarray(columns, np.int64)
    sign = signs[places]
    agree = links[np.ix_(places, places)] * np.outer(sign, sign)
    kept: list[int] = []
    for j in range(len(places)):
        own = [k for k in kept if sign[k] == sign[j]]
        strongest = agree[j, np.argmax(np.abs(agree[j]))]
        linked = 2 * (agree[j, own] >= least).sum() > len(own) if own else strongest >= least
        if linked and (not kept or agree[j, max(kept, key=lambda k: abs(agree[j, k]))] > -least):
            kept.append(j)
    return [int(places[j]) for j in kept] if len(kept) > 1 else []


# What a 1 is called in a report: 1 or yes where it is that, otherwise the value of the table that it stands for.

COUNTED = "counted as yes"


@dataclass(frozen=True)
class Values:
    """The columns of a table, or some of them, and what 1 and 0 stand for in each.

    `bare` are the names of the columns as shown, `names` the same with the value that is 1 where that is not yes
    ("sex = female"); `meanings` are those of the table's coding, None for a table of 0 and 1. `one` and `ones` are what
    a sentence about all columns calls a 1: "1" and "1s", but where some columns have codes such as 1 and 2, of which
    the 1 is none, "2" and "cells that are 2", or "counted as yes" and "cells counted as yes" where columns differ.
    """

    bare: list[str]
    names: list[str]
    meanings: tuple[Any, ...] | None = None
    one: str = "1"
    ones: str = "1s"

    @classmethod
    def of(cls, columns: Sequence[str], coding: Any) -> Values:
        """Return what the columns of a table with this coding are called."""
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
        """Return those of some columns."""
        meanings = None if self.meanings is None else tuple(self.meanings[j] for j in columns)
        return Values([self.bare[j] for j in columns], [self.names[j] for j in columns], meanings, self.one, self.ones)

    @property
    def all_yes(self) -> bool:
        """Whether every 1 is a 1 of the table, or a word for yes."""
        return self.meanings is None or all(meaning.is_yes for meaning in self.meanings)

    @property
    def probability(self) -> str:
        """The probability of a 1 in words."""
        return "probability" if self.one == COUNTED else f"probability of {self.one}"

    def cell(self, column: int, bit: float) -> str:
        """Return a cell as the table has it: 1, “female”, 2, > 40."""
        if self.meanings is None or self.meanings[column].form in ("bit", "level"):
            return f"{bit:.0f}"
        meaning = self.meanings[column]
        text = meaning.one if bit else meaning.zero
        return text if meaning.form in ("codes", "above") else quoted(text)

    def labels(self, column: int) -> tuple[str, str]:
        """Return 0 and 1 as the values of the table: male and female, 1 and 2; 0 and 1 where they are that."""
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
        """A share of 1s in words."""
        return f"share of {self.ones}"
