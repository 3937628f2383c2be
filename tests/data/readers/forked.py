"""Guarded reading without the start of a new Python for every file: forked from a process that has imported all.

What runs in them, under which limits, and what the parent makes of it is the code of `hiddenbits.data.readers.guarded`.
"""

from __future__ import annotations

import io
import multiprocessing
import sys
import tempfile
from multiprocessing import forkserver

from hiddenbits.data.readers import guarded

LIBRARIES = ["hiddenbits.data.open", "hiddenbits.data.readers.guarded", "h5py", "pyarrow.parquet", "zarr.storage"]
LIBRARIES += [
    "hiddenbits.data.readers.parquet.open",
    "hiddenbits.data.readers.arrays.h5ad",
    "tests.data.readers.forked",
]
LIBRARIES += ["hiddenbits.data.readers.arrays.zarr_tables", "numcodecs", "google_crc32c"]


def processes():
    """Return a context whose processes are forked from one that has imported the libraries, and has no threads."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(LIBRARIES)
    folder, tempfile.tempdir = tempfile.tempdir, None  # a test's own folder has too long a name for a socket
    try:
        forkserver.ensure_running()
    finally:
        tempfile.tempdir = folder
    return context


def run(asked, folder, limits, shown):
    """Stand in for `guarded._run`."""
    process = processes().Process(target=read, args=(asked, str(folder / "stderr")))
    process.start()
    process.join(limits.seconds)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise guarded._beyond(shown, "seconds", limits)
    return process.exitcode


def read(asked, errors):
    from hiddenbits.data.open import open_table

    quiet(errors)
    sys.stdin = io.TextIOWrapper(io.BytesIO(asked))
    guarded.read(open_table)


def quiet(errors):
    """Send what libraries print about their end to a file."""
    import os

    file = os.open(errors, os.O_WRONLY | os.O_CREAT)
    os.dup2(file, 1)
    os.dup2(file, 2)
