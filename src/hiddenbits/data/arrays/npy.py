"""``.npy`` files: mapped into memory, or read in place, where their bytes are bits already; else converted once."""

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
from hiddenbits.data.arrays.source import Cells, held, open_rows
from hiddenbits.data.file_request import FileRequest, check_shape, check_widths, reading
from hiddenbits.data.locations.places import Place, RemoteFile, each, open_file
from hiddenbits.data.table import Table
from hiddenbits.exceptions import TableError

SMALL = 1 << 28  # a mapped file up to this size is taken as in memory; above, it is loaded part by part
HEADER = 4096  # what a header hardly ever exceeds: rows are fetched by themselves
BYTES = (np.dtype(np.bool_), np.dtype(np.uint8))

T = TypeVar("T")


@dataclass(frozen=True)
class NpyRows:
    """Rows of an ``.npy`` file of bytes, in C order. Only its place is kept: every read opens or maps it again.

    Attributes
    ----------
    place : Place
        The file.
    shape : tuple of int
        Its rows, and the bytes of one.
    """

    place: Place
    shape: tuple[int, int]

    can_miss: ClassVar[bool] = False

    @property
    def row_items(self) -> float:
        """Cells of a row."""
        return float(self.shape[1])

    def mapped(self, function: Callable[[Any, int], T], start: int, stop: int) -> Iterator[T]:
        """Yield the function of the rows: those of a local file are a view of it."""
        if not isinstance(self.place, RemoteFile):
            array = _mapped(self.place)
            self._check(array.shape, not array.flags.c_contiguous, array.dtype)
            yield function(array[start:stop], start)
            return
        with open_file(self.place, HEADER) as file:
            self._check(*_header(file))
            row = self.shape[1]
            bytes_ = np.empty((stop - start, row), np.uint8)
            file.seek(file.tell() + start * row)
            if file.readinto(bytes_.data) < bytes_.size:
                raise TableError("the file was cut short. Write it again.")
        yield function(bytes_, start)

    def _check(self, shape: tuple[int, ...], fortran: bool, dtype: np.dtype[Any]) -> None:
        if shape != self.shape or dtype not in BYTES or fortran:
            raise TableError("the file has changed since the table was opened. Open the table again.")


def open_npy(request: FileRequest) -> Table:
    """Open ``.npy`` files: two-dimensional arrays of bits, numbers or packed bits.

    Files of bool or uint8 stay where they are: rows of local ones are mapped into memory, those of remote ones are read
    in place, and cells are checked as they are read; at opening, if there is one file of less than 256 MiB.
    Other types (float with NaN, int64, or any with `threshold`) are converted into one byte a cell in memory.
    """
    looks = each(partial(_look, request=request), request.files)
    said = request.coding is not None and not request.coding.named
    if len(looks) == 1 and not request.packed and (said or not isinstance(looks[0], NpyRows)):
        with reading(request.files[0]):
            array = _values(looks[0])
            return open_text_array(array, request) if said else open_array(array, request)
    check_widths(request.files, [look.shape[1] for look in looks])
    cells = cells_of(request, looks[0].shape[1])
    rows = [look for look in looks if isinstance(look, NpyRows)]
    large = sum(one.shape[0] * one.shape[1] for one in rows) > SMALL
    if len(rows) == len(looks) and (len(rows) > 1 or large or isinstance(rows[0].place, RemoteFile)):
        return Table(open_rows(rows, cells), request.names)
    pieces = []
    for place, look in zip(request.files, looks, strict=True):
        with reading(place):
            pieces.append(cells(_values(look), 0))
    return Table(held(pieces), request.names)


def cells_of(request: FileRequest, n_columns: int) -> Cells:
    """Return how the cells of a dense array are checked; `n_columns` are those of the array."""
    if not request.packed:
        return Cells("dense", n_columns, request.empty, request.threshold, request.names)
    if request.n_columns is None:
        raise TableError("packed=True needs n_columns=, the number of columns before packing.")
    return Cells("packed", request.n_columns)


def _look(place: Place, request: FileRequest) -> NpyRows | NDArray[Any]:
    """Return the rows of a file of bytes; the array of any other, which a remote file is read for."""
    with reading(place):
        if isinstance(place, RemoteFile):
            place = place.marked()
            with open_file(place, HEADER) as file:
                shape, fortran, dtype = _header(file)
        else:
            array = _mapped(place)
            shape, fortran, dtype = array.shape, not array.flags.c_contiguous, array.dtype
        if len(shape) != 2:
            raise TableError(f"a table has rows and columns, but the array has {len(shape)} dimension(s).")
        check_shape(*shape)
        if request.packed or (dtype in BYTES and request.threshold is None and not fortran):
            cells_of(request, shape[1]).no_rows()  # refuses options with which no cell could be read
            return NpyRows(place, shape)
        if isinstance(place, RemoteFile):
            with open_file(place) as file:
                array = np.load(file, allow_pickle=False)
        return array


def _values(look: NpyRows | NDArray[Any]) -> NDArray[Any]:
    return next(look.mapped(lambda values, _: values, 0, look.shape[0])) if isinstance(look, NpyRows) else look


def _mapped(path: Path) -> NDArray[Any]:
    """Return the array of a file, mapped into memory; bool as uint8, because a byte of it may hold anything."""
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False).view(np.ndarray)
    return array.view(np.uint8) if array.dtype == np.bool_ else array


def _header(file: io.BufferedReader) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read a header: the shape, whether the order is that of Fortran, and the type."""
    first = npy.read_magic(file) == (1, 0)
    return npy.read_array_header_1_0(file) if first else npy.read_array_header_2_0(file)
