"""Row groups of Parquet files, and reading of any range of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from hiddenbits.data.cell_checks import check_distinct
from hiddenbits.data.file_request import reading
from hiddenbits.data.locations.places import Place, RemoteFile, for_library, map_places
from hiddenbits.data.named.parquet.footer import Chunk, read_chunks
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import redacted

# Size of decoded batches: row groups may be large, and Arrow takes several times the memory of the binary data.
BATCH_BYTES = 1 << 22
BATCH_ROWS = 1 << 12, 1 << 16  # minimum and maximum


def pyarrow() -> Any:
    """Return pyarrow with its Parquet reader; if it is missing, the error says how to install it."""
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install 'hiddenbits[files]'.") from error
    return pa


def is_list(arrow_type: Any) -> bool:
    """Whether an Arrow type is a list."""
    types = pyarrow().types
    return bool(types.is_list(arrow_type) or types.is_large_list(arrow_type))


@dataclass(frozen=True)
class ParquetFiles:
    """Stacked Parquet files.

    Attributes
    ----------
    places : tuple of Place
        The files; a remote one knows how to detect that it was replaced.
    sizes : tuple of int
        Their sizes in bytes, to detect that a local file was replaced.
    groups : tuple of tuple of int
        For each file, the row of the table at which each row group starts, and the row after the last group.
    constants : tuple of dict
        For each file, the columns that it lacks, each with one value for all rows as an Arrow scalar: from the path or
        a partition of a lake, or null for columns that were added later. Empty if no file lacks any.
    """

    places: tuple[Place, ...]
    sizes: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    constants: tuple[Mapping[str, Any], ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """Names of the files, for messages."""
        return tuple(str(place) for place in self.places)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.groups[-1][-1]

    def batches(
        self, start: int, stop: int, columns: Sequence[str], row_bytes: float, dictionary_columns: Sequence[str] = ()
    ) -> Iterator[tuple[str, int, Any]]:
        """Yield (path, row within the file, record batch) that together are rows start to stop.

        `dictionary_columns` that are text are dictionary-encoded, as in the files.
        """
        constants_by_file = self.constants or ({},) * len(self.places)
        for place, size, starts, constants in zip(self.places, self.sizes, self.groups, constants_by_file, strict=True):
            low, high = max(start, starts[0]), min(stop, starts[-1])
            if low >= high:
                continue
            groups = [i for i in range(len(starts) - 1) if starts[i] < high and starts[i + 1] > low]
            row = starts[groups[0]]
            rows = int(min(max(BATCH_BYTES // max(row_bytes, 1), BATCH_ROWS[0]), BATCH_ROWS[1]))
            path = str(place)
            with reading(place):
                for batch in _decode(place, size, groups, columns, rows, dictionary_columns, constants):
                    first, last = max(low - row, 0), min(high - row, batch.num_rows)
                    if last > first:
                        yield path, row + first - starts[0], batch.slice(first, last - first)
                    row += batch.num_rows
                    if row >= high:
                        break
                if row < high:
                    raise TableError(f"the file holds fewer rows than its metadata says ({starts[-1] - starts[0]}).")


def _decode(
    place: Place,
    size: int,
    groups: list[int],
    columns: Sequence[str],
    rows: int,
    dictionary_columns: Sequence[str],
    constants: Mapping[str, Any],
) -> Iterator[Any]:
    """Yield record batches of some row groups. The file is opened again, so that any thread can call this."""
    pa = pyarrow()
    is_remote = isinstance(place, RemoteFile)
    dictionary = [name for name in dictionary_columns if name not in constants] or None
    if not isinstance(place, RemoteFile) and place.stat().st_size != size:
        raise TableError("the file has changed since the table was opened. Open the table again.")
    # One thread: the engine reads several parts at once. Pre-buffering or mapping did not speed up local files,
    # and truncating a mapped file kills the process. For remote files, one request fetches adjacent columns.
    with (
        for_library(place) as source,
        pa.parquet.ParquetFile(source, memory_map=False, pre_buffer=is_remote, read_dictionary=dictionary) as file,
    ):
        names = file.schema_arrow.names
        selected = [name for name in columns if name not in constants] or names[:1]  # for the number of rows
        selection = None if selected == names else selected
        if groups and groups[-1] >= file.num_row_groups:
            raise TableError("the file has changed since the table was opened. Open the table again.")
        try:
            for group in groups:  # one by one: in nested columns Arrow cannot join dictionaries of several
                for batch in file.iter_batches(rows, row_groups=[group], columns=selection, use_threads=False):
                    yield _add_constants(batch, columns, constants) if constants else batch
        except pa.ArrowException as error:
            raise TableError(f"the file is damaged ({redacted(error)}). Write it again.") from error


def _add_constants(batch: Any, columns: Sequence[str], constants: Mapping[str, Any]) -> Any:
    """Return a batch with the columns that its file lacks."""
    pa = pyarrow()
    index, n = batch.schema.get_field_index, batch.num_rows
    arrays = [pa.repeat(constants[name], n) if name in constants else batch.column(index(name)) for name in columns]
    return pa.RecordBatch.from_arrays(arrays, list(columns))


@dataclass(frozen=True)
class FileInfo:
    """Metadata of one file.

    Attributes
    ----------
    schema : pyarrow.Schema
        Names and types of the columns.
    leaves : tuple of str
        Paths of the Parquet columns; a column of lists has a longer path.
    chunks : list of list of Chunk
        For each row group, the statistics of each Parquet column.
    """

    schema: Any
    leaves: tuple[str, ...]
    chunks: list[list[Chunk]]


def read_footers(
    places: Sequence[Place], schema: Any = None, constants: Sequence[Mapping[str, Any]] = ()
) -> tuple[ParquetFiles, list[FileInfo]]:
    """Read the metadata of all files; return the files with their row groups, and the metadata.

    Parameters
    ----------
    places : sequence of Place
        The files.
    schema : pyarrow.Schema, optional
        The columns of the table; a file may lack some of them, and have others. By default the columns of the files and
        of `constants`.
    constants : sequence of dict
        For each file, the values of columns that it lacks, Arrow scalars if there is no schema. Columns without a
        value are null.
    """
    pyarrow()
    metadata = map_places(_read_metadata, places)
    groups, row = [], 0
    for _, _, heights, _ in metadata:
        starts = tuple(accumulate(heights, initial=row))
        groups.append(starts)
        row = starts[-1]
    places, sizes, _, infos = zip(*metadata, strict=True)
    files = ParquetFiles(places, sizes, tuple(groups))
    if schema is None and not constants:
        return files, list(infos)
    pa = pyarrow()
    infos_with_constants, constants_by_file = [], []
    for info, values in zip(infos, constants, strict=True):
        fields = [*info.schema, *(pa.field(*pair) for pair in _types(values))] if schema is None else list(schema)
        file_columns = set(info.schema.names)
        file_constants = {f.name: _scalar(values.get(f.name), f.type) for f in fields if f.name not in file_columns}
        infos_with_constants.append(_with_constants(info, fields, file_constants))
        constants_by_file.append(file_constants)
    return replace(files, constants=tuple(constants_by_file)), infos_with_constants


def _types(values: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(name, value.type) for name, value in values.items()]


def _scalar(value: Any, arrow_type: Any) -> Any:
    pa = pyarrow()
    return value if isinstance(value, pa.Scalar) else pa.scalar(value, arrow_type)


def _with_constants(info: FileInfo, fields: Sequence[Any], constants: Mapping[str, Any]) -> FileInfo:
    """Return the metadata of a file with the columns that it lacks."""
    pa = pyarrow()
    chunks = []
    for group in info.chunks:
        n = max((chunk.num_values for chunk in group), default=0)
        chunks.append([*group, *(_constant_chunk(value.as_py(), n) for value in constants.values())])
    fields = [pa.field(f.name, f.type) if f.name in constants else info.schema.field(f.name) for f in fields]
    return FileInfo(pa.schema(fields), (*info.leaves, *constants), chunks)


def _constant_chunk(value: Any, rows: int) -> Chunk:
    """Return the statistics of a column with one value."""
    if value is None:
        return Chunk(rows, rows, None)
    raw = int(value).to_bytes(8, "little", signed=True) if isinstance(value, int) and abs(value) < 2**63 else None
    return Chunk(rows, 0, raw, raw)


def _read_metadata(place: Place) -> tuple[Place, int, list[int], FileInfo]:
    """Read the metadata of one file; return (the file, its size, rows of each row group, metadata)."""
    pa = pyarrow()
    with reading(place):
        if isinstance(place, RemoteFile):
            place = place.with_version()
        with for_library(place) as source:
            try:
                metadata = pa.parquet.read_metadata(source)
                schema = metadata.schema.to_arrow_schema()
            except pa.ArrowException as error:  # some errors are only of this class
                raise TableError(
                    f"the file is not a complete Parquet file ({redacted(error)}). Write it again."
                ) from error
            check_distinct(schema.names)
            heights = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
            if sum(heights) != metadata.num_rows or min(heights, default=0) < 0:
                raise TableError("the metadata is damaged: its row groups do not add up. Write the file again.")
            leaves = tuple(metadata.schema.column(j).path for j in range(metadata.num_columns))
            with nullcontext(source) if isinstance(place, RemoteFile) else place.open("rb") as file:
                chunks = read_chunks(file, metadata.num_columns)
                size = file.seek(0, 2)
        return place, size, heights, FileInfo(schema, leaves, chunks)
