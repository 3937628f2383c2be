"""Plot of the pairs of columns that a model does not explain."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits.plots.style import COLORS, GRAY, INK, SMALL, as_plain, axes_or_new, note, settle, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CHANCE_BAND = 2.0  # if the model is true, about 95% of the residuals are between -2 and 2


def residual_pairs(model: BaseEstimator, X: object, *, most: int = 15, ax: Axes | None = None) -> Axes:
    """Draw the pairs of columns that a fitted model explains least, the largest residual first.

    A bar to the right means that both columns are 1, or both levels occur, more often than the model expects; a bar to
    the left means less often. The observed and expected counts are written next to it. Bars within the gray band are
    expected by chance; among many pairs some extend beyond it. `hiddenbits.diagnostics.residual_pairs` returns all
    pairs, and defines the residual.

    Parameters
    ----------
    model : fitted estimator
        Any model of binary data.
    X : table of shape (rows, columns)
        As for its `fit`.
    most : int, default=15
        Maximum number of pairs.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from hiddenbits import LatentClassAnalysis, plots
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(2000, 6, 2, random_state=0).X
    >>> X[:, 5] = X[:, 4]                                    # two equal columns
    >>> ax = plots.residual_pairs(LatentClassAnalysis(2, random_state=0).fit(X), X)
    >>> ax.get_yticklabels()[0].get_text()
    'x4, x5'
    """
    if most < 1:
        raise ValueError(f"most={most}: draw at least one pair.")
    pairs = import_module("hiddenbits.diagnostics").residual_pairs(model, X, n_pairs=most)
    columns = {name: np.asarray(pairs[name]) for name in ("first", "second", "observed", "expected", "residual")}
    residual, n = columns["residual"].astype(np.float64), len(columns["residual"])
    names = [f"{shortened(a)}, {shortened(b)}" for a, b in zip(columns["first"], columns["second"], strict=True)]
    own, ax = ax is None, axes_or_new(ax, (5.0 + 0.062 * max(map(len, names), default=0), 1.0 + 0.26 * n))
    y = np.arange(n, dtype=np.float64)
    ax.axvspan(-CHANCE_BAND, CHANCE_BAND, color=GRAY, alpha=0.2, lw=0, zorder=0.5)
    ax.barh(y, residual, height=0.6, color=[COLORS[0] if r > 0.0 else COLORS[1] for r in residual], zorder=2)
    largest = max(float(np.abs(residual).max(initial=0.0)), CHANCE_BAND)
    for y_pair, value, observed, expected in zip(y, residual, columns["observed"], columns["expected"], strict=True):
        side = 1.0 if value >= 0.0 else -1.0
        ax.text(
            value + side * 0.02 * largest,
            y_pair,
            f"{observed:,.0f}, expected {expected:,.0f}",
            ha="left" if side > 0.0 else "right",
            va="center",
            fontsize=SMALL,
            color=INK,
        )
    ax.set_yticks(y, names, fontsize=8)
    for text in ax.get_yticklabels():
        as_plain(text)
    ax.set_ylim(n - 0.4, -0.6)
    right, left = (1.7 * largest * (side * residual > 0.0).any() for side in (1.0, -1.0))
    ax.set_xlim(min(-1.2 * CHANCE_BAND, -left), max(1.2 * CHANCE_BAND, right))
    ax.axvline(0.0, color=INK, lw=0.8, zorder=2.5)
    ax.set_xlabel("residual (right: together more often than expected)", fontsize=9)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    total = model.n_features_in_ * (model.n_features_in_ - 1) // 2
    note(ax, [f"{total - n:,} more pairs with smaller residuals"] if total > n else [])
    if own:
        settle(ax)
    return ax
