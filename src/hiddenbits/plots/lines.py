"""The lines P(bit = 1) = 1/2 of a map, and where their names go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits.array_types import Floats
from hiddenbits.plots.style import COLORS, INK, SMALL, as_plain, settle, shortened

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


# Labels inside a plot, placed where there is room.

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GAP = 1.5  # points between a name and what it names
# Directions to try around a point: right first, as one reads.
AROUND = [(1, 0), (1, 1), (1, -1), (0, 1), (0, -1), (-1, 1), (-1, -1), (-1, 0)]


class Room:
    """Keeps track of the occupied areas inside the axes, in pixels; a name is written where it overlaps nothing.

    Names never overlap each other or their own glyph, and avoid other glyphs if possible. Create it only after limits
    and legends are set: they move the pixels.
    """

    def __init__(self, ax: Axes, glyphs: Floats, radii: Floats) -> None:
        figure = settle(ax)
        self._ax, self._frame = ax, ax.get_window_extent()
        self._pixels = figure.dpi / 72.0
        centers = ax.transData.transform(glyphs) if len(glyphs) else np.zeros((0, 2))
        self._centers, self._reach = centers, radii * self._pixels
        reach = self._reach[:, None]
        self._glyphs = np.column_stack([centers - reach, centers + reach])
        self._names = np.zeros((0, 4))

    def write(self, name: object, candidates: list[tuple[Floats, Any]], *, gap: float = GAP, **style: Any) -> bool:
        """Write a name at the first free candidate: (a position in pixels, the side of it on which to write)."""
        text = as_plain(self._ax.text(0.0, 0.0, shortened(name), ha="center", va="center", clip_on=True, **style))
        text.set_in_layout(False)  # names must not change the layout
        extent = text.get_window_extent()
        half = np.array([extent.width, extent.height]) / 2.0 + 0.5 * self._pixels
        boxes = []
        for place, direction in candidates:
            unit = np.asarray(direction, np.float64) / np.hypot(*direction)
            away = self._own_glyph(place) + gap * self._pixels + (np.abs(unit) * half).sum()
            center = place + unit * away
            box = np.concatenate([center - half, center + half])
            if self._inside(box) and not _overlaps(box, self._names):
                boxes.append(box)
        clear = [box for box in boxes if not _overlaps(box, self._glyphs)]
        if not boxes:
            text.remove()
            return False
        box = (clear or boxes)[0]
        self._names = np.vstack([self._names, box])
        x, y = self._ax.transData.inverted().transform((box[:2] + box[2:]) / 2.0)
        text.set_position((float(x), float(y)))
        return True

    def _own_glyph(self, place: Floats) -> float:
        """Return the radius of the largest glyph that is drawn at a place; 0 where there is none."""
        here = (np.abs(self._centers - place) < 0.5).all(axis=1)
        return float(self._reach[here].max(initial=0.0))

    def _inside(self, box: Floats) -> bool:
        frame = self._frame
        return bool(box[0] >= frame.x0 and box[1] >= frame.y0 and box[2] <= frame.x1 and box[3] <= frame.y1)


def around(place: Floats) -> list[tuple[Floats, Any]]:
    """Return the candidates around a point in pixels."""
    return [(place, direction) for direction in AROUND]


def _overlaps(box: Floats, others: Floats) -> bool:
    apart = (others[:, 0] >= box[2]) | (others[:, 2] <= box[0]) | (others[:, 1] >= box[3]) | (others[:, 3] <= box[1])
    return bool((~apart).any())


# Arrows of a map: in which direction, and how fast, a bit becomes more probable.

if TYPE_CHECKING:
    from matplotlib.axes import Axes

USUAL = 8  # arrows that can be read at a glance
APART = np.radians(12.0)  # arrows that point the same way would lie on each other
SHORTEST = 0.3  # arrows shorter than this are not drawn: the map says little of their columns
LONGEST = 0.75  # of the way from 0 to the frame
COLOR = COLORS[1]
PALE = 0.35  # opacity of the rows behind arrows
ARROW_ALONG = (0.85, 0.7, 0.55, 0.4)  # where on its arrow a name may stand that has no room at the tip


def correlations(model: BaseEstimator, pair: list[int]) -> Floats:
    """Return the correlation of what is behind each column with two dimensions, (columns, 2).

    A bit is 1 where b + w.x + noise is above 0, with logistic noise of variance pi^2 / 3 or the model's own; so
    loadings of any size become lengths from 0 to 1.
    """
    W = np.asarray(model.components_, np.float64).T
    noise, own = np.full(len(W), np.pi**2 / 3.0), getattr(model, "noise_variances_", None)
    if own is not None:
        noise = np.asarray(own, np.float64)
    return np.asarray(W[:, pair] / np.sqrt(noise + (W**2).sum(axis=1))[:, None])


def chosen_arrows(W: Floats, most: int) -> list[int]:
    """Return the columns with the longest arrows, of those that point nearly the same way the longest alone."""
    chosen: list[int] = []
    angles = np.arctan2(W[:, 1], W[:, 0])
    for j in np.argsort(-np.hypot(*W.T), kind="stable"):
        turned = np.abs((angles[chosen] - angles[j] + np.pi) % (2.0 * np.pi) - np.pi)
        if len(chosen) < most and np.hypot(*W[j]) > SHORTEST and (turned >= APART).all():
            chosen.append(int(j))
    return chosen


def draw_arrows(ax: Axes, W: Floats, most: int) -> tuple[list[int], Floats]:
    """Draw the arrows of some columns from the middle of the map, and return the columns and the tips.

    All have the same unit, so that the longest reaches far into the plot. What is drawn already becomes paler.
    """
    for rows in ax.collections:
        rows.set_alpha(PALE)
    chosen = chosen_arrows(W, most)
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    reach = np.where(W[chosen] > 0.0, high, -low)
    with np.errstate(divide="ignore"):
        room = np.abs(reach / W[chosen]).min(axis=1, initial=np.inf)
    tips = W[chosen] * (LONGEST * max(room.min(initial=np.inf), 0.0) if chosen else 0.0)
    for tip in tips:
        ax.annotate(
            "",
            xy=tuple(tip),
            xytext=(0.0, 0.0),
            arrowprops={"arrowstyle": "-|>", "color": COLOR, "lw": 1.4, "shrinkA": 0, "shrinkB": 0},
            zorder=3.5,
        )
    return chosen, tips


def along_arrows(tips: Floats) -> Floats:
    """Return points on the arrows, which names are to keep clear of."""
    return np.concatenate([np.zeros((0, 2)), *(tip * np.linspace(0.0, 1.0, 12)[:, None] for tip in tips)])


def name_arrows(ax: Axes, chosen: list[int], tips: Floats, names: Sequence[object], room: Room) -> int:
    """Write each name at the tip of its arrow, outwards first, or next to the arrow; return how many had no room."""
    left_out, start = 0, ax.transData.transform((0.0, 0.0))
    for column, tip in zip(chosen, tips, strict=True):
        end = ax.transData.transform(tip)
        outwards = (end - start) / np.hypot(*(end - start))
        across = np.array([-outwards[1], outwards[0]])
        across *= 1.0 if across[1] > 0.0 else -1.0  # above the arrow first
        forwards = [side for side in AROUND if np.dot(side, outwards) > 0.3]
        candidates = [(end, side) for side in (outwards, *sorted(forwards, key=lambda side: -np.dot(side, outwards)))]
        candidates += [(start + share * (end - start), side) for share in ARROW_ALONG for side in (across, -across)]
        style: dict[str, Any] = {
            "fontsize": SMALL + 1,
            "color": COLOR,
            "zorder": 4,
            "bbox": {**BACKGROUND, "alpha": 0.8},
        }
        left_out += not room.write(names[column], candidates, **style)
    return left_out
