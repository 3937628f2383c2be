"""How much memory a fit takes: the peak of this process, from the operating system.

Tracing every allocation (`tracemalloc`) would be more exact, but it slows fits of small blocks by up to a half, and the
same table reports times. A separate process for each fit would need a copy of the table, and could not use the caller's
cluster. So we ask the system: Linux can reset the peak of a process and report the next one. Memory freed by earlier
fits is returned first; what Python keeps nevertheless makes the figure too small.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
from collections.abc import Iterator
from pathlib import Path

STATUS, FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class Peak:
    """Peak memory of a `peak` block, above what the process held at its start; NaN if the system does not report it."""

    bytes: float = math.nan


@contextlib.contextmanager
def peak() -> Iterator[Peak]:
    """Measure the work inside the block.

    Examples
    --------
    >>> import numpy as np
    >>> with peak() as found:
    ...     many = np.ones(10_000_000)
    >>> bool(np.isnan(found.bytes) or 70e6 < found.bytes < 200e6)
    True
    """
    found = Peak()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    before = _held("VmRSS") if _forget() else math.nan
    try:
        yield found
    finally:
        found.bytes = max(_held("VmHWM") - before, 0.0) if not math.isnan(before) else math.nan


def _forget() -> bool:
    """Reset the system's record of the peak; return whether that is supported."""
    try:
        FORGET.write_text("5")
    except OSError:
        return False
    return True


def _held(name: str) -> float:
    """Return a figure of the process's memory, in bytes."""
    try:
        line = next(line for line in STATUS.read_text().splitlines() if line.startswith(f"{name}:"))
    except (OSError, StopIteration):
        return math.nan
    return float(line.split()[1]) * 1024.0
