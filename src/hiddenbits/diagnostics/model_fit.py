"""`fit_statistics`: log-likelihood, information criteria, G^2 and X^2, as published in tables of model fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2

from hiddenbits.diagnostics.tables import cells, open_for
from hiddenbits.tables import map_pieces

MAX_PATTERNS = 1 << 20  # with more nearly all are empty, and neither G^2 nor X^2 is chi-square distributed


class FitStatistics(NamedTuple):
    """How well a model fits a table; returned by `fit_statistics`.

    Attributes
    ----------
    log_likelihood : float
        Log-likelihood of all rows, in nats.
    n_parameters : int
        Free parameters, p.
    rows : float
        Number of rows, or sum of their weights.
    aic, bic, sabic : float
        Information criteria, lower is better: -2 ln L + 2 p, + p ln N, and + p ln((N + 2) / 24).
    g2, x2 : float
        Likelihood-ratio and Pearson statistic of the table of all patterns; NaN if values are missing, with more than
        2^20 patterns, or with columns of numbers.
    df : int
        Patterns (2^columns if all are binary) - 1 - p, or 0 with columns of numbers; if it is not positive, the model
        has too many parameters to be tested.
    g2_p, x2_p : float
        p-values of G^2 and X^2 by the chi-square distribution, which needs expected counts of about 5. Do not publish
        them if `expected` is far smaller.
    expected : float
        Mean expected count of a pattern.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LatentClassAnalysis, diagnostics
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 25)
    >>> fit = diagnostics.fit_statistics(LatentClassAnalysis(1, prior_strength=0, random_state=0).fit(X), X)
    >>> fit.n_parameters, fit.df, abs(round(fit.g2, 6))
    (2, 1, 0.0)
    """

    log_likelihood: float
    n_parameters: int
    rows: float
    aic: float
    bic: float
    sabic: float
    g2: float
    x2: float
    df: int
    g2_p: float
    x2_p: float
    expected: float


def fit_statistics(model: Any, X: object, sample_weight: ArrayLike | None = None) -> FitStatistics:
    """Return log-likelihood, information criteria, and G^2 and X^2 against the table of all patterns.

    Parameters
    ----------
    model : fitted estimator
        A family with an exact likelihood, fitted by maximum likelihood (without prior or ridge).
    X : table of shape (rows, columns)
        The table of the fit.
    sample_weight : str or array of shape (rows,), optional
        The weights of the fit; a weight of 2 counts as two equal rows.

    Returns
    -------
    fit : FitStatistics

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LatentClassAnalysis, diagnostics
    >>> X = np.random.default_rng(0).integers(0, 2, (500, 4))
    >>> fit = diagnostics.fit_statistics(LatentClassAnalysis(1, prior_strength=0, random_state=0).fit(X), X)
    >>> fit.df
    11
    """
    if not hasattr(model, "bic"):
        raise TypeError(f"{type(model).__name__} has no information criteria.")
    table = open_for(model, X, sample_weight)
    bic, p = float(model.bic(table)), int(model.n_parameters_)
    weight = float(table.shape[0] if table.weights is None else table.weights.sum())
    log_likelihood = (p * float(np.log(weight)) - bic) / 2.0
    g2 = x2 = np.nan
    strides, n_patterns = _pattern_strides(table.layout.sizes)
    has_patterns = not table.n_numbers
    if has_patterns and n_patterns <= MAX_PATTERNS and not table.n_missing:
        g2, x2 = _against_patterns(model, table, weight, np.array(strides), n_patterns)
    df = n_patterns - 1 - p if has_patterns else 0
    has_test = df > 0
    return FitStatistics(
        log_likelihood=log_likelihood,
        n_parameters=p,
        rows=weight,
        aic=2.0 * p - 2.0 * log_likelihood,
        bic=bic,
        sabic=p * float(np.log((weight + 2.0) / 24.0)) - 2.0 * log_likelihood,
        g2=g2,
        x2=x2,
        df=df,
        g2_p=float(chi2.sf(g2, df)) if has_test else np.nan,
        x2_p=float(chi2.sf(x2, df)) if has_test else np.nan,
        expected=weight / n_patterns if has_patterns else np.nan,
    )


def _pattern_strides(sizes: tuple[int, ...]) -> tuple[list[int], int]:
    """Return what a 1 in each bit adds to the number of the row's pattern, and the number of patterns."""
    strides, n_patterns = [], 1
    for size in sizes:
        strides += [n_patterns] if size == 1 else [level * n_patterns for level in range(size)]
        n_patterns *= max(size, 2)
    return strides, n_patterns


def _against_patterns(model: Any, table: Any, weight: float, strides: Any, n_patterns: int) -> tuple[float, float]:
    """Return G^2 and X^2, summed over the patterns that occur: the expected counts of all add up to the rows."""
    counts, logs = np.zeros(n_patterns), np.zeros(n_patterns)

    def patterns_of(piece: Any) -> Any:
        numbers = (cells(piece)[0] @ strides).astype(np.int64)
        return numbers, piece.weights, model.score_samples(piece.table)

    for numbers, weights, log_p in map_pieces(patterns_of, table, 1 << 16):
        np.add.at(counts, numbers, weights)
        logs[numbers] = log_p
    occurs = counts > 0.0
    observed, expected = counts[occurs], weight * np.exp(logs[occurs])
    g2 = 2.0 * float(observed @ np.log(observed / expected))
    return g2, float((observed**2 / expected).sum() - weight)
