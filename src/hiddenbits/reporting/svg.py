"""Drawings as SVG: shapes with CSS classes; the page's style sets their colors, light and dark.

Why no plotting library draws them: docs/design/drawings_of_the_report.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from markupsafe import Markup

from hiddenbits.array_types import Floats
from hiddenbits.quoting import printable
from hiddenbits.reporting.text import plain

LETTER_WIDTH = 8.6  # approximate
TEXT_WIDTH = 680.0  # of a drawing as wide as the text of the page


class Drawing:
    """A drawing of a fixed size in its own units; every inserted value is escaped."""

    def __init__(self, width: float, height: float, label: str, style: str = "") -> None:
        self.width, self.height, self.label, self.style = width, height, label, style
        self._parts: list[Markup] = []

    def add(self, shape: str, *values: object) -> None:
        """Add a shape."""
        self._parts.append(Markup(shape).format(*values))  # noqa: S704 (the shape is ours; values are escaped)

    def text(self, x: float, y: float, words: object, *, anchor: str = "start", style: str = "") -> None:
        """Write a text."""
        self.add('<text x="{:.1f}" y="{:.1f}" class="a-{} {}">{}</text>', x, y, anchor, style, str(words))

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        """Draw a straight line."""
        self.add('<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>', style, x1, y1, x2, y2)

    def bar(self, x: float, y: float, width: float, height: float, style: str, title: str = "") -> None:
        """Draw a rectangle that shows its title when pointed at; a negative width goes to the left."""
        self.add(
            '<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}">{}</rect>',
            style,
            min(x, x + width),
            y,
            abs(width),
            height,
            Markup("<title>{}</title>").format(title) if title else "",
        )

    def dot(self, x: float, y: float, radius: float, style: str, title: str) -> None:
        """Draw a circle that shows its title when pointed at."""
        shape = '<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="{:.1f}"><title>{}</title></circle>'
        self.add(shape, style, x, y, radius, title)

    def bottom_axis(
        self,
        ticks: Sequence[float],
        position: Callable[[float], float],
        y: float,
        words: str,
        *,
        form: Callable[[float], str] = "{:g}".format,
        up_to: float | None = None,
    ) -> None:
        """Draw an axis below a drawing: ticks with their values, faint lines up to `up_to`, and the label `words`."""
        for value in ticks:
            self.line(position(value), y if up_to is None else up_to, position(value), y + 5, "grid")
            self.text(position(value), y + 18, form(value), anchor="middle", style="small")
        self.text((position(ticks[0]) + position(ticks[-1])) / 2, y + 36, words, anchor="middle", style="small")

    def left_axis(
        self,
        ticks: Sequence[float],
        position: Callable[[float], float],
        x: float,
        words: str,
        *,
        form: Callable[[float], str] = "{:g}".format,
        right: float | None = None,
    ) -> None:
        """Draw an axis on the left of a drawing; its label is above it, so that it is horizontal."""
        for value in ticks:
            self.line(x - 5, position(value), x if right is None else right, position(value), "grid")
            self.text(x - 9, position(value) + 4, form(value), anchor="end", style="small")
        self.text(2, min(position(value) for value in ticks) - 12, words, style="small")

    def done(self) -> Markup:
        """Return the drawing as an SVG element."""
        head = Markup(
            '<svg viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" height="{1:.0f}" role="img" '
            'class="{2}" aria-label="{3}">'
        ).format(self.width, self.height, self.style, self.label)
        drawing = "\n".join([head, *self._parts, "</svg>"])
        return Markup(printable(drawing, keep="\n"))  # noqa: S704 (escaped already; control characters are no XML)


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return about `about` round numbers from low to high.

    Examples
    --------
    >>> ticks(-2.3, 3.1), ticks(0.0, 0.07, 4)
    ([-2.0, -1.0, 0.0, 1.0, 2.0, 3.0], [0.0, 0.02, 0.04, 0.06])
    """
    span = high - low
    if not (span > 0.0 and math.isfinite(span)):
        return [low]
    power = 10.0 ** math.floor(math.log10(span / about))
    step = next(power * factor for factor in (1.0, 2.0, 5.0, 10.0) if span / (power * factor) <= about + 0.5)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 10) for number in range(first, last + 1)]


