"""The lines P(1) = 1/2 and the arrows of a map, and the placement of their names."""

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

NAME_BACKGROUND = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.4}  # keeps names legible on lines
LINE_SHARES = (0.96, 0.04, 0.88, 0.12, 0.8, 0.2, 0.7, 0.3, 0.6, 0.4, 0.5)  # where to try a name along its line


@dataclass(frozen=True, eq=False)
class Line:
    """A line, or a piece of a contour, of a column: its points, (points, 2)."""

    column: int
    path: Floats

    def points_at(self, shares: Sequence[float]) -> Floats:
        """Return the points at shares of the length."""
        lengths = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(self.path, axis=0).T))])
        return np.stack([np.interp(np.array(shares) * lengths[-1], lengths, side) for side in self.path.T], axis=1)


def segment(w: Floats, b: float, box: tuple[float, float, float, float]) -> Floats | None:
    """Return the two ends of the line w.x + b = 0 in the box (left, right, bottom, top); None if it is outside."""
    left, right, bottom, top = box
    ends = []
    if w[1] != 0.0:
        ends += [(x, -(b + w[0] * x) / w[1]) for x in (left, right)]
    if w[0] != 0.0:
        ends += [(-(b + w[1] * y) / w[0], y) for y in (bottom, top)]
    tolerance = 1e-12 * max(right - left, top - bottom)
    inside = [
        (x, y)
        for x, y in ends
        if left - tolerance <= x <= right + tolerance and bottom - tolerance <= y <= top + tolerance
    ]
    if len(inside) < 2:
        return None
    corners = np.array(inside)
    # A line through a corner intersects two sides there: take the two ends with the largest distance.
    distances = ((corners[:, None] - corners[None]) ** 2).sum(axis=2)
    first, second = np.unravel_index(distances.argmax(), distances.shape)
    return corners[[first, second]] if first != second else None


def draw_lines(ax: Axes, model: BaseEstimator, pair: list[int], most: int | None) -> tuple[list[Line], list[str]]:
    """Draw the lines that cross the plot; with `most`, those of the largest loadings.

    Return the lines, and a note about those that lie outside.
    """
    W, b = np.asarray(model.components_)[pair].T, np.asarray(model.intercepts_)
    if len(b) != len(W):
        raise ValueError("Lines P(1) = 1/2 need binary columns; draw arrows=True for the others.")
    box = (*ax.get_xlim(), *ax.get_ylim())
    segments = [(column, segment(W[column], float(b[column]), box)) for column in range(len(b))]
    crossing = [Line(column, ends) for column, ends in segments if ends is not None]
    outside = len(b) - len(crossing)
    if most is not None:
        crossing.sort(key=lambda line: -float(np.hypot(*W[line.column])))
        crossing = crossing[:most]
    for line in crossing:
        ax.plot(*line.path.T, color=INK, lw=0.8, alpha=0.7, zorder=1.5, label="_line")
    return crossing, [f"{outside} of {len(b)} lines lie outside"] if outside and most is None else []


def name_lines(
    ax: Axes, lines: list[Line], uphill: Callable[[int, Floats], Floats], names: Sequence[object], placer: NamePlacer
) -> list[str]:
    """Write each name next to its line, on the side where P(1) is larger; return a note about the others.

    `uphill` returns, for a column, the directions in which P(1) increases at some points, (points, 2).
    """
    n_omitted = 0
    for line in lines:
        points = line.points_at(LINE_SHARES)
        start, end = (ax.transData.transform(ends) for ends in (points, points + uphill(line.column, points)))
        candidates = list(zip(start, end - start, strict=True))
        style: dict[str, Any] = {"fontsize": SMALL, "color": INK, "zorder": 4, "bbox": NAME_BACKGROUND}
        n_omitted += not placer.write(names[line.column], candidates, **style)
    return [f"no room for {n_omitted} of {len(lines)} names"] if n_omitted else []


# Names inside a plot, placed where there is room.

