"""Columns of any values in Parquet files, read batch by batch, and those that stay in the files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data.coding.cells import ColumnCells
from hiddenbits.data.columns.gather import cells_of_arrow
from hiddenbits.data.columns.protocol import Batch
from hiddenbits.data.file_request import reading
from hiddenbits.data.named.parquet.files import ParquetFiles, pyarrow

CELL_BYTES = 16.0  # about what a decoded cell takes in Arrow's memory


@dataclass(frozen=True, eq=False)
class ParquetColumns:
    """Columns of Parquet files; `at` has the column of the files for each name in the table."""

    files: ParquetFiles
    at: Mapping[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.at)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.files.n_rows

    def batches(self, start: int, stop: int, names: Sequence[str]) -> Iterator[Batch]:
        """Yield rows start to stop of some columns; text comes as dictionaries, as the files have it."""
        inside = [self.at[name] for name in names]
        for path, first_row, batch in self.files.batches(start, stop, inside, CELL_BYTES * len(inside), coded=inside):
            yield ArrowBatch(batch, self.at, path, first_row)

    def beside(self, name: str) -> CellsInFiles:
        """Return a column that stays in the files."""
        return CellsInFiles(self, name)


@dataclass(frozen=True, eq=False)
class ArrowBatch:
    """Some rows, as Arrow has them; `at` has the column of the batch for each name in the table."""

    batch: Any
    at: Mapping[str, str]
    path: str
    first_row: int

    @property
    def n_rows(self) -> int:
        """How many rows they are."""
        return int(self.batch.num_rows)

    def reading(self) -> AbstractContextManager[None]:
        """Return a context in which errors name the file."""
        return reading(self.path)

    def cells(self, name: str) -> ColumnCells:
        """Return a column as its distinct values, and which of them each row has."""
        return cells_of_arrow(name, self.column(name))

    def numbers(self, name: str) -> Floats | None:
        """Return a column of numbers, NaN where one is missing; None where its type is another."""
        array, types = self.column(name), pyarrow().types
        if not (types.is_integer(array.type) or types.is_floating(array.type)):
            return None
        numbers: Floats = array.cast("float64", safe=False).to_numpy(zero_copy_only=False)
        return numbers

    def column(self, name: str) -> Any:
        """Return an Arrow array."""
        return self.batch.column(self.batch.schema.get_field_index(self.at[name]))


@dataclass(frozen=True, eq=False)
class CellsInFiles:
    """A column that stays in the files: the rows that are asked for are read from them."""

    columns: ParquetColumns
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
        """Return the cells of some rows, None for a missing value."""
        return [cell for cells in self._pieces(start, stop) for cell in cells.listed()]

    def examples(self) -> list[Any]:
        """Return a value that shows the type of all: text stays text, whatever it looks like."""
        types = pyarrow().types
        batch = next(self.columns.batches(0, 1, [self.name]))
        kind = batch.column(self.name).type  # type: ignore[attr-defined]
        kinds = {types.is_boolean: False, types.is_integer: 0, types.is_floating: 0.5}
        return [next((value for test, value in kinds.items() if test(kind)), "text")]

    def _pieces(self, start: int, stop: int | None) -> Iterator[ColumnCells]:
        for batch in self.columns.batches(start, self.columns.n_rows if stop is None else stop, [self.name]):
            with batch.reading():
                yield batch.cells(self.name)
