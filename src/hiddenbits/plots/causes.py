"""Network of causes: the columns that each cause switches on or off, and how strongly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits.array_types import Floats, Rows
from hiddenbits.plots.profiles import column_names
from hiddenbits.plots.style import (
    COLORS,
    GRAY,
    INK,
    as_plain,
    axes_or_new,
    fills_figure,
    legend,
    note,
    settle,
    shortened,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ON, OFF = COLORS[0], COLORS[1]
LARGEST_WIDTH = 5.0  # points, of the strongest link
LEAST_STRENGTH = 0.1  # links below this share of the strongest are not drawn


def causes(
    model: BaseEstimator,
    X: object = None,
    *,
    links: int = 5,
    most: int = 12,
    legends: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw hidden causes on the left, columns on the right, and a line from each cause to its columns.

    The wider a line, the stronger the cause: P(the cause alone makes the column 1) of a `NoisyOrNetwork`, weights of a
    `CombinationMachine`, fields of `BinarySparseCoding`. Negative links have another color. Columns are drawn next to
    their strongest cause.

    Parameters
    ----------
    model : fitted NoisyOrNetwork, CombinationMachine or BinarySparseCoding
        The lowest layer of a network with several is drawn.
    X : table of shape (rows, columns), optional
        Rows, to write in what share of them each cause is on. By default the share that the model expects, if known.
    links : int, default=5
        Maximum number of lines of a cause: its strongest links.
    most : int, default=12
        Maximum number of causes: those with the strongest links, weighted by how often they are on.
    legends : bool, default=True
        Whether to draw a legend if some causes switch columns off; see `map` for its position.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from hiddenbits import NoisyOrNetwork, plots
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(300, 8, 2, random_state=0).X
    >>> ax = plots.causes(NoisyOrNetwork(2, random_state=0).fit(X), X)
    >>> [text.get_text() for text in ax.texts][0].startswith("cause")
    True
    """
    if links < 1 or most < 1:
        raise ValueError(f"links={links}, most={most}: draw at least one.")
    strengths, activity = _strengths(model)
    if X is not None:
        activity = np.asarray(model.transform(X), np.float64)[:, : len(strengths)].mean(axis=0)
    importance = np.abs(strengths).max(axis=1) * (1.0 if activity is None else activity)
    shown = np.sort(np.argsort(-importance, kind="stable")[:most])
    pairs = _strongest_links(strengths[shown], links)
    columns, line_of = _order(strengths[shown], pairs)
    names, n, d = column_names(model), len(shown), len(columns)
    is_new, ax = ax is None, axes_or_new(ax, (7.0, 0.8 + 0.24 * max(d, 1.8 * n)))
    y_causes = d * (1.0 - (np.arange(n) + 0.5) / n)
    largest = max((abs(strengths[shown[i], j]) for i, j in pairs), default=1.0)
    for i, j in pairs:
        value = strengths[shown[i], j]
        _curve(ax, y_causes[i], d - line_of[j] - 0.5, LARGEST_WIDTH * abs(value) / largest, ON if value > 0.0 else OFF)
    for i, cause in enumerate(shown):
        share_on = "" if activity is None else f"\non in {activity[cause]:.0%}"
        ax.text(-0.05, y_causes[i], f"cause {cause + 1}{share_on}", ha="right", va="center", fontsize=9, color=INK)
    for j in columns:
        best = max((abs(strengths[shown[i], k]), strengths[shown[i], k]) for i, k in pairs if k == j)[1]
        text = f"{shortened(names[j])}  {best:.2f}"
        as_plain(ax.text(1.05, d - line_of[j] - 0.5, text, ha="left", va="center", fontsize=8, color=INK))
    ax.scatter(np.zeros(n), y_causes, s=45, color=INK, zorder=3)
    ax.scatter(np.ones(d), d - np.arange(d) - 0.5, s=14, color=INK, zorder=3)
    share = (0.4 + 0.062 * max(len(shortened(names[j])) for j in columns)) / 7.0  # of the width, for the names
    ax.set_xlim(-0.45, (1.05 + 0.45 * share) / (1.0 - share))
    ax.set_ylim(-0.3, d + 1.1)
    heads = ((-0.05, "right", "causes"), (1.05, "left", "columns, with their strongest link"))
    for x, side, head in heads:
        ax.text(x, d + 0.75, head, ha=side, va="center", fontsize=8, color=GRAY)
    ax.set_axis_off()
    note(ax, _omitted(model, strengths, shown, d))
    if legends and any(strengths[shown[i], j] < 0.0 for i, j in pairs):
        from matplotlib.lines import Line2D

        handles = [Line2D([], [], color=color, lw=3) for color in (ON, OFF)]
        legend(ax, handles, ["switches on", "switches off"], outside=fills_figure(ax))
    if is_new:
        settle(ax)
    return ax


def _strengths(model: BaseEstimator) -> tuple[Floats, Floats | None]:
    """Return the strength of each cause for each column, and how often causes are on, if known."""
    if hasattr(model, "strengths_"):
        priors = model.priors_ if len(model.layers_) == 1 else None
        return model.strengths_, priors
    if hasattr(model, "thresholds_") and hasattr(model, "weights_"):
        return model.weights_, None
    if hasattr(model, "activity_") and hasattr(model, "components_"):
        return model.components_, model.activity_
    raise ValueError(f"A network of causes needs a fitted model with causes; {type(model).__name__} has none.")


def _strongest_links(strengths: Floats, links: int) -> list[tuple[int, int]]:
    """Return (cause, column) of the links to draw: the strongest of each cause."""
    size = np.abs(strengths)
    least = LEAST_STRENGTH * size.max(initial=0.0)
    order = np.argsort(-size, axis=1, kind="stable")[:, :links]
    return [(i, int(j)) for i in range(len(strengths)) for j in order[i] if size[i, j] > least]


def _order(strengths: Floats, pairs: list[tuple[int, int]]) -> tuple[list[int], dict[int, int]]:
    """Return the columns from top to bottom, each next to its strongest cause, and the line number of each."""
    linked = sorted({j for _, j in pairs})
    strongest: Rows = np.abs(strengths).argmax(axis=0)
    columns = sorted(linked, key=lambda j: (int(strongest[j]), -abs(float(strengths[strongest[j], j]))))
    return columns, {j: line for line, j in enumerate(columns)}


def _curve(ax: Axes, start: float, end: float, width: float, color: str) -> None:
    """Draw a link as a curve that is horizontal at both ends, so that the links of one cause diverge slowly."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    corners = [(0.0, start), (0.5, start), (0.5, end), (1.0, end)]
    codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    style: dict[str, Any] = {"facecolor": "none", "edgecolor": color, "lw": width, "alpha": 0.55, "zorder": 1.5}
    ax.add_patch(PathPatch(Path(corners, codes), label="_link", **style))


def _omitted(model: BaseEstimator, strengths: Floats, shown: Rows, d: int) -> list[str]:
    """Return notes on what is not drawn."""
    notes = []
    if len(shown) < len(strengths):
        notes.append(f"{len(strengths) - len(shown)} more causes")
    if d < strengths.shape[1]:
        notes.append(f"{strengths.shape[1] - d:,} more columns")
    layers = len(getattr(model, "layers_", ())) - 1
    return [*notes, *([f"{layers} more layers above"] if layers > 0 else [])]