GAP = 1.5  # points between a name and its glyph
# Directions to try around a point: right first, as in reading.
DIRECTIONS = [(1, 0), (1, 1), (1, -1), (0, 1), (0, -1), (-1, 1), (-1, -1), (-1, 0)]


class NamePlacer:
    """Places names inside the axes so that they do not overlap.

    Names never overlap each other or their own glyph, and avoid other glyphs if possible. Create it only after limits
    and legends are set: they change positions in pixels.
    """

    def __init__(self, ax: Axes, glyphs: Floats, radii: Floats) -> None:
        figure = settle(ax)
        self._ax, self._frame = ax, ax.get_window_extent()
        self._pixels = figure.dpi / 72.0
        centers = ax.transData.transform(glyphs) if len(glyphs) else np.zeros((0, 2))
        self._centers, self._radii = centers, radii * self._pixels
        half = self._radii[:, None]
        self._glyphs = np.column_stack([centers - half, centers + half])
        self._names = np.zeros((0, 4))

    def write(self, name: object, candidates: list[tuple[Floats, Any]], *, gap: float = GAP, **style: Any) -> bool:
        """Write a name at the first free candidate: (position in pixels, direction); return whether there was one."""
        text = as_plain(self._ax.text(0.0, 0.0, shortened(name), ha="center", va="center", clip_on=True, **style))
        text.set_in_layout(False)  # names must not change the layout
        extent = text.get_window_extent()
        half = np.array([extent.width, extent.height]) / 2.0 + 0.5 * self._pixels
        boxes = []
        for position, direction in candidates:
            unit = np.asarray(direction, np.float64) / np.hypot(*direction)
            distance = self._glyph_radius(position) + gap * self._pixels + (np.abs(unit) * half).sum()
            center = position + unit * distance
            box = np.concatenate([center - half, center + half])
            if self._inside(box) and not _overlaps(box, self._names):
                boxes.append(box)
        clear_of_glyphs = [box for box in boxes if not _overlaps(box, self._glyphs)]
        if not boxes:
            text.remove()
            return False
        box = (clear_of_glyphs or boxes)[0]
        self._names = np.vstack([self._names, box])
        x, y = self._ax.transData.inverted().transform((box[:2] + box[2:]) / 2.0)
        text.set_position((float(x), float(y)))
        return True

    def _glyph_radius(self, position: Floats) -> float:
        """Return the radius of the largest glyph at a position; 0 if there is none."""
        is_at_position = (np.abs(self._centers - position) < 0.5).all(axis=1)
        return float(self._radii[is_at_position].max(initial=0.0))

    def _inside(self, box: Floats) -> bool:
        frame = self._frame
        return bool(box[0] >= frame.x0 and box[1] >= frame.y0 and box[2] <= frame.x1 and box[3] <= frame.y1)


def candidates_around(position: Floats) -> list[tuple[Floats, Any]]:
    """Return the candidates around a position in pixels."""
    return [(position, direction) for direction in DIRECTIONS]


def _overlaps(box: Floats, others: Floats) -> bool:
    disjoint = (others[:, 0] >= box[2]) | (others[:, 2] <= box[0]) | (others[:, 1] >= box[3]) | (others[:, 3] <= box[1])
    return bool((~disjoint).any())


# Arrows of a biplot: the direction in which P(1) of a column increases, and how fast.

DEFAULT_ARROWS = 8  # number of arrows that can be read at a glance
LEAST_ANGLE = np.radians(12.0)  # between arrows, which would overlap otherwise
LEAST_CORRELATION = 0.3  # arrows of columns with a smaller correlation are not drawn
LONGEST_ARROW = 0.75  # as a share of the way from 0 to the frame
ARROW_COLOR = COLORS[1]
ROWS_ALPHA = 0.35  # opacity of the rows behind arrows
ARROW_SHARES = (0.85, 0.7, 0.55, 0.4)  # along the arrow: where to try its name if it does not fit at the tip


