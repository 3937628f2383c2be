"""The columns of a CSV file next to its bits: a name, a party, an age, kept as text while the bits are read."""

from __future__ import annotations

import csv
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data.readers.csv_lines import Lines

Rows = list[list[str]]


class Others:
    """Gathers the cells of the columns that turn out to hold more than bits.

    Parameters
    ----------
    keep : tuple of int
        The fields of a line that are looked at.
    """

    def __init__(self, keep: tuple[int, ...]) -> None:
        self._keep, self._rows = keep, 0
        self.cells: dict[int, list[str]] = {}  # by number among `keep`
        self.late: dict[int, int] = {}  # rows of a column that had passed before it turned out to hold more than bits

    def add(self, rows: Rows, bad: NDArray[np.bool_]) -> None:
        """Take some more rows; `bad` says which columns hold something else than bits in them."""
        for column in np.flatnonzero(bad).tolist():
            if column not in self.cells:
                self.cells[column] = []
                if self._rows:
                    self.late[column] = self._rows
        for column, cells in self.cells.items():
            field = self._keep[column]
            cells.extend(row[field].strip() for row in rows)
        self._rows += len(rows)

    def first_cells(self, lines: Lines, delimiter: str, named: bool, passed: int) -> int:
        """Read once more, of one file, the cells that had passed; return how many rows have passed now.

        Hardly any table needs it: a column of words shows in its first thousands of rows.
        """
        rows = csv.reader(lines, delimiter=delimiter, strict=True)
        most = max(self.late.values()) - passed
        heads: dict[int, list[str]] = {column: [] for column in self.late}
        taken = 0
        for row in islice(rows, int(named), int(named) + most):
            for column, number in self.late.items():
                if passed + taken < number:
                    heads[column].append((row or [""])[self._keep[column]].strip())
            taken += 1
        for column, head in heads.items():
            self.cells[column][passed:passed] = head
        return passed + taken
