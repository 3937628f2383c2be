"""Measures of a fitted model on given rows, after Freund & Haussler (1994, section 4), for any estimator.

Their reconstruction formula lacks a factor 2 and a minus sign; here it is the code length that it was meant to be. For
the single-bit error they score five random bits per row; here all observed bits are scored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from hiddenbits import open_table
from hiddenbits.array_types import Floats
from hiddenbits.diagnostics import cell_probabilities
from hiddenbits.tables import Piece, Table, map_pieces

PIECE_CELLS = 1 << 22  # cells processed together
SMALLEST = 1e-15  # a probability of 0 for what happened counts as this

Rows = Callable[[Piece], tuple[Floats, Floats]]


def table_of(estimator: BaseEstimator, X: object, weights: ArrayLike | None = None, *, fitted: bool = True) -> Table:
    """Return X as a table with row weights, opened as the estimator would open it: after a fit, or to be fitted."""
    if isinstance(X, Table):
        return X.with_sample_weight(weights)
    if getattr(estimator, "visible", "bits") == "reals":
        return open_table(X, reals=True, sample_weight=weights)
    # a copy that is to be fitted reads columns as an earlier fit did, if there was one
    coded = estimator if getattr(estimator, "coding_", None) is not None else None
    coded = estimator if fitted and hasattr(estimator, "coding_") else coded
    types = getattr(estimator, "column_types", None) if coded is None else None
    return open_table(X, threshold=estimator.threshold, recode=coded, column_types=types, sample_weight=weights)


def gathered(table: Table, rows: Rows) -> Ratio:
    """Return the ratio of sums over all rows; `rows` gives numerator and denominator of each row of a piece."""

    def gather(piece: Piece) -> Ratio:
        part = Ratio()
        part.add(*rows(piece), piece.weights)
        return part

    total = Ratio()
    for part in map_pieces(gather, table, max(1, PIECE_CELLS // table.shape[1])):
        total += part
    return total


def _average(
    estimator: BaseEstimator, X: object, sample_weight: ArrayLike | None, rows: Rows, measure: str | None = None
) -> Ratio:
    """Return a weighted ratio over the rows of X; if `measure` is named, it is defined for bits only."""
    table = table_of(estimator, X, sample_weight)
    levels = table.coding_of_levels is not None and measure != "bits_per_cell"
    if measure is not None and (levels or not table.only_bits):
        what = "has nominal or ordinal columns" if table.only_bits else "is one of real numbers"
        raise ValueError(
            f"{measure} needs a table of bits, but this {what}. Use mean_log_likelihood or held_out_cells."
        )
    return gathered(table, rows)


def _bits(piece: Piece) -> tuple[Floats, Floats]:
    """Return the cells of a piece, and which of them were observed."""
    x, observed = piece.table.source.read(0, piece.table.shape[0])
    return x.to_dense().astype(np.float64), observed.to_dense().astype(np.float64)


def cells_of_rows(piece: Piece) -> Floats:
    """Return the number of recorded cells of each row; of one with levels a single bit is 1."""
    layout = piece.table.layout
    x, observed = piece.table.source.read(0, piece.table.shape[0])
    if layout.all_binary:
        return np.asarray(observed.row_sums(), np.float64)
    return np.asarray(np.where(layout.is_level, x.to_dense(), observed.to_dense()).sum(axis=1), np.float64)


def mean_log_likelihood(estimator: BaseEstimator, X: object, sample_weight: ArrayLike | None = None) -> Estimate:
    """Return the mean log-likelihood of a row, in nats; for real columns it is a density, in the table's units.

    Parameters
    ----------
    estimator : fitted estimator
        Any of this library.
    X : table of shape (rows, columns)
        Rows to score; use held-out rows for an unbiased figure.
    sample_weight : str or array of shape (rows,), optional
        Weight of each row, or the name of the column that has it.

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import IndependentColumns, evaluate
    >>> X = np.array([[0, 1], [1, 1], [0, 0], [1, 0]])
    >>> print(evaluate.mean_log_likelihood(IndependentColumns().fit(X), X))
    -1.3863 ± 0.0000
    """
    ratio = _average(
        estimator, X, sample_weight, lambda piece: (estimator.score_samples(piece.table), np.ones(len(piece.weights)))
    )
    return ratio.figure(estimator._likelihood_kind)


def bits_per_cell(estimator: BaseEstimator, X: object, sample_weight: ArrayLike | None = None) -> Estimate:
    """Return -log2 P(row) per observed cell: Freund & Haussler's log-loss.

    Parameters
    ----------
    estimator, X, sample_weight
        As for `mean_log_likelihood`.

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import IndependentColumns, evaluate
    >>> X = np.array([[0, 1], [1, 1], [0, 0], [1, 0]])
    >>> print(evaluate.bits_per_cell(IndependentColumns().fit(X), X))
    1.0000 ± 0.0000
    """

    def spent(piece: Piece) -> tuple[Floats, Floats]:
        return -estimator.score_samples(piece.table) / np.log(2.0), cells_of_rows(piece)

    return _average(estimator, X, sample_weight, spent, "bits_per_cell").figure(estimator._likelihood_kind)


def leave_one_out_error(estimator: BaseEstimator, X: object, sample_weight: ArrayLike | None = None) -> Estimate:
    """Return how often the more probable value of a bit, given the rest of its row, is wrong; a tie counts half.

    Parameters
    ----------
    estimator, X, sample_weight
        As for `mean_log_likelihood`.

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import IndependentColumns, evaluate
    >>> X = np.array([[0, 1], [0, 1], [0, 1], [0, 0]])
    >>> print(evaluate.leave_one_out_error(IndependentColumns().fit(X), X))
    0.1250 ± 0.1250
    """

    def wrong(piece: Piece) -> tuple[Floats, Floats]:
        x, observed = _bits(piece)
        p = cell_probabilities(estimator, piece.table)
        missed = np.where(p == 0.5, 0.5, (p > 0.5) != (x == 1))
        return (missed * observed).sum(axis=1), observed.sum(axis=1)

    return _average(estimator, X, sample_weight, wrong, "leave_one_out_error").figure()


def code_length(estimator: BaseEstimator, X: object, sample_weight: ArrayLike | None = None) -> Estimate:
    """Return the bits needed per observed cell once the row's most probable hidden code is known.

    Freund & Haussler's input reconstruction: the mean of -log2 P(x_j | code). For a model without a hidden code it uses
    `cell_probabilities`.

    Parameters
    ----------
    estimator, X, sample_weight
        As for `mean_log_likelihood`.

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import IndependentColumns, evaluate
    >>> X = np.array([[0, 1], [1, 1], [0, 0], [1, 0]])
    >>> print(evaluate.code_length(IndependentColumns().fit(X), X))
    1.0000 ± 0.0000
    """

    def spent(piece: Piece) -> tuple[Floats, Floats]:
        x, observed = _bits(piece)
        if hasattr(estimator, "_reconstruct"):
            p = estimator._reconstruct(estimator._modes(piece.table))
        else:
            p = cell_probabilities(estimator, piece.table)
        happened = np.maximum(np.where(x == 1, p, 1.0 - p), SMALLEST)
        return (-np.log2(happened) * observed).sum(axis=1), observed.sum(axis=1)

    return _average(estimator, X, sample_weight, spent, "code_length").figure()


# Averages with standard errors, gathered piece by piece.


@dataclass(frozen=True)
class Estimate:
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
    >>> from hiddenbits.evaluate import Estimate
    >>> print(Estimate(-6.0123, 0.0456, "exact", 100))
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
    """The ratio Sum(w a) / Sum(w b) over rows, and its standard error by linearization.

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

    def figure(self, kind: str = "exact") -> Estimate:
        """Return the ratio as a Estimate."""
        a, b, aa, ab, bb = self._sums
        if b <= 0.0:
            raise ValueError("Nothing to measure: no observed cell has a positive weight.")
        value = a / b
        spread = max(aa - 2.0 * value * ab + value * value * bb, 0.0)
        error = np.sqrt(spread * self._n / (self._n - 1)) / b if self._n > 1 else np.nan
        return Estimate(float(value), float(error), kind, self._n)
