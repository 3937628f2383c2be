"""How one process hands a table to another that trusts nothing of it: raw arrays, one file each, and a JSON document.

Not Parquet: a guarded CSV or ``.npy`` file must not need pyarrow, and Parquet has no form for sparse rows with blanks
or for 100,000 columns. The rows come back in the storage in which they were read, so that a fit is the same to the bit.
The process that takes over has nothing to parse: it checks numbers of a known type and count.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data.bits import AllOnes, Bits, Complement, Dense, Packed, Pattern
from hiddenbits.data.cell_checks import check_distinct, dense_bits, packed_bits
from hiddenbits.data.columns.coding import ReadColumns
from hiddenbits.data.mixed.cells import Cells, MixedTable
from hiddenbits.data.mixed.layout import Layout
from hiddenbits.data.table import Table, TableError

HEADER = "table.json"
NOT = "not "  # before the storage of which a mask is the complement
# Of each storage: its class, and its arrays with the type of their numbers.
STORAGES: dict[str, tuple[type[Bits], dict[str, str]]] = {
    "all ones": (AllOnes, {}),
    "dense": (Dense, {"values": "u1"}),
    "packed": (Packed, {"packed": "u1"}),
    "pattern": (Pattern, {"indptr": "i8", "indices": "i4"}),
    "cells": (Cells, {"bits": "u1", "real": "f8", "codes": "i4"}),
}


class TooLargeError(Exception):
    """The table comes to more bytes than may be handed over."""


def hand_over(table: Table, folder: Path, max_bytes: int, more: Callable[[], dict[str, Any]] = dict) -> None:
    """Write a table into a folder, part by part; what `more` returns after that goes into the document, too."""
    writer, n_rows, step = _Writer(folder, max_bytes), table.shape[0], table.part_rows(1)
    for start in range(0, n_rows, step):
        for which, bits in zip(("x", "observed"), table.source.read(start, min(start + step, n_rows)), strict=True):
            writer.add(which, bits)
    header = {
        "shape": table.shape,
        "names": table.names,
        "layout": table.layout.to_plain() if isinstance(table, MixedTable) else None,
        "read_as": None if table.read_as is None else table.read_as.to_plain(),
        "version": table.version,
        "resident": table.source.resident,
        "row_bytes": float(table.source.row_bytes),
        "row_cells": float(table.source.row_cells),
        **writer.storages,
        **more(),
    }
    writer.write(HEADER, json.dumps(header).encode("ascii"))


class _Writer:
    """Appends arrays to files, and counts the bytes."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder, self._left, self._items = folder, max_bytes, dict.fromkeys(("x", "observed"), 0)
        self.storages: dict[str, str] = {}

    def write(self, name: str, data: bytes | memoryview) -> None:
        self._left -= len(data)
        if self._left < 0:
            raise TooLargeError
        with (self._folder / name).open("ab") as file:
            file.write(data)

    def add(self, which: str, bits: Bits) -> None:
        """Append some rows of x or of the mask."""
        held = bits.of if isinstance(bits, Complement) else bits
        storage = next(name for name, (kind, _) in STORAGES.items() if type(held) is kind)
        whole = (NOT if held is not bits else "") + storage
        first = which not in self.storages
        if self.storages.setdefault(which, whole) != whole:
            raise TableError(f"the rows are stored as {whole}, and before as {self.storages[which]}.")
        for name, kind in STORAGES[storage][1].items():
            array = getattr(held, name)
            if name == "indptr":
                array = (array if first else array[1:]) + self._items[which]
                self._items[which] = int(array[-1])
            raw = np.ascontiguousarray(array, np.dtype(kind).newbyteorder("<"))
            self.write(f"{which}.{name}", raw.reshape(-1).view(np.uint8).data if raw.size else b"")


def take_over(folder: Path, header: dict[str, Any]) -> Table:
    """Return the table that `hand_over` wrote; one that was in memory there is read into memory here."""
    source = HandedRows(folder, json.dumps(header))
    names = None if header["names"] is None else tuple(str(name) for name in header["names"])
    if names is not None:
        check_distinct(names)
    kind = Table if source.layout is None else MixedTable
    table = kind.of_rows(*source.read(0, source.n_rows), names) if header["resident"] else kind(source, names)
    table = replace(table, version=None if header["version"] is None else int(header["version"]))
    if header["read_as"] is None:
        return table
    try:
        return replace(table, read_as=ReadColumns.from_plain(header["read_as"], source.n_rows))
    except ValueError as error:
        raise _damaged() from error


