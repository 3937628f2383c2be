"""Parquet tables whose columns hold other values than bits, or of which the user said something.

Small ones are read into memory and opened as frames are. Larger ones stay on disk: one scan counts the values of each
column, by which it is decided how they become bits, and each part is coded as it is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hiddenbits.data.bits import ByteArray
from hiddenbits.data.columns.cells import Beside
from hiddenbits.data.columns.coding import LEVELS, MISSING, Coding, ReadColumns, codes_of
from hiddenbits.data.columns.gather import MANY, cells_of_arrow
from hiddenbits.data.columns.open import check_names, open_frame, planned
from hiddenbits.data.masks import Mask, mask_for
from hiddenbits.data.readers.parquet.columns import ParquetBits, plain_source
from hiddenbits.data.readers.parquet.distinct import (
    CELL_BYTES,
    CellsInFiles,
    CountedColumn,
    counted_columns,
)
from hiddenbits.data.readers.parquet.files import FileInfo, ParquetFiles, pyarrow
from hiddenbits.data.readers.request import FileRequest, naming
from hiddenbits.data.table import Table, TableError
from hiddenbits.quoting import told

KEPT = ("values", "one-hot", *LEVELS)  # columns whose values a coding lists
SMALL_BYTES = 64 * 2**20  # of Arrow's: what is smaller is read into memory


def open_coded(request: FileRequest, files: ParquetFiles, infos: Sequence[FileInfo]) -> Table:
    """Return a table of bits from columns of any values: by the coding of a fit, or a look and what the user said."""
    _check_types(request, infos)
    held = _in_memory(files, infos)
    if held is not None:
        with naming(request.files[0]):
            return open_frame(held, request, of_file=True)
    return _on_disk(request, files, infos)


def _check_types(request: FileRequest, infos: Sequence[FileInfo]) -> None:
    """Refuse files whose columns have types that do not go together."""
    pa, first = pyarrow(), infos[0].schema
    for path, info in zip(request.files[1:], infos[1:], strict=True):
        for field, other in zip(first, info.schema, strict=True):
            try:
                pa.unify_schemas([pa.schema([field]), pa.schema([other])], promote_options="permissive")
            except pa.ArrowException as error:
                raise TableError(
                    f"{path}: column {field.name!r} has type {other.type}, but {field.type} in "
                    f"{request.files[0].name}. All files of a table need the same types."
                ) from error


def _in_memory(files: ParquetFiles, infos: Sequence[FileInfo]) -> Any:
    """Return the files as one Arrow table; None where it would be too large."""
    pa, names = pyarrow(), infos[0].schema.names
    if files.n_rows * len(names) > 8 * SMALL_BYTES:  # a cell takes at least a bit
        return None
    tables, n_bytes = [], 0
    for _, _, batch in files.batches(0, files.n_rows, names, CELL_BYTES * len(names)):
        n_bytes += batch.nbytes
        if n_bytes > SMALL_BYTES:
            return None
        tables.append(pa.Table.from_batches([batch]))
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        raise TableError(f"{files.paths[0]}: the columns do not go together ({told(error)}).") from error


def _on_disk(request: FileRequest, files: ParquetFiles, infos: Sequence[FileInfo]) -> Table:
    """Return a table whose rows stay in the files; so do columns that did not enter."""
    inside = infos[0].schema.names
    names = tuple(inside if request.names is None else request.names)
    with naming(request.files[0]):
        check_names(names, len(inside))
        at = dict(zip(names, inside, strict=True))
        if isinstance(request.coding, Coding):
            request.coding.check_columns(names)
            return _coded(request, files, request.coding.applied_to(names), at, ("dense", 0.5))
        counted = {column.name: column for column in counted_columns(files, inside, names)}
        cells, coding, looks, guessed = planned(list(counted.values()), request)
        coding = coding.applied_to([column.name for column in cells])
        _check_cut(coding, counted)
        if request.threshold is None or request.choices or guessed or request.names is not None:
            mask = _mask(coding, counted, files.n_rows)
            table = _coded(request, files, coding, at, mask)
            assert table.read_as is not None  # noqa: S101
            return replace(table, read_as=replace(table.read_as, looks=tuple(looks)))
        # numbers above a threshold are cut in the type that they have
        source = plain_source(request, files, infos, [column.name for column in coding.columns])
        cut = Table(source, coding.labels)
        if not coding.left_out:
            return cut
        return replace(cut, read_as=ReadColumns(coding, names, _beside(files, coding, at), tuple(looks)))


def _coded(
    request: FileRequest, files: ParquetFiles, coding: Coding, at: Mapping[str, str], mask: tuple[Mask, float]
) -> Table:
    mask = ("none", 0.0) if request.blank == "zero" else mask
    columns = tuple(at[column.name] for column in coding.columns)
    source = CodedParquet(files, columns, *mask, request.blank == "zero", coding)
    return Table(source, coding.labels, read_as=ReadColumns(coding, tuple(at), _beside(files, coding, at)))


def _beside(files: ParquetFiles, coding: Coding, at: Mapping[str, str]) -> dict[str, Beside]:
    """Return the columns that did not enter, and those whose values became bits by a coding."""
    kept = {one.name for one in coding.columns if one.how in KEPT} | set(coding.left_out)
    return {name: CellsInFiles(files, column, name) for name, column in at.items() if name in kept}


def _check_cut(coding: Coding, counted: Mapping[str, CountedColumn]) -> None:
    """Refuse to code many values one by one: not all of them were counted."""
    for column in coding.columns:
        if column.how in KEPT and counted[column.name].cut:
            raise TableError(
                f"column {column.name!r} has more than {MANY:,} different values, too many to code one by one in a "
                "table that stays on disk. Merge rare values, or leave the column out with drop=."
            )


def _mask(coding: Coding, counted: Mapping[str, CountedColumn], n_rows: int) -> tuple[Mask, float]:
    """Return how the observed-mask is stored, for the whole table, and the share of blanks."""
    blanks, unsure = 0, False
    for column in coding.columns:
        if column.how in LEVELS:  # which need no mask
            continue
        cells = counted[column.name]
        seen = [column.code_of(key) == MISSING for key in cells.keys]
        found = sum(many for many, gone in zip(cells.many, seen, strict=True) if gone)
        blanks += found * len(column.labels)
        unsure |= cells.cut and bool(column.missing)
    if not blanks and not unsure:
        return "none", 0.0
    share = blanks / (n_rows * len(coding.labels))
    return mask_for(share), share


@dataclass(frozen=True, eq=False)
class CodedParquet(ParquetBits):
    """Rows in Parquet files whose values become bits as they are read.

    Attributes
    ----------
    coding : Coding
        How they become bits.
    """

    coding: Coding

    cell_bytes = CELL_BYTES
    coded = True

    @property
    def n_columns(self) -> int:
        """Number of bits of a row."""
        return len(self.coding.labels)

    def _fill(self, batch: Any, first_row: int, x: ByteArray, missing: ByteArray | None) -> None:
        """Write the bits of a batch into the rows of x, its blanks into the rows of missing."""
        columns = self.coding.columns
        arrays = [batch.column(batch.schema.get_field_index(name)) for name in self.columns]
        cells = [cells_of_arrow(column.name, array) for column, array in zip(columns, arrays, strict=True)]
        codes = codes_of(columns, cells, first_row)
        for name, one, of_values, column, bits in zip(
            self.columns, cells, codes, columns, self.coding.bits_of(), strict=True
        ):
            x[:, bits], blank = column.bits_at(of_values, one.rows)
            if self.blank_is_zero or not blank.any():
                continue
            if missing is None:
                raise TableError(
                    f"column {name!r} has blanks, but had none when the table was opened. Open the table again."
                )
            missing[:, bits] = blank
