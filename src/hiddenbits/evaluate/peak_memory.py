"""How much memory a fit takes: the highest point of this process, from the operating system.

Tracing every allocation (`tracemalloc`) would be sharper, but it makes fits of small blocks up to a half slower, and
times stand in the same table. A process of its own for each fit would need a copy of the table, and could not run on
somebody's cluster. So the system is asked: Linux can forget a process's highest point, and then tells the next one.
Memory that earlier fits had freed is handed back first; what Python keeps all the same makes the figure too small.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
from collections.abc import Iterator
from pathlib import Path

STATUS, FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class Peak:
    """Memory of the work in a `peak` block, above what the process held at its start; NaN where no system tells."""

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
    """Have the system forget the highest point so far; return whether it does."""
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
