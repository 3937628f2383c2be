"""A lock that belongs to a process and ends with it, however it ends.

Not filelock: it leaves its file beside the checkpoint, and where the file system knows no locks it takes the existence
of a file for one, which nobody removes after ``kill -9``.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path

BUSY = {errno.EACCES, errno.EAGAIN, errno.EDEADLK}

# Locks of the operating system hold between processes; this table holds between the threads of one. A forked child
# inherits the table but not the locks, hence the process in each key.
_held: dict[tuple[int, str], object] = {}


class LockedError(Exception):
    """Someone else holds the lock."""


class NoLocksError(Exception):
    """The file system offers no locks."""


@contextlib.contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold a lock on a file, which is made for the purpose and removed again.

    The operating system releases the lock when the process ends, also by ``kill -9``: a file that a crash left behind
    locks nobody out.

    Raises
    ------
    LockedError
        If another process or thread holds it.
    NoLocksError
        If the file system offers no locks.

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
    name, mine = os.path.realpath(path), object()
    key = (os.getpid(), name)
    if _held.setdefault(key, mine) is not mine:  # one step, and so safe between threads
        raise LockedError
    try:
        file = _acquired(name)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):  # Windows keeps files that are open
                Path(name).unlink()
            os.close(file)
    finally:
        del _held[key]


def _acquired(name: str) -> int:
    """Return the open file once it is locked and still the one under this name."""
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
                raise (LockedError if error.errno in BUSY else NoLocksError)() from error
            raise
        os.close(file)  # whoever held it removed it in the meantime: try again with the new one


def _lock(file: int) -> None:
    # Not flock: a forked child would share it, and hold it after its parent is gone.
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
