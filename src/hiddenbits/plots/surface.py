"""Probabilities over a latent space: contours P(1) = 1/2 of a `TopographicMap`, and shades where they change fast."""

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
DERIVATIVE_STEP = 1e-4  # of latent positions, for central differences
PIECE = 1 << 20  # cells (positions x columns) processed together
LEAST_DISTANCE = 1e-12  # of probabilities from 0 and 1; closer ones are clipped
SHADES = ("white", "#9c9c9c")  # dark enough to be visible, light enough for rows and names on it


def is_curved(model: BaseEstimator) -> bool:
    """Whether a fitted model has a curved latent space, as a `TopographicMap` has."""
    return hasattr(model, "points_")


def n_dimensions(model: BaseEstimator) -> int:
    """Return the number of latent dimensions."""
    return int(model.points_.shape[1]) if is_curved(model) else len(model.components_)


def draw_contours(ax: Axes, model: BaseEstimator, pair: list[int], most: int | None) -> tuple[list[Line], list[str]]:
    """Draw the contours P(1) = 1/2 in the plot; with `most`, of the columns whose probabilities vary most.

    Return the pieces of the contours, and a note about columns without contours.
    """
    x, y, positions = _grid(ax)
    sd = np.asarray(model.probabilities_).std(axis=0)
    low, high = np.ones(len(sd)), np.zeros(len(sd))
    for piece in _pieces(positions, len(sd)):
        p = _probabilities(model, piece, pair)
        low, high = np.minimum(low, p.min(axis=0)), np.maximum(high, p.max(axis=0))
    crossing = np.flatnonzero((low < 0.5) & (high > 0.5))
    n_without = len(sd) - len(crossing)
    if most is not None:
        crossing = crossing[np.argsort(-sd[crossing], kind="stable")][:most]
    pieces = [_probabilities(model, piece, pair)[:, crossing] for piece in _pieces(positions, len(sd))]
    p = np.clip(np.concatenate(pieces), LEAST_DISTANCE, 1.0 - LEAST_DISTANCE)
    logits = np.log(p) - np.log1p(-p)  # smoother than p, so that contours between grid points are more accurate
    drawn = []
    for column, logit in zip(crossing, logits.T, strict=True):
        z = logit.reshape(len(y), len(x))
        contour = ax.contour(x, y, z, levels=[0.0], colors=INK, linewidths=0.8, alpha=0.7, zorder=1.5)
        contour.set_label("_line")
        drawn += [Line(int(column), path) for path in contour.allsegs[0] if len(path) > 1]
    notes = [f"{n_without} of {len(sd)} columns have no line in the plot"] if n_without and most is None else []
    return drawn, notes


def slopes(model: BaseEstimator, positions: Floats, pair: list[int]) -> Floats:
    """Return the derivatives of P(1) by two dimensions, (2, positions, columns), by central differences."""
    steps = DERIVATIVE_STEP * np.eye(2)
    p = [[_probabilities(model, positions + sign * step, pair) for sign in (1.0, -1.0)] for step in steps]
    return np.stack([(after - before) / (2.0 * DERIVATIVE_STEP) for after, before in p])


def draw_borders(ax: Axes, model: BaseEstimator, pair: list[int]) -> list[str]:
    """Shade the plot by how fast probabilities change; return a note that explains the shades."""
    from matplotlib.colors import LinearSegmentedColormap

    x, y, positions = _grid(ax)
    pieces = _pieces(positions, model.n_features_in_)
    shade = np.concatenate([_largest_change(slopes(model, piece, pair)) for piece in pieces])
    shades = LinearSegmentedColormap.from_list("borders", list(SHADES))
    mesh = ax.pcolormesh(
        x, y, shade.reshape(len(y), len(x)), cmap=shades, vmin=0.0, shading="gouraud", rasterized=True, zorder=0.5
    )
    mesh.set_label("_borders")
    return ["dark: probabilities change fast"]


def _largest_change(slope: Floats) -> Floats:
    """Return the magnitude of the change of all probabilities, in the direction in which it is largest.

    It is the root of the largest eigenvalue of J'J. The root of its determinant, the magnification of areas, is 0 on a
    border between two groups if nothing changes along the border.
    """
    xx, xy, yy = ((slope[a] * slope[b]).sum(axis=1) for a, b in ((0, 0), (0, 1), (1, 1)))
    return np.asarray(np.sqrt((xx + yy) / 2.0 + np.hypot((xx - yy) / 2.0, xy)))


def _probabilities(model: BaseEstimator, positions: Floats, pair: list[int]) -> Floats:
    """Return P(1) at some positions, (positions, columns); further dimensions are 0."""
    codes = np.zeros((len(positions), n_dimensions(model)))
    codes[:, pair] = positions
    return np.asarray(model.inverse_transform(codes), np.float64)


def _grid(ax: Axes) -> tuple[Floats, Floats, Floats]:
    """Return a grid over the plot: x, y, and all positions."""
    x, y = np.linspace(*ax.get_xlim(), POINTS), np.linspace(*ax.get_ylim(), POINTS)
    return x, y, np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)


def _pieces(positions: Floats, n_columns: int) -> Iterator[Floats]:
    step = max(1, PIECE // n_columns)
    return (positions[start : start + step] for start in range(0, len(positions), step))
