"""The naive oracle of the hostile tables: what a grid of Python objects means, cell by cell."""

from __future__ import annotations

import datetime
import math
import numbers
from decimal import Decimal
from typing import Any

import numpy as np

REFUSED, EITHER = "refused", "either"
nan = float("nan")
BAD = [2, -1, 0.5, math.inf, -math.inf, 1e300, 1 + 1e-9, "x", "1", "", b"1", 1j, 10**400, 10**5000]
BAD += [[1], [], {}, (0, 1), object(), np.array([0, 1]), np.array(1)]
BAD += [datetime.date(2020, 1, 1), np.datetime64("2020"), np.timedelta64(1, "s")]
SPELLED = ["", *(f"{bit}{dot}" for bit in "01" for dot in ("", ".0")), "True", "False", "true", "false"]
GOOD = [0, 1, True, False, 0.0, 1.0, -0.0, np.int8(1), np.float32(0), np.bool_(True), None, nan]
THRESHOLDS = [None, None, None, 0, 0.25, 1, -1]


class UnlawfulError(Exception):
    """The oracle's refusal."""


def cell(value: Any, threshold: float | None) -> float:
    """Return the meaning of one cell: 0, 1 or NaN."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return nan
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        value = value.item() if value.dtype.char not in "g" else float(value)
    if not isinstance(value, (numbers.Real, Decimal)) or isinstance(value, np.generic):
        raise UnlawfulError
    if isinstance(value, int) and abs(value) > 10**300:
        raise UnlawfulError
    if math.isnan(value):
        return nan
    if threshold is not None:
        if math.isinf(value):
            raise UnlawfulError
        return float(value > threshold)
    if value not in (0, 1):
        raise UnlawfulError
    return float(value)


def meaning(rows: Any, shape: tuple[int, int], options: dict[str, Any]) -> Any:
    """Return the table that a grid of Python objects stands for."""
    rows = [list(row) for row in rows]
    try:
        out = np.array([[cell(v, options.get("threshold")) for v in row] for row in rows], float).reshape(shape)
    except UnlawfulError:
        # Cells of text may be bits, missing or numbers for a threshold; what is next to them decides.
        text = [value for row in rows for value in row if isinstance(value, str)]
        return EITHER if any("threshold" in options or value in SPELLED for value in text) else REFUSED
    if 0 in shape:
        return REFUSED
    return np.nan_to_num(out) if options.get("empty") == "zero" else out


def base(rng: Any) -> tuple[np.ndarray, dict[str, Any]]:
    """Return a valid table, now and then an empty one, and options."""
    n, d = (int(rng.integers(0 if rng.random() < 0.05 else 1, 9)) for _ in range(2))
    if rng.random() < 0.05:
        n, d = 300, 70
    values = rng.integers(0, 2, (n, d)).astype(float)
    values[rng.random((n, d)) < rng.choice([0, 0, 0.1, 0.95])] = nan
    options = {"empty": str(rng.choice(["auto", "zero", "missing"])), "threshold": rng.choice(THRESHOLDS)}
    return values, {k: v for k, v in options.items() if v is not None}


def pick(rng: Any, choices: list[Any]) -> Any:
    return choices[int(rng.integers(len(choices)))]
