"""A tree of maps: every level a line of maps, each below the one it was split from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hiddenbits.plots.map import checked_dims, draw_groups, key_of, look_at, row_weights
from hiddenbits.plots.rows import area_of_one
from hiddenbits.plots.style import COLOURS, INK, pyplot, settle
from hiddenbits.plots.zoom import FAINTEST, LETTER, NARROWEST, coloured, most_rows, name_map, shapes_of, shared_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hiddenbits import MapTree

WIDEST, SMALLEST, LARGEST = 15.0, 1.9, 2.8  # inches: of a figure, and of a map
ROOMY = 1.6  # size of maps on levels on which all are split, in parts of a leaf's
DARKER = 0.55  # of what the colours of a second round have left of their light


def map_tree(
    tree: MapTree,
    X: object,
    *,
    labels: Sequence[object] | None = None,
    dims: tuple[int, int] = (0, 1),
    figure: Any = None,
) -> tuple[tuple[Axes, ...], ...]:
    """Draw all levels of a tree of maps, each row of the table on every map.

    A row is as opaque on a map as it is probable there; rows below 2% are left out. Its colour, on all levels, is that
    of its most probable leaf, whose frame has the same colour. A map that was not split is drawn on the levels below,
    too.

    Parameters
    ----------
    tree : MapTree
        From `hiddenbits.map_tree`, with maps of at least two dimensions.
    X : table of shape (rows, columns)
        The rows; the weights of a `Table` count as numbers of rows.
    labels : sequence of shape (rows,), optional
        A label for each row, as for `zoom`: short ones are drawn as text, longer ones as markers.
    dims : (int, int), default=(0, 1)
        Which dimensions to draw, of all maps.
    figure : matplotlib Figure, optional
        Where to draw; by default a new one. It needs a constrained layout to make room for the legend.

    Returns
    -------
    axes : tuple of tuple of matplotlib Axes
        For each level those of its maps, in their order.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")                 # draw without a screen
    >>> from hiddenbits import LogisticPCAMixture, map_tree, plots
    >>> from hiddenbits.datasets import simulate_prototypes
    >>> rows, prototype = simulate_prototypes(4, 30, n_copies=100, seed=0)
    >>> tree = map_tree(rows, LogisticPCAMixture(2, n_init=1, random_state=0), max_levels=2)
    >>> axes = plots.map_tree(tree, rows, labels=prototype)
    >>> [[ax.get_title(loc="left").split(":")[0] for ax in level] for level in axes]
    [['map 1'], ['map 1.1', 'map 1.2']]
    """
    pair = checked_dims(tree.leaves.maps_[0], dims)
    shares = [np.asarray(level) for level in tree.responsibilities(X)]
    places = [[np.asarray(one.transform(X), np.float64)[:, pair] for one in level.maps_] for level in tree.levels]
    shapes = shapes_of(labels, len(shares[0]))
    letters = any(shape.marker.startswith("$") for shape in shapes)
    weights, best = row_weights(X, len(shares[0])), shares[-1].argmax(axis=1)
    colours = _colours(shares[-1].shape[1])
    spans = _spans(tree)
    axes = _page(spans, figure)
    unit = area_of_one(most_rows(places[0][0], weights)) * (LETTER if letters else 1.0)
    drawn = []
    for depth, line in enumerate(axes):
        for k, ax in enumerate(line):
            share, where, span = shares[depth][:, k], places[depth][k], spans[depth][k]
            there = share >= FAINTEST
            groups = coloured(shapes, [(colour, there & (best == leaf)) for leaf, colour in enumerate(colours)])
            if groups:
                drawn += draw_groups(ax, where, weights, groups, share, faded=True, unit=unit)
                look_at(ax, where[there], square=NARROWEST)
            one_leaf = span[1] - span[0] == 1
            part = 100 * float(np.average(share, weights=weights))
            title = f"map {tree.names[depth][k]}: {part:.0f}%" + (" of the rows" if depth == 0 else "")
            name_map(ax, pair, title, colours[span[0]] if one_leaf else INK)
    named = [] if letters else [replace(shape, colour=INK) for shape in shapes if shape.name]
    shared_legend(axes[0][0], *key_of(named, np.concatenate([p.counts for p in drawn]), unit))
    settle(axes[0][0])
    return axes


def _spans(tree: MapTree) -> list[list[tuple[int, int]]]:
    """Return, for each map of each level, the first of its leaves and the one after its last."""
    below = [(k, k + 1) for k in range(len(tree.names[-1]))]
    spans = [below]
    for depth in range(len(tree.levels) - 1, 0, -1):
        parents = np.asarray(tree.parents[depth])
        each = [np.flatnonzero(parents == k) for k in range(len(tree.names[depth - 1]))]
        below = [(below[own[0]][0], below[own[-1]][1]) for own in each]
        spans.insert(0, below)
    return spans


def _colours(n: int) -> list[str]:
    """Return a colour for each leaf; those beyond the usual ones are darker forms of them."""
    from matplotlib.colors import to_hex, to_rgb

    rounds = [np.array(to_rgb(COLOURS[k % len(COLOURS)])) * DARKER ** (k // len(COLOURS)) for k in range(n)]
    return [to_hex(tuple(colour)) for colour in rounds]


def _page(spans: list[list[tuple[int, int]]], figure: Any) -> tuple[tuple[Axes, ...], ...]:
    """Return the axes: every map in the middle of the columns of its leaves; larger ones where there is room."""
    n_leaves = len(spans[-1])
    side = min(LARGEST, max(SMALLEST, WIDEST / n_leaves))
    scales = [ROOMY if min(last - first for first, last in line) > 1 else 1.0 for line in spans]
    if figure is None:
        size = (side * max(n_leaves, 2) + 0.3, sum(scale * side + 0.25 for scale in scales) + 0.5)
        figure = pyplot().figure(figsize=size, layout="constrained")
    grid = figure.add_gridspec(len(spans), 2 * n_leaves, height_ratios=scales)
    axes = []
    for depth, (line, scale) in enumerate(zip(spans, scales, strict=True)):
        half = 1 if scale == 1.0 else 2  # a large map has the columns of two leaves
        cells = [grid[depth, first + last - half : first + last + half] for first, last in line]
        axes.append(tuple(figure.add_subplot(cell) for cell in cells))
    return tuple(axes)
