"""``.npy`` files: mapped into memory, or read in place, where their bytes are bits already; else converted once."""

from __future__ import annotations

import io
import math
import warnings
from bisect import bisect_right
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from hiddenbits.data.bits import AllOnes, Bits, Dense, Packed
from hiddenbits.data.cell_checks import MAX_BYTES, dense_bits, packed_bits
from hiddenbits.data.errors import TableError
from hiddenbits.data.file_request import FileRequest, check_shape, check_widths, reading
from hiddenbits.data.locations.places import Place, RemoteFile, each, open_file
from hiddenbits.data.stack import stack, stack_observed
from hiddenbits.data.table import MemorySource, Table

SMALL = 1 << 28  # a mapped file up to this size is taken as in memory; above, it is loaded part by part
MAX_HEADER = 10_000
HEADER = 4096  # what a header hardly ever exceeds: rows are fetched by themselves


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


def array_bits(array: NDArray[Any], request: FileRequest) -> tuple[Bits, Bits]:
    """Check an array from a file and return (x, observed)."""
    if array.ndim == 2:
        check_shape(*array.shape)
    if request.packed:
        if request.n_columns is None:
            raise TableError("packed=True needs n_columns=, the number of columns before packing.")
        return packed_bits(array, request.n_columns)
    if array.dtype == np.bool_:
        array = array.view(np.uint8)  # a byte of a bool file may hold anything: have it checked
    return dense_bits(array, blank=request.blank, threshold=request.threshold, names=request.names)


def map_array(path: Path) -> NDArray[Any]:
    """Return the array of an ``.npy`` file, mapped into memory; bool as uint8."""
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False).view(np.ndarray)
    return array.view(np.uint8) if array.dtype == np.bool_ else array


def read_rows(file: io.BufferedReader, header: Header, first: int, last: int) -> NDArray[Any]:
    """Return rows first to last of the array whose header has just been read; bool as uint8."""
    row_bytes = header.nbytes // max(header.shape[0], 1)
    held = np.empty((last - first) * row_bytes, np.uint8)
    file.seek(file.tell() + first * row_bytes)
    if file.readinto(held.data) < len(held):
        raise TableError("the file was cut short. Write it again.")
    dtype = np.dtype(np.uint8) if header.dtype == np.bool_ else header.dtype
    return held.view(dtype).reshape((last - first, *header.shape[1:]), order="F" if header.fortran else "C")


def open_npy(request: FileRequest, *, max_bytes: int = MAX_BYTES) -> Table:
    """Open ``.npy`` files: two-dimensional arrays of bits, numbers or packed bits.

    Files of bool or uint8 stay on disk and are mapped into memory; every cell is checked at opening. Of remote
    ones the rows are read in place, and cells are checked as they are read.
    Other types (float with NaN, int64, or any with `threshold`) are converted into one byte a cell in memory.

    Parameters
    ----------
    request : FileRequest
        What every reader is asked.
    max_bytes : int, default=4 GiB
        The most that a remote file may have if it must be converted in memory.
    """
    looks = each(partial(_look, request=request), request.files)
    places = tuple(look.place for look in looks)
    in_place = all(look.plain for look in looks)
    check_widths(places, [look.n_columns for look in looks])
    large = sum(look.header.nbytes for look in looks) > SMALL
    if in_place and (len(looks) > 1 or large or isinstance(places[0], RemoteFile)):
        starts = np.concatenate([[0], np.cumsum([look.header.shape[0] for look in looks])])
        source = FileSource(places, tuple(int(start) for start in starts), looks[0].n_columns, request.packed)
        return Table(source, request.names)
    pieces = [look.bits or _convert(look, request, max_bytes) for look in looks]
    return Table(MemorySource(stack([x for x, _ in pieces]), stack_observed([o for _, o in pieces])), request.names)


