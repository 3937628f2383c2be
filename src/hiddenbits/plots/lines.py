"""The lines P(bit = 1) = 1/2 of a map, and where their names go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits.array_types import Floats
from hiddenbits.plots.labels import Room
from hiddenbits.plots.style import INK, SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BACKGROUND = {
    "facecolor": "white",
    "edgecolor": "none",
    "alpha": 0.7,
    "pad": 0.4,
}  # keeps lines from crossing a name out
ALONG = (0.96, 0.04, 0.88, 0.12, 0.8, 0.2, 0.7, 0.3, 0.6, 0.4, 0.5)  # where on its line a name may stand


def n_bits(model: BaseEstimator) -> int:
    """Return how many loadings belong to bits: in a mixed table these come first, and only they have such a line.

    An ordered column is a chain of bits "beyond this category?". A real column has no P = 1/2, and for one category of
    several P = 1/2 is not a straight line.
    """
    kinds: dict[str, str] | None = getattr(model, "kinds_", None)
    n = len(model.intercepts_)
    if kinds is None:
        return n
    many = [len(found) for name, found in model.categories_.items() if kinds[name] == "nominal" and len(found) > 2]
    return n - sum(kind == "real" for kind in kinds.values()) - sum(many)


def segment(w: Floats, b: float, box: tuple[float, float, float, float]) -> Floats | None:
    """Return the two ends of the line w.x + b = 0 inside the box (left, right, bottom, top); None if it is outside."""
    left, right, bottom, top = box
    ends = []
    if w[1] != 0.0:
        ends += [(x, -(b + w[0] * x) / w[1]) for x in (left, right)]
    if w[0] != 0.0:
        ends += [(-(b + w[1] * y) / w[0], y) for y in (bottom, top)]
    slack = 1e-12 * max(right - left, top - bottom)
    inside = [(x, y) for x, y in ends if left - slack <= x <= right + slack and bottom - slack <= y <= top + slack]
    if len(inside) < 2:
        return None
    corners = np.array(inside)
    # A line through a corner meets two sides there: take the two ends that are furthest apart.
    apart = ((corners[:, None] - corners[None]) ** 2).sum(axis=2)
    first, second = np.unravel_index(apart.argmax(), apart.shape)
    return corners[[first, second]] if first != second else None


def draw_lines(ax: Axes, W: Floats, b: Floats, most: int | None) -> tuple[list[tuple[int, Any]], int]:
    """Draw the lines that cross the plot; with `most`, those of the largest loadings.

    Returns the column and artist of each line, and how many lines lie outside.
    """
    box = (*ax.get_xlim(), *ax.get_ylim())
    found = [(column, segment(W[column], float(b[column]), box)) for column in range(len(b))]
    crossing = [(column, ends) for column, ends in found if ends is not None]
    outside = len(b) - len(crossing)
    if most is not None:
        crossing.sort(key=lambda pair: -float(np.hypot(*W[pair[0]])))
        crossing = crossing[:most]
    drawn = []
    for column, ends in crossing:
        (artist,) = ax.plot(ends[:, 0], ends[:, 1], color=INK, lw=0.8, alpha=0.7, zorder=1.5, label="_line")
        drawn.append((column, artist))
    return drawn, outside


def name_lines(ax: Axes, drawn: list[tuple[int, Any]], W: Floats, names: Sequence[object], room: Room) -> int:
    """Write each name next to its line, on the side where the bit is more often 1; return how many had no room."""
    left_out = 0
    for column, artist in drawn:
        ends = ax.transData.transform(np.column_stack(artist.get_data()))
        across = ax.transData.transform(W[column]) - ax.transData.transform((0.0, 0.0))
        across /= np.hypot(*across)
        candidates = [(ends[0] + share * (ends[1] - ends[0]), across) for share in ALONG]
        left_out += not room.write(names[column], candidates, fontsize=SMALL, color=INK, zorder=4, bbox=BACKGROUND)
    return left_out
