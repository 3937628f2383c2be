"""Summary statistics of a table, without a model: one pass, in memory that does not grow with the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits import open_table
from hiddenbits.array_types import Floats
from hiddenbits.data.hashing import Hashes, hash_words, row_hashes, word_keys
from hiddenbits.display import DisplayedTable, percent
from hiddenbits.evaluate.measures import PIECE_CELLS
from hiddenbits.quoting import name_of
from hiddenbits.tables import Piece, map_pieces

SHOWN_AT_EACH_END = 6  # columns shown with the most 1s, and as many with the fewest
N_HASHES = 1 << 16  # number of smallest row hashes that are stored: with fewer distinct rows the count is exact


@dataclass(frozen=True, eq=False, repr=False)
class TableDescription(DisplayedTable):
    """The summary of a table that `describe` returns.

    When printed, and in a notebook, it is shown as `hiddenbits look` shows it.

    Attributes
    ----------
    n_rows, n_columns : int
        Number of rows and of columns; a nominal or ordinal column counts once.
    names : tuple of str
        Names of the columns, x0, x1, ... if the table has none; nominal and ordinal columns have one for each level;
        columns of numbers come last.
    ones, observed : ndarray of shape (names,)
        Number of 1s and of observed cells in each column; for a level, how often it occurs, and observed rows.
    n_different : int
        Number of distinct rows. A missing value counts as a value of its own.
    different_exact : bool
        Whether that number is exact; beyond 65,536 distinct rows it is an estimate with an error of about 1%.
    most_ones, blank_rows : int
        Largest number of 1s in a row, and number of rows without any observed cell.
    trailing_blanks : int
        Number of missing values in unbroken runs at the end of a row, such as questions that were not reached.
    n_blank : int
        Number of missing values.
    has_levels : bool
        Whether some columns are nominal, ordinal or numbers; otherwise all are binary.
    n_numbers : int
        Number of columns of numbers, which have no `ones`.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import evaluate
    >>> description = evaluate.describe(np.array([[0, 1, 1], [0, 1, np.nan], [0, 1, 1]]))
    >>> description.n_different, description.constant_columns, description.n_blank
    (2, ['x0', 'x1', 'x2'], 1)
    """

    n_rows: int
    n_columns: int
    names: tuple[str, ...]
    ones: NDArray[np.int64]
    observed: NDArray[np.int64]
    n_different: int
    different_exact: bool
    most_ones: int
    blank_rows: int
    trailing_blanks: int
    n_blank: int
    has_levels: bool
    n_numbers: int = 0

    @property
    def n_ones(self) -> int:
        """Number of 1s."""
        return int(self.ones.sum())

    @property
    def n_zeros(self) -> int:
        """Number of 0s, including those that a sparse format does not store."""
        return int(self.observed.sum()) - self.n_ones

    @property
    def means(self) -> Floats:
        """Share of 1s among the observed cells of each column; NaN for a column without observed cells."""
        means = np.full(len(self.names), np.nan)
        np.divide(self.ones, self.observed, out=means, where=self.observed > 0)
        return means

    @property
    def constant_columns(self) -> list[str]:
        """Binary columns and levels whose observed cells are all equal, or that have none."""
        bits = slice(len(self.names) - self.n_numbers)
        ones, observed = self.ones[bits], self.observed[bits]
        return [self.names[j] for j in np.flatnonzero((ones == 0) | (ones == observed))]

    @property
    def blank_columns(self) -> list[str]:
        """Columns without any observed cell."""
        return [self.names[j] for j in np.flatnonzero(self.observed == 0)]

    def _line(self, j: int) -> list[str]:
        is_number = j >= len(self.names) - self.n_numbers
        counts = ["", ""] if is_number else [f"{self.ones[j]:,}", percent(self.means[j])]
        return [name_of(self.names[j]), *counts, f"{self.observed[j]:,}"]

    @property
    def about_blanks(self) -> str:
        """A sentence about the missing values of the table and what they probably mean."""
        if self.n_blank == 0:
            return "There are no missing values."
        share = f"{self.n_blank:,} missing values ({self.n_blank / (self.n_rows * self.n_columns):.1%} of all cells)"
        if self.n_zeros == 0:
            return (
                f"{share} and no 0s: an empty cell probably means 0. If so, open the table with empty='zero' "
                "(--empty zero); otherwise it counts as not observed."
            )
        if self.trailing_blanks > 0.8 * self.n_blank:
            return (
                f"{share}, nearly all in runs at the end of a row: probably questions that were not reached. "
                "They count as not observed, which is right if stopping is unrelated to the answers."
            )
        return f"{share}. They count as not observed, not as 0."

    def describe(self) -> str:
        """Return the summary as lines of text."""
        n = max(int(self.observed.sum()), 1)
        about = "" if self.different_exact else "about "
        ones = f"{self.n_ones:,} 1s ({self.n_ones / n:.2%} of observed cells), at most {self.most_ones:,} per row"
        lines = [
            f"{self.n_rows:,} rows x {self.n_columns:,} columns",
            *([] if self.has_levels else [ones]),
            f"{about}{self.n_different:,} distinct rows ({self.n_different / self.n_rows:.1%} of all)",
            self.about_blanks,
        ]
        if self.blank_rows:
            lines.append(f"{self.blank_rows:,} rows have no observed cell.")
        if self.constant_columns:
            names = ", ".join([*map(name_of, self.constant_columns[:5]), *["..."][: len(self.constant_columns) > 5]])
            lines.append(f"{len(self.constant_columns):,} constant columns, the same in every row: {names}")
        return "\n".join(lines)

    def _shown(self) -> tuple[list[str], list[str], list[list[str]], list[str]]:
        order = list(range(len(self.names)))
        if not self.has_levels:
            order.sort(key=lambda j: -self.ones[j])
        shows_all = self.has_levels or len(order) <= 2 * SHOWN_AT_EACH_END
        lines = [
            self._line(j) for j in (order if shows_all else [*order[:SHOWN_AT_EACH_END], *order[-SHOWN_AT_EACH_END:]])
        ]
        title = "Columns" if shows_all else "Columns with the most and the fewest 1s"
        return (
            [*self.describe().split("\n"), title],
            ["column", "rows" if self.has_levels else "1s", "share", "observed"],
            lines,
            [],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain numbers, strings and lists, for a JSON file."""
        return {
            "rows": self.n_rows,
            "columns": self.n_columns,
            "ones": self.n_ones,
            "zeros": self.n_zeros,
            "blanks": self.n_blank,
            "about_blanks": self.about_blanks,
            "different_rows": self.n_different,
            "different_rows_exact": self.different_exact,
            "most_ones_in_a_row": self.most_ones,
            "rows_without_observed_cells": self.blank_rows,
            "constant_columns": self.constant_columns,
            "columns_without_observed_cells": self.blank_columns,
            "by_column": [
                {"name": name, "ones": int(ones), "observed": int(observed)}
                for name, ones, observed in zip(self.names, self.ones, self.observed, strict=True)
            ],
        }


