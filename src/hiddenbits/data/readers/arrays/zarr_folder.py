"""The files of a Zarr store, in a folder or in a zip archive, read piece by piece."""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from hiddenbits.data.readers.npz import DEFLATE_RATIO
from hiddenbits.data.table import TableError


class Files(Protocol):
    """What can be asked of a store's files; keys are paths with slashes."""

    def size(self, key: str) -> int | None:
        """Return the number of bytes of a file, None if it is not there."""
        ...

    def read(self, key: str, start: int, length: int) -> bytes:
        """Return `length` bytes from `start` on, fewer where the file ends."""
        ...

    def children(self, key: str) -> list[str]:
        """Return the names of the folders in a folder, sorted; at most a hundred."""
        ...

    def count(self, key: str, enough: int) -> int:
        """Return the number of files below a folder, or `enough` if there are more."""
        ...


class Folder:
    """A folder of files. Links are followed: they are the work of whoever made the folder, not of the store."""

    def __init__(self, path: str) -> None:
        self._root = Path(path)

    def size(self, key: str) -> int | None:
        """Return the number of bytes of a file, None if it is not there."""
        try:
            found = (self._root / key).stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        if stat.S_ISDIR(found.st_mode):
            return None
        if not stat.S_ISREG(found.st_mode):  # reading a pipe would wait for ever
            raise TableError(f"{key} is not a regular file.")
        return found.st_size

    def read(self, key: str, start: int, length: int) -> bytes:
        """Return `length` bytes from `start` on, fewer where the file ends."""
        with (self._root / key).open("rb") as file:
            file.seek(start)
            return file.read(length)

    def children(self, key: str) -> list[str]:
        """Return the names of the folders in a folder, sorted; at most a hundred."""
        folder = self._root / key
        return sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())[:100] if folder.is_dir() else []

    def count(self, key: str, enough: int) -> int:
        """Return the number of files below a folder, or `enough` if there are more."""
        found = 0
        for _, _, files in os.walk(self._root / key):
            found += len(files)
            if found >= enough:
                return enough
        return found


class Zip:
    """The entries of a zip archive. An entry that was written twice counts as it was written last."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def size(self, key: str) -> int | None:
        """Return the number of bytes of an entry, None if it is not there."""
        entry = self._archive.NameToInfo.get(key)
        if entry is None:
            return None
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise TableError(f"{key} is packed in a way that is not read here. Pack the store again, without.")
        if entry.file_size > DEFLATE_RATIO * (entry.compress_size + 64):
            raise TableError(f"{key} cannot unpack to its declared {entry.file_size} bytes. Write it again.")
        return entry.file_size

    def read(self, key: str, start: int, length: int) -> bytes:
        """Return `length` bytes from `start` on. zipfile never unpacks more than the entry's declared size."""
        with self._archive.open(key) as file:
            file.seek(start)
            return file.read(length)

    def children(self, key: str) -> list[str]:
        """Return the names of the folders in a folder, sorted; at most a hundred."""
        prefix = f"{key}/" if key else ""
        names = {name[len(prefix) :] for name in self._archive.NameToInfo if name.startswith(prefix)}
        return sorted({name.split("/", 1)[0] for name in names if "/" in name})[:100]

    def count(self, key: str, enough: int) -> int:
        """Return the number of entries below a folder, or `enough` if there are more."""
        prefix = f"{key}/" if key else ""
        return min(enough, sum(name.startswith(prefix) for name in self._archive.NameToInfo))


@contextmanager
def open_files_of(path: str) -> Iterator[Files]:
    """Open a store that is a folder or a zip archive."""
    if Path(path).is_dir():
        yield Folder(path)
        return
    with zipfile.ZipFile(path) as archive:
        yield Zip(archive)
