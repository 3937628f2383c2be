"""Parquet files with one line for each pair of a row and an item: orders and products, students and questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data.bits import Bits
from hiddenbits.data.cell_checks import Blank
from hiddenbits.data.errors import TableError
from hiddenbits.data.file_request import FileRequest, reading
from hiddenbits.data.items.items import check_items, item_names
from hiddenbits.data.named.parquet.files import FileInfo, ParquetFiles, pyarrow
from hiddenbits.data.named.parquet.pair_cells import ItemColumns, Vocabulary, pair_bits, value_codes
from hiddenbits.data.named.parquet.pair_lines import PairFiles, check_column, decoding, key_type, plain
from hiddenbits.data.named.parquet.pair_runs import RUN_BYTES, RunFinder, Runs, rows_of_runs
from hiddenbits.data.table import MemorySource, Table
from hiddenbits.quoting import quoted

LINE_BYTES = 32  # of a line, while rows that do not stand together are gathered in memory

Cells = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8] | None]


def open_pairs(
    request: FileRequest,
    files: ParquetFiles,
    infos: Sequence[FileInfo],
    row: str | None,
    item: str | None,
    value: str | None,
    items: Any,
    max_columns: int,
    max_bytes: int,
) -> Table:
    """Open files of lines that pair a row with an item; see `open_parquet`.

    One scan finds the rows. If no row key comes back after other keys, the lines stay on disk; otherwise they are
    gathered in memory, as far as `max_bytes` allows.
    """
    pairs = _pairs(request, files, infos, row, item, value)
    names = item_names(items, request)
    n_columns = check_items(request if value is None else replace(request, threshold=None), names, max_columns)
    by_name = pairs.item_type == "large_string"
    gather = (by_name and names is None) or (not by_name and n_columns is None)
    runs, turn, found, ones = _scan(pairs, request.threshold, gather, max_columns, max_bytes)
    held: tuple[str, ...] | NDArray[Any] | None = names if by_name else None
    if gather:
        held = tuple(found) if by_name else np.array(found, pairs.item_type)
        names = tuple(str(one) for one in found)
        if n_columns is not None and n_columns != len(names):
            raise TableError(
                f"{request.files[0]}: {len(names)} items found, not n_columns={n_columns}. Name them with items=."
            )
    columns = ItemColumns(pairs.item, pairs.item_type, len(names) if gather and names else n_columns or 0, held)
    source = PairSource(pairs, runs, columns, ones, request.blank, request.threshold, max_bytes)
    return Table(_grouped(source, turn, max_bytes), request.names if request.names is not None else names)


def _pairs(
    request: FileRequest,
    files: ParquetFiles,
    infos: Sequence[FileInfo],
    row: str | None,
    item: str | None,
    value: str | None,
) -> PairFiles:
    """Check the columns of all files and return which of them say what."""
    if row is None or item is None:
        raise TableError("Give both row=, the column of row keys, and item=, the column of items.")
    if len({row, item, value}) < 3:
        raise TableError("row=, item= and value= must name different columns.")
    kinds = [key_type(request.files, infos, column, option) for column, option in ((row, "row"), (item, "item"))]
    types = pyarrow().types
    for path, info in zip(request.files, infos, strict=True):
        with reading(path):
            if value is not None:
                check_column(info, value, "value")
                kind = info.schema.field(value).type
                tests = types.is_boolean, types.is_integer, types.is_floating, types.is_null
                if not any(test(kind) for test in tests):
                    raise TableError(f"column {value!r} holds {kind}, but value= takes 0, 1 and null. Recode it.")
    return PairFiles(files, row, item, value, *kinds)


def _scan(
    pairs: PairFiles, threshold: float | None, gather: bool, max_columns: int, max_bytes: int
) -> tuple[Runs, int, list[Any], int]:
    """Look through all lines once; return (runs, line that breaks the order or -1, items, number of ones)."""
    finder, vocabulary = RunFinder(pairs), Vocabulary(pairs.item_type, max_columns, max_bytes)
    columns = ([pairs.item] if gather else []) + ([] if pairs.value is None else [pairs.value])
    ones = pairs.files.n_rows if pairs.value is None else 0
    for lines in pairs.lines(0, pairs.files.n_rows, *columns):
        with decoding(lines.path):
            finder.add(lines.start, lines.keys, lines.opens)
            if gather:
                vocabulary.add(plain(lines.batch.column(pairs.item), pairs.item_type, pairs.item, lines.first))
            if pairs.value is not None:
                codes = value_codes(lines.batch.column(pairs.value), threshold, pairs.value, lines.first)
                ones += int(np.count_nonzero(codes == 1))
    with decoding(pairs.files.paths[0]):
        return finder.runs(), finder.turn, vocabulary.items() if gather else [], ones


def _grouped(source: PairSource, turn: int, max_bytes: int) -> PairSource | PairsInMemory:
    """Return the source itself if its runs are rows; otherwise gather its lines in memory."""
    if turn < 0:
        return source
    pairs, runs = source.pairs, source.runs
    rows, starts, keys = rows_of_runs(pairs, runs, turn, max_bytes)
    if len(keys) == runs.n_runs:
        return source
    needed = LINE_BYTES * runs.n_lines + RUN_BYTES * runs.n_runs + keys.nbytes
    if needed > max_bytes:
        back = int(np.argmax(rows != np.arange(len(rows))))  # rows are numbered as they first appear
        raise TableError(
            f"{pairs.place(int(starts[back]))}: {pairs.row!r} is {quoted(keys[int(rows[back])].as_py())} again, after "
            f"other rows. Grouping the {runs.n_lines} lines in memory needs {needed} bytes, above "
            f"max_bytes={max_bytes}. Sort the lines by {pairs.row!r}, so that they can be read in parts, or raise "
            "max_bytes=."
        )
    lengths, items, codes = source.cells(0, runs.n_runs)
    order = np.argsort(rows, kind="stable")
    moved = lengths[order]
    cells = np.arange(len(items)) + np.repeat((np.cumsum(lengths) - lengths)[order] - (np.cumsum(moved) - moved), moved)
    lengths = np.bincount(rows, lengths, minlength=len(keys)).astype(np.int64)
    bits = source.bits(lengths, items[cells], None if codes is None else codes[cells], 0)
    return PairsInMemory(*bits, keys)


@dataclass(frozen=True, eq=False)
class PairsInMemory(MemorySource):
    """Rows whose lines did not stand together, gathered in memory; in the order in which they first appear."""

    keys: Any

    def row_keys(self, start: int, stop: int) -> NDArray[Any]:
        """Return the keys of rows start to stop."""
        return np.asarray(self.keys[start:stop].to_numpy(zero_copy_only=False))


@dataclass(frozen=True, eq=False)
class PairSource:
    """Rows whose lines stand together in Parquet files; `read` opens the files again, in any thread or process.

    Attributes
    ----------
    pairs : PairFiles
        Where the lines are, and which columns say what.
    runs : Runs
        Where the rows begin.
    columns : ItemColumns
        Which column an item is.
    n_ones : int
        Number of lines that say 1.
    blank : {"auto", "zero", "missing"}
        What a cell without a line means.
    threshold : float or None
        Values above it are ones.
    max_bytes : int
        The most that the rows of one `read` may take: lines repeat, and a small file can hold very many.
    """

    pairs: PairFiles
    runs: Runs
    columns: ItemColumns
    n_ones: int
    blank: Blank
    threshold: float | None
    max_bytes: int

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.runs.n_runs

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.columns.n_columns

    @property
    def resident(self) -> bool:
        """The rows are on disk."""
        return False

    @property
    def row_bytes(self) -> float:
        """Bytes of memory that one row takes when loaded, on average."""
        seen = 8 + 4 * self.runs.n_lines / self.n_rows if self.pairs.value is not None and self.blank != "zero" else 0.0
        return 8 + 4 * self.row_cells + seen

    @property
    def row_cells(self) -> float:
        """Cells of a row that arithmetic touches: its ones."""
        return self.n_ones / self.n_rows

    def read(self, start: int, stop: int) -> tuple[Bits, Bits]:
        """Return (x, observed) of rows start to stop; reads only the row groups that hold them."""
        return self.bits(*self.cells(start, stop), start)

    def row_keys(self, start: int, stop: int) -> NDArray[Any]:
        """Return the keys of rows start to stop; reads one column of the row groups that hold them."""
        keys = [pyarrow().array([], self.pairs.row_type)]
        for lines, run, _ in self._lines(start, stop):
            opened = np.flatnonzero(lines.opens & (run >= start) & (run < stop))
            keys.append(lines.keys.take(pyarrow().array(opened)))
        return np.asarray(pyarrow().concat_arrays(keys).to_numpy(zero_copy_only=False))

    def bits(
        self, lengths: NDArray[np.int64], items: NDArray[np.int32], codes: NDArray[np.uint8] | None, first_row: int
    ) -> tuple[Bits, Bits]:
        """Return (x, observed) of rows whose lines are at hand."""
        paths = self.pairs.files.paths
        where = f"{paths[0]}{' and others' if len(paths) > 1 else ''}: row"
        return pair_bits(lengths, items, codes, self.n_columns, self.blank, where, first_row)

    def cells(self, start: int, stop: int) -> Cells:
        """Return (lines of each run, column numbers, codes of the values) of runs start to stop."""
        stop = max(min(stop, self.n_rows), start)
        lengths = np.zeros(stop - start, np.int64)
        all_items, all_codes, find = [np.zeros(0, np.int32)], [np.zeros(0, np.uint8)], self.columns.finder()
        value, n_lines = self.pairs.value, 0
        for lines, run, kept in self._lines(start, stop, self.pairs.item, *([] if value is None else [value])):
            first, n_lines = lines.first + kept.start, n_lines + kept.stop - kept.start
            if LINE_BYTES * n_lines > self.max_bytes:
                raise TableError(
                    f"{lines.path}: line {first}: rows {start} to {stop - 1} hold more lines than fit into "
                    f"max_bytes={self.max_bytes}. Open the table with a smaller part_bytes=, or raise max_bytes=."
                )
            with decoding(lines.path):
                all_items.append(find(lines.batch.column(self.pairs.item)[kept], first))
                if value is not None:
                    all_codes.append(value_codes(lines.batch.column(value)[kept], self.threshold, value, first))
            counts = np.bincount(run[kept] - run[kept.start])
            low = int(run[kept.start]) - start
            lengths[low : low + len(counts)] += counts
        if not lengths.all():
            raise TableError(f"{self.pairs.files.paths[0]}: the files have changed. Open the table again.")
        return lengths, np.concatenate(all_items), None if value is None else np.concatenate(all_codes)

    def _lines(self, start: int, stop: int, *columns: str) -> Any:
        """Yield (lines, run of each of them, slice of those in runs start to stop) of the row groups that hold them."""
        if start >= stop:
            return
        first, last, run = self.runs.where(start, stop)
        run -= 1  # the first line of all is said to open a run
        for lines in self.pairs.lines(first, last, *columns):
            runs = run + np.cumsum(lines.opens)
            run = int(runs[-1])
            low, high = np.searchsorted(runs, [start, stop])
            if high > low:
                yield lines, runs, slice(int(low), int(high))
            if high < len(runs):
                return
