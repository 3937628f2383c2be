"""A lock that belongs to a process and is released when the process ends in any way.

The package filelock is not used: it leaves its file next to the checkpoint, and on file systems without locks the
existence of a file is its lock, which nobody removes after ``kill -9``.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path

BUSY_ERRORS = {errno.EACCES, errno.EAGAIN, errno.EDEADLK}

# Locks of the operating system work between processes; this table works between the threads of one. A forked child
# inherits the table but not the locks, hence the process id in each key.
_held: dict[tuple[int, str], object] = {}


class LockedError(Exception):
    """Another process or thread holds the lock."""


class NoLocksError(Exception):
    """The file system has no locks."""


@contextlib.contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold a lock on a file, which is created for this purpose and removed afterwards.

    The operating system releases the lock when the process ends, even by ``kill -9``, so a file left by a crash locks
    nobody out.

    Raises
    ------
    LockedError
        If another process or thread holds the lock.
    NoLocksError
        If the file system has no locks.

    Examples
    --------
    >>> import tempfile
    >>> from hiddenbits.store.lock import LockedError, locked
    >>> with tempfile.TemporaryDirectory() as folder, locked(f"{folder}/fit.lock"):
    ...     try:
    ...         with locked(f"{folder}/fit.lock"):
    ...             pass
    ...     except LockedError:
    ...         print("locked")
    locked
    """
    name, owner = os.path.realpath(path), object()
    key = (os.getpid(), name)
    if _held.setdefault(key, owner) is not owner:  # atomic, and so safe between threads
        raise LockedError
    try:
        file = _acquire(name)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):  # Windows does not remove open files
                Path(name).unlink()
            os.close(file)
    finally:
        del _held[key]


def _acquire(name: str) -> int:
    """Return the open file once it is locked and still the file under this name."""
    while True:
        file = os.open(name, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(file)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file), os.stat(name)):  # noqa: PTH116
                    return file
        except BaseException as error:
            os.close(file)
            if isinstance(error, OSError):
                raise (LockedError if error.errno in BUSY_ERRORS else NoLocksError)() from error
            raise
        os.close(file)  # the last owner removed it in the meantime: try again with a new one


def _lock(file: int) -> None:
    # Not flock: a forked child would share the lock, and hold it after its parent has ended.
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
