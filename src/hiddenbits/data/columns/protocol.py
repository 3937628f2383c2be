"""Named columns, wherever they are: what every format of them gives, batch by batch, to looks and codings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from hiddenbits.array_types import Floats
from hiddenbits.data.coding.cells import Beside, ColumnCells


class Batch(Protocol):
    """Some rows of some columns; they are counted in the file that they are in."""

    @property
    def first_row(self) -> int:
        """The first of the rows."""
        ...

    @property
    def n_rows(self) -> int:
        """How many they are."""
        ...

    def reading(self) -> AbstractContextManager[None]:
        """Return a context in which errors name the file."""
        ...

    def cells(self, name: str) -> ColumnCells:
        """Return a column as its distinct values, and which of them each row has."""
        ...

    def numbers(self, name: str) -> Floats | None:
        """Return a column of numbers, NaN where one is missing; None where its type is another."""
        ...


class Columns(Protocol):
    """All that a format of named columns gives."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns."""
        ...

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    def batches(self, start: int, stop: int, names: Sequence[str]) -> Iterator[Batch]:
        """Yield rows start to stop of some columns, in order."""
        ...

    def beside(self, name: str) -> Beside:
        """Return a column that is kept with the rows."""
        ...


@dataclass(frozen=True, eq=False)
class HeldColumns:
    """Columns in memory."""

    columns: tuple[ColumnCells, ...]

    @cached_property
    def by_name(self) -> dict[str, ColumnCells]:
        """The columns by their names."""
        return {column.name: column for column in self.columns}

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(column.name for column in self.columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0].rows) if self.columns else 0

    def batches(self, start: int, stop: int, names: Sequence[str]) -> Iterator[Batch]:
        """Yield the rows as one batch."""
        yield HeldBatch({name: self.by_name[name].part(start, stop) for name in names}, first_row=start)

    def beside(self, name: str) -> Beside:
        """Return a column that is kept with the rows."""
        return self.by_name[name]


@dataclass(frozen=True, eq=False)
class HeldBatch:
    """Rows of columns in memory."""

    columns: dict[str, ColumnCells]
    first_row: int = 0

    def reading(self) -> AbstractContextManager[None]:
        """Return a context that does nothing: there is no file to name."""
        return nullcontext()

    @property
    def n_rows(self) -> int:
        """How many rows they are."""
        return len(next(iter(self.columns.values())).rows)

    def cells(self, name: str) -> ColumnCells:
        """Return a column."""
        return self.columns[name]

    def numbers(self, _name: str) -> None:
        """Return None: the distinct values of these columns are known."""
