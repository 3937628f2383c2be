"""The distinct values of Parquet columns: of some rows, and of all, counted in one scan and in constant memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hiddenbits.data.columns.cells import ColumnCells
from hiddenbits.data.columns.gather import MANY, cells_of_arrow
from hiddenbits.data.columns.vocabulary import MISSING_NUMBERS, is_blank, key_of
from hiddenbits.data.readers.parquet.files import ParquetFiles, pyarrow
from hiddenbits.data.readers.request import reading

CODES = np.array(sorted(MISSING_NUMBERS))
CELL_BYTES = 16.0  # about what a decoded cell takes in Arrow's memory


@dataclass(frozen=True, eq=False)
class CellsInFiles:
    """A column that stays in the files: the rows that are asked for are read from them."""

    files: ParquetFiles
    column: str
    name: str

    def part(self, start: int = 0, stop: int | None = None) -> ColumnCells:
        """Return some rows of the column."""
        numbers: dict[Any, int] = {}
        rows: list[Any] = [np.zeros(0, np.int64)]
        for cells in self._pieces(start, stop):
            at = [numbers.setdefault((type(value), value), len(numbers)) for value in cells.values]
            rows.append(np.array(at, np.int64)[cells.rows])
        return ColumnCells(self.name, [value for _, value in numbers], np.concatenate(rows))

    def listed(self, start: int = 0, stop: int | None = None) -> list[Any]:
        """Return the cells of some rows, None for a blank."""
        return [cell for cells in self._pieces(start, stop) for cell in cells.listed()]

    def examples(self) -> list[Any]:
        """Return a value that shows the type of all: text stays text, whatever it looks like."""
        types = pyarrow().types
        _, _, batch = next(self.files.batches(0, 1, [self.column], CELL_BYTES))
        kind = batch.column(0).type
        kinds = {types.is_boolean: False, types.is_integer: 0, types.is_floating: 0.5}
        return [next((value for test, value in kinds.items() if test(kind)), "text")]

    def _pieces(self, start: int, stop: int | None) -> Any:
        stop = self.files.n_rows if stop is None else stop
        for path, _, batch in self.files.batches(start, stop, [self.column], CELL_BYTES):
            with reading(path):
                yield cells_of_arrow(self.name, batch.column(0))


@dataclass(frozen=True, eq=False)
class CountedColumn(ColumnCells):
    """How often each value of a column occurs, without the rows.

    Attributes
    ----------
    many : tuple of int
        How often each of `values` occurs.
    cut : bool
        Whether it has more than `MANY` values, so that only some of them are here: the first, the codes for missing,
        the smallest and the largest number.
    infinite : int
        The first row with an infinite number.
    """

    many: tuple[int, ...] = ()
    cut: bool = False
    infinite: int = 0

    @cached_property
    def counts(self) -> dict[Any, int]:
        """How often each value occurs."""
        counts: dict[Any, int] = {}
        for value, count in zip(self.values, self.many, strict=True):
            counts[value] = counts.get(value, 0) + count
        return counts

    def first_row(self, _number: int) -> int:
        """Return the first row with an infinite number: no other row is asked for."""
        return self.infinite


def counted_columns(files: ParquetFiles, columns: Sequence[str], names: Sequence[str]) -> list[CountedColumn]:
    """Go through the rows once and return how often each value of each column occurs."""
    counts = [_Count(name) for name in names]
    for path, first_row, batch in files.batches(0, files.n_rows, columns, CELL_BYTES * len(columns)):
        with reading(path):
            for column, count in zip(columns, counts, strict=True):
                count.add(batch.column(batch.schema.get_field_index(column)), first_row)
    return [count.column() for count in counts]


class _Count:
    """Counts the values of a column: all of them, as long as there are no more than `MANY`.

    Of a column with more it matters whether all are numbers, whether these count the rows, and which codes for missing
    there are; the first values tell ids from text.
    """

    def __init__(self, name: str) -> None:
        self._name, self._form = name, ""
        self._counts: dict[tuple[type, Any], int] = {}
        self._blanks = self._infinite = 0
        self._cut, self._numbers = False, _Numbers()

    def add(self, array: Any, first_row: int) -> None:
        """Count some more cells."""
        if self._cut and (self._form or not self._numbers.all_numbers):
            self._blanks += array.null_count
            return
        values, many = self._values(array)
        if self._cut:
            self._blanks += self._numbers.add(values, many)
        else:
            for value, count in zip(values, many, strict=True):
                if value is None:
                    self._blanks += count
                elif count:
                    at = (type(value), value)
                    self._counts[at] = self._counts.get(at, 0) + count
            if len(self._counts) > MANY:
                self._cut = True
                self._numbers.add([value for _, value in self._counts], list(self._counts.values()))
                self._counts = dict(list(self._counts.items())[:MANY])
        if not self._infinite and any(isinstance(value, float) and math.isinf(value) for value in values):
            found = array.cast("float64").to_numpy(zero_copy_only=False)
            self._infinite = first_row + int(np.flatnonzero(np.isinf(found))[0])

    def _values(self, array: Any) -> tuple[list[Any], list[int]]:
        """Return values of some cells and how often each occurs; of many numbers only those that tell something."""
        types = pyarrow().types
        if self._cut and (types.is_integer(array.type) or types.is_floating(array.type)):
            numbers = array.drop_null().to_numpy(zero_copy_only=False).astype(np.float64)
            return self._numbers.telling(numbers, array.null_count)
        cells = cells_of_arrow(self._name, array)
        self._form = self._form or cells.form
        return cells.values, np.bincount(cells.rows, minlength=len(cells.values)).tolist()

    def column(self) -> CountedColumn:
        """Return the counts."""
        counts = {value: count for (_, value), count in self._counts.items()}
        if self._cut and not self._form:
            counts = self._numbers.more(counts)
        return CountedColumn(
            self._name,
            [*counts, None],
            np.zeros(0, np.uint8),
            self._form,
            (*counts.values(), self._blanks),
            self._cut,
            self._infinite,
        )


class _Numbers:
    """What is kept of a column with many values, for as long as all of them are numbers."""

    def __init__(self) -> None:
        self.all_numbers = self._whole = True
        self._word: Any = None
        self._n_cells = 0
        self._low, self._high = math.inf, -math.inf  # of those that are no codes for missing
        self._codes: dict[Any, int] = {}

    def telling(self, numbers: Any, n_blank: int) -> tuple[list[Any], list[int]]:
        """Return those of some cells that can tell something: codes for missing, and the smallest and largest other."""
        blank = np.isnan(numbers)
        numbers = numbers[~blank]
        self._whole = self._whole and bool((numbers == np.rint(numbers)).all())
        coded = np.isin(numbers, CODES)
        values, many = np.unique(numbers[coded], return_counts=True)
        others = numbers[~coded]
        ends = [others.min(), others.max()] if len(others) else []
        weights = [len(others) - 1, 1] if len(others) else []
        found = [float(value) for value in (*values, *ends)]
        return [*found, None], [*many.tolist(), *weights, n_blank + int(blank.sum())]

    def add(self, values: Sequence[Any], many: Sequence[int]) -> int:
        """Take some values; return how many cells are blank."""
        blanks = 0
        for value, count in zip(values, many, strict=True):
            key = None if value is None else key_of(value)
            if key is None or is_blank(key):
                blanks += count if value is None else 0
            elif isinstance(key, str):
                self.all_numbers, self._word = False, value
            elif count:
                self._n_cells += count
                self._whole = self._whole and key.is_integer()
                if key in MISSING_NUMBERS:
                    self._codes[_plain(key)] = self._codes.get(_plain(key), 0) + count
                else:
                    self._low, self._high = min(self._low, key), max(self._high, key)
        return blanks

    def more(self, counts: dict[Any, int]) -> dict[Any, int]:
        """Return the counts of the first values, with what came later."""
        if not self.all_numbers:
            return {**counts, self._word: counts.get(self._word, 1)}
        if self._whole and self._high - self._low == self._n_cells - 1:  # they count the rows
            return {int(self._low) + k: 1 for k in range(MANY)}
        ends = {_plain(end): 1 for end in (self._low, self._high) if math.isfinite(end)}
        return {**ends, **counts, **self._codes}


def _plain(number: float) -> Any:
    return int(number) if number.is_integer() and abs(number) < 2**53 else number
