"""Averages with standard errors, gathered piece by piece."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiddenbits.array_types import Floats


@dataclass(frozen=True)
class Figure:
    """A measured number with its standard error.

    Attributes
    ----------
    value : float
        The measure.
    standard_error : float
        Its standard error over rows; NaN for a single row.
    kind : str
        "exact"; or "bound" or "estimate" if the model cannot compute the exact likelihood.
    n_rows : int
        Rows it was measured on.

    Examples
    --------
    >>> from hiddenbits.evaluate import Figure
    >>> print(Figure(-6.0123, 0.0456, "exact", 100))
    -6.0123 ± 0.0456
    """

    value: float
    standard_error: float
    kind: str
    n_rows: int

    def __str__(self) -> str:
        sign = "" if self.kind == "exact" else f" ({self.kind})"
        return f"{self.value:.4f} ± {self.standard_error:.4f}{sign}"


POWERS = np.array([1, 1, 2, 2, 2])  # of the weights in each of the sums of a Ratio
NO_EXPONENT = -10_000  # of sums without a weight: below that of any float


class Ratio:
    """The ratio Sum(w a) / Sum(w b) over rows, and its standard error by linearisation.

    With R the ratio, the error is the square root of Sum w^2 (a - R b)^2 * n / (n - 1), divided by Sum(w b). A mean
    over rows has b = 1; a mean over cells has b = the number of cells in each row. Weights are kept as multiples of a
    power of two, because their squares may be too small or too large for a float.
    """

    def __init__(self) -> None:
        self._sums, self._exponent = np.zeros(5), NO_EXPONENT
        self._n = 0

    def add(self, a: Floats, b: Floats, weights: Floats) -> None:
        """Add some rows."""
        part, largest = Ratio(), float(weights.max(initial=0.0))
        part._exponent = int(np.frexp(largest)[1]) if largest > 0.0 else NO_EXPONENT
        w = np.ldexp(weights, -part._exponent)
        wa, wb = w * a, w * b
        part._sums, part._n = np.array([wa.sum(), wb.sum(), wa @ wa, wa @ wb, wb @ wb]), len(a)
        self += part

    def __iadd__(self, other: Ratio) -> Ratio:
        common = max(self._exponent, other._exponent)
        self._sums = sum(np.ldexp(one._sums, POWERS * (one._exponent - common)) for one in (self, other))
        self._exponent = common
        self._n += other._n
        return self

    def figure(self, kind: str = "exact") -> Figure:
        """Return the ratio as a Figure."""
        a, b, aa, ab, bb = self._sums
        if b <= 0.0:
            raise ValueError("Nothing to measure: no observed cell has a positive weight.")
        value = a / b
        spread = max(aa - 2.0 * value * ab + value * value * bb, 0.0)
        error = np.sqrt(spread * self._n / (self._n - 1)) / b if self._n > 1 else np.nan
        return Figure(float(value), float(error), kind, self._n)
