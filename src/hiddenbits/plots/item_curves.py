"""Items of a scale: how P(1) of each rises with the row's place, and where on the scale the items tell rows apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits.plots.profiles import column_names
from hiddenbits.plots.style import COLORS, GREY, INK, legend, note, pyplot, settle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REACH = 3.5  # the scale is drawn this far from 0, in standard deviations of the rows
STYLES = ("-", "--", ":")


def item_curves(
    model: BaseEstimator,
    X: object = None,
    *,
    columns: Sequence[object] | None = None,
    most: int = 7,
    axes: Sequence[Axes] | None = None,
) -> tuple[Axes, Axes]:
    """Draw the item characteristic curves of a scale, and below them what its items tell about a row.

    Above: P(1) of each column by a row's place on the scale. The most discriminating columns are colored and named, in
    the order of their difficulty (where P(1) is 1/2); the others are gray. Below: the information of these columns,
    a^2 P (1 - P), and of all together, whose square root is 1 over the standard error of a place.

    Parameters
    ----------
    model : fitted LogisticPCA of one dimension
        Columns are bits.
    X : table of shape (rows, columns), optional
        Rows, whose places are drawn as a histogram behind the information: where rows are, and items are few, places
        are uncertain.
    columns : sequence, optional
        Names or numbers of the columns to color; by default those with the largest discrimination.
    most : int, default=7
        Number of columns to color.
    axes : pair of matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    curves, information : matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from hiddenbits import LogisticPCA, plots
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 1)) + rng.logistic(size=(400, 8)) > np.linspace(-2, 2, 8)
    >>> curves, information = plots.item_curves(LogisticPCA(1, random_state=0).fit(X), X)
    >>> curves.get_ylabel(), information.get_ylabel()
    ('P(1)', 'information')
    """
    loadings = getattr(model, "components_", None)
    if loadings is None or not hasattr(model, "intercepts_") or not hasattr(model, "method"):
        raise ValueError(f"Item curves need a fitted LogisticPCA; {type(model).__name__} has no items.")
    if len(loadings) != 1:
        raise ValueError("Item curves need a scale: one dimension, LogisticPCA(1).")
    a, b, names = loadings[0], model.intercepts_, column_names(model)
    chosen = _chosen(a, names, columns, most)
    with np.errstate(divide="ignore", invalid="ignore"):
        difficulty = -b / a
    chosen = sorted(chosen, key=lambda j: difficulty[j])
    own, upper, lower = axes is None, *_two(axes)
    x = np.linspace(-REACH, REACH, 281)
    p = 1.0 / (1.0 + np.exp(-(b[:, None] + a[:, None] * x)))
    told = (a**2)[:, None] * p * (1.0 - p)
    for j in range(len(a)):
        if j not in chosen:
            upper.plot(x, p[j], color=GREY, lw=0.7, alpha=0.5, zorder=1.5)
    drawn: list[Any] = []
    for number, j in enumerate(chosen):
        style: dict[str, Any] = {
            "color": COLORS[number % len(COLORS)],
            "ls": STYLES[number // len(COLORS) % len(STYLES)],
        }
        drawn += upper.plot(x, p[j], lw=1.6, zorder=3, **style)
        lower.plot(x, told[j], lw=1.2, zorder=2.5, **style)
    drawn += lower.plot(x, told.sum(axis=0), color=INK, lw=2.0, zorder=3)
    titles = [f"{names[j]} ({np.round(difficulty[j], 1) + 0.0:.1f})" for j in chosen]
    if X is not None:
        _rows_behind(lower, np.asarray(model.transform(X), np.float64)[:, 0])
    upper.set_ylabel("P(1)")
    upper.set_ylim(-0.02, 1.02)
    upper.axhline(0.5, color=GREY, lw=0.6, alpha=0.6, zorder=1)
    lower.set_ylabel("information")
    lower.set_ylim(0.0, None)
    lower.set_xlabel("place on the scale (standard deviations of the rows)")
    for ax in (upper, lower):
        ax.set_xlim(-REACH, REACH)
        ax.spines[["top", "right"]].set_visible(False)
    gray = len(a) - len(chosen)
    note(upper, [f"{gray:,} more columns in gray"] if gray else [])
    legend(upper, drawn, [*titles, "all columns together"], beside=own, title="columns (difficulty)")
    if own:
        settle(upper)
    return upper, lower


def _chosen(a: Any, names: Any, columns: Sequence[object] | None, most: int) -> list[int]:
    if columns is None:
        if most < 1:
            raise ValueError(f"most={most}: color at least one column.")
        return [int(j) for j in np.argsort(-np.abs(a), kind="stable")[:most]]
    found = []
    for one in columns:
        at = [int(one)] if isinstance(one, (int, np.integer)) else np.flatnonzero(names == one).tolist()
        if len(at) != 1 or not 0 <= at[0] < len(names):
            raise ValueError(f"columns= names {one!r}, which is not a column of the model.")
        found += at
    return found


def _two(axes: Sequence[Axes] | None) -> tuple[Axes, Axes]:
    if axes is not None:
        if len(axes) != 2:
            raise ValueError(f"axes= has {len(axes)} axes: give two, for the curves and for the information.")
        return axes[0], axes[1]
    _, (upper, lower) = pyplot().subplots(2, 1, figsize=(7.5, 5.5), sharex=True, layout="constrained")
    return upper, lower


def _rows_behind(ax: Axes, places: Any) -> None:
    """Draw how many rows are where, behind the information, with a scale of their own."""
    behind = ax.twinx()
    inside = np.clip(places, -REACH, REACH)
    behind.hist(inside, bins=np.linspace(-REACH, REACH, 36).tolist(), color=GREY, alpha=0.3, zorder=0)
    behind.set_ylabel("rows", color=GREY)
    behind.tick_params(axis="y", colors=GREY)
    behind.spines[["top", "left"]].set_visible(False)
    ax.set_zorder(behind.get_zorder() + 1)
    ax.patch.set_visible(False)
