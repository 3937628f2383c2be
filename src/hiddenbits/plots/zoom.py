"""Two levels of maps: an overview of all rows, and a closer look at each of its regions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from hiddenbits.array_types import Floats
from hiddenbits.plots.map import checked_dims, draw_groups, key_of, look_at, name_axes, row_weights
from hiddenbits.plots.rows import Kind, area_of_one, kinds, places
from hiddenbits.plots.style import COLOURS, INK, MARKERS, legend, pyplot, settle

if TYPE_CHECKING:
    from matplotlib.axes import Axes


FAINTEST = 0.02  # rows that belong to a map with less probability are not drawn on it
NARROWEST = 1.0  # smallest half-width of a map, in standard deviations of the prior: less is not structure
SHAPES = (*MARKERS, "<", ">", "p", "*", "d", "h")
SIDE = 2.6  # of a map, in inches
LETTER = 1.8  # a letter needs a larger area than a glyph to be read


def zoom(
    model: BaseEstimator,
    X: object,
    overview: BaseEstimator,
    *,
    labels: Sequence[object] | None = None,
    dims: tuple[int, int] = (0, 1),
    figure: Any = None,
) -> tuple[Axes, ...]:
    """Draw an overview map and, next to it, the maps of a mixture such as `LogisticPCAMixture`.

    Each map has a colour. On the overview each row has the colour of its most probable map. On each map of the mixture
    the opacity of a row is its probability there; rows below 2% are left out. Rows at the same position are drawn once,
    with an area proportional to their number.

    Parameters
    ----------
    model : fitted LogisticPCAMixture
        One with maps of at least two dimensions.
    X : table of shape (rows, columns)
        The rows; the weights of a `Table` count as numbers of rows.
    overview : fitted LogisticPCA or TopographicMap
        One map of such rows, of at least two dimensions.
    labels : sequence of shape (rows,), optional
        A label for each row. Labels of one or two letters or digits are drawn as text; longer ones get a marker each,
        named in the legend.
    dims : (int, int), default=(0, 1)
        Which dimensions to draw, of all maps.
    figure : matplotlib Figure, optional
        Where to draw; by default a new one. It needs a constrained layout to make room for the legend.

    Returns
    -------
    axes : tuple of matplotlib Axes
        That of the overview, then those of the maps in their order.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")                 # draw without a screen
    >>> from hiddenbits import LogisticPCA, LogisticPCAMixture, Variational, plots
    >>> from hiddenbits.datasets import simulate_prototypes
    >>> rows, prototype = simulate_prototypes(n_copies=60, seed=0)
    >>> overview = LogisticPCA(2, method=Variational(polish=False), random_state=0).fit(rows)
    >>> mixture = LogisticPCAMixture(2, n_maps=3, polish=False, random_state=0).fit(rows)
    >>> axes = plots.zoom(mixture, rows, overview, labels=prototype)
    >>> [ax.get_title(loc="left").split(":")[0] for ax in axes[1:]]
    ['map 1', 'map 2', 'map 3']
    """
    if not hasattr(model, "maps_"):
        raise ValueError(f"zoom needs a model with several maps; {type(model).__name__} has no maps_. Use plots.map.")
    maps = model.maps_
    pair = checked_dims(maps[0], dims)
    checked_dims(overview, dims)
    K, codes = len(maps), np.asarray(model.transform(X), np.float64)
    shares = codes[:, :K]
    means = codes[:, K:].reshape(len(codes), K, -1)[:, :, pair]
    shapes = shapes_of(labels, len(codes))
    letters = any(shape.marker.startswith("$") for shape in shapes)
    weights, colours = row_weights(X, len(codes)), [COLOURS[k % len(COLOURS)] for k in range(K)]
    figure, axes = _page(K, figure)
    whole = np.asarray(overview.transform(X), np.float64)[:, pair]
    best, unit = shares.argmax(axis=1), area_of_one(most_rows(whole, weights)) * (LETTER if letters else 1.0)
    drawn = coloured(shapes, [(colours[k], best == k) for k in range(K)])
    found = draw_groups(axes[0], whole, weights, drawn, unit=unit)
    look_at(axes[0], whole, square=NARROWEST)
    name_map(axes[0], pair, "overview; colours: the most probable map", INK)
    for k, ax in enumerate(axes[1:]):
        there = shares[:, k] >= FAINTEST
        groups = coloured(shapes, [(colours[k], there)])
        if groups:
            draw_groups(ax, means[:, k], weights, groups, shares[:, k], faded=True, unit=unit)
            look_at(ax, means[there, k], square=NARROWEST)
        share = float(np.average(shares[:, k], weights=weights))
        name_map(ax, pair, f"map {k + 1}: {100 * share:.0f}% of the rows", colours[k])
    named = [] if letters else [replace(shape, colour=INK) for shape in shapes if shape.name]
    shared_legend(axes[0], *key_of(named, np.concatenate([p.counts for p in found]), unit))
    settle(axes[0])
    return axes


def shapes_of(labels: Sequence[object] | None, n: int) -> list[Kind]:
    """Return the kinds of rows; each has a marker, and short names are markers themselves."""
    if labels is None:
        return [Kind("", np.ones(n, bool), INK, "o")]
    if len(labels) != n:
        raise ValueError(f"{len(labels)} labels were given for {n} rows.")
    found = kinds(labels)
    if all(len(kind.name) <= 2 and kind.name.isascii() and kind.name.isalnum() for kind in found):
        return [replace(kind, marker=f"$\\mathdefault{{{kind.name}}}$") for kind in found]
    if len(found) > len(SHAPES):
        raise ValueError(
            f"There are {len(found)} different labels, more than the {len(SHAPES)} markers a reader can distinguish. "
            "Merge some, or use labels of one or two letters, which are drawn as text."
        )
    return [replace(kind, marker=shape) for kind, shape in zip(found, SHAPES, strict=False)]


def coloured(shapes: list[Kind], regions: list[tuple[str, NDArray[np.bool_]]]) -> list[Kind]:
    """Return the rows of each shape in each region, in the region's colour; without those that are empty."""
    every = [replace(shape, rows=shape.rows & rows, colour=colour) for shape in shapes for colour, rows in regions]
    return [kind for kind in every if kind.rows.any()]