@dataclass(frozen=True, eq=False)
class HandedRows:
    """Rows in a folder that another process wrote; whatever is read is checked.

    Attributes
    ----------
    folder : Path
        The folder.
    document : str
        What `hand_over` said of the rows, as JSON.
    """

    folder: Path
    document: str
    resident = False

    @cached_property
    def _header(self) -> dict[str, Any]:
        header: dict[str, Any] = json.loads(self.document)
        return header

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self._header["shape"][0])

    @property
    def n_columns(self) -> int:
        """Number of columns of the table."""
        return int(self._header["shape"][1])

    @cached_property
    def layout(self) -> Layout | None:
        """What the columns are; None where all are bits."""
        plain = self._header["layout"]
        return None if plain is None else Layout.from_plain(plain)

    @property
    def row_bytes(self) -> float:
        """Bytes of memory that one row takes when loaded, on average."""
        return float(self._header["row_bytes"])

    @property
    def row_cells(self) -> float:
        """Cells of a row that arithmetic touches, on average."""
        return float(self._header["row_cells"])

    def read(self, start: int, stop: int) -> tuple[Bits, Bits]:
        """Return (x, observed) of rows start to stop."""
        start = min(start, self.n_rows)
        stop = max(start, min(stop, self.n_rows))
        return self._read("x", start, stop), self._read("observed", start, stop)

    def _read(self, which: str, start: int, stop: int) -> Bits:
        storage: str = self._header[which]
        width = self.n_columns if self.layout is None else self.layout.n_numbers
        bits = self._bits(which, storage.removeprefix(NOT), start, stop, width)
        return Complement(bits) if storage.startswith(NOT) else bits

    def _bits(self, which: str, storage: str, start: int, stop: int, width: int) -> Bits:
        if storage == "all ones":
            return AllOnes((stop - start, width))
        if storage == "dense":
            return dense_bits(self._rows(which, "values", "u1", start, stop, width), first_row=start)[0]
        if storage == "packed":
            return packed_bits(self._rows(which, "packed", "u1", start, stop, (width + 7) // 8), width, start)[0]
        if storage == "pattern":
            indptr = self._rows(which, "indptr", "i8", start, stop + 1, 1)[:, 0]
            if (np.diff(indptr) < 0).any() or indptr[0] < 0:
                raise _damaged()
            indices = self._rows(which, "indices", "i4", int(indptr[0]), int(indptr[-1]), 1)[:, 0]
            return _pattern(indptr - indptr[0], indices, width)
        if storage != "cells" or self.layout is None:
            raise _damaged()
        sizes = {"bits": self.layout.n_bits, "real": len(self.layout.real_columns), "codes": len(self.layout.levels)}
        arrays = {
            name: self._rows(which, name, kind, start, stop, sizes[name]) for name, kind in STORAGES["cells"][1].items()
        }
        codes = arrays["codes"]
        if arrays["bits"].max(initial=0) > 1 or (codes < -1).any() or (codes >= np.array(self.layout.levels)).any():
            raise _damaged()
        return Cells(**arrays, layout=self.layout)

    def _rows(self, which: str, name: str, kind: str, start: int, stop: int, width: int) -> NDArray[Any]:
        """Return rows of one array."""
        dtype = np.dtype(kind).newbyteorder("<")
        if not width or stop == start:
            return np.zeros((stop - start, width), kind)
        try:
            flat = np.fromfile(
                self.folder / f"{which}.{name}", dtype, (stop - start) * width, offset=start * width * dtype.itemsize
            )
        except OSError as error:
            raise TableError(
                f"{self.folder}: the rows that were read with guarded= are gone. They stay on one machine, as long as "
                "their table is used; for other machines write them with 'hiddenbits convert --guarded'."
            ) from error
        if len(flat) != (stop - start) * width:
            raise _damaged()
        return flat.reshape(stop - start, width).astype(kind, copy=False)


def _pattern(indptr: NDArray[np.int64], indices: NDArray[np.int32], width: int) -> Pattern:
    """Return a pattern, after checking that each row's columns are ascending and in range."""
    if indices.min(initial=0) < 0 or indices.max(initial=0) >= width:
        raise _damaged()
    falls = np.flatnonzero(np.diff(indices) <= 0) + 1  # allowed only where a row begins
    if not np.isin(falls, indptr).all():
        raise _damaged()
    return Pattern(indptr, indices, width)


def _damaged() -> TableError:
    return TableError("the rows that were read with guarded= are damaged: the file made a library write over memory.")
