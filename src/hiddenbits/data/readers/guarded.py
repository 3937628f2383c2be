"""Files of strangers, of any format: read in a process of its own, under limits of memory, time and bytes handed over.

The libraries that read files crash or hang on some damaged ones, and decompress whatever they are given. Here that is
an error like any other: the process that asks never opens the file. This is a guard against accidents and bombs, not a
sandbox: the process has the rights of its user.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
import weakref
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hiddenbits.addresses import safe_url
from hiddenbits.data.columns.message import ColumnsCodedWarning, ColumnsLeftOutWarning
from hiddenbits.data.readers import DuplicateItemsWarning
from hiddenbits.data.readers.handover import HEADER, TooLargeError, hand_over, take_over
from hiddenbits.data.readers.text.dialect import FoundDialectWarning
from hiddenbits.data.table import Table, TableError
from hiddenbits.quoting import told

ERROR = "error.json"
WARNINGS: dict[str, type[Warning]] = {
    kind.__name__: kind
    for kind in (DuplicateItemsWarning, FoundDialectWarning, ColumnsCodedWarning, ColumnsLeftOutWarning)
}
ERRORS: dict[str, type[Exception]] = {kind.__name__: kind for kind in (TableError, TypeError, ImportError)}
SLACK = 1 << 20  # bytes of what the process says beyond the table
CHILD = "import sys; sys.path[:] = {path!r}; from {child} import read; from {door} import open_table; read(open_table)"
OUT_OF_MEMORY = ("memory", "alloc", "can't start new thread", "failed to map")  # how libraries say so


@dataclass(frozen=True)
class ReadLimits:
    r"""What reading a file with ``open_table(..., guarded=ReadLimits(...))`` may take.

    Parameters
    ----------
    memory : int, default=4 GiB
        The most memory of the process that reads, as addresses (RLIMIT_AS). Python and libraries take 0.4 GiB.
    seconds : float, default=300
        The most time that it may take, by the clock, and of the processor.
    bytes : int, default=8 GiB
        The most that the table may come to on the disk for temporary files.

    Examples
    --------
    >>> import tempfile, pathlib, hiddenbits
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.csv"
    >>> _ = path.write_text("a,b\n0,1\n1,1\n")
    >>> hiddenbits.open_table(path, guarded=hiddenbits.ReadLimits(seconds=60)).shape
    (2, 2)
    """

    memory: int = 4 << 30
    seconds: float = 300.0
    bytes: int = 8 << 30

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
                raise ValueError(f"{name}={value!r} is not a limit. Give a positive number.")


def open_guarded(paths: Any, guarded: bool | ReadLimits, options: Mapping[str, Any]) -> Table:
    """Return the table of some files, read by another process; `options` are those of `open_table`."""
    if not isinstance(guarded, (bool, ReadLimits)):
        raise TypeError(f"guarded={guarded!r}: give True, or hiddenbits.ReadLimits(...).")
    limits = ReadLimits() if guarded is True else guarded
    assert isinstance(limits, ReadLimits)  # noqa: S101
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    shown = safe_url(os.fspath(given[0])) + (", ..." if len(given) > 1 else "")
    folder = Path(tempfile.mkdtemp(prefix="hiddenbits-"))
    try:
        try:
            asked = pickle.dumps((given, dict(options), str(folder), asdict(limits)))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise TypeError(
                f"guarded= hands all options to another process, and one of them cannot be ({told(error)})."
            ) from None
        ended = _run(asked, folder, limits, shown)
        header = _answer(folder, ended, limits, shown)
        for kind, text in header["warnings"]:
            warnings.warn(str(text), WARNINGS[str(kind)], stacklevel=3)
        table = take_over(folder, header)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if header["resident"]:
        shutil.rmtree(folder, ignore_errors=True)
    else:
        weakref.finalize(table.source, shutil.rmtree, folder, ignore_errors=True)
    return table


def _run(asked: bytes, folder: Path, limits: ReadLimits, shown: str) -> int:
    """Run the process; return how it ended."""
    code = CHILD.format(path=[*sys.path], child=__name__, door="hiddenbits.data.open")
    quiet = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}  # threads reserve addresses
    with (folder / "stderr").open("wb") as errors:
        process = subprocess.Popen(  # noqa: S603  (this Python, and a function of this package)
            [sys.executable, "-W", "ignore", "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env={**os.environ, **quiet},
        )
        try:
            process.communicate(asked, timeout=limits.seconds)
        except subprocess.TimeoutExpired:
            raise _beyond(shown, "seconds", limits) from None
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()
    return process.returncode


def _answer(folder: Path, ended: int, limits: ReadLimits, shown: str) -> dict[str, Any]:
    """Return what the process said of the table, or raise what it said, or what became of it."""
    if sum(file.stat().st_size for file in folder.iterdir()) > limits.bytes + 2 * SLACK:
        raise _beyond(shown, "bytes", limits)
    if (folder / ERROR).is_file():
        kind, text = json.loads((folder / ERROR).read_text(encoding="ascii"))
        if kind in ReadLimits.__dataclass_fields__:
            raise _beyond(shown, kind, limits)
        raise ERRORS.get(kind, TableError)(text)
    if ended == 0 and (folder / HEADER).is_file():
        header: dict[str, Any] = json.loads((folder / HEADER).read_text(encoding="ascii"))
        return header
    if ended == -getattr(signal, "SIGXCPU", 0):
        raise _beyond(shown, "seconds", limits)
    if ended < 0:
        name = signal.Signals(-ended).name
        raise TableError(
            f"{shown}: the process that read it crashed ({name}). The file is damaged, or made to do harm; or it needs "
            f"more than guarded=ReadLimits(memory={limits.memory})."
        )
    said = (folder / "stderr").read_bytes()[-400:].decode("utf-8", "replace")
    raise TableError(f"{shown}: the process that was to read it ended with status {ended}: {told(said)}")


def _beyond(shown: str, limit: str, limits: ReadLimits) -> TableError:
    """Return the error for a file that needs more than a limit allows."""
    value = getattr(limits, limit)
    what = {
        "memory": f"reading it took more than {value} bytes of memory",
        "seconds": f"reading it took more than {value:g} seconds",
        "bytes": f"the table comes to more than {value} bytes",
    }[limit]
    return TableError(
        f"{shown}: {what}, the limit of {limit}. The file is damaged, or made to do harm; if you trust it, allow more "
        f"with guarded=ReadLimits({limit}=...)."
    )


# In the process that reads -------------------------------------------------------------------------------------------


def read(open_table: Callable[..., Table]) -> None:
    """Answer what is asked on the standard input: read a table under limits, and write it into a folder."""
    import resource

    paths, options, named, limits = pickle.load(sys.stdin.buffer)  # noqa: S301  (from the process that started this one)
    folder, seconds = Path(named), int(limits["seconds"]) + 1
    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, int(limits["bytes"]) + SLACK),
        (resource.RLIMIT_AS, int(limits["memory"])),
    ):
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        end = most + 5 if kind == resource.RLIMIT_CPU and hard == resource.RLIM_INFINITY else most
        resource.setrlimit(kind, (most, end))  # at the end SIGKILL comes, which does not say why; before it SIGXCPU
    try:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("ignore")
            for one in WARNINGS.values():
                warnings.simplefilter("always", one)
            table = open_table(paths if len(paths) > 1 else paths[0], **options)

            def more() -> dict[str, Any]:
                return {"warnings": [(found.category.__name__, str(found.message)) for found in seen[:10]]}

            hand_over(table, folder, int(limits["bytes"]), more)
    except BaseException as error:
        (folder / ERROR).write_text(json.dumps(_said(error)), encoding="ascii")
    os._exit(0)  # threads of a library that hangs must not keep the process


def _said(error: BaseException) -> tuple[str, str]:
    """Return the kind of an error and its text; the name of a limit where that was the cause."""
    link: BaseException | None = error
    while link is not None:
        text = str(link).lower()
        ours = isinstance(link, (TableError, TypeError))
        if isinstance(link, MemoryError) or (not ours and any(word in text for word in OUT_OF_MEMORY)):
            return "memory", ""
        if isinstance(link, TooLargeError):
            return "bytes", ""
        link = link.__cause__ or link.__context__
    if isinstance(error, tuple(ERRORS.values())):
        kind = next(name for name, one in ERRORS.items() if isinstance(error, one))
        return kind, str(error)
    return "TableError", f"cannot be read ({type(error).__name__}: {told(error)})."
