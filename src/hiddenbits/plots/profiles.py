"""Profiles of classes: P(bit = 1) of every column in each class, in one picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits.array_types import Floats
from hiddenbits.plots.style import (
    GREY,
    INK,
    as_plain,
    axes_or_new,
    glyph,
    has_the_page,
    legend,
    note,
    settle,
    shortened,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def profiles(
    model: BaseEstimator, X: object = None, *, most: int = 30, legends: bool = True, ax: Axes | None = None
) -> Axes:
    """Draw the classes of a model next to each other: how often each bit is 1 in each class.

    A line for each column, from its lowest to its highest class. Columns are sorted by how far the largest class lies
    above all rows, so that what sets it apart is at the top and at the bottom.

    Parameters
    ----------
    model : fitted LatentClassAnalysis or TreeMixture
        Anything with `weights_` and `probabilities_`, a row for each class.
    X : table of shape (rows, columns), optional
        Rows whose mean is drawn as a grey tick in each column; by default what the model expects.
    most : int, default=30
        Most columns that are drawn: those whose classes differ most. A note says how many are left out.
    legends : bool, default=True
        Whether to draw a legend; see `map` for where it is placed.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")                 # draw without a screen
    >>> from hiddenbits import LatentClassAnalysis, plots
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(500, 8, 2, seed=0).X
    >>> ax = plots.profiles(LatentClassAnalysis(2, random_state=0).fit(X), X)
    >>> ax.get_xlabel()
    'share of ones'
    """
    weights, shares = getattr(model, "weights_", None), getattr(model, "probabilities_", None)
    if weights is None or shares is None or np.shape(shares)[0] != len(weights):
        raise ValueError(f"A profile plot needs a fitted model of classes; {type(model).__name__} has none.")
    if most < 1:
        raise ValueError(f"most={most}: draw at least one column.")
    means = np.asarray(weights @ shares) if X is None else column_means(model, X)
    order = np.argsort(-np.ptp(shares, axis=0), kind="stable")[:most]
    largest = int(np.argmax(weights))
    order = order[np.argsort(shares[largest, order] - means[order], kind="stable")]
    own, ax = ax is None, axes_or_new(ax, (7.0, 1.0 + 0.22 * len(order)))
    y = np.arange(len(order), dtype=np.float64)
    ax.hlines(y, shares[:, order].min(axis=0), shares[:, order].max(axis=0), color=GREY, lw=1.0, alpha=0.6, zorder=1)
    drawn: list[Any] = [
        ax.scatter(means[order], y, marker="|", s=60, color=INK, linewidths=1.2, zorder=2, label="_all rows")
    ]
    for k in reversed(range(len(weights))):  # the first class on top
        colour, marker = glyph(k)
        drawn.insert(0, ax.scatter(shares[k, order], y, s=26, color=colour, marker=marker, zorder=3, label="_class"))
    ax.set_yticks(y, [shortened(name) for name in column_names(model)[order]], fontsize=8)
    for text in ax.get_yticklabels():
        as_plain(text)
    ax.set_ylim(-0.7, len(order) - 0.3)
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel("share of ones")
    ax.grid(axis="x", color=GREY, alpha=0.25, lw=0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    if legends:
        names = [f"class {k + 1} ({share:.0%} of rows)" for k, share in enumerate(weights)]
        legend(ax, drawn, [*names, "all rows"], beside=has_the_page(ax))
    left_out = shares.shape[1] - len(order)
    note(ax, [f"{left_out:,} more columns, whose classes differ less"] if left_out else [])
    if own:
        settle(ax)
    return ax


def column_names(model: BaseEstimator) -> Any:
    """Return the names of the columns of a fit."""
    names = getattr(model, "feature_names_in_", None)
    return np.array([f"x{j}" for j in range(model.n_features_in_)] if names is None else list(names), dtype=object)


def column_means(model: BaseEstimator, X: object) -> Floats:
    """Return the share of ones of each column of a table, read as the fit read it."""
    from hiddenbits import evaluate, open_table

    seen = evaluate.look(open_table(X, code=model) if getattr(model, "coding_", None) is not None else X)
    if seen.n_columns != model.n_features_in_:
        raise ValueError(f"The table has {seen.n_columns} columns, but the model was fitted to {model.n_features_in_}.")
    return np.nan_to_num(seen.means, nan=0.5)
