"""The rows and columns that the models use: all of a small table, a fixed sample of a large one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from hiddenbits import Piece, Table, evaluate, exclusive_groups, map_pieces
from hiddenbits.array_types import AnyArray, Bytes, Floats
from hiddenbits.reporting.links import associations
from hiddenbits.reporting.text import sentence
from hiddenbits.reporting.values import Values

MOST_ROWS, MOST_COLUMNS, MOST_CELLS = 20_000, 1_000, 400_000
FEWEST_ROWS, FEWEST_COLUMNS = 12, 2  # with fewer, no model is fitted
ROWS_TO_TELL = 50  # below, columns may complete each other by chance
FEWEST_LEFT = 3  # columns that must be left where answers to one question are left out
PIECE_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows and columns of a table as numbers, NaN where blank.

    `rows` and `columns` are their numbers in the table, from 0; `values` what the columns and their ones are called,
    and `every_value` the same of all columns of the table; `own_names` are the columns as the table has them; `beside`
    the cells of other columns of the same rows; `look` the summary of the whole table; `groups` the labels of rows that
    are held out together; `one_of` the names of columns that are left out because exactly one of them is 1 in every
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
        """Whether no row was left out."""
        return bool(len(self.rows) == self.look.n_rows)

    @property
    def limited(self) -> bool:
        """Whether some columns are left out only because there are too many."""
        return bool(self.look.n_columns - len(self.look.constant_columns) > MOST_COLUMNS)

    @property
    def worth_it(self) -> bool:
        """Whether there is enough to fit a model to."""
        n, d = self.cells.shape
        return bool(n >= FEWEST_ROWS and d >= FEWEST_COLUMNS)

    @property
    def shares(self) -> Floats:
        """Share of ones among the observed cells of each column; every column has some."""
        return np.asarray(np.nanmean(self.cells, axis=0))

    @cached_property
    def links(self) -> Floats:
        """How strongly each pair of columns is associated, by the sampled cells alone (`associations`)."""
        return associations(self.cells)

    def about(self) -> list[Markup]:
        """Describe what was left out, in sentences."""
        said = []
        if not self.every_row:
            said.append(
                sentence(
                    "The models were fitted to {} rows, chosen at random (seed {}) from all {}; each section says of "
                    "how many rows its figures are.",
                    f"{len(self.rows):,}",
                    self.seed,
                    f"{self.look.n_rows:,}",
                )
            )
        left = self.look.n_columns - len(self.names)
        if left:
            said.append(
                sentence(
                    "The models use {} of the {} columns: constant columns{} are left out{}.",
                    f"{len(self.names):,}",
                    f"{self.look.n_columns:,}",
                    " and answers to one question, a column each," if self.one_of else "",
                    f", and of the others only the {MOST_COLUMNS:,} that vary most are used"
                    if len(self.names) == MOST_COLUMNS
                    else "",
                )
            )
        return said


def drawn(table: Table, beside: Mapping[str, Sequence[str]], seed: int, groups: NDArray[Any] | None = None) -> Sample:
    """Summarize a table, and sample the rows and columns for the models."""
    seen = evaluate.look(table)
    n_rows, n_columns = table.shape
    means = np.nan_to_num(seen.means)
    varied = means * (1.0 - means) * seen.observed
    order = np.argsort(-varied, kind="stable")[:MOST_COLUMNS]
    columns = np.sort(order[varied[order] > 0.0])
    most = min(MOST_ROWS, max(FEWEST_ROWS, MOST_CELLS // max(1, len(columns))))
    rng = np.random.default_rng(seed)
    rows = np.arange(n_rows) if n_rows <= most else np.sort(rng.choice(n_rows, most, replace=False))
    pieces = list(map_pieces(_Taken(rows, columns), table, max(1, PIECE_CELLS // n_columns)))
    cells = np.concatenate(pieces).astype(np.float64)
    cells[cells > 1.0] = np.nan
    kept = (cells == 0.0).any(axis=0) & (cells == 1.0).any(axis=0)  # in the sample a rare column may be constant
    cells, columns = cells[:, kept], columns[kept]
    every, own = Values.of(seen.names, table.coding), list(seen.names)
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
        seen,
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
class _Taken:
    """Takes the sampled cells of a piece; a class, so that it can be sent to a cluster. A blank is 2."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]

    def __call__(self, piece: Piece) -> Bytes:
        x, observed = piece.table.source.read(0, piece.table.shape[0])
        first, last = np.searchsorted(self.rows, [piece.start, piece.start + piece.table.shape[0]])
        here = self.rows[first:last] - piece.start
        if not len(here):
            return np.zeros((0, len(self.columns)), np.uint8)
        cells = x.to_dense()[here][:, self.columns].astype(np.uint8)
        seen = observed.to_dense()[here][:, self.columns]
        return np.where(seen != 0, cells, np.uint8(2))
