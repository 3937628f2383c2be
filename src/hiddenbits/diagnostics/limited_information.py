"""`m2_test`: a test whether a map explains all margins and pairs of columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2

from hiddenbits.array_types import Floats, Rows
from hiddenbits.diagnostics.maps import on_grid
from hiddenbits.diagnostics.tables import cells, opened, refuse_blanks, total
from hiddenbits.tables import Piece

MOST_COLUMNS = 100  # 5,000 pairs: their covariance has 25 million numbers


class M2Test(NamedTuple):
    """A limited-information test of fit; from `m2_test`.

    Attributes
    ----------
    m2 : float
        The statistic.
    df : int
        Margins and pairs, less free parameters.
    p : float
        By the chi-square distribution.
    rmsea : float
        Misfit a degree of freedom; below .05 is called close, below .089 adequate.
    srmsr : float
        Root mean square of residual correlations.
    tli, cfi : float
        Fit compared with that of independent columns.

    Examples
    --------
    >>> from hiddenbits.diagnostics import M2Test
    >>> M2Test(4.7, 5, 0.45, 0.0, 0.02, 1.0, 1.0).df
    5
    """

    m2: float
    df: int
    p: float
    rmsea: float
    srmsr: float
    tli: float
    cfi: float


def m2_test(model: Any, X: object, sample_weight: ArrayLike | None = None) -> M2Test:
    """Return M2, the test of a map by the shares of ones and of pairs of ones (Maydeu-Olivares and Joe 2005).

    G^2 and X^2 need several rows for each of 2^columns patterns; M2 needs them for pairs alone, and has its chi-square
    distribution on long tests, too.

    Parameters
    ----------
    model : LogisticPCA
        Fitted by maximum likelihood (ridge=0, method="quadrature"), of 1 to 3 dimensions.
    X : table of shape (rows, columns)
        The table of the fit, without blanks.
    sample_weight : str or array of shape (rows,), optional
        Weight of each row; a weight of 2 counts as two equal rows.

    Returns
    -------
    fit : M2Test

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LogisticPCA, diagnostics
    >>> rng = np.random.default_rng(0)
    >>> X = (rng.random((500, 6)) < 1 / (1 + np.exp(-1.5 * rng.standard_normal((500, 1))))).astype(int)
    >>> model = LogisticPCA(1, method="quadrature", ridge=0, random_state=0).fit(X)
    >>> diagnostics.m2_test(model, X).df
    9
    """
    table = opened(model, X, sample_weight)
    if not hasattr(model, "_free_parameters"):
        raise TypeError(f"m2 is for LogisticPCA, not for {type(model).__name__}.")
    nodes, weights, p = on_grid(model)
    d = table.shape[1]
    if d > MOST_COLUMNS:
        raise ValueError(f"m2 works on all pairs of columns: at most {MOST_COLUMNS} columns, and this table has {d}.")
    refuse_blanks(table, "M2")
    counts = total(_pairs, table)
    n = float(counts[-1, -1])
    first, second = np.triu_indices(d, 1)
    shares = np.concatenate([np.diag(counts)[:d], counts[first, second]]) / n
    statistic, df, expected = _statistic(
        shares, n, weights, p, _slopes(weights, p, np.column_stack([nodes, np.ones(len(nodes))])), _ties(model)
    )
    alone = shares[None, :d]
    null, null_df, _ = _statistic(shares, n, np.ones(1), alone, _slopes(np.ones(1), alone, np.ones((1, 1))), 0)
    tli = (null / null_df - statistic / df) / (null / null_df - 1.0) if df > 0 else np.nan
    cfi = 1.0 - max(statistic - df, 0.0) / max(null - null_df, statistic - df, 0.0)
    tested = df > 0
    return M2Test(
        m2=statistic,
        df=df,
        p=float(chi2.sf(statistic, df)) if tested else np.nan,
        rmsea=float(np.sqrt(max(statistic - df, 0.0) / (df * (n - 1.0)))) if tested else np.nan,
        srmsr=_residual_correlations(shares, expected, d),
        tli=float(tli),
        cfi=float(cfi),
    )


def _ties(model: Any) -> int:
    q = len(model.components_)
    return q * (q - 1) // 2


def _pairs(piece: Piece) -> Floats:
    """Return how many rows have a one in both columns of each pair; a last column of ones counts rows."""
    x = np.column_stack([cells(piece)[0], np.ones(piece.table.shape[0])])
    return np.asarray((x * piece.weights[:, None]).T @ x)


def _moments(p: Floats) -> tuple[Floats, Rows, Rows]:
    """Return P(ones in all columns of a margin or pair | node), (L, margins + pairs), and the two columns of each."""
    d = p.shape[1]
    first, second = np.triu_indices(d, 1)
    return (
        np.concatenate([p, p[:, first] * p[:, second]], axis=1),
        np.r_[np.arange(d), first],
        np.r_[np.arange(d), second],
    )


def _statistic(
    shares: Floats, n: float, weights: Floats, p: Floats, slopes: Floats, n_ties: int
) -> tuple[float, int, Floats]:
    """Return M2, its degrees of freedom, and the expected shares."""
    M, first, second = _moments(p)
    expected = weights @ M
    both = (M * weights[:, None]).T @ M  # P(A and B), right where A and B have no column in common
    for j in range(p.shape[1]):
        has = np.flatnonzero((first == j) | (second == j))
        safe = np.maximum(p[:, j], 1e-300)
        both[np.ix_(has, has)] = (M[:, has] * (weights / safe)[:, None]).T @ M[:, has]
    np.fill_diagonal(both, expected)
    covariance = both - np.outer(expected, expected)
    # In directions that no parameter can follow, residuals are noise with a known covariance.
    U, sizes, _ = np.linalg.svd(slopes, full_matrices=True)
    rank = min(int((sizes > 1e-8 * sizes.max(initial=0.0)).sum()), slopes.shape[1] - n_ties)
    left = U[:, rank:]
    away = left.T @ (shares - expected)
    return float(n * away @ np.linalg.solve(left.T @ covariance @ left, away)), left.shape[1], expected


def _slopes(weights: Floats, p: Floats, extended: Floats) -> Floats:
    """Return the derivatives of expected shares by slopes and intercepts, (margins + pairs, columns x (q + 1))."""
    M, first, second = _moments(p)
    d, k = p.shape[1], extended.shape[1]
    out = np.zeros((M.shape[1], d * k))
    for j in range(d):
        has = np.flatnonzero((first == j) | (second == j))
        for a in range(k):
            out[has, j * k + a] = (weights * (1.0 - p[:, j]) * extended[:, a]) @ M[:, has]
    return out


def _residual_correlations(shares: Floats, expected: Floats, d: int) -> float:
    """Return the root mean square of the differences between observed and expected correlations."""
    first, second = np.triu_indices(d, 1)

    def correlations(s: Floats) -> Floats:
        spread = np.sqrt(s[:d] * (1.0 - s[:d]))
        return np.asarray((s[d:] - s[first] * s[second]) / (spread[first] * spread[second]))

    return float(np.sqrt(np.mean((correlations(shares) - correlations(expected)) ** 2)))