def correlations(model: BaseEstimator, pair: list[int]) -> Floats:
    """Return the correlation of the latent variable of each column with two dimensions, (columns, 2).

    A column is 1 if its latent variable b + w.x + noise is above 0, with logistic noise of variance pi^2 / 3 or that of
    the model; so loadings of any size become lengths from 0 to 1. Of an `ItemResponseModel` they are the standardized
    loadings, which its columns of all types have.
    """
    if hasattr(model, "slopes_"):
        return np.asarray(model._standardized()[0][:, pair])
    W = np.asarray(model.components_, np.float64).T
    noise = getattr(model, "noise_variances_", None)
    noise = np.full(len(W), np.pi**2 / 3.0) if noise is None else np.asarray(noise, np.float64)
    return np.asarray(W[:, pair] / np.sqrt(noise + (W**2).sum(axis=1))[:, None])


def longest_arrows(W: Floats, most: int) -> list[int]:
    """Return the columns with the longest arrows; of arrows with nearly the same direction only the longest."""
    chosen: list[int] = []
    angles = np.arctan2(W[:, 1], W[:, 0])
    for j in np.argsort(-np.hypot(*W.T), kind="stable"):
        differences = np.abs((angles[chosen] - angles[j] + np.pi) % (2.0 * np.pi) - np.pi)
        if len(chosen) < most and np.hypot(*W[j]) > LEAST_CORRELATION and (differences >= LEAST_ANGLE).all():
            chosen.append(int(j))
    return chosen


def draw_arrows(ax: Axes, W: Floats, most: int) -> tuple[list[int], Floats]:
    """Draw the arrows of some columns from 0, and return the columns and the tips.

    They have the same scale, chosen so that they reach far into the plot. Rows that are already drawn become paler.
    """
    for rows in ax.collections:
        rows.set_alpha(ROWS_ALPHA)
    chosen = longest_arrows(W, most)
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    limits = np.where(W[chosen] > 0.0, high, -low)
    with np.errstate(divide="ignore"):
        scales = np.abs(limits / W[chosen]).min(axis=1, initial=np.inf)
    tips = W[chosen] * (LONGEST_ARROW * max(scales.min(initial=np.inf), 0.0) if chosen else 0.0)
    for tip in tips:
        ax.annotate(
            "",
            xy=tuple(tip),
            xytext=(0.0, 0.0),
            arrowprops={"arrowstyle": "-|>", "color": ARROW_COLOR, "lw": 1.4, "shrinkA": 0, "shrinkB": 0},
            zorder=3.5,
        )
    return chosen, tips


def points_of_arrows(tips: Floats) -> Floats:
    """Return points on the arrows, which names must not overlap."""
    return np.concatenate([np.zeros((0, 2)), *(tip * np.linspace(0.0, 1.0, 12)[:, None] for tip in tips)])


def name_arrows(ax: Axes, chosen: list[int], tips: Floats, names: Sequence[object], placer: NamePlacer) -> int:
    """Write each name at the tip of its arrow, or next to the arrow; return the number of names without room."""
    n_omitted, start = 0, ax.transData.transform((0.0, 0.0))
    for column, tip in zip(chosen, tips, strict=True):
        end = ax.transData.transform(tip)
        outward = (end - start) / np.hypot(*(end - start))
        normal = np.array([-outward[1], outward[0]])
        normal *= 1.0 if normal[1] > 0.0 else -1.0  # above the arrow first
        forward = [side for side in DIRECTIONS if np.dot(side, outward) > 0.3]
        candidates = [(end, side) for side in (outward, *sorted(forward, key=lambda side: -np.dot(side, outward)))]
        candidates += [(start + share * (end - start), side) for share in ARROW_SHARES for side in (normal, -normal)]
        box = {**NAME_BACKGROUND, "alpha": 0.8}
        style: dict[str, Any] = {"fontsize": SMALL + 1, "color": ARROW_COLOR, "zorder": 4, "bbox": box}
        n_omitted += not placer.write(names[column], candidates, **style)
    return n_omitted