def most_rows(means: Floats, weights: Floats) -> float:
    """Return the number of rows at the fullest place."""
    return float(places(means, weights).counts.max())


def _page(K: int, figure: Any) -> tuple[Any, tuple[Axes, ...]]:
    """Return a figure with a square overview, and room for K maps in two lines next to it."""
    down = 1 if K == 1 else 2
    across = -(-K // down)
    if figure is None:
        size = (SIDE * (down + across) + 0.4, SIDE * down + 0.5)
        figure = pyplot().figure(figsize=size, layout="constrained")
    grid = figure.add_gridspec(down, down + across)
    cells = [grid[k // across, down + k % across] for k in range(K)]
    return figure, tuple(figure.add_subplot(place) for place in (grid[:, :down], *cells))


def name_map(ax: Axes, pair: list[int], title: str, colour: str) -> None:
    """Name a map and its axes; its frame has its colour."""
    name_axes(ax, pair)
    ax.set_title(title, loc="left", fontsize=9, color=colour)
    for side in ax.spines.values():
        side.set_color(colour)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_fontsize(8)
    ax.tick_params(labelsize=7)
    ax.locator_params(nbins=6)


def shared_legend(ax: Axes, handles: list[Any], names: list[str]) -> None:
    """Draw one legend for all maps below them: shapes, areas, opacity."""
    from matplotlib.lines import Line2D

    faint = Line2D([], [], ls="", marker="o", color=INK, markersize=6, mec="white", alpha=0.3)
    tallest = max([6.0, *(float(handle.get_markersize()) for handle in handles)])
    legend(
        ax,
        [*handles, faint],
        [*names, "fainter: less probable on this map"],
        beside=True,
        loc="outside lower center",
        ncols=min(len(handles) + 1, 8),
        handleheight=max(0.7, tallest / 8.0),
        handlelength=tallest / 8.0 + 0.5,
        handletextpad=0.5,
        columnspacing=1.5,
    )
