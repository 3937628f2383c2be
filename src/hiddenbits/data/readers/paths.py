"""Which files, in which order, of which format."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hiddenbits.data.table import TableError

SUFFIXES = {
    ".npy": "npy",
    ".npz": "npz",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".dat": "baskets",
    ".txt": "baskets",
    ".basket": "baskets",
}
GZIPPED = ("csv", "baskets")  # formats that may be gzipped


def find_files(paths: Any) -> tuple[Path, ...]:
    """Return the files that a path, a glob pattern or a list of them stands for.

    The files of a pattern come in natural order (part2 before part10), those of a list in the order given.
    """
    files: list[Path] = []
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else list(paths):
        files.extend(_expand(os.path.expanduser(os.fspath(path))))  # noqa: PTH111  (a pattern is not a path)
    if not files:
        raise TableError("No file was given.")
    seen: set[Path] = set()
    for file in files:
        if file in seen:
            raise TableError(f"{file}: the file is given twice. Give each file once.")
        seen.add(file)
    return tuple(files)


def _expand(path: str) -> list[Path]:
    """Return the files of one path or pattern, as absolute paths: workers may run in other folders."""
    here = Path(path)
    if here.is_dir():
        raise TableError(
            f"{path}: this is a folder. Name its files with a pattern such as {path.rstrip('/')}/*.parquet."
        )
    if here.exists():  # before any globbing: a file may be called data[1].csv
        return [here.absolute()]
    if not glob.has_magic(path):
        raise TableError(f"{path}: there is no such file.")
    found = [name for name in glob.glob(path, recursive=True) if Path(name).is_file()]  # noqa: PTH207
    if not found:
        raise TableError(f"{path}: no file matches this pattern.")
    return [Path(name).absolute() for name in sorted(found, key=natural_key)]


def natural_key(name: str) -> tuple[list[str | int], str]:
    """Return a sort key under which numbers inside names count as numbers.

    Examples
    --------
    >>> sorted(["part10", "part9", "part1"], key=natural_key)
    ['part1', 'part9', 'part10']
    """
    pieces = re.split(r"([0-9]+)", name)
    return [int(piece) if i % 2 else piece for i, piece in enumerate(pieces)], name


def find_format(files: Sequence[Path], format: str | None = None) -> str:  # noqa: A002
    """Return the one format of all the files, from their suffixes or as given."""
    kinds = sorted(set(SUFFIXES.values()))
    if format is not None:
        if format not in kinds:
            raise TableError(f"format={format!r} is not one of {', '.join(kinds)}.")
        return format
    first = _format(files[0])
    for file in files[1:]:
        if _format(file) != first:
            raise TableError(
                f"{file}: the files of one table must have one format, but {files[0].name} is {first} "
                f"and this is {_format(file)}."
            )
    return first


def _format(file: Path) -> str:
    """Return the format of one file from its suffix; .gz is looked through where it is allowed."""
    suffix = file.suffix.lower()
    zipped = suffix == ".gz"
    if zipped:
        suffix = Path(file.stem).suffix.lower()
    kind = SUFFIXES.get(suffix)
    if kind is None:
        raise TableError(
            f"{file}: the suffix {suffix!r} is unknown. Known are {', '.join(SUFFIXES)} (.gz after "
            ".csv, .dat, .txt and .basket); or name the format with format=."
        )
    if zipped and kind not in GZIPPED:
        raise TableError(f"{file}: {suffix} files cannot be read gzipped. Unpack the file first.")
    return kind
