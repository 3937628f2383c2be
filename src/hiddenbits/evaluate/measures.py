"""Measures of a fitted model on given rows, after Freund & Haussler (1994, section 4), for any estimator.

Their reconstruction formula lacks a factor 2 and a minus sign; here it is the code length that it was meant to be. For
the single-bit error they score five random bits per row; here all observed bits are scored.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from hiddenbits import Piece, Table, map_pieces, open_table
from hiddenbits.array_types import Floats
from hiddenbits.evaluate.estimates import Figure, Ratio

PIECE_CELLS = 1 << 22  # cells processed together
SMALLEST = 1e-15  # a probability of 0 for what happened counts as this

Rows = Callable[[Piece], tuple[Floats, Floats]]


def table_of(estimator: BaseEstimator, X: object, *, fitted: bool = True) -> Table:
    """Return X as a table, opened as the estimator would open it: after a fit, or to be fitted."""
    if isinstance(X, Table):
        return X
    if getattr(estimator, "visible", "bits") == "reals":
        return open_table(X, reals=True)
    # a copy that is to be fitted reads columns as an earlier fit did, if there was one
    coded = estimator if getattr(estimator, "coding_", None) is not None else None
    coded = estimator if fitted and hasattr(estimator, "coding_") else coded
    types = getattr(estimator, "column_types", None) if coded is None else None
    return open_table(X, threshold=estimator.threshold, code=coded, column_types=types)


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
    table = table_of(estimator, X)
    levels = table.sizes is not None and measure != "bits_per_cell"
    if measure is not None and (levels or not table.only_bits):
        what = "has nominal or ordinal columns" if table.only_bits else "is one of real numbers"
        raise ValueError(f"{measure} needs a table of bits, but this {what}. Use mean_log_likelihood or hidden_cells.")
    return gathered(table.with_sample_weight(sample_weight), rows)


def _bits(piece: Piece) -> tuple[Floats, Floats]:
    """Return the cells of a piece, and which of them were observed."""
    x, observed = piece.table.source.read(0, piece.table.shape[0])
    return x.to_dense().astype(np.float64), observed.to_dense().astype(np.float64)


def cells_of_rows(piece: Piece) -> Floats:
    """Return the number of recorded cells of each row; of one with levels a single bit is 1."""
    sizes = piece.table.sizes
    x, observed = piece.table.source.read(0, piece.table.shape[0])
    if sizes is None:
        return np.asarray(observed.row_sums(), np.float64)
    of_levels = np.repeat(np.array(sizes) > 1, sizes)
    return np.asarray(np.where(of_levels, x.to_dense(), observed.to_dense()).sum(axis=1), np.float64)


def mean_log_likelihood(estimator: BaseEstimator, X: object, sample_weight: ArrayLike | None = None) -> Figure:
    """Return the mean log-likelihood of a row, in nats; for real columns it is a density, in the table's units.

    Parameters
    ----------
    estimator : fitted estimator
        Any of this library.
    X : table of shape (rows, columns)
        Rows to score; use held-out rows for an unbiased figure.
    sample_weight : array of shape (rows,), optional
        Weight of each row.

    Returns
    -------
    figure : Figure

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
    return ratio.figure(estimator.likelihood_)


def bits_per_cell(estimator: BaseEstimator, X: object, sample_weight: ArrayLike | None = None) -> Figure:
    """Return -log2 P(row) per observed cell: Freund & Haussler's log-loss.

    Parameters
    ----------
    estimator, X, sample_weight
        As for `mean_log_likelihood`.

    Returns
    -------
    figure : Figure

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

    return _average(estimator, X, sample_weight, spent, "bits_per_cell").figure(estimator.likelihood_)


def single_bit_error(estimator: BaseEstimator, X: object, sample_weight: ArrayLike | None = None) -> Figure:
    """Return how often the more probable value of a bit, given the rest of its row, is wrong; a tie counts half.

    Parameters
    ----------
    estimator, X, sample_weight
        As for `mean_log_likelihood`.

    Returns
    -------
    figure : Figure

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import IndependentColumns, evaluate
    >>> X = np.array([[0, 1], [0, 1], [0, 1], [0, 0]])
    >>> print(evaluate.single_bit_error(IndependentColumns().fit(X), X))
    0.1250 ± 0.1250
    """

    def wrong(piece: Piece) -> tuple[Floats, Floats]:
        x, observed = _bits(piece)
        p = estimator.bit_probabilities(piece.table)
        missed = np.where(p == 0.5, 0.5, (p > 0.5) != (x == 1))
        return (missed * observed).sum(axis=1), observed.sum(axis=1)

    return _average(estimator, X, sample_weight, wrong, "single_bit_error").figure()


def code_length(estimator: BaseEstimator, X: object, sample_weight: ArrayLike | None = None) -> Figure:
    """Return the bits needed per observed cell once the row's most probable hidden code is known.

    Freund & Haussler's input reconstruction: the mean of -log2 P(x_j | code). For a model without a hidden code it uses
    `bit_probabilities`.

    Parameters
    ----------
    estimator, X, sample_weight
        As for `mean_log_likelihood`.

    Returns
    -------
    figure : Figure

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
        if hasattr(estimator, "code"):
            p = estimator.inverse_transform(estimator.code(piece.table))
        else:
            p = estimator.bit_probabilities(piece.table)
        happened = np.maximum(np.where(x == 1, p, 1.0 - p), SMALLEST)
        return (-np.log2(happened) * observed).sum(axis=1), observed.sum(axis=1)

    return _average(estimator, X, sample_weight, spent, "code_length").figure()
