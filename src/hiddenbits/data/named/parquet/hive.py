"""Parquet files whose paths hold columns, such as ``year=2024/part-0.parquet``, as pyarrow.dataset finds them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hiddenbits.data.errors import TableError
from hiddenbits.data.file_request import reading
from hiddenbits.data.locations.paths import natural_key, refuse_lake
from hiddenbits.data.locations.places import Place, RemoteFile, find_place, is_url, local_path
from hiddenbits.data.named.parquet.files import pyarrow


@dataclass(frozen=True)
class ParquetParts:
    """Parquet files, and for each of them the columns that are in its path, as Arrow scalars by name."""

    files: tuple[Place, ...]
    given: tuple[Mapping[str, Any], ...] = ()


def find_hive(path: Any, options: Mapping[str, Any]) -> ParquetParts | None:
    """Return the files of a folder with subfolders such as ``year=2024``, and what their paths say; None for others.

    Files come in natural order. Folders and files whose names begin with ``_`` or ``.`` do not count.
    """
    if not isinstance(path, (str, os.PathLike)):
        return None
    if is_url(path):
        return _find_remote(str(path), options)
    folder = Path(local_path(path))
    if not folder.is_dir() or not any("=" in one.name and one.is_dir() for one in folder.iterdir()):
        return None
    return _found(folder, _dataset(folder.absolute(), None), None)


def _find_remote(url: str, options: Mapping[str, Any]) -> ParquetParts | None:
    """Do the same for an address that ends in a slash, or in a name without a suffix."""
    last = url.rstrip("/").rpartition("/")[2]
    if "." in last or "*" in url or "?" in url:
        return None
    place = find_place(url.rstrip("/"), options)
    assert isinstance(place, RemoteFile)  # noqa: S101
    try:
        names = [str(info["name"]).rstrip("/") for info in place.fs.ls(place.path, detail=True)]
    except Exception:  # not every server lists; what reads the address says what is wrong
        return None
    if not any("=" in name.rpartition("/")[2] for name in names):
        return None
    with reading(place):
        return _found(place, _dataset(place.path, place.fs), place)


def _dataset(folder: Any, fs: Any) -> Any:
    import pyarrow.dataset as ds

    return ds.dataset(os.fspath(folder), filesystem=fs, format="parquet", partitioning="hive")


def _found(folder: Any, dataset: Any, far: RemoteFile | None) -> ParquetParts:
    files = sorted(partitions_of(dataset).items(), key=lambda pair: natural_key(pair[0]))
    if not files:
        raise TableError(f"{folder}: there are no Parquet files in this folder.")
    places = tuple(_place(name, far) for name, _ in files)
    refuse_lake(places)
    return ParquetParts(places, tuple(apart for _, apart in files))


def _place(name: str, far: RemoteFile | None) -> Place:
    if far is None:
        return Path(name)
    before = far.shown.rstrip("/")
    return replace(far, path=name, shown=before + name.removeprefix(far.path.rstrip("/")))


def within_dataset(dataset: Any) -> ParquetParts | None:
    """Return the files of a dataset of local Parquet files, or of those that fsspec can reach; None for any other.

    A dataset with a filter, or with other columns or types than its files, is not just its files.
    """
    if not getattr(dataset, "files", None) or type(getattr(dataset, "format", None)).__name__ != "ParquetFileFormat":
        return None
    try:
        files = partitions_of(dataset)
        physical = next(iter(dataset.get_fragments())).physical_schema
    except ValueError:  # of a dataset that was filtered
        return None
    apart = list(next(iter(files.values())))
    fits = [*physical.names, *apart] == dataset.schema.names and all(
        dataset.schema.field(name).type == physical.field(name).type for name in physical.names
    )
    far = _remote_folder(dataset.filesystem)
    if not fits or far is False:
        return None
    places = tuple(_at(far, name) if isinstance(far, RemoteFile) else Path(name).absolute() for name in files)
    refuse_lake(places)
    return ParquetParts(places, tuple(files.values()) if apart else ())


def _remote_folder(filesystem: Any) -> Any:
    """Return None for the local file system, a place of one that fsspec can reach, and False for any other."""
    if type(filesystem).__name__ == "LocalFileSystem":
        return None
    fs = getattr(getattr(filesystem, "handler", None), "fs", None)  # of fsspec
    if fs is None:
        return False
    protocol = fs.protocol if isinstance(fs.protocol, str) else fs.protocol[0]
    return RemoteFile(fs, "", f"{protocol}://")


def _at(far: RemoteFile, name: str) -> Place:
    return replace(far, path=name, shown=f"{far.shown}{name.lstrip('/')}")


def partitions_of(dataset: Any) -> dict[str, Mapping[str, Any]]:
    """Return what the path of each file says: an Arrow scalar by the name of the column."""
    import pyarrow.dataset as ds

    pa, schema = pyarrow(), dataset.schema
    keys: Sequence[str] = ()
    found: dict[str, Mapping[str, Any]] = {}
    for fragment in dataset.get_fragments():
        values = ds.get_partition_keys(fragment.partition_expression)
        keys = keys or [name for name in schema.names if name in values]
        kinds = {name: schema.field(name).type for name in keys}
        kinds = {name: kind.value_type if pa.types.is_dictionary(kind) else kind for name, kind in kinds.items()}
        found[fragment.path] = {name: pa.scalar(values.get(name), kinds[name]) for name in keys}
    return found