@dataclass(frozen=True)
class _Look:
    """What a look at one file told; the bits of a remote one are left where they are."""

    place: Place
    header: Header
    plain: bool  # whether the file's bytes are the bits, row after row
    n_columns: int
    bits: tuple[Bits, Bits] | None


def _look(place: Place, request: FileRequest) -> _Look:
    """Read the header of one file, and check the cells of a local one."""
    with reading(place):
        if isinstance(place, RemoteFile):
            place = place.marked()
        with open_file(place, HEADER) as file:
            header = _read_header(file)
        if len(header.shape) != 2:
            raise TableError(f"a table has rows and columns, but the array has {len(header.shape)} dimension(s).")
        plain = header.dtype in (np.bool_, np.uint8) and request.threshold is None and not header.fortran
        if not isinstance(place, RemoteFile):
            bits = array_bits(map_array(place), request)
            return _Look(place, header, plain, bits[0].shape[1], bits)
        check_shape(*header.shape)
        like_it = array_bits(np.zeros((1, header.shape[1]), header.dtype), request)  # refuses what no cell could mend
        return _Look(place, header, plain, like_it[0].shape[1], None)


def _read_header(file: io.BufferedReader) -> Header:
    """Read the header of a file that is open at its start."""
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    return read_header(file, size)


def _convert(look: _Look, request: FileRequest, max_bytes: int) -> tuple[Bits, Bits]:
    """Return the bits of a remote file, read into memory as a whole."""
    with reading(look.place), open_file(look.place, HEADER) as file:
        header = _read_header(file)
        if header.nbytes > max_bytes:
            raise TableError(
                f"the array takes {header.nbytes} bytes, above max_bytes={max_bytes}, and must be converted in "
                "memory. Raise max_bytes=, or save it as uint8 or bool in C order, which needs no conversion."
            )
        return array_bits(read_rows(file, header, 0, header.shape[0]), request)


@dataclass(frozen=True, eq=False)
class FileSource:
    """Rows of ``.npy`` files of bytes or packed bits, one file below the other.

    Only paths are kept, so that the source travels to other processes as a few bytes; `read` maps local files
    again, and opens remote ones.

    Attributes
    ----------
    paths : tuple of Place
        The files.
    starts : tuple of int
        The table's row at which each file starts, and the number of rows.
    n_columns : int
        Number of columns.
    packed : bool
        Whether the files hold packed bits.
    """

    paths: tuple[Place, ...]
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
        """Return rows start to stop: a view of the mapped file, or a copy of rows from several or remote files."""
        pieces: list[NDArray[Any]] = []
        first = max(0, min(bisect_right(self.starts, start) - 1, len(self.paths) - 1))
        for i in range(first, len(self.paths)):
            low, high = self.starts[i], self.starts[i + 1]
            if low >= stop and pieces:
                break
            with reading(self.paths[i]):
                pieces.append(self._rows(i, max(start - low, 0), max(min(stop, high) - low, 0)))
        values = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        x: Bits = Packed(values, self.n_columns) if self.packed else Dense(values)
        return x, AllOnes(x.shape)

    def _rows(self, i: int, first: int, last: int) -> NDArray[Any]:
        """Return rows first to last of file `i`."""
        place, shape = self.paths[i], (self.starts[i + 1] - self.starts[i], int(self.row_bytes))
        changed = TableError("the file has changed since the table was opened. Open the table again.")
        if not isinstance(place, RemoteFile):
            array = map_array(place)
            if array.shape != shape or array.dtype != np.uint8:
                raise changed
            array = array[first:last]
        else:
            with open_file(place, HEADER) as file:
                header = _read_header(file)
                if header.shape != shape or header.dtype not in (np.bool_, np.uint8) or header.fortran:
                    raise changed
                array = read_rows(file, header, first, max(first, last))
        if self.packed:  # checked whenever it is read: the file may be another one by now
            packed_bits(array, self.n_columns, first)
        else:
            dense_bits(array, first_row=first)
        return array
