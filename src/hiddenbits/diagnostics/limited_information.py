"""`m2_test`: limited-information test of fit by the margins and pairs of items."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2

from hiddenbits.array_types import Floats, Rows
from hiddenbits.diagnostics.maps import on_grid
from hiddenbits.diagnostics.tables import cells, open_for, require_complete_rows, sum_over_rows
from hiddenbits.tables import Piece

MAX_COLUMNS = 100  # 5,000 pairs, whose covariance has 25 million elements


class M2Test(NamedTuple):
    """A limited-information test of fit, returned by `m2_test`.

    Attributes
    ----------
    m2 : float
        The statistic.
    df : int
        Number of margins and pairs, minus that of free parameters.
    p : float
        p-value by the chi-square distribution.
    rmsea : float
        Misfit per degree of freedom; below .05 is called close, below .089 adequate.
    srmsr : float
        Root mean square of the residual correlations.
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
    """Test the fit of a latent trait model by the margins and pairs of items: M2 (Maydeu-Olivares and Joe 2005).

    G^2 and X^2 need several rows for each of 2^columns patterns; M2 needs them for pairs only, so its distribution is
    chi-square for long tests, too.

    Parameters
    ----------
    model : LogisticPCA
        Fitted by maximum likelihood (ridge=0, method="quadrature"), of 1 to 3 dimensions.
    X : table of shape (rows, columns)
        The table of the fit, without missing values.
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
    table = open_for(model, X, sample_weight)
    if not hasattr(model, "_free_parameters"):
        raise TypeError(f"m2_test needs a LogisticPCA, not {type(model).__name__}.")
    nodes, weights, p = on_grid(model)
    d = table.shape[1]
    if d > MAX_COLUMNS:
        raise ValueError(f"m2_test uses all pairs of columns: at most {MAX_COLUMNS} columns, and this table has {d}.")
    require_complete_rows(table, "M2")
    counts = sum_over_rows(_pair_counts, table)
    n = float(counts[-1, -1])
    first, second = np.triu_indices(d, 1)
    shares = np.concatenate([np.diag(counts)[:d], counts[first, second]]) / n
    statistic, df, expected = _statistic(
        shares, n, weights, p, _slopes(weights, p, np.column_stack([nodes, np.ones(len(nodes))])), _n_rotations(model)
    )
    margins = shares[None, :d]  # of independent columns
    null, null_df, _ = _statistic(shares, n, np.ones(1), margins, _slopes(np.ones(1), margins, np.ones((1, 1))), 0)
    tli = (null / null_df - statistic / df) / (null / null_df - 1.0) if df > 0 else np.nan
    cfi = 1.0 - max(statistic - df, 0.0) / max(null - null_df, statistic - df, 0.0)
    has_test = df > 0
    return M2Test(
        m2=statistic,
        df=df,
        p=float(chi2.sf(statistic, df)) if has_test else np.nan,
        rmsea=float(np.sqrt(max(statistic - df, 0.0) / (df * (n - 1.0)))) if has_test else np.nan,
        srmsr=_residual_correlations(shares, expected, d),
        tli=float(tli),
        cfi=float(cfi),
    )


def _n_rotations(model: Any) -> int:
    """Return the degrees of freedom of rotations, which change no probability."""
    q = len(model.components_)
    return q * (q - 1) // 2


def _pair_counts(piece: Piece) -> Floats:
    """Return how many rows have a 1 in both columns of each pair; an additional column of 1s counts the rows."""
    x = np.column_stack([cells(piece)[0], np.ones(piece.table.shape[0])])
    return np.asarray((x * piece.weights[:, None]).T @ x)


def _moments(p: Floats) -> tuple[Floats, Rows, Rows]:
    """Return P(1 in all columns of a margin or pair | node), (L, margins + pairs), and the two columns of each."""
    d = p.shape[1]
    first, second = np.triu_indices(d, 1)
    return (
        np.concatenate([p, p[:, first] * p[:, second]], axis=1),
        np.r_[np.arange(d), first],
        np.r_[np.arange(d), second],
    )


def _statistic(
    shares: Floats, n: float, weights: Floats, p: Floats, slopes: Floats, n_rotations: int
) -> tuple[float, int, Floats]:
    """Return M2, its degrees of freedom, and the expected shares."""
    M, first, second = _moments(p)
    expected = weights @ M
    p_both = (M * weights[:, None]).T @ M  # P(A and B), correct if A and B have no column in common
    for j in range(p.shape[1]):
        with_j = np.flatnonzero((first == j) | (second == j))
        p_j = np.maximum(p[:, j], 1e-300)
        p_both[np.ix_(with_j, with_j)] = (M[:, with_j] * (weights / p_j)[:, None]).T @ M[:, with_j]
    np.fill_diagonal(p_both, expected)
    covariance = p_both - np.outer(expected, expected)
    # In the directions V, orthogonal to all slopes, residuals are noise with a known covariance.
    U, singular_values, _ = np.linalg.svd(slopes, full_matrices=True)
    rank = min(int((singular_values > 1e-8 * singular_values.max(initial=0.0)).sum()), slopes.shape[1] - n_rotations)
    V = U[:, rank:]
    residual = V.T @ (shares - expected)
    return float(n * residual @ np.linalg.solve(V.T @ covariance @ V, residual)), V.shape[1], expected


def _slopes(weights: Floats, p: Floats, extended: Floats) -> Floats:
    """Return the derivatives of expected shares by loadings and intercepts, (margins + pairs, columns x (q + 1))."""
    M, first, second = _moments(p)
    d, k = p.shape[1], extended.shape[1]
    out = np.zeros((M.shape[1], d * k))
    for j in range(d):
        with_j = np.flatnonzero((first == j) | (second == j))
        for a in range(k):
            out[with_j, j * k + a] = (weights * (1.0 - p[:, j]) * extended[:, a]) @ M[:, with_j]
    return out


def _residual_correlations(shares: Floats, expected: Floats, d: int) -> float:
    """Return the root mean square of the differences between observed and expected correlations."""
    first, second = np.triu_indices(d, 1)

    def correlations(s: Floats) -> Floats:
        sd = np.sqrt(s[:d] * (1.0 - s[:d]))
        return np.asarray((s[d:] - s[first] * s[second]) / (sd[first] * sd[second]))

    return float(np.sqrt(np.mean((correlations(shares) - correlations(expected)) ** 2)))
