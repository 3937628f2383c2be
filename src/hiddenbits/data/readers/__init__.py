"""Files as tables: `open_files` finds them, tells their format and hands them to its reader.

Whatever is wrong with a file ends in one `TableError` that names the file, the place and the remedy.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from hiddenbits.data.cell_checks import Blank, check_blank, check_threshold
from hiddenbits.data.readers.items import DuplicateItemsWarning
from hiddenbits.data.readers.locations import Remote
from hiddenbits.data.readers.paths import find_files, find_format
from hiddenbits.data.readers.request import Ask
from hiddenbits.data.table import Table, TableError

__all__ = ["DuplicateItemsWarning", "open_files"]

# Loaded when first used: a format's reader may need a package that is not installed.
READERS = {
    "npy": ("npy", "open_npy"),
    "npz": ("npz", "open_npz"),
    "parquet": ("parquet.open", "open_parquet"),
    "csv": ("csv", "open_csv"),
    "baskets": ("baskets", "open_baskets"),
    "zarr": ("arrays.zarr_tables", "open_zarr"),
    "h5ad": ("arrays.h5ad", "open_h5ad"),
}
LOCAL_ONLY = ("zarr", "h5ad")


def open_files(
    paths: Any,
    *,
    names: Any = None,
    blank: Blank = "auto",
    threshold: float | None = None,
    n_columns: int | None = None,
    packed: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    format: str | None = None,  # noqa: A002  (the word users know)
    **options: Any,
) -> Table:
    """Open one file, or several as one table.

    Parameters
    ----------
    paths : path, address, glob pattern, or list of them
        Files of one format. A pattern's files are taken in natural order (2 before 10), a list's as given. Addresses
        are those of fsspec, such as ``s3://bucket/events/*.parquet``.
    names : sequence of str, optional
        Column names; by default the file's.
    blank, threshold, n_columns, packed
        As for `hiddenbits.open_table`.
    storage_options : dict, optional
        As for `hiddenbits.open_table`: what fsspec needs to reach an address, such as credentials.
    format : {"npy", "npz", "parquet", "csv", "baskets", "zarr", "h5ad"}, optional
        By default the format follows from the suffix.
    **options
        The reader's own options; see `open_npy`, `open_npz`, `open_parquet` (0/1 columns, lists of items, or a line for
        each pair of a row and an item), `open_csv`, `open_baskets`, `open_zarr` and `open_h5ad`.

    Returns
    -------
    table : Table
    """
    check_blank(blank)
    threshold = check_threshold(threshold)
    if storage_options is not None and not isinstance(storage_options, Mapping):
        raise TypeError("storage_options= is a dict of names and values, as the package of the protocol takes them.")
    files = find_files(paths, storage_options)
    kind = find_format(files, format)
    far = next((file for file in files if isinstance(file, Remote)), None)
    if far is not None and kind in LOCAL_ONLY:
        raise TableError(
            f"{far}: {kind} tables are read from local disks only. Copy the table to a disk, or convert it to Parquet, "
            "which is read where it is."
        )
    if packed and kind not in ("npy", "npz"):
        raise TableError(f"packed=True is for .npy and .npz files, not for {kind} files.")
    reader = _reader(kind)
    known = sorted(set(inspect.signature(reader).parameters) - {"ask"})
    for option in options:
        if option not in known:
            raise TypeError(
                f"{option}= is not an option of the {kind} reader, which has: {', '.join(known) or 'none'}."
            )
    named = None if names is None else tuple(str(name) for name in names)
    ask = Ask(files, named, blank, threshold, n_columns, packed, storage_options or {})
    table = reader(ask, **options)
    if n_columns is not None and table.shape[1] != n_columns:
        raise TableError(f"{files[0]}: the table has {table.shape[1]} columns, not n_columns={n_columns}.")
    return table


def _reader(kind: str) -> Callable[..., Table]:
    """Return the function that opens files of this format."""
    module, function = READERS[kind]
    reader: Callable[..., Table] = getattr(import_module(f"hiddenbits.data.readers.{module}"), function)
    return reader
