"""How many rows a sample may have: as many as fit in memory, decided before any of it is taken."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

MEMORY, LIMIT, USED = (Path(p) for p in ("/proc/meminfo", "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"))


def check_n_samples(estimator: Any, n_samples: int, dtype: DTypeLike = np.uint8) -> None:
    """Refuse a sample without rows, and one that takes more memory than there is.

    Parameters
    ----------
    estimator : estimator
        What is sampled from: bits that stand for other values (`coding_`) take more.
    n_samples : int
        Number of rows.
    dtype : dtype
        Type of the cells.
    """
    if n_samples < 1:
        raise ValueError(f"n_samples={n_samples}: draw at least one row.")
    n_columns, coding = estimator._n_columns_of(estimator.params_), getattr(estimator, "coding_", None)
    row_bytes = n_columns * np.dtype(dtype).itemsize
    if coding is not None and not coding.only_bits:  # a float for each bit, and an object for each value
        row_bytes += 8 * (n_columns + len(coding.columns))
    needed, free = int(n_samples) * row_bytes, available_memory()
    if needed > free:
        raise MemoryError(
            f"n_samples={n_samples:,}: these rows take {needed:,} bytes, and {free:,} bytes of memory are available. "
            "Sample fewer rows at a time, each time with another random_state."
        )


def available_memory() -> int:
    """Return how many bytes this process can still take; a very large number where the system does not tell."""
    known = [sys.maxsize]
    with contextlib.suppress(OSError, ValueError, AttributeError):  # not of every system
        known.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with contextlib.suppress(OSError, ValueError, KeyError):  # Linux
        lines = (line.split() for line in MEMORY.read_text().splitlines())
        kilobytes = {words[0].rstrip(":"): int(words[1]) for words in lines if len(words) > 1}
        known.append(1024 * (kilobytes["MemAvailable"] + kilobytes.get("SwapFree", 0)))
    with contextlib.suppress(OSError, ValueError):  # a container; "max" is none
        known.append(int(LIMIT.read_text()) - int(USED.read_text()))
    return max(min(known), 0)
