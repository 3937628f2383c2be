"""Pairs of columns that a model leaves unexplained."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits.plots.style import COLORS, GREY, INK, SMALL, as_plain, axes_or_new, note, settle, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CHANCE = 2.0  # residuals of a true model are within 2 in about 95 of 100 pairs


def residual_pairs(model: BaseEstimator, X: object, *, most: int = 15, ax: Axes | None = None) -> Axes:
    """Draw the pairs of columns that a fitted model explains least, the largest residual first.

    A bar to the right: both bits are 1, or both levels occur, more often than the model expects; to the left: less
    often. The counts, observed and expected, stand next to it. Bars within the gray band are what chance alone brings;
    among many pairs some reach beyond it. `hiddenbits.diagnostics.residual_pairs` has all of them, and says what a
    residual is.

    Parameters
    ----------
    model : fitted estimator
        Any family of models of bits.
    X : table of shape (rows, columns)
        As for its `fit`.
    most : int, default=15
        Most pairs that are drawn.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

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
    >>> X[:, 5] = X[:, 4]                                    # two columns that say the same
    >>> ax = plots.residual_pairs(LatentClassAnalysis(2, random_state=0).fit(X), X)
    >>> ax.get_yticklabels()[0].get_text()
    'x4, x5'
    """
    if most < 1:
        raise ValueError(f"most={most}: draw at least one pair.")
    found = import_module("hiddenbits.diagnostics").residual_pairs(model, X, n_pairs=most)
    columns = {name: np.asarray(found[name]) for name in ("first", "second", "observed", "expected", "residual")}
    residual, n = columns["residual"].astype(np.float64), len(columns["residual"])
    names = [f"{shortened(a)}, {shortened(b)}" for a, b in zip(columns["first"], columns["second"], strict=True)]
    own, ax = ax is None, axes_or_new(ax, (5.0 + 0.062 * max(map(len, names), default=0), 1.0 + 0.26 * n))
    y = np.arange(n, dtype=np.float64)
    ax.axvspan(-CHANCE, CHANCE, color=GREY, alpha=0.2, lw=0, zorder=0.5)
    ax.barh(y, residual, height=0.6, color=[COLORS[0] if r > 0.0 else COLORS[1] for r in residual], zorder=2)
    furthest = max(float(np.abs(residual).max(initial=0.0)), CHANCE)
    for at, value, seen, expected in zip(y, residual, columns["observed"], columns["expected"], strict=True):
        side = 1.0 if value >= 0.0 else -1.0
        ax.text(
            value + side * 0.02 * furthest,
            at,
            f"{seen:,.0f}, expected {expected:,.0f}",
            ha="left" if side > 0.0 else "right",
            va="center",
            fontsize=SMALL,
            color=INK,
        )
    ax.set_yticks(y, names, fontsize=8)
    for text in ax.get_yticklabels():
        as_plain(text)
    ax.set_ylim(n - 0.4, -0.6)
    right, left = (1.7 * furthest * (side * residual > 0.0).any() for side in (1.0, -1.0))
    ax.set_xlim(min(-1.2 * CHANCE, -left), max(1.2 * CHANCE, right))
    ax.axvline(0.0, color=INK, lw=0.8, zorder=2.5)
    ax.set_xlabel("residual (right: together more often than expected)", fontsize=9)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    total = model.n_features_in_ * (model.n_features_in_ - 1) // 2
    note(ax, [f"{total - n:,} more pairs with smaller residuals"] if total > n else [])
    if own:
        settle(ax)
    return ax
