"""Files on disk: replaced atomically, and used only after all checks."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import platform
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO

from hiddenbits.array_types import AnyArray
from hiddenbits.exceptions import FileError
from hiddenbits.quoting import printable, redacted
from hiddenbits.store.header import DEFAULT_LIMITS, Limits, check_sizes, decode_header, decode_tensors, encode
from hiddenbits.store.json import JSON, Flaw

# Errors of writing: the disk is full, fails or became read-only, or a quota or the largest file size is reached.
DISK_ERRORS = (errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EROFS, getattr(errno, "EDQUOT", errno.ENOSPC))


@dataclass(frozen=True, eq=False)
class Stored:
    """Content of a model file: ``kind``, ``meta`` and fresh, writable, native ``arrays``."""

    kind: str
    meta: dict[str, JSON]
    arrays: dict[str, AnyArray]


def write(
    path: str | os.PathLike[str],
    kind: str,
    meta: Mapping[str, object],
    arrays: Mapping[str, AnyArray],
    *,
    limits: Limits = DEFAULT_LIMITS,
) -> None:
    """Write a model file atomically: a reader sees the old file or the new one, never a part.

    The bytes are written to a temporary file ``.hiddenbits-*.tmp`` in the same folder, which then
    replaces ``path``. It is removed if anything fails; one left behind by a killed process is never
    read, and is removed by the next write in the folder. A symbolic link is followed. The same
    content gives the same bytes.

    Parameters
    ----------
    path : path-like
        File to create or to replace.
    kind : str
        The type of the content; 1 to 128 printable ASCII characters.
    meta : mapping
        Anything that JSON can represent, with finite numbers; tuples are read back as lists.
    arrays : mapping of str to ndarray
        Arrays of bool, uint8, int32, int64, uint64, float32 or float64, of any shape.
    limits : Limits, optional
        Content that `read` would refuse under these limits is not written.

    Raises
    ------
    FileError
        If the content cannot be stored or the file cannot be written; an old file stays unchanged.
    FileNotFoundError
        If the folder does not exist.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from hiddenbits.store import read, write
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "model.safetensors"
    ...     write(path, "mixture", {"n_components": 2}, {"weights": np.array([0.25, 0.75])})
    ...     print(read(path).arrays["weights"])
    [0.25 0.75]
    """
    with writing(path):
        pieces = encode(kind, meta, arrays, limits)
        with whole_file(path) as file:
            for piece in pieces:
                file.write(piece)


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str], *, shown: str | os.PathLike[str] | None = None) -> Iterator[BinaryIO]:
    """Open a file for writing bytes that appears under its name once it is complete, or not at all.

    `write` describes how this works. All files of the package are written this way. If the disk fails or is full, the
    error names the file, as `shown` if that is given.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from hiddenbits.store import whole_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder) / "notes.txt") as file:
    ...         _ = file.write(b"all of it")
    ...     print((Path(folder) / "notes.txt").read_text())
    all of it
    """
    shown = path if shown is None else shown
    check_target(path)
    with writing(shown):
        target = Path(os.path.realpath(path))
        remove_leftovers(target.parent)
        temporary, file = open_temporary(target.parent)
    try:
        with _naming_in_disk_errors(shown), file:
            with contextlib.suppress(FileNotFoundError):
                shutil.copymode(target, temporary)  # a private file stays private
            yield file
            file.flush()
            os.fsync(file.fileno())
            if LOCKS:  # before the lock is released, or another process might take the file for a leftover
                temporary.replace(target)
        if not LOCKS:  # Windows renames closed files only
            temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    # The new file is complete. On most systems, the following makes its name survive a power failure.
    with contextlib.suppress(OSError):
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def check_target(path: str | os.PathLike[str]) -> None:
    """Refuse a path to which `whole_file` could not write; call it before the work whose results are to be saved.

    Examples
    --------
    >>> from hiddenbits.store import check_target
    >>> check_target("model.hb")
    >>> check_target("no-such-folder/model.hb")
    Traceback (most recent call last):
    ...
    FileNotFoundError: no-such-folder/model.hb: there is no folder ...no-such-folder. Create it first.
    """
    with writing(path):
        target = Path(os.path.realpath(path))
        if not target.parent.is_dir():
            if target.parent.exists():
                raise Flaw(f"{str(target.parent)!r} is not a folder", "choose another path")
            raise FileNotFoundError(printable(f"{path}: there is no folder {target.parent}. Create it first."))
        if target.is_dir():
            raise Flaw("it is a folder", "give the path of a file")
        if target.exists():
            _refuse_irregular(target.stat())  # or root would replace /dev/null
        if not os.access(target.parent, os.W_OK | os.X_OK):
            raise Flaw("the folder cannot be written to", "choose another, or change its permissions")


def read(path: str | os.PathLike[str], *, limits: Limits = DEFAULT_LIMITS) -> Stored:
    """Read a model file; its header is checked before anything large is allocated.

    Peak memory is about twice the size of the file.

    Parameters
    ----------
    path : path-like
        File written by `write`.
    limits : Limits, optional
        Bounds to enforce.

    Returns
    -------
    Stored
        Kind, meta and arrays.  The arrays are fresh, writable and C-contiguous.

    Raises
    ------
    FileError
        If the file is damaged, is not a model file, or exceeds the limits.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from hiddenbits.store import read, write
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "model.safetensors"
    ...     write(path, "mixture", {"n_components": 2}, {})
    ...     stored = read(path)
    >>> stored.kind, stored.meta
    ('mixture', {'n_components': 2})
    """
    with _naming_file("read", path):
        _refuse_irregular(Path(path).stat())  # before opening: a pipe would block
        with Path(path).open("rb") as file:
            status = os.fstat(file.fileno())
            _refuse_irregular(status)
            length = file.read(8)
            n_header = int.from_bytes(length, "little")
            check_sizes(status.st_size, n_header, limits)
            head = length + file.read(n_header)
            n_data = status.st_size - 8 - n_header
            header = decode_header(head[8:], n_data, limits)
            # No variable refers to the bytes, so that they can be freed during decoding.
            arrays = dict(decode_tensors(_read_unchanged(file, status.st_size, head), header))
    return Stored(header.kind, header.meta, arrays)


def _read_unchanged(file: BinaryIO, size: int, head: bytes) -> bytes:
    file.seek(0)
    raw = file.read(size)
    if len(raw) != size or not raw.startswith(head):
        raise Flaw("it changed while it was read", "read it again when nothing writes to it")
    return raw


def _refuse_irregular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise Flaw("it is not a regular file", "pass the path of a file")


@contextlib.contextmanager
def _naming_in_disk_errors(path: object) -> Iterator[None]:
    """Name the file in disk errors; errors that name another file, or are not about the disk, pass unchanged."""
    try:
        yield
    except OSError as error:
        if error.errno not in DISK_ERRORS or error.filename is not None:
            raise
        with writing(path):
            raise


def writing(path: object) -> contextlib.AbstractContextManager[None]:
    """Turn errors of writing to a path into a `FileError` that names the path."""
    return _naming_file("write", path)


def make_folder(folder: Path) -> None:
    """Create a folder to write to, and its parents, if it does not exist."""
    with writing(folder):
        parent = next(path for path in (folder, *folder.parents) if path.exists())
        if not parent.is_dir():
            raise Flaw(f"{str(parent)!r} is not a folder", "choose another path")
        if parent != folder and not os.access(parent, os.W_OK | os.X_OK):  # an existing folder may need no writing
            raise Flaw("the folder cannot be written to", "choose another, or change its permissions")
        folder.mkdir(parents=True, exist_ok=True)


@contextlib.contextmanager
def _naming_file(action: str, path: object) -> Iterator[None]:
    """Turn flaws and errors of the system into a `FileError` that names the file."""
    name = os.fspath(path) if isinstance(path, os.PathLike) else path
    try:
        yield
    except FileError:
        raise  # clear as it is
    except Flaw as flaw:
        raise FileError(f"cannot {action} {name!r}: {flaw.what}; {flaw.remedy}.") from None
    except OSError as error:
        if isinstance(error, FileNotFoundError) and (action == "read" or error.errno is None):
            raise  # clear as it is: no such file, or from `check_target`
        problem = error.strerror or redacted(error)
        raise FileError(f"cannot {action} {name!r}: {problem}; check the path and the disk.") from error
    except ValueError as error:  # a path with a null character
        raise FileError(f"cannot {action} {name!r}: {redacted(error)}; check the path.") from error


# Temporary files have an owner: the next process that writes in a folder removes files whose owner is dead.
#
# The owner holds a lock on its file, which the system releases when the process ends in any way. Locks may not work
# across computers that share a folder, so the file's name includes a digest of the computer's name, and other computers
# ignore it.

try:
    import fcntl
except ImportError:  # Windows: nothing is removed there
    fcntl = None  # type: ignore[assignment]

PREFIX, SUFFIX = ".hiddenbits-", ".tmp"
LOCKS = fcntl is not None


@cache
def _prefix() -> str:
    """Return the beginning of a temporary file's name, which identifies this computer."""
    return f"{PREFIX}{hashlib.sha256(platform.node().encode()).hexdigest()[:8]}-"


