"""``.npy`` files: mapped into memory where their bytes are bits already, else converted once."""

from __future__ import annotations

import math
import warnings
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from hiddenbits.data.bits import AllOnes, Bits, Dense, Packed
from hiddenbits.data.checks import dense_bits, packed_bits
from hiddenbits.data.readers.ask import Ask, check_shape, reading
from hiddenbits.data.readers.stack import check_widths, stack, stack_observed
from hiddenbits.data.table import MemorySource, Table, TableError

SMALL = 1 << 28  # a mapped file up to this size is taken as in memory; above, it is loaded part by part
MAX_HEADER = 10_000


@dataclass(frozen=True)
class Header:
    """What the header of an ``.npy`` file or entry declares."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    nbytes: int


def read_header(file: BinaryIO, size: int) -> Header:
    """Read an ``.npy`` header and hold it against the `size` of the file or entry, before memory is taken."""
    version = npy.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise TableError(f"version {version} of the .npy format is for records, not for tables of bits.")
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy would mend headers of Python 2, with a warning
        shape, fortran, dtype = read(file, max_header_size=MAX_HEADER)
    if dtype.hasobject:
        raise TableError("the array holds Python objects, which are never unpickled. Save it as uint8, 0 and 1.")
    if any(length < 0 for length in shape):
        raise TableError(f"the header declares the impossible shape {shape}.")
    nbytes = math.prod(shape) * dtype.itemsize
    if nbytes != size - file.tell():
        raise TableError(
            f"the header declares {shape} {dtype}, {nbytes} bytes, but {size - file.tell()} bytes follow. "
            "The file is damaged or cut short; write it again."
        )
    return Header(shape, fortran, dtype, nbytes)


def array_bits(array: NDArray[Any], ask: Ask) -> tuple[Bits, Bits]:
    """Check an array from a file and return (x, observed)."""
    if array.ndim == 2:
        check_shape(*array.shape)
    if ask.packed:
        if ask.n_columns is None:
            raise TableError("packed=True needs n_columns=, the number of columns before packing.")
        return packed_bits(array, ask.n_columns)
    if array.dtype == np.bool_:
        array = array.view(np.uint8)  # a byte of a bool file may hold anything: have it checked
    return dense_bits(array, blank=ask.blank, threshold=ask.threshold, names=ask.names)


def map_array(path: Path | str) -> NDArray[Any]:
    """Return the array of an ``.npy`` file, mapped into memory; bool as uint8."""
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False).view(np.ndarray)
    return array.view(np.uint8) if array.dtype == np.bool_ else array


def open_npy(ask: Ask) -> Table:
    """Open ``.npy`` files: two-dimensional arrays of bits, numbers or packed bits.

    Files of bool or uint8 stay on disk and are mapped into memory; every cell is checked at opening.
    Other types (float with NaN, int64, or any with `threshold`) are converted into one byte a cell in memory.
    """
    pieces, mapped = [], True
    for path in ask.files:
        with reading(path):
            with path.open("rb") as file:
                header = read_header(file, path.stat().st_size)
            if len(header.shape) != 2:
                raise TableError(f"a table has rows and columns, but the array has {len(header.shape)} dimension(s).")
            bits = array_bits(map_array(path), ask)
        pieces.append(bits)
        mapped &= header.dtype in (np.bool_, np.uint8) and ask.threshold is None and not header.fortran
    check_widths(ask.files, [x.shape[1] for x, _ in pieces])
    size = sum(x.nbytes for x, _ in pieces)
    if mapped and (len(pieces) > 1 or size > SMALL):
        starts = np.concatenate([[0], np.cumsum([x.shape[0] for x, _ in pieces])])
        paths = tuple(str(path) for path in ask.files)
        source = FileSource(paths, tuple(int(start) for start in starts), pieces[0][0].shape[1], ask.packed)
        return Table(source, ask.names)
    return Table(MemorySource(stack([x for x, _ in pieces]), stack_observed([o for _, o in pieces])), ask.names)


@dataclass(frozen=True, eq=False)
class FileSource:
    """Rows of mapped ``.npy`` files of bytes or packed bits, one file below the other.

    Only paths are kept, so that the source travels to other processes as a few bytes; `read` maps them again.

    Attributes
    ----------
    paths : tuple of str
        The files.
    starts : tuple of int
        The table's row at which each file starts, and the number of rows.
    n_columns : int
        Number of columns.
    packed : bool
        Whether the files hold packed bits.
    """

    paths: tuple[str, ...]
    starts: tuple[int, ...]
    n_columns: int
    packed: bool = False

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.starts[-1]

    @property
    def resident(self) -> bool:
        """The files are mapped, not loaded."""
        return False

    @property
    def row_bytes(self) -> float:
        """Bytes of one row."""
        return (self.n_columns + 7) // 8 if self.packed else self.n_columns

    @property
    def row_cells(self) -> float:
        """Cells of a row that arithmetic touches: all."""
        return float(self.n_columns)

    def read(self, start: int, stop: int) -> tuple[Bits, Bits]:
        """Return rows start to stop: a view of the mapped file, or a copy of rows from several files."""
        pieces: list[NDArray[Any]] = []
        first = max(0, min(bisect_right(self.starts, start) - 1, len(self.paths) - 1))
        for i in range(first, len(self.paths)):
            low, high = self.starts[i], self.starts[i + 1]
            if low >= stop and pieces:
                break
            with reading(self.paths[i]):
                array = map_array(self.paths[i])
                if array.shape != (high - low, int(self.row_bytes)) or array.dtype != np.uint8:
                    raise TableError("the file has changed since the table was opened. Open the table again.")
            pieces.append(array[max(start - low, 0) : max(min(stop, high) - low, 0)])
        values = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        x: Bits = Packed(values, self.n_columns) if self.packed else Dense(values)
        return x, AllOnes(x.shape)
