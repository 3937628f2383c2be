"""Measures of a fitted model on given rows, after Freund & Haussler (1994, section 4), for any estimator.

Their reconstruction formula lacks a factor 2 and a minus sign; `code_length` is the corrected formula. For the
leave-one-out error they score five random cells per row; here all observed cells are scored.
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
SMALLEST_PROBABILITY = 1e-15  # an observed value that a model considers impossible counts as this probable

RowTerms = Callable[[Piece], tuple[Floats, Floats]]  # numerator and denominator of each row of a piece


def table_of(estimator: BaseEstimator, X: object, weights: ArrayLike | None = None, *, fitted: bool = True) -> Table:
    """Return X as a table with row weights, opened as the fitted or unfitted estimator opens it."""
    if isinstance(X, Table):
        return X.with_sample_weight(weights)
    if getattr(estimator, "visible", "bits") == "reals":
        return open_table(X, reals=True, sample_weight=weights)
    # A copy that will be fitted reads the columns as an earlier fit of the estimator did, if there was one.
    coded = estimator if getattr(estimator, "coding_", None) is not None else None
    coded = estimator if fitted and hasattr(estimator, "coding_") else coded
    types = getattr(estimator, "column_types", None) if coded is None else None
    return open_table(X, threshold=estimator.threshold, recode=coded, column_types=types, sample_weight=weights)


def ratio_over_rows(table: Table, row_terms: RowTerms) -> Ratio:
    """Return the ratio of the sums of both terms over all rows."""

    def of_piece(piece: Piece) -> Ratio:
        part = Ratio()
        part.add(*row_terms(piece), piece.weights)
        return part

    total = Ratio()
    for part in map_pieces(of_piece, table, max(1, PIECE_CELLS // table.row_size)):
        total += part
    return total


def _measured(
    estimator: BaseEstimator, X: object, sample_weight: ArrayLike | None, terms: RowTerms, measure: str | None = None
) -> Ratio:
    """Return a weighted ratio over the rows of X; a named `measure` is defined for binary data only."""
    table = table_of(estimator, X, sample_weight)
    levels = table.coding_of_levels is not None and (measure != "bits_per_cell" or table.n_numbers > 0)
    if measure is not None and (levels or not table.only_bits):
        what = "has columns that are not binary" if table.only_bits else "has real columns"
        raise ValueError(
            f"{measure} needs binary data, but this table {what}. Use mean_log_likelihood or held_out_cells."
        )
    return ratio_over_rows(table, terms)


def _cells(piece: Piece) -> tuple[Floats, Floats]:
    """Return the cells of a piece, and which of them were observed."""
    x, observed = piece.table.source.read(0, piece.table.shape[0])
    return x.to_dense().astype(np.float64), observed.to_dense().astype(np.float64)


def cells_of_rows(piece: Piece) -> Floats:
    """Return the number of observed cells of each row; a column with levels counts once."""
    layout = piece.table.layout
    x, observed = piece.table.source.read(0, piece.table.shape[0])
    numbers = piece.table.numbers()
    of_numbers = 0.0 if numbers is None else (~np.isnan(numbers)).sum(axis=1)
    if layout.all_binary:
        return np.asarray(observed.row_sums() + of_numbers, np.float64)
    of_bits = np.where(layout.is_level, x.to_dense(), observed.to_dense()).sum(axis=1)
    return np.asarray(of_bits + of_numbers, np.float64)


def mean_log_likelihood(estimator: BaseEstimator, X: object, sample_weight: ArrayLike | None = None) -> Estimate:
    """Return the mean log-likelihood of a row, in nats; for real columns the mean log density, in the table's units.

    Parameters
    ----------
    estimator : fitted estimator
        Any of this library.
    X : table of shape (rows, columns)
        Rows to score; use held-out rows for an unbiased estimate.
    sample_weight : str or array of shape (rows,), optional
        Weight of each row, or the name of the column that has it.

    Returns
    -------
    estimate : Estimate

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import IndependentColumns, evaluate
    >>> X = np.array([[0, 1], [1, 1], [0, 0], [1, 0]])
    >>> print(evaluate.mean_log_likelihood(IndependentColumns().fit(X), X))
    -1.3863 ± 0.0000
    """
    ratio = _measured(
        estimator, X, sample_weight, lambda piece: (estimator.score_samples(piece.table), np.ones(len(piece.weights)))
    )
    return ratio.estimate(estimator._likelihood_kind)


def bits_per_cell(estimator: BaseEstimator, X: object, sample_weight: ArrayLike | None = None) -> Estimate:
    """Return -log2 P(row) per observed cell, the log-loss of Freund & Haussler.

    Parameters
    ----------
    estimator, X, sample_weight
        As for `mean_log_likelihood`.

    Returns
    -------
    estimate : Estimate

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import IndependentColumns, evaluate
    >>> X = np.array([[0, 1], [1, 1], [0, 0], [1, 0]])
    >>> print(evaluate.bits_per_cell(IndependentColumns().fit(X), X))
    1.0000 ± 0.0000
    """

    def bits_of_rows(piece: Piece) -> tuple[Floats, Floats]:
        return -estimator.score_samples(piece.table) / np.log(2.0), cells_of_rows(piece)

    return _measured(estimator, X, sample_weight, bits_of_rows, "bits_per_cell").estimate(estimator._likelihood_kind)


def leave_one_out_error(estimator: BaseEstimator, X: object, sample_weight: ArrayLike | None = None) -> Estimate:
    """Return the error rate when each cell is predicted from the other cells of its row; a tie counts half.

    Parameters
    ----------
    estimator, X, sample_weight
        As for `mean_log_likelihood`.

    Returns
    -------
    estimate : Estimate

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import IndependentColumns, evaluate
    >>> X = np.array([[0, 1], [0, 1], [0, 1], [0, 0]])
    >>> print(evaluate.leave_one_out_error(IndependentColumns().fit(X), X))
    0.1250 ± 0.1250
    """

    def errors_of_rows(piece: Piece) -> tuple[Floats, Floats]:
        x, observed = _cells(piece)
        p = cell_probabilities(estimator, piece.table)
        wrong = np.where(p == 0.5, 0.5, (p > 0.5) != (x == 1))
        return (wrong * observed).sum(axis=1), observed.sum(axis=1)

    return _measured(estimator, X, sample_weight, errors_of_rows, "leave_one_out_error").estimate()


def code_length(estimator: BaseEstimator, X: object, sample_weight: ArrayLike | None = None) -> Estimate:
    """Return the bits needed per observed cell, given the most probable hidden code of the row.

    This is the input reconstruction of Freund & Haussler: the mean of -log2 P(x_j | code). For a model without a hidden
    code it uses `cell_probabilities`.

    Parameters
    ----------
    estimator, X, sample_weight
        As for `mean_log_likelihood`.

    Returns
    -------
    estimate : Estimate

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import IndependentColumns, evaluate
    >>> X = np.array([[0, 1], [1, 1], [0, 0], [1, 0]])
    >>> print(evaluate.code_length(IndependentColumns().fit(X), X))
    1.0000 ± 0.0000
    """

    def code_lengths_of_rows(piece: Piece) -> tuple[Floats, Floats]:
        x, observed = _cells(piece)
        if hasattr(estimator, "_reconstruct"):
            p = estimator._reconstruct(estimator._modes(piece.table))
        else:
            p = cell_probabilities(estimator, piece.table)
        p_observed = np.maximum(np.where(x == 1, p, 1.0 - p), SMALLEST_PROBABILITY)
        return (-np.log2(p_observed) * observed).sum(axis=1), observed.sum(axis=1)

    return _measured(estimator, X, sample_weight, code_lengths_of_rows, "code_length").estimate()


# Averages with standard errors, summed piece by piece.


@dataclass(frozen=True)
class Estimate:
    """The value of a measure, with its standard error.

    Attributes
    ----------
    value : float
        The measure.
    standard_error : float
        Its standard error over rows; NaN for a single row.
    kind : str
        "exact"; or "bound" or "estimate" if the model cannot compute the exact likelihood.
    n_rows : int
        Number of rows that were measured.

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
        suffix = "" if self.kind == "exact" else f" ({self.kind})"
        return f"{self.value:.4f} ± {self.standard_error:.4f}{suffix}"


