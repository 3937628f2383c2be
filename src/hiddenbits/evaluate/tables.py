"""How the tables of `compare` and `select` write times and memory."""

from __future__ import annotations

import math


def seconds(value: float) -> str:
    """Format a time."""
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def megabytes(value: float) -> str:
    """Format an amount of memory."""
    return "-" if math.isnan(value) else f"{value / 2**20:.1f} MB"
