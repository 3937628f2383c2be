"""The lines P(bit = 1) = 1/2 of a map, and where their names go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

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


@dataclass(frozen=True, eq=False)
class Line:
    """A line, or a piece of a contour, of a column: the points that it connects, (points, 2)."""

    column: int
    path: Floats

    def at(self, shares: Sequence[float]) -> Floats:
        """Return the places at shares of its length."""
        lengths = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(self.path, axis=0).T))])
        return np.stack([np.interp(np.array(shares) * lengths[-1], lengths, side) for side in self.path.T], axis=1)


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


def draw_lines(ax: Axes, model: BaseEstimator, pair: list[int], most: int | None) -> tuple[list[Line], list[str]]:
    """Draw the lines that cross the plot; with `most`, those of the largest loadings.

    Returns the lines, and a note about those that lie outside.
    """
    W, b = np.asarray(model.components_)[pair].T, np.asarray(model.intercepts_)
    box = (*ax.get_xlim(), *ax.get_ylim())
    found = [(column, segment(W[column], float(b[column]), box)) for column in range(len(b))]
    crossing = [Line(column, ends) for column, ends in found if ends is not None]
    outside = len(b) - len(crossing)
    if most is not None:
        crossing.sort(key=lambda line: -float(np.hypot(*W[line.column])))
        crossing = crossing[:most]
    for line in crossing:
        ax.plot(*line.path.T, color=INK, lw=0.8, alpha=0.7, zorder=1.5, label="_line")
    return crossing, [f"{outside} of {len(b)} lines lie outside"] if outside and most is None else []


def name_lines(
    ax: Axes, drawn: list[Line], uphill: Callable[[int, Floats], Floats], names: Sequence[object], room: Room
) -> list[str]:
    """Write each name next to its line, on the side where the bit is more often 1; return a note about the others.

    `uphill` returns, for a column, the directions in which it becomes more probable at places, (places, 2).
    """
    left_out = 0
    for line in drawn:
        places = line.at(ALONG)
        start, end = (ax.transData.transform(ends) for ends in (places, places + uphill(line.column, places)))
        candidates = list(zip(start, end - start, strict=True))
        left_out += not room.write(names[line.column], candidates, fontsize=SMALL, color=INK, zorder=4, bbox=BACKGROUND)
    return [f"no room for {left_out} of {len(drawn)} names"] if left_out else []
