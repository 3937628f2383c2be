"""Parquet tables whose columns are of several kinds, read row group by row group.

Kinds and categories come from the files' schema where it has them, and otherwise from one pass over the rows when the
table is opened. What the cells show is put into a small Arrow table, so that the rules are those for frames.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hiddenbits.data.bits import AllOnes, Bits, Dense
from hiddenbits.data.columns.coding import ReadColumns
from hiddenbits.data.columns.kinds import check_names, coding_of_kinds, said_with_kinds, without
from hiddenbits.data.columns.vocabulary import Key
from hiddenbits.data.mixed.cells import Cells, MixedTable
from hiddenbits.data.mixed.encode import RawColumn, encoded_cells, inferred_layout, raw_columns
from hiddenbits.data.mixed.layout import MOST_CATEGORIES, Layout, asked_kinds, asked_orders, given_layout
from hiddenbits.data.readers.parquet.coded import CodedParquet
from hiddenbits.data.readers.parquet.columns import plain_source
from hiddenbits.data.readers.parquet.distinct import CELL_BYTES, CellsInFiles, counted_columns, distinct_cells
from hiddenbits.data.readers.parquet.files import FileInfo, ParquetFiles, pyarrow
from hiddenbits.data.readers.request import FileRequest, naming, reading
from hiddenbits.data.table import Table, TableError


def open_mixed_parquet(request: FileRequest, files: ParquetFiles, infos: Sequence[FileInfo]) -> Table:
    """Return a table of the columns that enter; one of bits, where all of them turn out to be binary."""
    schema = infos[0].schema
    order = tuple(schema.names if request.names is None else request.names)
    with naming(request.files[0]):
        check_names(order, len(schema))
        said, places = said_with_kinds(order, request, lambda: counted_columns(files, schema.names, order))
    missing = {schema.names[j]: said[j].missing or () for j in places if said[j].missing}
    columns, names = tuple(schema.names[j] for j in places), tuple(order[j] for j in places)
    table = _open(request, files, infos, columns, names, missing)
    coding = coding_of_kinds(order, said, places)
    if table is None and missing:
        table = Table(CodedParquet(files, columns, "dense", 0.5, False, coding), names)
    elif table is None:
        table = Table(plain_source(request, files, infos, columns), names)
    if not coding.left_out and not missing:
        return table
    inside = dict(zip(order, schema.names, strict=True))
    cells = {name: CellsInFiles(files, inside[name], name) for name in coding.left_out}
    return replace(table, read_as=ReadColumns(coding, order, cells))


def _open(
    request: FileRequest,
    files: ParquetFiles,
    infos: Sequence[FileInfo],
    columns: tuple[str, ...],
    names: tuple[str, ...],
    missing: Mapping[str, Sequence[Key]],
) -> Table | None:
    """Return a table of some columns; None where all of them turn out to be binary."""
    pa, kinds = pyarrow(), request.kinds
    fields = [infos[0].schema.field(name) for name in columns]
    for path, info in zip(request.files, infos, strict=True):
        with reading(path):
            for field in fields:
                other = info.schema.field(field.name)
                if other.type != field.type:
                    raise TableError(
                        f"column {field.name!r} has type {other.type}, but {field.type} in {request.files[0].name}. "
                        "All files of a table need the same types."
                    )
    with reading(request.files[0]):
        raw_columns(pa.schema(fields).empty_table())  # refuses dates, lists and the like before any row is read
    layout, blanks = given_layout(kinds, names), True
    if layout is None:
        layout, blanks = _scan(files, fields, names, kinds, missing)
    if layout.only_bits and not isinstance(kinds, Layout):
        return None
    blanks = blanks or any(m > 1 for m in layout.sticks)  # an ordered cell leaves some of its bits open
    return MixedTable(MixedParquet(files, columns, layout, blanks, missing), names)


def _scan(
    files: ParquetFiles, fields: Sequence[Any], names: Sequence[str], kinds: Any, missing: Mapping[str, Sequence[Key]]
) -> tuple[Layout, bool]:
    """Go through the rows once; return what the columns are, and whether any cell is blank."""
    asked, orders = asked_kinds(kinds, names), asked_orders(kinds)
    looks = [
        _Look(j, name, field, kind, listed=name in orders)
        for j, (name, field, kind) in enumerate(zip(names, fields, asked, strict=True))
    ]
    wanted = [field.name for field in fields]
    for path, first_row, batch in files.batches(0, files.n_rows, wanted, CELL_BYTES * len(wanted)):
        with reading(path):
            for look in looks:
                array = batch.column(batch.schema.get_field_index(look.field.name))
                look.add(_without(array, missing.get(look.field.name, ())), first_row)
    layout = inferred_layout([look.shown() for look in looks], "pyarrow", kinds)
    return layout, any(look.blanks for look in looks)


def _without(array: Any, missing: Sequence[Key]) -> Any:
    """Return an Arrow array in which codes for missing are blanks."""
    if not missing:
        return array
    pa = pyarrow()
    cells = distinct_cells("", array)
    gone = np.array([key is not None and key in missing for key in cells.keys], bool)[cells.rows]
    import pyarrow.compute as pc

    return pc.if_else(pa.array(gone), pa.scalar(None, array.type), array) if gone.any() else array


class _Look:
    """What one pass shows of a column: few cells, but all that its kind and its categories depend on."""

    def __init__(self, number: int, name: str, field: Any, kind: str | None, *, listed: bool) -> None:
        types = pyarrow().types
        self.number, self.name, self.field, self.kind, self.listed = number, name, field, kind, listed
        self.blanks = False
        self.order: tuple[Any, ...] | None = None  # of a type that declares one
        self._coded = types.is_dictionary(field.type)
        self._declared = self._coded and field.type.ordered
        self._numeric = types.is_floating(field.type) or types.is_integer(field.type) or types.is_decimal(field.type)
        self._few = types.is_boolean(field.type) or (self._numeric and kind not in ("nominal", "ordered"))
        self._found: dict[Any, None] = {}

    def add(self, array: Any, first_row: int) -> None:
        """Look at some more cells."""
        if self._declared and not self.listed:
            self._same_order(tuple(array.dictionary.to_pylist()))
        self.blanks |= array.null_count > 0
        if self._few:
            self._add_numbers(array, first_row)
            return
        cells = array.dictionary_decode() if self._coded else array
        for value in cells.unique().to_pylist():
            if value is None or value != value:  # NaN differs from itself
                self.blanks = True
            else:
                self._found[value] = None
        if len(self._found) > MOST_CATEGORIES:
            raise TableError(
                f"column {self.name!r} has more than {MOST_CATEGORIES} categories. Drop the column if it only "
                "identifies rows, or merge rare categories."
            )

    def _same_order(self, order: tuple[Any, ...]) -> None:
        if self.order is not None and order != self.order:
            raise TableError(
                f"column {self.name!r}: the order of its categories differs between parts of the table. List them, "
                f"lowest first, with kinds={{{self.name!r}: [...]}}."
            )
        self.order = order

    def _add_numbers(self, array: Any, first_row: int) -> None:
        """Keep 0 and 1 where they occur, and one number besides; refuse whole numbers that may be anything."""
        (raw,), _ = raw_columns(pyarrow().table({self.name: array}), first_row)
        blank = np.isnan(raw.values)
        self.blanks |= bool(blank.any())
        others = np.flatnonzero(~blank & (raw.values != 0.0) & (raw.values != 1.0))
        if len(others) and self.kind is None and raw.form == "int":
            inferred_layout([replace(raw, number=self.number)], "pyarrow", "auto")  # says what is wrong, and where
        for bit in (0.0, 1.0):
            if (raw.values == bit).any():
                self._found[bit] = None
        if len(others) and not self._found.keys() - {0.0, 1.0}:
            self._found[float(raw.values[others[0]])] = None

    def shown(self) -> RawColumn:
        """Return a column of the distinct cells, as a frame would have it."""
        pa, kind = pyarrow(), self.field.type
        cells = list(self._found)
        if self._coded and self.order is not None:
            at = {value: code for code, value in enumerate(self.order)}
            codes = pa.array([at[value] for value in cells], pa.int32())
            array = pa.DictionaryArray.from_arrays(codes, pa.array(self.order, kind.value_type), ordered=True)
        elif self._coded:
            array = pa.array(cells, kind.value_type).dictionary_encode()
        elif self._few:
            whole = pa.types.is_integer(kind) and all(value == int(value) for value in cells)
            kind = kind if pa.types.is_boolean(kind) else pa.int64() if whole else pa.float64()
            array = pa.array([bool(v) if pa.types.is_boolean(kind) else v for v in cells]).cast(kind)
        else:
            array = pa.array(cells, kind)
        (raw,), _ = raw_columns(pa.table({self.name: array}))
        raw = replace(raw, number=self.number)
        # polars writes the fixed list of an Enum as an order, which it need not be
        enum = any(key.startswith(b"_PL_ENUM") for key in self.field.metadata or {})
        return replace(raw, form="enum", ordered=False) if enum and not raw.is_numeric else raw


@dataclass(frozen=True, eq=False)
class MixedParquet:
    """Rows of several kinds of columns in Parquet files; `read` opens the files again, in any thread or process.

    Attributes
    ----------
    files : ParquetFiles
        Where the rows are.
    columns : tuple of str
        The columns, by their names in the files.
    layout : Layout
        What they are.
    blanks : bool
        Whether some number of some row is not observed; all parts then have a mask.
    missing : dict of str to keys
        By column, codes for missing.
    """

    files: ParquetFiles
    columns: tuple[str, ...]
    layout: Layout
    blanks: bool
    missing: Mapping[str, Sequence[Key]]

    resident = False

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.files.n_rows

    @property
    def n_columns(self) -> int:
        """Number of columns of the table, not of the numbers that stand for them."""
        return len(self.columns)

    @property
    def row_bytes(self) -> float:
        """Bytes of memory that one row takes when loaded."""
        layout = self.layout
        held = layout.n_bits + 8 * len(layout.real_columns) + 4 * len(layout.levels)
        return float(held + (layout.n_numbers if self.blanks else 0))

    @property
    def row_cells(self) -> float:
        """Numbers of a row that arithmetic touches."""
        return float(self.layout.n_numbers)

    def read(self, start: int, stop: int) -> tuple[Bits, Bits]:
        """Return (cells, observed) of rows start to stop; reads only the row groups that hold them."""
        pa, names = pyarrow(), [column.name for column in self.layout.columns]
        n_bits, n_numbers = self.layout.n_bits, self.layout.n_numbers
        real, codes = np.zeros((0, len(self.layout.real_columns))), np.zeros((0, len(self.layout.levels)), np.int32)
        none = Cells(np.zeros((0, n_bits), np.uint8), real, codes, self.layout)
        parts = [(none, np.zeros((0, n_numbers), np.uint8))]
        for path, first_row, batch in self.files.batches(start, stop, self.columns, CELL_BYTES * self.n_columns):
            with reading(path):
                frame = pa.Table.from_batches([batch]).select(list(self.columns)).rename_columns(names)
                raw = [
                    without(column, self.missing.get(name, ()))
                    for column, name in zip(raw_columns(frame, first_row)[0], self.columns, strict=True)
                ]
                parts.append(encoded_cells(raw, self.layout))
                if not self.blanks and parts[-1][1].any():
                    raise TableError(
                        "a cell is blank that was not blank when the table was opened. Open the table again."
                    )
        cells = [x for x, _ in parts]
        x = Cells(
            np.concatenate([part.bits for part in cells]),
            np.concatenate([part.real for part in cells]),
            np.concatenate([part.codes for part in cells]),
            self.layout,
        )
        if not self.blanks:
            return x, AllOnes(x.shape)
        return x, Dense(np.concatenate([1 - missing for _, missing in parts]).astype(np.uint8))
