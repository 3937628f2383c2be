"""What a map says of every place on it: contours P(bit = 1) = 1/2 of a curved map, and where probabilities change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits.array_types import Floats
from hiddenbits.plots.lines import Line
from hiddenbits.plots.style import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 121  # along each side of the plot
STEP = 1e-4  # of central differences
PIECE = 1 << 20  # cells (places x columns) processed together
CERTAIN = 1e-12  # probabilities closer to 0 and 1 than this are drawn as if this close
SHADES = ("white", "#9c9c9c")  # dark enough to see, light enough for rows and names on it


def is_curved(model: BaseEstimator) -> bool:
    """Whether a fitted model is a curved map."""
    return hasattr(model, "points_")


def n_dimensions(model: BaseEstimator) -> int:
    """Return the dimensions of a map."""
    return int(model.points_.shape[1]) if is_curved(model) else len(model.components_)


def draw_contours(ax: Axes, model: BaseEstimator, pair: list[int], most: int | None) -> tuple[list[Line], list[str]]:
    """Draw the contours P(bit = 1) = 1/2 in the plot; with `most`, of the columns that vary most over the map.

    Returns the pieces of the contours, and a note about columns without any.
    """
    x, y, places = _grid(ax)
    spread = np.asarray(model.probabilities_).std(axis=0)
    low, high = np.ones(len(spread)), np.zeros(len(spread))
    for piece in _pieces(places, len(spread)):
        p = _probabilities(model, piece, pair)
        low, high = np.minimum(low, p.min(axis=0)), np.maximum(high, p.max(axis=0))
    crossing = np.flatnonzero((low < 0.5) & (high > 0.5))
    without = len(spread) - len(crossing)
    if most is not None:
        crossing = crossing[np.argsort(-spread[crossing], kind="stable")][:most]
    pieces = [_probabilities(model, piece, pair)[:, crossing] for piece in _pieces(places, len(spread))]
    p = np.clip(np.concatenate(pieces), CERTAIN, 1.0 - CERTAIN)
    heights = np.log(p) - np.log1p(-p)  # smoother than p, so that contours between grid points are nearer to 1/2
    drawn = []
    for column, height in zip(crossing, heights.T, strict=True):
        z = height.reshape(len(y), len(x))
        contour = ax.contour(x, y, z, levels=[0.0], colors=INK, linewidths=0.8, alpha=0.7, zorder=1.5)
        contour.set_label("_line")
        drawn += [Line(int(column), path) for path in contour.allsegs[0] if len(path) > 1]
    said = [f"{without} of {len(spread)} columns have no line here"] if without and most is None else []
    return drawn, said


def slopes(model: BaseEstimator, places: Floats, pair: list[int]) -> Floats:
    """Return the derivatives of P(bit = 1) by two dimensions, (2, places, columns), by central differences."""
    steps = STEP * np.eye(2)
    sides = [[_probabilities(model, places + sign * step, pair) for sign in (1.0, -1.0)] for step in steps]
    return np.stack([(after - before) / (2.0 * STEP) for after, before in sides])


def draw_borders(ax: Axes, model: BaseEstimator, pair: list[int]) -> list[str]:
    """Shade the plot by how fast probabilities change; return what the shades mean."""
    from matplotlib.colors import LinearSegmentedColormap

    x, y, places = _grid(ax)
    shade = np.concatenate([_stretch(slopes(model, piece, pair)) for piece in _pieces(places, model.n_features_in_)])
    shades = LinearSegmentedColormap.from_list("borders", list(SHADES))
    mesh = ax.pcolormesh(
        x, y, shade.reshape(len(y), len(x)), cmap=shades, vmin=0.0, shading="gouraud", rasterized=True, zorder=0.5
    )
    mesh.set_label("_borders")
    return ["dark: the bits change fast"]


def _stretch(slope: Floats) -> Floats:
    """Return the length of the change of all probabilities, along the direction in which it is longest.

    It is the root of the largest eigenvalue of J'J. The root of its determinant, by which areas grow, is 0 on a border
    between two groups along which nothing changes.
    """
    first, both, second = ((slope[a] * slope[b]).sum(axis=1) for a, b in ((0, 0), (0, 1), (1, 1)))
    return np.asarray(np.sqrt((first + second) / 2.0 + np.hypot((first - second) / 2.0, both)))


def _probabilities(model: BaseEstimator, places: Floats, pair: list[int]) -> Floats:
    """Return P(bit = 1) at places, (places, columns); further dimensions are 0."""
    codes = np.zeros((len(places), n_dimensions(model)))
    codes[:, pair] = places
    return np.asarray(model.inverse_transform(codes), np.float64)


def _grid(ax: Axes) -> tuple[Floats, Floats, Floats]:
    """Return a grid over the plot: along x, along y, and all places."""
    x, y = np.linspace(*ax.get_xlim(), POINTS), np.linspace(*ax.get_ylim(), POINTS)
    return x, y, np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)


def _pieces(places: Floats, n_columns: int) -> Iterator[Floats]:
    step = max(1, PIECE // n_columns)
    return (places[start : start + step] for start in range(0, len(places), step))
