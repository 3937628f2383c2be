"""How the tables of `compare` and `select` write their numbers."""

from __future__ import annotations

import math


def number(value: float | None, digits: int = 4) -> str:
    """Format a number; a dash if there is none."""
    return "-" if value is None or math.isnan(value) else f"{value:.{digits}f}"


def with_error(value: float | None, error: float | None, digits: int = 4) -> str:
    """Format a number and its standard error; an error that rounds to 0 is not shown as 0."""
    if value is None or math.isnan(value):
        return "-"
    least = 10.0**-digits
    small = error is not None and error < 0.5 * least
    return f"{value:.{digits}f} ± {f'<{least:.{digits}f}' if small else number(error, digits)}"


def seconds(value: float) -> str:
    """Format a time."""
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def megabytes(value: float) -> str:
    """Format an amount of memory."""
    return "-" if math.isnan(value) else f"{value / 2**20:.1f} MB"
