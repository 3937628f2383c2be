"""Where the rows of Parquet files are, and how to get at any run of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hiddenbits.data.readers.ask import check_distinct, reading
from hiddenbits.data.readers.parquet_footer import Chunk, read_chunks
from hiddenbits.data.table import TableError

# What is decoded at a time: row groups may be large, and Arrow takes several times the bytes of the bits.
BATCH_BYTES = 1 << 22
BATCH_ROWS = 1 << 12, 1 << 16  # at least and at most


def pyarrow() -> Any:
    """Return pyarrow, with its Parquet reader loaded, or say how to install it."""
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install 'hiddenbits[files]'.") from error
    return pa


def is_list(kind: Any) -> bool:
    """Whether an Arrow type is a list."""
    types = pyarrow().types
    return bool(types.is_list(kind) or types.is_large_list(kind))


@dataclass(frozen=True)
class ParquetFiles:
    """Parquet files, one below the other.

    Attributes
    ----------
    paths : tuple of str
        The files.
    sizes : tuple of int
        Their sizes in bytes, to notice a file that was replaced.
    groups : tuple of tuple of int
        For each file, the table's row at which each of its row groups starts, and the row after its last.
    """

    paths: tuple[str, ...]
    sizes: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.groups[-1][-1]

    def batches(
        self, start: int, stop: int, columns: Sequence[str], row_bytes: float
    ) -> Iterator[tuple[str, int, Any]]:
        """Yield (path, row within the file, record batch) that together are rows start to stop."""
        for path, size, starts in zip(self.paths, self.sizes, self.groups, strict=True):
            low, high = max(start, starts[0]), min(stop, starts[-1])
            if low >= high:
                continue
            wanted = [i for i in range(len(starts) - 1) if starts[i] < high and starts[i + 1] > low]
            at = starts[wanted[0]]
            rows = int(min(max(BATCH_BYTES // max(row_bytes, 1), BATCH_ROWS[0]), BATCH_ROWS[1]))
            with reading(path):
                for batch in _decode(path, size, wanted, columns, rows):
                    first, last = max(low - at, 0), min(high - at, batch.num_rows)
                    if last > first:
                        yield path, at + first - starts[0], batch.slice(first, last - first)
                    at += batch.num_rows
                    if at >= high:
                        break
                if at < high:
                    raise TableError(f"the file holds fewer rows than its metadata says ({starts[-1] - starts[0]}).")


def _decode(path: str, size: int, groups: list[int], columns: Sequence[str], rows: int) -> Iterator[Any]:
    """Yield record batches of some row groups. The file is opened anew, so that any thread may call this."""
    pa = pyarrow()
    if Path(path).stat().st_size != size:
        raise TableError("the file has changed since the table was opened. Open the table again.")
    # One thread: the engine reads several parts at once. Neither pre-buffering nor mapping was quicker, and a
    # mapped file that is cut short kills the process.
    with pa.parquet.ParquetFile(path, memory_map=False, pre_buffer=False) as file:
        wanted = None if list(columns) == file.schema_arrow.names else list(columns)
        if groups and groups[-1] >= file.num_row_groups:
            raise TableError("the file has changed since the table was opened. Open the table again.")
        try:
            for group in groups:  # one by one: Arrow cannot join dictionaries of several in nested columns
                yield from file.iter_batches(batch_size=rows, row_groups=[group], columns=wanted, use_threads=False)
        except pa.ArrowException as error:
            raise TableError(f"the file is damaged ({error}). Write it again.") from error


@dataclass(frozen=True)
class FileInfo:
    """What the metadata of one file says.

    Attributes
    ----------
    schema : pyarrow.Schema
        Names and types of the columns.
    leaves : tuple of str
        Paths of the Parquet columns; a column of lists is one with a longer path.
    chunks : list of list of Chunk
        For each row group, the counts of each Parquet column.
    """

    schema: Any
    leaves: tuple[str, ...]
    chunks: list[list[Chunk]]


def find_groups(paths: Sequence[Path]) -> tuple[ParquetFiles, list[FileInfo]]:
    """Read the metadata of all files and return where their rows are, and what the files hold."""
    pa = pyarrow()
    infos, sizes, groups, row = [], [], [], 0
    for path in paths:
        with reading(path):
            try:
                meta = pa.parquet.read_metadata(path)
                schema = meta.schema.to_arrow_schema()
            except pa.ArrowException as error:  # some of its exceptions are nothing else
                raise TableError(f"the file is not a whole Parquet file ({error}). Write it again.") from error
            check_distinct(schema.names)
            starts = [row]
            for i in range(meta.num_row_groups):
                starts.append(starts[-1] + meta.row_group(i).num_rows)
            if starts[-1] - row != meta.num_rows or starts != sorted(starts):
                raise TableError("the metadata is damaged: its row groups do not add up. Write the file again.")
            row = starts[-1]
            leaves = tuple(meta.schema.column(j).path for j in range(meta.num_columns))
            infos.append(FileInfo(schema, leaves, read_chunks(path, meta.num_columns)))
            sizes.append(path.stat().st_size)
            groups.append(tuple(starts))
    return ParquetFiles(tuple(str(path) for path in paths), tuple(sizes), tuple(groups)), infos
