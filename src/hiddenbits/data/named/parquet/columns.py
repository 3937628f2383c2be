"""Columns of Parquet files, read batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from hiddenbits.array_types import AnyArray
from hiddenbits.data.coding.cells import ColumnCells
from hiddenbits.data.columns.gather import cells_of_arrow, numbers_of_arrow
from hiddenbits.data.columns.protocol import ColumnBatch
from hiddenbits.data.file_request import reading
from hiddenbits.data.named.parquet.files import ParquetFiles

CELL_BYTES = 16.0  # about what a decoded cell of any type takes in Arrow's memory


@dataclass(frozen=True, eq=False)
class ParquetColumns:
    """Columns of Parquet files.

    Attributes
    ----------
    files : ParquetFiles
        Where the rows are.
    at : mapping of str to str
        The column of the files for each name in the table.
    cell_bytes : float
        About what a decoded cell takes in Arrow's memory.
    """

    files: ParquetFiles
    at: Mapping[str, str]
    cell_bytes: float = CELL_BYTES

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.at)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.files.n_rows

    def batches(self, start: int, stop: int, names: Sequence[str]) -> Iterator[ColumnBatch]:
        """Yield rows start to stop of some columns; text comes as dictionaries, as the files have it."""
        inside = [self.at[name] for name in names]
        for path, first_row, batch in self.files.batches(
            start, stop, inside, self.cell_bytes * len(inside), coded=inside
        ):
            yield ArrowBatch(batch, self.at, path, first_row)


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

    def numbers(self, name: str) -> AnyArray | None:
        """Return a column of numbers in the type that it has, NaN where one is missing; None for any other column."""
        return numbers_of_arrow(self.column(name))

    def column(self, name: str) -> Any:
        """Return an Arrow array."""
        return self.batch.column(self.batch.schema.get_field_index(self.at[name]))