def describe(X: object) -> TableDescription:
    """Summarize a table: shares of 1s, missing values, distinct rows, constant columns.

    The table is read once, piece by piece, on the executor set by `hiddenbits.run_on`.

    Parameters
    ----------
    X : table of shape (rows, columns)
        Anything that `hiddenbits.open_table` opens.

    Returns
    -------
    description : TableDescription

    Examples
    --------
    >>> from hiddenbits import evaluate
    >>> description = evaluate.describe([[0, 1], [1, 1], [0, 1]])
    >>> description
    3 rows x 2 columns
    4 1s (66.67% of observed cells), at most 2 per row
    2 distinct rows (66.7% of all)
    There are no missing values.
    1 constant columns, the same in every row: x1
    Columns
    column  1s   share  observed
    x1       3  100.0%         3
    x0       1   33.3%         3
    >>> description.means.round(2).tolist()
    [0.33, 1.0]
    """
    table = open_table(X)
    (n_rows, n_bits), n_numbers = table.shape, table.n_numbers
    keys = word_keys(n_bits), word_keys(64 * (n_numbers + 1))[1]
    columns = np.zeros((2, n_bits + n_numbers), np.int64)
    most_ones = blank_rows = trailing = 0
    smallest: Hashes = np.zeros(0, np.uint64)
    pending: list[Hashes] = []
    for counts, of_rows, hashes in map_pieces(_ColumnCounts(keys), table, max(1, PIECE_CELLS // table.row_size)):
        columns += counts
        most_ones = max(most_ones, of_rows[0])
        blank_rows, trailing = blank_rows + of_rows[1], trailing + of_rows[2]
        pending.append(hashes if len(smallest) < N_HASHES else hashes[hashes < smallest[-1]])
        if sum(map(len, pending)) > 4 * N_HASHES:
            smallest, pending = _smallest([smallest, *pending]), []
    smallest = _smallest([smallest, *pending])
    exact = len(smallest) < N_HASHES
    # The k-th smallest of n numbers spread evenly over (0, 1) is near k / n.
    distinct = len(smallest) if exact else min(n_rows, round((N_HASHES - 1) / ((float(smallest[-1]) + 1.0) / 2.0**64)))
    names = table.names or tuple(f"x{j}" for j in range(n_bits))
    if n_numbers and table.column_names is not None:
        names = (*names, *table.column_names[-n_numbers:])
    names = (*names, *(f"x{j}" for j in range(len(names), n_bits + n_numbers)))
    n_recorded = int(columns[1, table.layout.starts].sum() + columns[1, n_bits:].sum())
    n_blank = n_rows * table.n_columns - n_recorded
    values = (columns[0], columns[1], distinct, exact, most_ones, blank_rows, trailing, n_blank)
    return TableDescription(n_rows, table.n_columns, names, *values, table.coding_of_levels is not None, n_numbers)


@dataclass(frozen=True)
class _ColumnCounts:
    """A function that counts one piece; a class, so that it can be pickled."""

    keys: tuple[Hashes, Hashes]  # of bits, and of numbers after the hash of the bits

    def __call__(self, piece: Piece) -> tuple[NDArray[np.int64], tuple[int, int, int], Hashes]:
        x, observed = piece.table.source.read(0, piece.table.shape[0])
        cells = x.to_dense()
        rows, width = cells.shape
        row_sums = x.row_sums()
        layout = piece.table.layout
        numbers = piece.table.numbers()
        complete = layout.all_binary and numbers is None and int(observed.row_sums().sum()) == cells.size
        recorded = None if complete else layout.recorded(x, observed)
        hashes = row_hashes(cells, recorded, self.keys[0])
        columns = np.empty((2, width), np.int64)
        columns[0] = cells.sum(axis=0, dtype=np.int64)
        columns[1] = rows
        blank_rows = trailing = 0
        if recorded is not None:
            columns[1] = recorded.sum(axis=0, dtype=np.int64)
            blank_rows = int(rows - recorded.any(axis=1).sum())
            by_column = recorded[:, layout.starts]
            if numbers is not None:
                has_number = ~np.isnan(numbers)
                columns = np.concatenate(
                    [columns, [np.zeros(numbers.shape[1], np.int64), has_number.sum(axis=0)]], axis=1
                )
                by_column = np.concatenate([by_column, has_number], axis=1)
                words = np.where(has_number, numbers + 0.0, np.nan).view(np.uint64)  # one kind of 0 and of NaN
                hashes = hash_words(np.column_stack([hashes, words]), self.keys[1])
                blank_rows = int(rows - by_column.any(axis=1).sum())
            trailing = int((np.cumsum(by_column[:, ::-1], axis=1, dtype=np.int32) == 0).sum())
        smallest = hashes if rows <= N_HASHES else _smallest([hashes])
        return columns, (int(row_sums.max()), blank_rows, trailing), smallest


def _smallest(hashes: list[Hashes]) -> Hashes:
    """Return the smallest distinct hashes, in increasing order."""
    ordered = np.sort(np.concatenate(hashes))  # much faster than np.unique, which hashes the numbers again
    first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first][:N_HASHES]
