"""Parquet tables of 0/1 columns, read row group by row group."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data.bits import AllOnes, Bits, ByteArray, Dense
from hiddenbits.data.cell_checks import dense_bits
from hiddenbits.data.errors import TableError
from hiddenbits.data.file_request import FileRequest, reading
from hiddenbits.data.masks import Mask, mask_bytes, mask_for, observed_bits
from hiddenbits.data.named.parquet.files import FileInfo, ParquetFiles, pyarrow
from hiddenbits.data.named.parquet.footer import Chunk

FIRST_ROWS = 1 << 16  # of columns of floats between 0 and 1 that are looked at before they are taken for bits
TILE = 2048  # rows transposed at a time, so that a tile of 128 columns stays in the cache


@dataclass(frozen=True, eq=False)
class ParquetSource:
    """Rows of 0/1 columns in Parquet files; `read` opens the files again, in any thread or process.

    Attributes
    ----------
    files : ParquetFiles
        Where the rows are.
    columns : tuple of str
        The columns that enter, by their names in the files.
    mask : {"none", "missing", "dense", "observed"}
        Storage of the observed-mask, the same for all rows: none, the pattern of the missing cells, dense, or
        the pattern of the observed cells.
    share : float
        Share of the cells that is missing, as far as that is known.
    blank_is_zero : bool
        Whether a blank is a 0.
    threshold : float or None
        Numbers above it are ones.
    """

    files: ParquetFiles
    columns: tuple[str, ...]
    mask: Mask
    share: float
    blank_is_zero: bool
    threshold: float | None

    resident: ClassVar[bool] = False

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.files.n_rows

    @property
    def n_columns(self) -> int:
        """Number of bits of a row."""
        return len(self.columns)

    @property
    def row_bytes(self) -> float:
        """Bytes of memory that one row takes when loaded."""
        return self.n_columns * (1 + mask_bytes(self.mask, self.share))

    @property
    def row_cells(self) -> float:
        """Cells of a row that arithmetic touches: all."""
        return float(self.n_columns)

    def read(self, start: int, stop: int) -> tuple[Bits, Bits]:
        """Return (x, observed) of rows start to stop; reads only the row groups that hold them."""
        shape = max(min(stop, self.n_rows) - start, 0), self.n_columns
        x = np.empty(shape, np.uint8)
        missing = None if self.mask == "none" else np.zeros(shape, np.uint8)
        at = 0
        for path, first_row, batch in self.files.batches(start, stop, self.columns, len(self.columns)):
            rows = slice(at, at + batch.num_rows)
            with reading(path):
                self._fill(batch, first_row, x[rows], None if missing is None else missing[rows])
            at = rows.stop
        return Dense(x), AllOnes(shape) if missing is None else observed_bits(missing, self.mask)

    def _fill(self, batch: Any, first_row: int, x: ByteArray, missing: ByteArray | None) -> None:
        """Check a batch and write its columns into the rows of x, its blanks into the rows of missing."""
        bits = np.empty((self.n_columns, batch.num_rows), np.uint8)
        gaps: ByteArray | None = None
        for j, name in enumerate(self.columns):
            array = batch.column(batch.schema.get_field_index(name))
            try:
                bits[j], blanks = column_bits(array, self.threshold, name, first_row)
            except TableError as error:
                raise TableError(str(error).replace("column 0", f"column {j}", 1)) from error
            if blanks is None or self.blank_is_zero:
                continue
            if missing is None:
                raise TableError(f"column {name!r} has nulls, but the file's metadata says none. Write it again.")
            gaps = np.zeros_like(bits) if gaps is None else gaps
            gaps[j] = blanks
        for start in range(0, len(x), TILE):  # columns to rows, tile by tile: 3 times quicker than column by column
            x[start : start + TILE] = bits[:, start : start + TILE].T
            if gaps is not None and missing is not None:
                missing[start : start + TILE] = gaps[:, start : start + TILE].T


def column_bits(
    array: Any, threshold: float | None, name: str, first_row: int
) -> tuple[ByteArray, NDArray[np.bool_] | None]:
    """Check an Arrow array and return (bits, blanks or None)."""
    if array.null_count == len(array) > 0:
        return np.zeros(len(array), np.uint8), np.ones(len(array), bool)
    nulls: NDArray[np.bool_] | None = None
    if array.null_count:
        nulls = array.is_null().to_numpy(zero_copy_only=False)
        array = array.fill_null(False if str(array.type) == "bool" else 0)
    values = array.to_numpy(zero_copy_only=False)
    x, observed = dense_bits(values[:, None], blank="missing", threshold=threshold, names=(name,), first_row=first_row)
    bits = x.to_dense()[:, 0]
    blanks = None if isinstance(observed, AllOnes) else observed.to_dense()[:, 0] == 0
    if nulls is not None:
        bits = np.where(nulls, 0, bits).astype(np.uint8)
        blanks = nulls if blanks is None else blanks | nulls
    return bits, blanks


def can_be_bits(kind: Any) -> bool:
    """Whether a column of this type may hold bits, and nothing else."""
    types = pyarrow().types
    return any(test(kind) for test in (types.is_boolean, types.is_integer, types.is_floating, types.is_null))


def holds_bits(files: ParquetFiles, infos: Sequence[FileInfo]) -> bool:
    """Whether all columns hold nothing but 0, 1 and blanks, as far as that can be told without reading all rows.

    The metadata tell it of whole numbers, and of floats that they lie between 0 and 1; then some rows are looked at.
    Columns of which the metadata tell nothing are read. A cell that turns out to be no bit later is refused.
    """
    if not all(can_be_bits(field.type) for info in infos for field in info.schema):
        return False
    silent: dict[str, None] = {}
    floats: dict[str, None] = {}
    for info in infos:
        places = {leaf: j for j, leaf in enumerate(info.leaves)}
        for field in info.schema:
            told = {_within_bits(group[places[field.name]], field.type) for group in info.chunks}
            if False in told:
                return False
            if None in told:
                silent[field.name] = None
            elif pyarrow().types.is_floating(field.type):
                floats[field.name] = None
    return _are_bits(files, list(floats), FIRST_ROWS) and _are_bits(files, list(silent), files.n_rows)


def _within_bits(chunk: Chunk, kind: Any) -> bool | None:
    """Whether the metadata say that values lie between 0 and 1; None where they do not tell."""
    types = pyarrow().types
    if types.is_boolean(kind) or types.is_null(kind) or chunk.null_count == chunk.num_values:
        return True
    if chunk.smallest is None or chunk.largest is None:
        return None
    ends = chunk.smallest, chunk.largest
    if types.is_integer(kind):  # a negative one reads as a large one
        return all(int.from_bytes(end, "little") <= 1 for end in ends)
    form = {4: "<f", 8: "<d"}.get(len(chunk.smallest))
    if form is None or len(chunk.smallest) != len(chunk.largest):
        return None
    return all(struct.unpack(form, end)[0] in (0.0, 1.0) for end in ends)


def _are_bits(files: ParquetFiles, columns: Sequence[str], n_rows: int) -> bool:
    """Whether the first rows of some columns are bits."""
    if not columns:
        return True
    for path, first_row, batch in files.batches(0, min(n_rows, files.n_rows), columns, len(columns)):
        with reading(path):
            for name in columns:
                try:
                    column_bits(batch.column(batch.schema.get_field_index(name)), None, name, first_row)
                except TableError:
                    return False
    return True


def plain_source(
    request: FileRequest, files: ParquetFiles, infos: Sequence[FileInfo], columns: Sequence[str]
) -> ParquetSource:
    """Return the rows of columns of bits, or of numbers of which those above the threshold are ones."""
    mask, share = _mask(infos, columns, files.n_rows)
    if request.blank == "zero":
        mask = "none"
    return ParquetSource(files, tuple(columns), mask, share, request.blank == "zero", request.threshold)


def _mask(infos: Sequence[FileInfo], names: Sequence[str], n_rows: int) -> tuple[Mask, float]:
    """Decide, from metadata only and for the whole table, how the observed-mask is stored.

    Every part must have the same storage, or sums over parts would depend on where parts begin. The share of
    blanks only guides the choice: NaNs are not in the metadata, and where it is silent the mask is dense.
    """
    counts: list[int | None] = []
    maybe_nan, wanted = False, set(names)
    for info in infos:
        maybe_nan |= any(pyarrow().types.is_floating(info.schema.field(name).type) for name in names)
        numbers = [j for j, leaf in enumerate(info.leaves) if leaf in wanted]
        counts.extend(group[j].null_count for group in info.chunks for j in numbers)
    share = sum(count or 0 for count in counts) / (n_rows * len(names))
    if None in counts or not 0 <= share <= 1:
        return "dense", 0.5
    if not any(counts) and not maybe_nan:
        return "none", 0.0
    return mask_for(share), share
