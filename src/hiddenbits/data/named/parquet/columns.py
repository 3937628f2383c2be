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

CELL_BYTES = 16.0  # approximate memory of a decoded cell of any type in Arrow


@dataclass(frozen=True, eq=False)
class ParquetColumns:
    """Columns of Parquet files.

    Attributes
    ----------
    files : ParquetFiles
        The files that hold the rows.
    file_columns : mapping of str to str
        The column of the files for each name in the table.
    cell_bytes : float
        Approximate memory of a decoded cell in Arrow.
    """

    files: ParquetFiles
    file_columns: Mapping[str, str]
    cell_bytes: float = CELL_BYTES

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.file_columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.files.n_rows

    def batches(self, start: int, stop: int, names: Sequence[str]) -> Iterator[ColumnBatch]:
        """Yield rows start to stop of some columns; text is dictionary-encoded, as in the files."""
        selected = [self.file_columns[name] for name in names]
        for path, first_row, batch in self.files.batches(
            start, stop, selected, self.cell_bytes * len(selected), dictionary_columns=selected
        ):
            yield ArrowBatch(batch, self.file_columns, path, first_row)


@dataclass(frozen=True, eq=False)
class ArrowBatch:
    """Some rows as an Arrow batch; `file_columns` has the column of the batch for each name in the table."""

    batch: Any
    file_columns: Mapping[str, str]
    path: str
    first_row: int

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.batch.num_rows)

    def reading(self) -> AbstractContextManager[None]:
        """Return a context in which errors name the file."""
        return reading(self.path)

    def cells(self, name: str) -> ColumnCells:
        """Return a column as its distinct values and a code for each row."""
        return cells_of_arrow(name, self.column(name))

    def numbers(self, name: str) -> AnyArray | None:
        """Return a column of numbers in its own type, null masked; None for other columns."""
        return numbers_of_arrow(self.column(name))

    def column(self, name: str) -> Any:
        """Return an Arrow array."""
        return self.batch.column(self.batch.schema.get_field_index(self.file_columns[name]))
