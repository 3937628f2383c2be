"""The interface of named columns that every format provides, batch by batch, for descriptions and codings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from hiddenbits.array_types import AnyArray
from hiddenbits.data.coding.cells import ColumnCells


class ColumnBatch(Protocol):
    """Some rows of some columns."""

    @property
    def first_row(self) -> int:
        """Number of the first row, in its file."""
        ...

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    def reading(self) -> AbstractContextManager[None]:
        """Return a context in which errors name the file."""
        ...

    def cells(self, name: str) -> ColumnCells:
        """Return a column: its distinct values, and for each row the number of its value."""
        ...

    def numbers(self, name: str) -> AnyArray | None:
        """Return a column of numbers in its own type, missing ones masked or NaN.

        Returns None for other columns, and if the distinct values are already known.
        """
        ...


class Columns(Protocol):
    """The rows of named columns, in any format."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns."""
        ...

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    def batches(self, start: int, stop: int, names: Sequence[str]) -> Iterator[ColumnBatch]:
        """Yield rows start to stop of some columns, in order."""
        ...


HEAD_ROWS = 1024


@dataclass(frozen=True, eq=False)
class HeldColumns:
    """Columns in memory. A batch, some rows of these columns, is of the same class."""

    by_name: Mapping[str, ColumnCells]
    first_row: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self.by_name)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return next((len(column) for column in self.by_name.values()), 0)

    def batches(self, start: int, stop: int, names: Sequence[str]) -> Iterator[HeldColumns]:
        """Yield the rows: first a few, from which a profile learns which columns have many different numbers."""
        middle = min(start + HEAD_ROWS, stop)
        for first, last in ((start, middle), (middle, stop)):
            if first < last or first == start:
                yield HeldColumns({name: self.by_name[name].part(first, last) for name in names}, first)

    def reading(self) -> AbstractContextManager[None]:
        """Return a context that does nothing: there is no file to name."""
        return nullcontext()

    def cells(self, name: str) -> ColumnCells:
        """Return a column."""
        return self.by_name[name]

    def numbers(self, name: str) -> AnyArray | None:
        """Return a column of many different numbers; of others, the distinct values are known."""
        return getattr(self.by_name[name], "array", None)


@dataclass(frozen=True, eq=False)
class ColumnOnDisk:
    """A column that stays in the files, from which rows are read when needed."""

    columns: Columns
    name: str

    def part(self, start: int = 0, stop: int | None = None) -> ColumnCells:
        """Return some rows of the column."""
        numbers: dict[Any, int] = {}
        rows: list[Any] = [np.zeros(0, np.int64)]
        for cells in self._pieces(start, stop):
            known = [numbers.setdefault((type(value), value), len(numbers)) for value in cells.values]
            rows.append(np.array(known, np.int64)[cells.rows])
        return ColumnCells(self.name, [value for _, value in numbers], np.concatenate(rows))

    def listed(self, start: int = 0, stop: int | None = None) -> list[Any]:
        """Return the cells of some rows, None for a missing value."""
        return [cell for cells in self._pieces(start, stop) for cell in cells.listed()]

    def examples(self) -> list[Any]:
        """Return a value that shows the type of the column: text stays text, even if it looks like numbers."""
        batch = next(self.columns.batches(0, 1, [self.name]))
        numbers = batch.numbers(self.name)
        return ["text" if numbers is None else numbers.dtype.type(0).item()]

    def _pieces(self, start: int, stop: int | None) -> Iterator[ColumnCells]:
        for batch in self.columns.batches(start, self.columns.n_rows if stop is None else stop, [self.name]):
            with batch.reading():
                yield batch.cells(self.name)
