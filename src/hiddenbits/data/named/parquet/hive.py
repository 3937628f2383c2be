"""Parquet files whose paths hold columns, such as ``year=2024/part-0.parquet``, as pyarrow.dataset finds them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hiddenbits.addresses import safe_url
from hiddenbits.data.file_request import reading
from hiddenbits.data.locations.paths import natural_key, refuse_lake
from hiddenbits.data.locations.places import Place, RemoteFile, find_place, is_url, local_path
from hiddenbits.data.named.parquet.files import pyarrow
from hiddenbits.exceptions import TableError

# Files, and for each of them the values in its path, as Arrow scalars by column name.
Parts = tuple[tuple[Place, ...], tuple[Mapping[str, Any], ...]]


def find_hive(path: Any, options: Mapping[str, Any]) -> Parts | None:
    """Return the files of a folder with subfolders such as ``year=2024``, and the values in their paths; else None.

    Files come in natural order. Folders and files whose names begin with ``_`` or ``.`` are ignored.
    """
    folder = _folder(path, options) if isinstance(path, (str, os.PathLike)) else None
    if folder is None:
        return None
    with reading(folder):
        import pyarrow.dataset as ds

        root, fs = (os.fspath(folder), None) if isinstance(folder, Path) else (folder.path, folder.fs)
        parts = files_of_dataset(ds.dataset(root, filesystem=fs, format="parquet", partitioning="hive"))
        if parts is None:
            raise TableError("there are no Parquet files in this folder, or they have the columns of their paths.")
    files, path_values = zip(*sorted(zip(*parts, strict=True), key=lambda part: natural_key(str(part[0]))), strict=True)
    return files, path_values


def _folder(path: str | os.PathLike[str], options: Mapping[str, Any]) -> Place | None:
    """Return a folder with such subfolders; at an address it ends in a slash, or in a name without a suffix."""
    if not is_url(path):
        folder = Path(local_path(path)).absolute()
        return folder if folder.is_dir() and any("=" in sub.name and sub.is_dir() for sub in folder.iterdir()) else None
    url = str(path).rstrip("/")
    if "." in url.rpartition("/")[2] or "*" in url or "?" in url:
        return None
    place = find_place(url, options)
    assert isinstance(place, RemoteFile)  # noqa: S101
    try:
        names = place.fs.ls(place.path, detail=False)
    except Exception:  # not every server can list folders; reading the address raises the error
        return None
    return place if any("=" in name.rstrip("/").rpartition("/")[2] for name in names) else None


def files_of_dataset(dataset: Any) -> Parts | None:
    """Return the files of a dataset of Parquet files that are local or reached by fsspec; None for other datasets.

    A dataset with a filter, or with other columns or types than its files, is not just its files.
    """
    if not getattr(dataset, "files", None) or type(getattr(dataset, "format", None)).__name__ != "ParquetFileFormat":
        return None
    try:
        path_values = _path_values(dataset)
        file_schema = next(iter(dataset.get_fragments())).physical_schema
    except ValueError:  # the dataset was filtered
        return None
    partition = next(iter(path_values.values()))
    fields = [*file_schema, *(dataset.schema.field(name) for name in partition)]
    if [(f.name, f.type) for f in fields] != [(f.name, f.type) for f in dataset.schema]:
        return None
    fs = getattr(getattr(dataset.filesystem, "handler", None), "fs", None)  # fsspec's
    if type(dataset.filesystem).__name__ == "LocalFileSystem":
        places: list[Place] = [Path(name).absolute() for name in path_values]
    elif fs is not None:
        places = [RemoteFile(fs, name, safe_url(fs.unstrip_protocol(name))) for name in path_values]
    else:
        return None
    refuse_lake(places)
    return tuple(places), tuple(path_values.values())


def _path_values(dataset: Any) -> dict[str, Mapping[str, Any]]:
    """Return the values in the path of each file: Arrow scalars by column name."""
    import pyarrow.dataset as ds

    pa, schema = pyarrow(), dataset.schema
    path_values: dict[str, Mapping[str, Any]] = {}
    for fragment in dataset.get_fragments():
        values = ds.get_partition_keys(fragment.partition_expression)
        types = {name: schema.field(name).type for name in schema.names if name in values}
        path_values[fragment.path] = {
            name: pa.scalar(values[name], arrow_type.value_type if pa.types.is_dictionary(arrow_type) else arrow_type)
            for name, arrow_type in types.items()
        }
    return path_values
