"""Where the rows of Parquet files are, and how to get at any run of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from hiddenbits.data.cell_checks import check_distinct
from hiddenbits.data.file_request import reading
from hiddenbits.data.locations.places import Place, RemoteFile, each, for_library
from hiddenbits.data.named.parquet.footer import Chunk, read_chunks
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import redacted

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
    places : tuple of Place
        The files; a remote one knows by what to notice that it was replaced.
    sizes : tuple of int
        Their sizes in bytes, to notice a local file that was replaced.
    groups : tuple of tuple of int
        For each file, the table's row at which each of its row groups starts, and the row after its last.
    lacking : tuple of dict
        For each file, the columns of the table that it does not hold, each with the one value of all its rows as an
        Arrow scalar: those in its path or of a lake's partition, or null for columns that came later. Empty where none
        lacks any.
    """

    places: tuple[Place, ...]
    sizes: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    lacking: tuple[Mapping[str, Any], ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """The files' names, as messages show them."""
        return tuple(str(place) for place in self.places)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.groups[-1][-1]

    def batches(
        self, start: int, stop: int, columns: Sequence[str], row_bytes: float, coded: Sequence[str] = ()
    ) -> Iterator[tuple[str, int, Any]]:
        """Yield (path, row within the file, record batch) that together are rows start to stop.

        Columns of text that are `coded` come as dictionaries, as the files have them.
        """
        lacking = self.lacking or ({},) * len(self.places)
        for place, size, starts, lacks in zip(self.places, self.sizes, self.groups, lacking, strict=True):
            low, high = max(start, starts[0]), min(stop, starts[-1])
            if low >= high:
                continue
            wanted = [i for i in range(len(starts) - 1) if starts[i] < high and starts[i + 1] > low]
            at = starts[wanted[0]]
            rows = int(min(max(BATCH_BYTES // max(row_bytes, 1), BATCH_ROWS[0]), BATCH_ROWS[1]))
            path = str(place)
            with reading(place):
                for batch in _decode(place, size, wanted, columns, rows, coded, lacks):
                    first, last = max(low - at, 0), min(high - at, batch.num_rows)
                    if last > first:
                        yield path, at + first - starts[0], batch.slice(first, last - first)
                    at += batch.num_rows
                    if at >= high:
                        break
                if at < high:
                    raise TableError(f"the file holds fewer rows than its metadata says ({starts[-1] - starts[0]}).")


def _decode(
    place: Place,
    size: int,
    groups: list[int],
    columns: Sequence[str],
    rows: int,
    coded: Sequence[str],
    lacks: Mapping[str, Any],
) -> Iterator[Any]:
    """Yield record batches of some row groups. The file is opened again, so that any thread may call this."""
    pa = pyarrow()
    far = isinstance(place, RemoteFile)
    words = [name for name in coded if name not in lacks] or None
    if not isinstance(place, RemoteFile) and place.stat().st_size != size:
        raise TableError("the file has changed since the table was opened. Open the table again.")
    # One thread: the engine reads several parts at once. Of a local file neither pre-buffering nor mapping was quicker,
    # and a mapped file that is cut short kills the process. Of a remote one, columns side by side come in one request.
    with (
        for_library(place) as source,
        pa.parquet.ParquetFile(source, memory_map=False, pre_buffer=far, read_dictionary=words) as file,
    ):
        held = file.schema_arrow.names
        inside = [name for name in columns if name not in lacks] or held[:1]  # one tells how many rows there are
        wanted = None if inside == held else inside
        if groups and groups[-1] >= file.num_row_groups:
            raise TableError("the file has changed since the table was opened. Open the table again.")
        try:
            for group in groups:  # one by one: Arrow cannot join dictionaries of several in nested columns
                for batch in file.iter_batches(batch_size=rows, row_groups=[group], columns=wanted, use_threads=False):
                    yield _with_lacking(batch, columns, lacks) if lacks else batch
        except pa.ArrowException as error:
            raise TableError(f"the file is damaged ({redacted(error)}). Write it again.") from error


def _with_lacking(batch: Any, columns: Sequence[str], lacks: Mapping[str, Any]) -> Any:
    """Return a batch with the columns that its file lacks."""
    pa = pyarrow()
    arrays = [
        pa.repeat(lacks[name], batch.num_rows) if name in lacks else batch.column(batch.schema.get_field_index(name))
        for name in columns
    ]
    return pa.RecordBatch.from_arrays(arrays, list(columns))


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


def find_groups(
    places: Sequence[Place], schema: Any = None, given: Sequence[Mapping[str, Any]] = ()
) -> tuple[ParquetFiles, list[FileInfo]]:
    """Read the metadata of all files and return where their rows are, and what the files hold.

    Parameters
    ----------
    places : sequence of Place
        The files.
    schema : pyarrow.Schema, optional
        The columns of the table, of which a file may lack some and hold others; by default those that are in the files,
        and those that are given.
    given : sequence of dict
        For each file, the one value of columns that it lacks; an Arrow scalar, where there is no schema. Null where it
        says nothing.
    """
    pyarrow()
    found = each(_look, places)
    groups, row = [], 0
    for _, _, heights, _ in found:
        starts = tuple(accumulate(heights, initial=row))
        groups.append(starts)
        row = starts[-1]
    files = ParquetFiles(tuple(look[0] for look in found), tuple(look[1] for look in found), tuple(groups))
    infos = [look[3] for look in found]
    if schema is None and not given:
        return files, infos
    pa = pyarrow()
    filled, lacking = [], []
    for info, values in zip(infos, given, strict=True):
        fields = [*info.schema, *(pa.field(*pair) for pair in _types(values))] if schema is None else list(schema)
        inside = set(info.schema.names)
        lacks = {f.name: _scalar(values.get(f.name), f.type) for f in fields if f.name not in inside}
        filled.append(_filled(info, fields, lacks))
        lacking.append(lacks)
    return replace(files, lacking=tuple(lacking)), filled


def _types(values: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(name, value.type) for name, value in values.items()]


def _scalar(value: Any, kind: Any) -> Any:
    pa = pyarrow()
    return value if isinstance(value, pa.Scalar) else pa.scalar(value, kind)


def _filled(info: FileInfo, fields: Sequence[Any], lacks: Mapping[str, Any]) -> FileInfo:
    """Return what a file holds together with the columns that it lacks."""
    pa = pyarrow()
    chunks = []
    for group in info.chunks:
        n = max((chunk.num_values for chunk in group), default=0)
        chunks.append([*group, *(_told(value.as_py(), n) for value in lacks.values())])
    fields = [pa.field(f.name, f.type) if f.name in lacks else info.schema.field(f.name) for f in fields]
    return FileInfo(pa.schema(fields), (*info.leaves, *lacks), chunks)


def _told(value: Any, rows: int) -> Chunk:
    """Return what a footer would say of a column with one value."""
    if value is None:
        return Chunk(rows, rows, None)
    raw = int(value).to_bytes(8, "little", signed=True) if isinstance(value, int) and abs(value) < 2**63 else None
    return Chunk(rows, 0, raw, raw)


def _look(place: Place) -> tuple[Place, int, list[int], FileInfo]:
    """Read the metadata of one file; return (the file, its size, rows of each row group, what it holds)."""
    pa = pyarrow()
    with reading(place):
        if isinstance(place, RemoteFile):
            place = place.marked()
        with for_library(place) as source:
            try:
                meta = pa.parquet.read_metadata(source)
                schema = meta.schema.to_arrow_schema()
            except pa.ArrowException as error:  # some of its exceptions are nothing else
                raise TableError(
                    f"the file is not a complete Parquet file ({redacted(error)}). Write it again."
                ) from error
            check_distinct(schema.names)
            heights = [meta.row_group(i).num_rows for i in range(meta.num_row_groups)]
            if sum(heights) != meta.num_rows or min(heights, default=0) < 0:
                raise TableError("the metadata is damaged: its row groups do not add up. Write the file again.")
            leaves = tuple(meta.schema.column(j).path for j in range(meta.num_columns))
            with nullcontext(source) if isinstance(place, RemoteFile) else place.open("rb") as file:
                chunks = read_chunks(file, meta.num_columns)
                size = file.seek(0, 2)
        return place, size, heights, FileInfo(schema, leaves, chunks)
