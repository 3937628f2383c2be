"""`m2_test`: limited-information test of fit by the margins and pairs of items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2

from hiddenbits.array_types import Floats, Rows
from hiddenbits.diagnostics.maps import Levels, on_grid
from hiddenbits.diagnostics.tables import PIECE_CELLS, cells, open_for, require_complete_rows, sum_over_rows
from hiddenbits.tables import Piece

MAX_COLUMNS = 100  # 5,000 pairs, whose covariance has 25 million elements


class M2Test(NamedTuple):
    """A limited-information test of fit, returned by `m2_test`.

    Attributes
    ----------
    name : str
        "M2", or "C2" with columns of more than two levels.
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
    >>> M2Test("M2", 4.7, 5, 0.45, 0.0, 0.02, 1.0, 1.0).df
    5
    """

    name: str
    m2: float
    df: int
    p: float
    rmsea: float
    srmsr: float
    tli: float
    cfi: float


def m2_test(model: Any, X: object, sample_weight: ArrayLike | None = None) -> M2Test:
    """Test the fit of an item response model by the margins and pairs of items: M2 or C2.

    G^2 and X^2 need several rows for each of 2^columns patterns; M2 (Maydeu-Olivares and Joe 2005) needs them for pairs
    only, so its distribution is chi-square for long tests, too. C2 (Cai and Monroe 2014) is M2 for items with more than
    two levels: it compares the share of each level, and of pairs the mean product of the answers, counted 0, 1, ... in
    the order of the levels. With nominal items it depends on this order. Columns of numbers are left out.

    Parameters
    ----------
    model : ItemResponseModel
        Not a bifactor model. With guessing the p-value is approximate, because of its prior.
    X : table of shape (rows, columns)
        The table of the fit, without missing values.
    sample_weight : str or array of shape (rows,), optional
        Weight of each row; a weight of 2 counts as two equal rows.

    Returns
    -------
    fit : M2Test

    References
    ----------
    Maydeu-Olivares and Joe (2005), "Limited- and full-information estimation and goodness-of-fit testing in 2^n
    contingency tables". Cai and Monroe (2014), "A new statistic for evaluating item response theory models for ordinal
    data", CRESST report 839.

    Examples
    --------
    >>> from hiddenbits import ItemResponseModel, datasets, diagnostics
    >>> X, counts = datasets.load_lsat()
    >>> test = diagnostics.m2_test(ItemResponseModel().fit(X, sample_weight=counts), X, counts)
    >>> test.name, round(test.m2, 2), test.df, round(test.p, 2)
    ('M2', 4.74, 5, 0.45)
    """
    table, nodes = open_for(model, X, sample_weight), on_grid(model)
    if not hasattr(model, "_at_nodes"):
        raise TypeError(f"m2_test needs an ItemResponseModel, not {type(model).__name__}.")
    levels, d = nodes.levels, len(nodes.levels.starts)
    if not 2 <= d <= MAX_COLUMNS:
        raise ValueError(f"m2_test uses all pairs of columns: 2 to {MAX_COLUMNS} columns, and this table has {d}.")
    require_complete_rows(table, "M2")
    counts = sum_over_rows(lambda piece: _pair_counts(levels, piece), table)
    n = float(np.trace(counts)) / d
    by_item = np.zeros((len(levels.items), d))
    by_item[np.arange(len(levels.items)), levels.items] = levels.scores
    observed = _Moments(np.diag(counts) / n, by_item.T @ counts @ by_item / n)
    fitted, function = _Expected(levels, nodes.weights, nodes.p), model._score_function()
    slopes = _jacobian(fitted, partial(_slopes, function, levels), function.weight_slopes())
    n_rotations = function.n_coordinates - model.n_parameters_
    statistic, df = _statistic(observed, n, fitted, slopes, n_rotations)
    independent, identity = _Expected(levels, np.ones(1), observed.shares[None]), np.eye(len(levels.items) - d)
    slopes = _jacobian(independent, lambda _: identity[None], np.zeros((1, len(identity))))
    null, null_df = _statistic(observed, n, independent, slopes, 0)
    tli = (null / null_df - statistic / df) / (null / null_df - 1.0) if df > 0 else np.nan
    cfi = 1.0 - max(statistic - df, 0.0) / max(null - null_df, statistic - df, 0.0) if df > 0 else np.nan
    has_test = df > 0
    residual_correlations = observed.correlations(levels) - fitted.moments.correlations(levels)
    return M2Test(
        name="M2" if levels.scores.max() == 1.0 else "C2",
        m2=statistic,
        df=df,
        p=float(chi2.sf(statistic, df)) if has_test else np.nan,
        rmsea=float(np.sqrt(max(statistic - df, 0.0) / (df * (n - 1.0)))) if has_test else np.nan,
        srmsr=float(np.sqrt(np.mean(residual_correlations**2))),
        tli=float(tli),
        cfi=float(cfi),
    )


def _pair_counts(levels: Levels, piece: Piece) -> Floats:
    """Return how many rows have both levels of each pair."""
    x = levels.spread(cells(piece)[0])
    return np.asarray((x * piece.weights[:, None]).T @ x)


class _Moments(NamedTuple):
    """The share of each level, and the mean products of the scores of items, (items, items)."""

    shares: Floats
    products: Floats

    def vector(self, levels: Levels) -> Floats:
        """Return the shares of all levels but 0, and the products of pairs."""
        return np.append(self.shares[levels.scores > 0.0], self.products[_pairs(levels)])

    def correlations(self, levels: Levels) -> Floats:
        """Return the correlations of pairs of items."""
        means = levels.sums((self.shares * levels.scores)[None])[0]
        covariances = self.products - np.outer(means, means)
        sd = np.sqrt(np.diag(covariances))
        return np.asarray((covariances / np.outer(sd, sd))[_pairs(levels)])


def _pairs(levels: Levels) -> tuple[Rows, Rows]:
    return np.triu_indices(len(levels.starts), 1)


class _Expected(NamedTuple):
    """A model at nodes: weights (K,) and P(level), (K, levels)."""

    levels: Levels
    weights: Floats
    p: Floats

    @property
    def means(self) -> Floats:
        """Expected scores at the nodes, (K, items)."""
        return self.levels.sums(self.p * self.levels.scores)

    @property
    def squares(self) -> Floats:
        """Expected squares of scores at the nodes, (K, items)."""
        return self.levels.sums(self.p * self.levels.scores**2)

    @property
    def moments(self) -> _Moments:
        """The expected moments."""
        products = (self.means * self.weights[:, None]).T @ self.means
        np.fill_diagonal(products, self.weights @ self.squares)
        return _Moments(self.weights @ self.p, products)

    @property
    def at_nodes(self) -> Floats:
        """The expected moments at each node, (K, moments)."""
        first, second = _pairs(self.levels)
        return np.hstack([self.p[:, self.levels.scores > 0.0], self.means[:, first] * self.means[:, second]])

    def covariance(self) -> Floats:
        """Return the covariance of the moments of a row, (moments, moments)."""
        levels, w, M, means, squares = self.levels, self.weights, self.at_nodes, self.means, self.squares
        first, second = _pairs(levels)
        free = np.flatnonzero(levels.scores > 0.0)
        both = (M * w[:, None]).T @ M  # the mean product of two moments, correct if they have no item in common
        for j in range(len(levels.starts)):
            own = np.flatnonzero(levels.items[free] == j)
            pairs = np.flatnonzero((first == j) | (second == j))
            others, pairs = means[:, (first + second)[pairs] - j], len(free) + pairs
            both[np.ix_(own, own)] = np.diag(w @ M[:, own])
            both[np.ix_(own, pairs)] = (M[:, own] * levels.scores[free[own]] * w[:, None]).T @ others
            both[np.ix_(pairs, own)] = both[np.ix_(own, pairs)].T
            both[np.ix_(pairs, pairs)] = (others * (w * squares[:, j])[:, None]).T @ others
        places = len(free) + np.arange(len(first))
        both[places, places] = w @ (squares[:, first] * squares[:, second])
        mean = w @ M
        return np.asarray(both - np.outer(mean, mean))


def _slopes(function: Any, levels: Levels, nodes: slice) -> Floats:
    """Return the derivatives of P(level) at some nodes, (nodes, levels but 0, coordinates)."""
    at_nodes = replace(function, params=replace(function.params, points=function.params.points[nodes]))
    all_levels = np.insert(at_nodes.probability_slopes(), levels.binary, 0.0, axis=1)
    return np.asarray(all_levels[:, levels.scores > 0.0])


def _jacobian(expected: _Expected, slopes_at: Callable[[slice], Floats], weight_slopes: Floats) -> Floats:
    """Return the derivatives of the moments by the coordinates of a model, (moments, coordinates).

    `slopes_at` returns those of P(level) at some nodes, and `weight_slopes` are those of the logs of the weights.
    """
    levels, w, (first, second) = expected.levels, expected.weights, _pairs(expected.levels)
    scores, d, size = levels.scores[levels.scores > 0.0], len(levels.starts), weight_slopes.shape[1]
    starts = levels.starts - np.arange(d)  # among levels but 0
    margins, products, weighted = np.zeros((len(scores), size)), np.zeros((d, d * size)), expected.means * w[:, None]
    height = max(1, PIECE_CELLS // (len(scores) * size))
    for part in (slice(start, start + height) for start in range(0, len(w), height)):
        slopes = slopes_at(part)
        margins += np.tensordot(w[part], slopes, axes=1)
        of_means = np.add.reduceat(slopes * scores[:, None], starts, axis=1)
        products += weighted[part].T @ of_means.reshape(len(slopes), -1)
    of_pairs = products.reshape(d, d, size)
    of_items = np.concatenate([margins, of_pairs[first, second] + of_pairs[second, first]])
    return np.asarray(of_items + expected.at_nodes.T @ (weight_slopes * w[:, None]))


def _statistic(
    observed: _Moments, n: float, expected: _Expected, slopes: Floats, n_rotations: int
) -> tuple[float, int]:
    """Return M2 or C2 and its degrees of freedom."""
    residual = observed.vector(expected.levels) - expected.moments.vector(expected.levels)
    # In the directions V, orthogonal to all slopes, residuals are noise with a known covariance.
    U, singular_values, _ = np.linalg.svd(slopes, full_matrices=True)
    n_estimated = int(slopes.any(axis=0).sum()) - n_rotations  # rotations change no probability
    rank = min(int((singular_values > 1e-8 * singular_values.max(initial=0.0)).sum()), n_estimated)
    V = U[:, rank:]
    noise = V.T @ residual
    return float(n * noise @ np.linalg.solve(V.T @ expected.covariance() @ V, noise)), V.shape[1]