def spread(places: Sequence[float], least: float, top: float, bottom: float) -> list[float]:
    """Return positions of labels, close to the wanted positions, at distances of at least `least`.

    Examples
    --------
    >>> spread([50.0, 90.0, 51.0], 16.0, 0.0, 100.0)
    [50.0, 90.0, 66.0]
    """
    order = sorted(range(len(places)), key=lambda k: places[k])
    next_free, moved = top, [0.0] * len(places)
    for rank, k in enumerate(order):
        moved[k] = min(max(places[k], next_free), bottom - least * (len(order) - 1 - rank))
        next_free = moved[k] + least
    return moved


def text_width(names: Sequence[str], most: float = 270.0) -> float:
    """Return the width of the longest name, at most `most`."""
    return min(most, 16.0 + LETTER_WIDTH * max((len(name) for name in names), default=0))


def bar(share: float, width: int = 90) -> Markup:
    """Return a bar for a table; screen readers skip it, since the number is next to it."""
    length = 0.0 if share != share else share * width
    return Markup(
        '<svg class="bar" viewBox="0 0 {0} 10" width="{0}" height="10" aria-hidden="true">'
        '<rect class="trough" width="{0}" height="10"/><rect class="k0" width="{1:.1f}" height="10"/></svg>'
    ).format(width, length)


# Parts of the map other than its dots: axes, arrows named by columns, and names of regions.

WIDTH, MAX_HEIGHT, LEFT, BOTTOM, MARGIN = 640.0, 560.0, 40.0, 46.0, 26.0
MAX_ARROWS, MAX_LETTERS = 3, 19  # number of arrows in each direction, and letters of a name
ARROW_LENGTH = 210.0  # length of the longest arrow, if its name leaves room for it
LABEL_DISTANCE = 17.0, 110.0  # vertical and horizontal: closer labels would overlap


class MapScale:
    """Maps positions on two dimensions to positions in the drawing, with the same scale on both axes."""

    def __init__(self, positions: Floats) -> None:
        low, high = positions.min(axis=0), positions.max(axis=0)
        span = np.maximum(high - low, 1e-6)
        width, height = WIDTH - LEFT - 2 * MARGIN, MAX_HEIGHT - BOTTOM - 2 * MARGIN
        self.scale = float(min(width / span[0], height / span[1]))
        self.height = float(max(300.0, span[1] * self.scale + 2 * MARGIN + BOTTOM))
        self.middle = (low + high) / 2.0
        self.bottom = self.height - BOTTOM

    def __call__(self, positions: Floats) -> Floats:
        """Return positions in the drawing, y downwards."""
        offset = (positions - self.middle) * self.scale
        return np.column_stack([(LEFT + WIDTH) / 2 + offset[:, 0], self.bottom / 2 - offset[:, 1]])

    def axes(self, svg: Drawing) -> None:
        """Draw the frame and the axes; their unit is a standard deviation of the model's rows."""
        svg.add(
            '<rect class="paper" x="{:.1f}" y=".5" width="{:.0f}" height="{:.0f}"/>',
            LEFT,
            WIDTH - LEFT - 1,
            self.bottom - 1,
        )
        half = np.array([WIDTH - LEFT, self.bottom]) / 2.0 / self.scale
        low, high = self.middle - half, self.middle + half
        for value in ticks(float(low[0]), float(high[0]), 7):
            x = float(self(np.array([[value, 0.0]]))[0, 0])
            svg.line(x, self.bottom, x, self.bottom + 5, "zero")
            svg.text(x, self.bottom + 18, f"{value:g}", anchor="middle", style="small")
        for value in ticks(float(low[1]), float(high[1]), 7):
            y = float(self(np.array([[0.0, value]]))[0, 1])
            svg.line(LEFT - 5, y, LEFT, y, "zero")
            svg.text(LEFT - 8, y + 4, f"{value:g}", anchor="end", style="small")
        middle = (LEFT + WIDTH) / 2
        svg.text(middle, self.bottom + 37, "latent position, in standard deviations", anchor="middle", style="small")


