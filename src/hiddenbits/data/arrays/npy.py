"""``.npy`` files: bytes of 0 and 1 are memory-mapped or read in place, other types are converted once."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from hiddenbits.data.arrays.dense import open_array, open_text_array
from hiddenbits.data.arrays.source import CellConverter, memory_source, open_rows
from hiddenbits.data.file_request import FileRequest, check_shape, check_widths, reading
from hiddenbits.data.locations.places import Place, RemoteFile, map_places, open_file
from hiddenbits.data.table import Table
from hiddenbits.exceptions import TableError

MAX_RESIDENT_BYTES = 1 << 28  # mapped files up to this size are treated as in memory; larger ones are loaded by parts
HEADER_BYTES = 4096  # headers hardly ever exceed this; rows are fetched separately
BYTE_TYPES = (np.dtype(np.bool_), np.dtype(np.uint8))

T = TypeVar("T")


@dataclass(frozen=True)
class NpyRows:
    """Rows of an ``.npy`` file of bytes, in C order. Every read opens or maps the file again.

    Attributes
    ----------
    place : Place
        The file.
    shape : tuple of int
        Number of rows, and of bytes per row.
    """

    place: Place
    shape: tuple[int, int]

    can_miss: ClassVar[bool] = False

    @property
    def row_items(self) -> float:
        """Cells of a row."""
        return float(self.shape[1])

    def mapped(self, function: Callable[[Any, int], T], start: int, stop: int) -> Iterator[T]:
        """Yield function(rows, first row): rows of a local file are a view of it."""
        if not isinstance(self.place, RemoteFile):
            array = _memory_map(self.place)
            self._check(array.shape, not array.flags.c_contiguous, array.dtype)
            yield function(array[start:stop], start)
            return
        with open_file(self.place, HEADER_BYTES) as file:
            self._check(*_header(file))
            row_bytes = self.shape[1]
            cells = np.empty((stop - start, row_bytes), np.uint8)
            file.seek(file.tell() + start * row_bytes)
            if file.readinto(cells.data) < cells.size:
                raise TableError("the file was cut short. Write it again.")
        yield function(cells, start)

    def _check(self, shape: tuple[int, ...], fortran: bool, dtype: np.dtype[Any]) -> None:
        if shape != self.shape or dtype not in BYTE_TYPES or fortran:
            raise TableError("the file has changed since the table was opened. Open the table again.")


def open_npy(request: FileRequest) -> Table:
    """Open ``.npy`` files: two-dimensional arrays of bits, numbers or packed bits.

    Files of bool or uint8 are not loaded: rows of local files are memory-mapped, those of remote files are read in
    place, and cells are checked as they are read; a single file of less than 256 MiB is checked when it is opened.
    Other types (float with NaN, int64, or any with `threshold`) are converted to one byte per cell in memory.
    """
    file_arrays = map_places(partial(_open_rows, request=request), request.files)
    as_columns = request.coding is not None and not request.coding.named
    if len(file_arrays) == 1 and not request.packed and (as_columns or not isinstance(file_arrays[0], NpyRows)):
        with reading(request.files[0]):
            array = _array_of(file_arrays[0])
            return open_text_array(array, request) if as_columns else open_array(array, request)
    check_widths(request.files, [file_array.shape[1] for file_array in file_arrays])
    converter = converter_for(request, file_arrays[0].shape[1])
    rows = [file_array for file_array in file_arrays if isinstance(file_array, NpyRows)]
    is_large = sum(file_rows.shape[0] * file_rows.shape[1] for file_rows in rows) > MAX_RESIDENT_BYTES
    if len(rows) == len(file_arrays) and (len(rows) > 1 or is_large or isinstance(rows[0].place, RemoteFile)):
        return Table(open_rows(rows, converter), request.names)
    pieces = []
    for place, file_array in zip(request.files, file_arrays, strict=True):
        with reading(place):
            pieces.append(converter(_array_of(file_array), 0))
    return Table(memory_source(pieces), request.names)


def converter_for(request: FileRequest, n_columns: int) -> CellConverter:
    """Return the converter of the cells of a dense array with `n_columns` columns."""
    if not request.packed:
        return CellConverter("dense", n_columns, request.empty, request.threshold, request.names)
    if request.n_columns is None:
        raise TableError("packed=True needs n_columns=, the number of columns before packing.")
    return CellConverter("packed", request.n_columns)


def _open_rows(place: Place, request: FileRequest) -> NpyRows | NDArray[Any]:
    """Return the rows of a file of bytes; for other types the array, read into memory if the file is remote."""
    with reading(place):
        if isinstance(place, RemoteFile):
            place = place.with_version()
            with open_file(place, HEADER_BYTES) as file:
                shape, fortran, dtype = _header(file)
        else:
            array = _memory_map(place)
            shape, fortran, dtype = array.shape, not array.flags.c_contiguous, array.dtype
        if len(shape) != 2:
            raise TableError(f"a table has rows and columns, but the array has {len(shape)} dimension(s).")
        check_shape(*shape)
        if request.packed or (dtype in BYTE_TYPES and request.threshold is None and not fortran):
            converter_for(request, shape[1]).convert_no_rows()  # checks the options
            return NpyRows(place, shape)
        if isinstance(place, RemoteFile):
            with open_file(place) as file:
                array = np.load(file, allow_pickle=False)
        return array


def _array_of(rows: NpyRows | NDArray[Any]) -> NDArray[Any]:
    return next(rows.mapped(lambda values, _: values, 0, rows.shape[0])) if isinstance(rows, NpyRows) else rows


def _memory_map(path: Path) -> NDArray[Any]:
    """Return the memory-mapped array of a file; bool as uint8, because its bytes may have any value."""
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False).view(np.ndarray)
    return array.view(np.uint8) if array.dtype == np.bool_ else array


def _header(file: io.BufferedReader) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read a header: the shape, whether the order is Fortran's, and the type."""
    is_version_1 = npy.read_magic(file) == (1, 0)
    return npy.read_array_header_1_0(file) if is_version_1 else npy.read_array_header_2_0(file)
