"""Which files, in which order, of which format."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

from hiddenbits.addresses import is_http
from hiddenbits.data.errors import TableError
from hiddenbits.data.locations.places import (
    Place,
    RemoteFile,
    find_remote,
    is_folder,
    is_url,
    local_path,
    refuse_pipe,
)

DELTA = "_delta_log"  # the folder that makes a folder a Delta table
ICEBERG = "metadata/*.metadata.json"  # and the files that make it an Iceberg table
PARQUET = (".parquet", ".pq")
STORE_FILES = ("zarr.json", ".zgroup", ".zarray")  # what the folder of a Zarr store holds


def find_files(paths: Any, options: Mapping[str, Any] | None = None) -> tuple[Place, ...]:
    """Return the files that a path, an address, a glob pattern or a list of them stands for.

    The files of a pattern come in natural order (part2 before part10), those of a list in the order given. Storage
    options are for addresses.
    """
    files: list[Place] = []
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if options and not any(is_url(path) for path in given):
        raise TypeError("storage_options= is for addresses such as s3://bucket/x.parquet, but the files are local.")
    for path in given:
        files.extend(_expand_remote(str(path), options or {}) if is_url(path) else _expand(local_path(path)))
    if not files:
        raise TableError("No file was given.")
    seen: set[Place] = set()
    for file in files:
        if file in seen:
            raise TableError(f"{file}: the file is given twice. Give each file once.")
        seen.add(file)
    return tuple(files)


def _expand(path: str) -> list[Path]:
    """Return the files of one path or pattern, as absolute paths: workers may run in other folders."""
    here = Path(path)
    if here.is_dir() and not _is_store(here):
        if is_delta(here):
            raise TableError(f"{path}: a Delta table is opened alone, not in a list of files.")
        raise _iceberg(path) if _is_iceberg(here) else is_folder(path)
    refuse_pipe(here)
    if here.exists():  # before any globbing: a file may be called data[1].csv
        refuse_lake([here.absolute()])
        return [here.absolute()]
    if not glob.has_magic(path):
        raise TableError(f"{path}: there is no such file.")
    found = [name for name in glob.glob(path, recursive=True) if Path(name).is_file() or _is_store(Path(name))]  # noqa: PTH207
    if not found:
        raise TableError(f"{path}: no file matches this pattern.")
    files = [Path(name).absolute() for name in sorted(found, key=natural_key)]
    refuse_lake(files)
    return files


def is_delta(path: Any) -> bool:
    """Whether a path is the folder of a Delta table on this machine."""
    return not is_url(path) and (Path(local_path(path)) / DELTA).is_dir()


def _is_iceberg(folder: Path) -> bool:
    """Whether a folder is an Iceberg table."""
    return next(folder.glob(ICEBERG), None) is not None


def _delta(path: object, remedy: str) -> TableError:
    return TableError(
        f"{path}: this is the folder of a Delta table. Some of its Parquet files hold rows that were deleted or "
        f"changed since; only the log knows which. Open the table: {remedy}."
    )


def _iceberg(path: object) -> TableError:
    return TableError(
        f"{path}: this is an Iceberg table, and which of its files hold rows stands in its catalog. Read it with "
        "pyiceberg, open_table(catalog.load_table(name).scan().to_arrow_batch_reader()), or with DuckDB, "
        "open_table(duckdb.sql(\"from iceberg_scan('folder')\"))."
    )


def refuse_lake(files: Sequence[Place]) -> None:
    """Refuse Parquet files out of the folder of a lake: some hold rows that were deleted or changed since."""
    looked: set[PurePath] = set()
    for file in files:
        path = file if isinstance(file, Path) else PurePosixPath(file.path)
        for folder in path.parents if path.suffix.lower() in PARQUET and not is_http(str(file)) else ():
            if folder in looked:
                break
            looked.add(folder)
            if "=" in folder.name:  # partitions are inside of a lake
                continue
            if _holds(file, folder, DELTA):
                far = "open_table(deltalake.DeltaTable(address, storage_options=...))"
                raise _delta(folder, f"open_table({str(folder)!r})") if file is path else _delta(file, far)
            if _holds(file, folder, ICEBERG):
                raise _iceberg(folder if file is path else file)


def _holds(file: Place, folder: PurePath, pattern: str) -> bool:
    """Whether there is something of a name in a folder above a file."""
    if isinstance(file, Path):
        return next(Path(folder).glob(pattern), None) is not None
    with suppress(Exception):  # who may read files may not be allowed to look around
        return bool(file.fs.glob(f"{folder}/{pattern}"))
    return False


def _is_store(folder: Path) -> bool:
    """Whether a folder is a Zarr store, by its suffix or by what it holds."""
    return folder.is_dir() and (
        folder.suffix.lower() == ".zarr" or any((folder / name).is_file() for name in STORE_FILES)
    )


def _expand_remote(url: str, options: Mapping[str, Any]) -> list[RemoteFile]:
    """Return the files of one address or pattern of addresses."""
    files = sorted(find_remote(url, options), key=lambda place: natural_key(place.path))
    if re.search(r"[*[]", url):
        refuse_lake(files)
    return files


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
    """Return the one format of all the files, as given, or from their suffixes and those of each format."""
    if format is not None:
        if format not in suffixes.values():
            raise TableError(f"format={format!r} is not one of {', '.join(sorted(set(suffixes.values())))}.")
        return format
    first, *others = (_format(file, suffixes, gzipped) for file in files)
    for file, other in zip(files[1:], others, strict=True):
        if other != first:
            raise TableError(
                f"{file}: the files of one table must have one format, but {files[0].name} is {first} "
                f"and this is {other}."
            )
    return first


def _format(file: Place, suffixes: Mapping[str, str], gzipped: Collection[str]) -> str:
    """Return the format of one file from its suffix; .gz is looked through where it is allowed."""
    suffix = file.suffix.lower()
    zipped = suffix == ".gz"
    if zipped or file.name.lower().endswith(".zarr.zip"):
        suffix = Path(file.stem).suffix.lower()
    kind = suffixes.get(suffix)
    if kind is None:
        packable = ", ".join(known for known, format in suffixes.items() if format in gzipped)  # noqa: A001
        raise TableError(
            f"{file}: the suffix {suffix!r} is unknown. Supported are {', '.join(suffixes)} (.gz after {packable}; "
            ".zip after .zarr). Or set format=."
        )
    if zipped and kind not in gzipped:
        raise TableError(f"{file}: gzipped {suffix} files are not supported. Decompress the file first.")
    return kind
