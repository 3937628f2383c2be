"""Finds files, their order and their format."""

from __future__ import annotations

import glob
import os
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

from hiddenbits.addresses import is_http
from hiddenbits.data.locations.places import Place, RemoteFile, find_remote, is_folder, is_url, local_path, refuse_pipe
from hiddenbits.exceptions import TableError

PARQUET_SUFFIXES = (".parquet", ".pq")
ZARR = ("zarr.json", ".zgroup", ".zarray")  # the folder of a Zarr store contains one of these files
# Entries that identify the folders of lake tables, whose files must not be read directly, and advice.
LAKES = {
    "_delta_log": "a Delta table. Some of its Parquet files contain rows that were deleted or changed later; only "
    "the log knows which. Open the table: open_table({folder!r}), or at an address "
    "open_table(deltalake.DeltaTable(address, storage_options=...)).",
    "metadata/*.metadata.json": "an Iceberg table, and only its catalog knows which files belong to it. Read it "
    "with pyiceberg, open_table(catalog.load_table(name).scan().to_arrow_batch_reader()), or with DuckDB, "
    "open_table(duckdb.sql(\"from iceberg_scan('folder')\")).",
}


def find_files(paths: Any, options: Mapping[str, Any] | None = None) -> tuple[Place, ...]:
    """Return the files that a path, an address, a glob pattern or a list of them stands for.

    The files of a pattern are in natural order (part2 before part10), the files of a list in the order of the list.
    Storage options are for addresses.
    """
    path_list = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if options and not any(is_url(path) for path in path_list):
        raise TypeError("storage_options= is for addresses such as s3://bucket/x.parquet, but the files are local.")
    files: list[Place] = []
    for path in path_list:
        files.extend(_find_remote(str(path), options or {}) if is_url(path) else _find_local(local_path(path)))
    if not files:
        raise TableError("No file was given.")
    if repeated := [file for file, times in Counter(files).items() if times > 1]:
        raise TableError(f"{repeated[0]}: the file is given twice. Give each file once.")
    return tuple(files)


def _find_local(path: str) -> list[Path]:
    """Return the files of one path or pattern, as absolute paths: workers may run in other folders."""
    exact = Path(path).absolute()
    refuse_pipe(exact)
    names = [path] if exact.exists() else glob.glob(path, recursive=True)  # noqa: PTH207
    files = [file for file in map(Path.absolute, map(Path, names)) if file.is_file() or _is_store(file)]
    if not files and exact.is_dir():
        refuse_lake([exact / "*.parquet"])
        raise is_folder(path)
    if not files:
        raise TableError(f"{path}: there is no such file.")
    refuse_lake(files)
    return sorted(files, key=lambda file: natural_key(str(file)))


def _find_remote(url: str, options: Mapping[str, Any]) -> list[RemoteFile]:
    """Return the files of one address or pattern of addresses."""
    files = find_remote(url, options)
    if re.search(r"[*[]", url):  # a single file is opened without requests for its folder
        refuse_lake(files)
    return sorted(files, key=lambda file: natural_key(file.path))


def is_delta(path: Any) -> bool:
    """Whether a path is the folder of a Delta table on this machine."""
    return not is_url(path) and Path(local_path(path), "_delta_log").is_dir()


def _is_store(folder: Path) -> bool:
    """Whether a folder is a Zarr store, by its suffix or its content."""
    return folder.is_dir() and (folder.suffix.lower() == ".zarr" or any((folder / name).is_file() for name in ZARR))


def refuse_lake(files: Sequence[Place]) -> None:
    """Refuse Parquet files in the folder of a lake table: some contain rows that were deleted or changed later."""
    checked: set[PurePath] = set()
    for file in files:
        path = file if isinstance(file, Path) else PurePosixPath(file.path)
        if path.suffix.lower() not in PARQUET_SUFFIXES or is_http(str(file)):
            continue
        for folder in path.parents:
            if folder in checked:
                break
            checked.add(folder)
            for pattern, advice in LAKES.items():
                if "=" not in folder.name and _has_entry(file, folder, pattern):  # partitions are within a lake table
                    raise TableError(f"{file}: this is a file of " + advice.format(folder=str(folder)))


def _has_entry(file: Place, folder: PurePath, pattern: str) -> bool:
    """Whether a folder above a file has an entry that matches a pattern."""
    if isinstance(file, Path):
        return next(Path(folder).glob(pattern), None) is not None
    with suppress(Exception):  # permission to read files does not include listing folders
        return bool(file.fs.glob(f"{folder}/{pattern}"))
    return False


def natural_key(name: str) -> tuple[list[str | int], str]:
    """Return a sort key under which numbers inside names count as numbers.

    Examples
    --------
    >>> sorted(["part10", "part9", "part1"], key=natural_key)
    ['part1', 'part9', 'part10']
    """
    pieces = re.split(r"([0-9]+)", name)
    return [int(piece) if i % 2 else piece for i, piece in enumerate(pieces)], name


def find_format(
    files: Sequence[Place],
    suffixes: Mapping[str, str],
    gzipped: Collection[str],
    format: str | None = None,  # noqa: A002  (the word users know)
) -> str:
    """Return the format of all files, as specified, or from their suffixes and those of each format."""
    if format is not None:
        if format not in suffixes.values():
            raise TableError(f"format={format!r} is not one of {', '.join(sorted(set(suffixes.values())))}.")
        return format
    format_of = {**suffixes, ".zarr.zip": "zarr"}
    format_of |= {f"{suffix}.gz": name for suffix, name in suffixes.items() if name in gzipped}
    formats = []
    for file in files:
        names = [format_of[end] for end in format_of if file.name.lower().endswith(end)]
        if not names:
            raise TableError(
                f"{file}: the suffix {file.suffix!r} is unknown. Supported are {', '.join(format_of)}. Or set format=."
            )
        formats += names
        if names[0] != formats[0]:
            raise TableError(
                f"{file}: the files of one table must have one format, but {files[0].name} is {formats[0]} and this is "
                f"{names[0]}."
            )
    return formats[0]
