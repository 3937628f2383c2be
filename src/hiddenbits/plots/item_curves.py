"""Item characteristic curves and item information of a one-dimensional latent trait model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits.plots.profiles import column_names
from hiddenbits.plots.style import COLORS, GRAY, INK, legend, note, pyplot, settle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

X_LIMIT = 3.5  # of the latent positions, in standard deviations
STYLES = ("-", "--", ":")


def item_curves(
    model: BaseEstimator,
    X: object = None,
    *,
    columns: Sequence[object] | None = None,
    most: int = 7,
    axes: Sequence[Axes] | None = None,
) -> tuple[Axes, Axes]:
    """Draw the item characteristic curves of a latent trait model, and below them the item and test information.

    Above: P(1) of each item by the latent position. The most discriminating items are colored and named, in the order
    of their difficulty (where P(1) is 1/2); the others are gray. Below: the information of these items, a^2 P (1 - P),
    and of the test, whose square root is 1 over the standard error of a latent position.

    Parameters
    ----------
    model : fitted LogisticPCA of one dimension
        A model of binary columns.
    X : table of shape (rows, columns), optional
        Rows, whose latent positions are drawn as a histogram behind the information: positions of rows where the
        information is low are uncertain.
    columns : sequence, optional
        Names or numbers of the columns to color; by default those with the largest discrimination.
    most : int, default=7
        Number of columns to color.
    axes : pair of matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

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
        raise ValueError("Item curves need one latent dimension: LogisticPCA(1).")
    a, b, names = loadings[0], model.intercepts_, column_names(model)
    colored = _colored_columns(a, names, columns, most)
    with np.errstate(divide="ignore", invalid="ignore"):
        difficulty = -b / a
    colored = sorted(colored, key=lambda j: difficulty[j])
    own, upper, lower = axes is None, *_two_axes(axes)
    x = np.linspace(-X_LIMIT, X_LIMIT, 281)
    p = 1.0 / (1.0 + np.exp(-(b[:, None] + a[:, None] * x)))
    information = (a**2)[:, None] * p * (1.0 - p)
    for j in range(len(a)):
        if j not in colored:
            upper.plot(x, p[j], color=GRAY, lw=0.7, alpha=0.5, zorder=1.5)
    drawn: list[Any] = []
    for number, j in enumerate(colored):
        line_style = STYLES[number // len(COLORS) % len(STYLES)]
        style: dict[str, Any] = {"color": COLORS[number % len(COLORS)], "ls": line_style}
        drawn += upper.plot(x, p[j], lw=1.6, zorder=3, **style)
        lower.plot(x, information[j], lw=1.2, zorder=2.5, **style)
    drawn += lower.plot(x, information.sum(axis=0), color=INK, lw=2.0, zorder=3)
    titles = [f"{names[j]} ({np.round(difficulty[j], 1) + 0.0:.1f})" for j in colored]
    if X is not None:
        _draw_histogram(lower, np.asarray(model.transform(X), np.float64)[:, 0])
    upper.set_ylabel("P(1)")
    upper.set_ylim(-0.02, 1.02)
    upper.axhline(0.5, color=GRAY, lw=0.6, alpha=0.6, zorder=1)
    lower.set_ylabel("information")
    lower.set_ylim(0.0, None)
    lower.set_xlabel("latent position (standard deviations)")
    for ax in (upper, lower):
        ax.set_xlim(-X_LIMIT, X_LIMIT)
        ax.spines[["top", "right"]].set_visible(False)
    gray = len(a) - len(colored)
    note(upper, [f"{gray:,} more columns in gray"] if gray else [])
    legend(upper, drawn, [*titles, "all columns together"], outside=own, title="columns (difficulty)")
    if own:
        settle(upper)
    return upper, lower


def _colored_columns(a: Any, names: Any, columns: Sequence[object] | None, most: int) -> list[int]:
    if columns is None:
        if most < 1:
            raise ValueError(f"most={most}: color at least one column.")
        return [int(j) for j in np.argsort(-np.abs(a), kind="stable")[:most]]
    numbers = []
    for column in columns:
        matches = [int(column)] if isinstance(column, (int, np.integer)) else np.flatnonzero(names == column).tolist()
        if len(matches) != 1 or not 0 <= matches[0] < len(names):
            raise ValueError(f"columns= names {column!r}, which is not a column of the model.")
        numbers += matches
    return numbers


def _two_axes(axes: Sequence[Axes] | None) -> tuple[Axes, Axes]:
    if axes is not None:
        if len(axes) != 2:
            raise ValueError(f"axes= has {len(axes)} axes: give two, for the curves and for the information.")
        return axes[0], axes[1]
    _, (upper, lower) = pyplot().subplots(2, 1, figsize=(7.5, 5.5), sharex=True, layout="constrained")
    return upper, lower


def _draw_histogram(ax: Axes, positions: Any) -> None:
    """Draw a histogram of the rows behind the information, with its own y-axis."""
    background = ax.twinx()
    inside = np.clip(positions, -X_LIMIT, X_LIMIT)
    background.hist(inside, bins=np.linspace(-X_LIMIT, X_LIMIT, 36).tolist(), color=GRAY, alpha=0.3, zorder=0)
    background.set_ylabel("rows", color=GRAY)
    background.tick_params(axis="y", colors=GRAY)
    background.spines[["top", "left"]].set_visible(False)
    ax.set_zorder(background.get_zorder() + 1)
    ax.patch.set_visible(False)
