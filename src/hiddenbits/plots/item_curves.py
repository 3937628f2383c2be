"""Item curves of a one-dimensional latent trait model: P(answer) by the latent position, and information."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits.array_types import Floats, Rows
from hiddenbits.plots.profiles import column_names, row_weights
from hiddenbits.plots.style import COLORS, GRAY, INK, SMALL, as_plain, legend, note, pyplot, settle, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

X_LIMIT = 3.5  # of the latent positions, in standard deviations
STYLES = ("-", "--", ":")
PANELS_ACROSS = 4
PALEST = 0.65  # share of white in the color of the lowest level
EDGE = 0.15  # of a panel, in which the name of a level is written inwards
LONG_NAME, STAGGER = 3, 0.09  # characters of names of levels that are written at two heights, and their difference
LARGEST_ERROR = 1.0, 1.5  # on the axis of standard errors: that without a test, or some times the smallest


def item_curves(
    model: BaseEstimator,
    X: object = None,
    *,
    columns: Sequence[object] | None = None,
    most: int = 7,
    axes: Sequence[Axes] | None = None,
) -> tuple[Any, Axes]:
    """Draw the item characteristic curves of a latent trait model, and below them the item and test information.

    Above: P(1) of each binary item by the latent position. The most informative items are colored and named, in the
    order of their difficulty (where P(1) is 1/2, or with guessing halfway between guessing and 1); the others are gray.
    If one of these items has more than two levels, each has a panel of its own, with a curve for every level, darker
    for higher ones.

    Below: the information of these items and of the test, which is all columns together, and the standard error of a
    latent position, 1 over the square root of the test information.

    Parameters
    ----------
    model : fitted ItemResponseModel, LogisticPCA or ClippedPCA of one dimension
        The model. Columns of numbers have no curves, but are part of the test information.
    X : table of shape (rows, columns), optional
        Rows, whose latent positions are drawn as a histogram behind the information: positions of rows where the
        information is low are uncertain. The weights of a `Table` count as numbers of rows.
    columns : sequence, optional
        Names or numbers of the columns to draw; by default those with the largest information.
    most : int, default=7
        Number of columns to draw, or to color if all are binary.
    axes : sequence of matplotlib Axes, optional
        Axes to draw on, that of the information last; by default those of a new figure.

    Returns
    -------
    curves : matplotlib Axes, or a list of them if items have panels of their own
    information : matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from hiddenbits import ItemResponseModel, plots
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 1)) + rng.logistic(size=(400, 8)) > np.linspace(-2, 2, 8)
    >>> curves, information = plots.item_curves(ItemResponseModel().fit(X), X)
    >>> curves.get_ylabel(), information.get_ylabel()
    ('P(1)', 'information')
    """
    items = items_of(model, "Item curves")
    names = np.array([item.name for item in items], object)
    x = np.linspace(-X_LIMIT, X_LIMIT, 281)
    p = np.asarray(model.inverse_transform(x[:, None]))
    information = import_module("hiddenbits.diagnostics").item_information(model, x[:, None])
    colored = _chosen_columns(information[:, : len(items)].max(axis=0), names, columns, most)
    by_panel = any(items[j].levels for j in colored)
    if columns is None or not by_panel:
        colored.sort(key=lambda j: j if by_panel else items[j].thresholds.mean())
    own, (*panels, lower) = axes is None, _axes(axes, len(colored) if by_panel else 1)
    curves: Any = panels if by_panel else panels[0]
    drawn: list[Any] = []
    for number, j in enumerate(colored):
        line_style = STYLES[number // len(COLORS) % len(STYLES)]
        style: dict[str, Any] = {"color": COLORS[number % len(COLORS)], "ls": line_style}
        if by_panel:
            _draw_levels(panels[number], x, p, items[j], style)
            as_plain(panels[number].set_title(shortened(names[j]), fontsize=9, color=style["color"]))
        else:
            drawn += panels[0].plot(x, p[:, items[j].bits[0]], lw=1.6, zorder=3, **style)
        lower.plot(x, information[:, j], lw=1.2, zorder=2.5, **style)
    total = information.sum(axis=1)
    drawn += lower.plot(x, total, color=INK, lw=2.0, zorder=3)
    drawn += _draw_error(lower, x, total)
    titles = [f"{names[j]} ({items[j].thresholds.mean().round(1) + 0.0:.1f})" for j in colored if not by_panel]
    titles += ["all columns together", "standard error (right)"]
    if X is not None:
        positions = np.asarray(model.transform(X), np.float64)[:, 0]
        drawn.append(_draw_histogram(lower, positions, row_weights(X, len(positions))))
        titles.append("rows")
    rest = [item for j, item in enumerate(items) if j not in colored and (by_panel or not item.levels)]
    if not by_panel:
        panels[0].plot(x, p[:, [item.bits[0] for item in rest]], color=GRAY, lw=0.7, alpha=0.5, zorder=1.5)
        panels[0].axhline(0.5, color=GRAY, lw=0.6, alpha=0.6, zorder=1)
    for ax in panels:
        ax.set_ylim(-0.02, 1.12 if by_panel else 1.02)
    for ax in panels[::PANELS_ACROSS]:
        ax.set_ylabel("P(level)" if by_panel else "P(1)")
    lower.set_ylabel("information")
    lower.set_ylim(0.0, None)
    lower.set_xlabel("latent position (standard deviations)")
    for ax in (*panels, lower):
        ax.set_xlim(-X_LIMIT, X_LIMIT)
        ax.spines[["top", "right"]].set_visible(False)
    omitted = "without a panel" if by_panel else "in gray"
    note(lower if by_panel else panels[0], [f"{len(rest):,} more columns {omitted}"] if rest else [])
    below: dict[str, Any] = {"loc": "outside lower center", "ncols": len(drawn)} if own else {}
    legend(lower, drawn, titles, outside=own, **(below if by_panel else {"title": "columns (difficulty)"}))
    if own:
        settle(lower)
    return curves, lower


class Item(NamedTuple):
    """A column of bits: its name, its bits, the names of its levels (none if it is binary), and its difficulties."""

    name: str
    bits: Rows
    levels: list[str]
    thresholds: Floats


def items_of(model: Any, plot: str) -> list[Item]:
    """Return the items of a model of one dimension; columns of numbers are none."""
    loadings = getattr(model, "components_", None)
    if loadings is None or not hasattr(model, "intercepts_"):
        raise ValueError(f"{plot} need a fitted ItemResponseModel; {type(model).__name__} has no items.")
    if len(loadings) != 1:
        raise ValueError(f"{plot} need one latent dimension: ItemResponseModel(1).")
    names, coding = column_names(model), getattr(model, "coding_", None)
    levels = [level for _, level in coding.levels] if coding is not None and coding.has_levels else []
    sizes = coding.sizes if coding is not None and coding.has_levels else (1,) * len(names)
    if not sizes:
        raise ValueError(f"{plot} need binary, nominal or ordinal columns; all columns of the fit are numbers.")
    if hasattr(model, "_difficulties"):
        difficulties = model._difficulties()
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            difficulties = -model.intercepts_ / loadings[0]
    n_levels, items = np.array(sizes), list[Item]()
    bits = np.split(np.arange(n_levels.sum()), np.cumsum(n_levels)[:-1])
    thresholds = np.split(difficulties, np.cumsum(np.maximum(n_levels - 1, 1))[:-1])
    for name, own, of_item in zip(names[: len(sizes)], bits, thresholds, strict=True):
        items.append(Item(str(name), own, [levels[bit] for bit in own] if len(own) > 1 else [], of_item))
    return items


def _chosen_columns(size: Floats, names: Any, columns: Sequence[object] | None, most: int) -> list[int]:
    if columns is None:
        if most < 1:
            raise ValueError(f"most={most}: draw at least one column.")
        return [int(j) for j in np.argsort(-size, kind="stable")[:most]]
    numbers = []
    for column in columns:
        matches = [int(column)] if isinstance(column, (int, np.integer)) else np.flatnonzero(names == column).tolist()
        if len(matches) != 1 or not 0 <= matches[0] < len(names):
            raise ValueError(f"columns= names {column!r}, which is not an item of the model.")
        numbers += matches
    return numbers


def _axes(axes: Sequence[Axes] | None, n_panels: int) -> Sequence[Axes]:
    """Return the axes of the panels, and last those of the information."""
    if axes is not None:
        if len(axes) != n_panels + 1:
            raise ValueError(f"axes= has {len(axes)} axes: give {n_panels + 1}, the last for the information.")
        return axes
    across = min(n_panels, PANELS_ACROSS)
    down = -(-n_panels // across)
    size = (7.5, 5.5) if n_panels == 1 else (2.1 * across + 2.0, 1.8 * down + 2.6)
    figure = pyplot().figure(figsize=size, layout="constrained")
    grid = figure.add_gridspec(down + 1, across, height_ratios=[1.0] * down + [1.0 if n_panels == 1 else 1.4])
    panels = [figure.add_subplot(grid[number // across, number % across]) for number in range(n_panels)]
    for number, ax in enumerate(panels):
        ax.tick_params(labelleft=number % across == 0, labelsize=8 if n_panels > 1 else None)
    return [*panels, figure.add_subplot(grid[-1, :])]


def _draw_levels(ax: Axes, x: Floats, p: Floats, item: Item, style: dict[str, Any]) -> None:
    """Draw P of every level, with its name at the top of its curve; of a binary item P(1)."""
    from matplotlib.colors import to_rgb

    color = np.array(to_rgb(style["color"]))
    for number, bit in enumerate(item.bits):
        white = PALEST * (1.0 - number / max(len(item.bits) - 1, 1)) if item.levels else 0.0
        ax.plot(x, p[:, bit], lw=1.5, zorder=3, color=tuple(color + white * (1.0 - color)), ls=style["ls"])
        if item.levels:
            top = int(p[:, bit].argmax())
            share = (x[top] + X_LIMIT) / (2.0 * X_LIMIT)
            side = "left" if share < EDGE else "right" if share > 1.0 - EDGE else "center"
            lift = 0.01 + STAGGER * (number % 2) * (max(map(len, item.levels)) > LONG_NAME and side == "center")
            place = max(x[top], (EDGE / 4.0 - 1.0) * X_LIMIT), p[top, bit] + lift
            text = ax.text(*place, shortened(item.levels[number]), ha=side, va="bottom", zorder=4)
            as_plain(text).set(fontsize=SMALL, color=INK)


def _draw_error(ax: Axes, x: Floats, information: Floats) -> Any:
    """Draw the standard error of a latent position on an axis of its own."""
    right, error = ax.twinx(), 1.0 / np.sqrt(np.maximum(information, 1e-12))
    right.set_ylim(0.0, max(LARGEST_ERROR[0], LARGEST_ERROR[1] * float(error.min())))
    right.set_ylabel("standard error")
    right.spines[["top", "left"]].set_visible(False)
    return right.plot(x, error, color=INK, lw=1.2, ls=(0, (4, 2)), zorder=3)


def _draw_histogram(ax: Axes, positions: Floats, weights: Floats) -> Any:
    """Draw a histogram of the rows behind the information, with its own y-axis, which is not drawn."""
    background = ax.twinx()
    inside = np.clip(positions, -X_LIMIT, X_LIMIT)
    edges = np.linspace(-X_LIMIT, X_LIMIT, 36).tolist()
    bars: Any = background.hist(inside, bins=edges, weights=weights, color=GRAY, alpha=0.3, zorder=0)[2]
    background.axis("off")
    ax.set_zorder(background.get_zorder() + 1)
    ax.patch.set_visible(False)
    return bars[0]