def open_temporary(folder: Path) -> tuple[Path, BinaryIO]:
    """Return a new file in the folder with a unique name, which is locked as long as it is open."""
    while True:
        path = folder / f"{_prefix()}{secrets.token_hex(8)}{SUFFIX}"  # a longer name might not be allowed
        file = path.open("xb")
        if _locked(file) and os.fstat(file.fileno()).st_nlink:
            return path, file
        file.close()  # another process took it for a leftover, before it was locked


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files in a folder that dead processes of this computer have left."""
    if not LOCKS:
        return
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(_prefix()) and entry.name.endswith(SUFFIX):
                with contextlib.suppress(OSError):
                    owner_is_dead(Path(entry.path), remove=True)


def owner_is_dead(path: Path, *, remove: bool = False) -> bool:
    """Whether a temporary file was made on this computer by a process that has ended; with `remove`, also remove it."""
    if not LOCKS or not path.name.startswith(_prefix()):
        return False
    with contextlib.ExitStack() as stack:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        stack.callback(os.close, file)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # it is locked, or the file system has no locks
            return False
        if remove:
            path.unlink()
        return True


def _locked(file: BinaryIO) -> bool:
    """Lock a file and return True; False if another process holds the lock. True also on file systems without locks."""
    if not LOCKS:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