WEIGHT_POWERS = np.array([1, 1, 2, 2, 2])  # power of the weights in each sum of a Ratio
EXPONENT_OF_ZERO = -10_000  # exponent of a zero weight: below the exponent of any float


class Ratio:
    """The ratio Sum(w a) / Sum(w b) over rows, and its standard error by linearization.

    For a ratio R the error is the square root of Sum w^2 (a - R b)^2 * n / (n - 1), divided by Sum(w b). A mean over
    rows has b = 1; a mean over cells has b = the number of cells in each row. Weights are stored as multiples of a
    power of two, because their squares may be too small or too large for a float.
    """

    def __init__(self) -> None:
        self._sums, self._exponent = np.zeros(5), EXPONENT_OF_ZERO
        self._n = 0

    def add(self, a: Floats, b: Floats, weights: Floats) -> None:
        """Add some rows."""
        part, largest = Ratio(), float(weights.max(initial=0.0))
        part._exponent = int(np.frexp(largest)[1]) if largest > 0.0 else EXPONENT_OF_ZERO
        w = np.ldexp(weights, -part._exponent)
        wa, wb = w * a, w * b
        part._sums, part._n = np.array([wa.sum(), wb.sum(), wa @ wa, wa @ wb, wb @ wb]), len(a)
        self += part

    def __iadd__(self, other: Ratio) -> Ratio:
        common = max(self._exponent, other._exponent)
        self._sums = sum(np.ldexp(ratio._sums, WEIGHT_POWERS * (ratio._exponent - common)) for ratio in (self, other))
        self._exponent = common
        self._n += other._n
        return self

    def estimate(self, kind: str = "exact") -> Estimate:
        """Return the ratio with its standard error."""
        a, b, aa, ab, bb = self._sums
        if b <= 0.0:
            raise ValueError("Nothing to measure: no observed cell has a positive weight.")
        value = a / b
        spread = max(aa - 2.0 * value * ab + value * value * bb, 0.0)
        error = np.sqrt(spread * self._n / (self._n - 1)) / b if self._n > 1 else np.nan
        return Estimate(float(value), float(error), kind, self._n)