def arrows(svg: Drawing, map_scale: MapScale, changes: Floats, names: Sequence[str]) -> None:
    """Draw arrows for the columns that change most over the map, some in each of its four directions."""
    middle = map_scale(np.zeros((1, 2)))[0]
    shown = _arrow_columns(changes)
    if not shown:
        return
    labels = [plain(names[j], MAX_LETTERS) for j in shown]
    vectors = changes[:, shown].T * np.array([1.0, -1.0])
    widths = np.array([12.0 + LETTER_WIDTH * len(label) for label in labels])
    free_x = np.where(vectors[:, 0] > 0.0, WIDTH - widths - middle[0], middle[0] - LEFT - widths)
    free_y = np.where(vectors[:, 1] > 0.0, map_scale.bottom - 8.0 - middle[1], middle[1] - 14.0)
    fits = np.column_stack([free_x, free_y]) / np.maximum(np.abs(vectors), 1e-12)
    scale = ARROW_LENGTH / float(np.hypot(*vectors.T).max())
    tips = middle + vectors * max(min(scale, float(fits.min())), 0.5 * scale)
    for tip in tips:
        way = (tip - middle) / max(float(np.hypot(*(tip - middle))), 1e-9)
        side = np.array([-way[1], way[0]])
        head = " ".join(f"{x:.1f},{y:.1f}" for x, y in (tip, tip - 9 * way + 4 * side, tip - 9 * way - 4 * side))
        end = tip - 6 * way
        svg.line(middle[0], middle[1], end[0], end[1], "arrow")
        svg.add('<polygon class="tip" points="{}"/>', head)
    right = tips[:, 0] >= middle[0]
    for side, shift in ((right, 6.0), (~right, -6.0)):
        levels = spread((tips[side, 1] + 4.0).tolist(), LABEL_DISTANCE[0], 14.0, map_scale.bottom - 6.0)
        for k, level in zip(np.flatnonzero(side), levels, strict=True):
            _label(svg, map_scale, np.array([tips[k, 0] + shift, level]), labels[k], right=shift > 0.0)


def _arrow_columns(changes: Floats) -> list[int]:
    """Return the columns that change most to the right, to the left, up and down, and whose names do not overlap."""
    strength = np.hypot(*changes)
    candidates: list[int] = []
    for rank in range(MAX_ARROWS):
        for axis, sign in ((0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0)):
            change = sign * changes[axis]
            j = int(np.argsort(-change, kind="stable")[min(rank, len(change) - 1)])
            if change[j] > 0.0 and strength[j] > 0.15 * strength.max() and j not in candidates:
                candidates.append(j)
    shown: list[int] = []
    tips = changes * np.array([[1.0], [-1.0]]) * ARROW_LENGTH / max(float(strength.max(initial=0.0)), 1e-12)
    down, across = LABEL_DISTANCE
    for j in sorted(candidates, key=lambda j: -strength[j]):
        distance = np.abs(tips[:, shown] - tips[:, [j]])
        same_side = np.sign(tips[0, shown]) == np.sign(tips[0, j])
        if not ((distance[1] < down) & (same_side | (distance[0] < across))).any():
            shown.append(j)
    return shown


def regions(svg: Drawing, map_scale: MapScale, centers: Floats, names: Sequence[str]) -> None:
    """Write names of regions of the map; a name that would cover an earlier one moves down."""
    taken: list[Floats] = []
    for center, text in zip(map_scale(centers), names, strict=True):
        spot = center.copy()
        while any(abs(spot[1] - y) < LABEL_DISTANCE[0] and abs(spot[0] - x) < LABEL_DISTANCE[1] for x, y in taken):
            spot[1] += LABEL_DISTANCE[0]
        taken.append(spot)
        _label(svg, map_scale, spot, text, middle=True)


def _label(svg: Drawing, scale: MapScale, xy: Floats, text: str, *, middle: bool = False, right: bool = True) -> None:
    """Write a label that stays inside the frame and can be read on top of dots."""
    width = LETTER_WIDTH * len(text) + 6.0
    x, y = float(xy[0]), float(np.clip(xy[1], 14.0, scale.bottom - 6.0))
    left = x - width / 2 if middle else x if right else x - width
    left = min(max(left, LEFT + 4.0), WIDTH - 4.0 - width)
    svg.text(left + width / 2, y, text, anchor="middle", style="label")
