"""Temporary files have an owner: the next to write in a folder removes those whose owner is dead, and no others.

The owner holds a lock on its file, which the system drops when the process ends, however it ends. Locks may not reach
across machines that share a folder, so the file's name says on which machine it was made, and others leave it alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import secrets
from functools import cache
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows: nothing is removed there
    fcntl = None  # type: ignore[assignment]

PREFIX, SUFFIX = ".hiddenbits-", ".tmp"
LOCKS = fcntl is not None


@cache
def _here() -> str:
    """Return the part of a temporary file's name that stands for this machine."""
    return f"{PREFIX}{hashlib.sha256(platform.node().encode()).hexdigest()[:8]}-"


def open_temporary(folder: Path) -> tuple[Path, BinaryIO]:
    """Return a new file in the folder, of a name of its own, and locked as long as it is open."""
    while True:
        path = folder / f"{_here()}{secrets.token_hex(8)}{SUFFIX}"  # of fixed length: long names would not fit
        file = path.open("xb")
        if _locked(file) and os.fstat(file.fileno()).st_nlink:
            return path, file
        file.close()  # another process took it for a leftover, before it was locked


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files in a folder that dead processes of this machine have left."""
    if not LOCKS:
        return
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(_here()) and entry.name.endswith(SUFFIX):
                with contextlib.suppress(OSError):
                    is_dead(Path(entry.path), remove=True)


def is_dead(path: Path, *, remove: bool = False) -> bool:
    """Whether a temporary file was made on this machine by a process that has ended; if asked, remove it then."""
    if not LOCKS or not path.name.startswith(_here()):
        return False
    with contextlib.ExitStack() as stack:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        stack.callback(os.close, file)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # it is held, or the file system knows no locks
            return False
        if remove:
            path.unlink()
        return True


def _locked(file: BinaryIO) -> bool:
    """Lock a file; return whether it is ours. Where the file system knows no locks, nobody removes anything."""
    if not LOCKS:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
