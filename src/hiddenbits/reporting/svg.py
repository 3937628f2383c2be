"""Drawings as SVG: shapes with CSS classes; the page's style sets their colors, light and dark.

Why these are our own and no library's: docs/design/drawings_of_the_report.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from markupsafe import Markup

from hiddenbits.array_types import Floats
from hiddenbits.quoting import printable
from hiddenbits.reporting.text import plain

LETTER = 8.6  # width of a letter, about
WIDE = 680.0  # width of a drawing that fills the column of text


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
        """Draw an axis below a drawing: ticks with their values, faint lines up to `up_to`, and what it measures."""
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
        """Draw an axis on the left of a drawing; what it measures stands above it, where it can be read."""
        for value in ticks:
            self.line(x - 5, position(value), x if right is None else right, position(value), "grid")
            self.text(x - 9, position(value) + 4, form(value), anchor="end", style="small")
        self.text(2, min(position(value) for value in ticks) - 12, words, style="small")

    def done(self) -> Markup:
        """Return the drawing."""
        head = Markup(
            '<svg viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" height="{1:.0f}" role="img" '
            'class="{2}" aria-label="{3}">'
        ).format(self.width, self.height, self.style, self.label)
        drawing = "\n".join([head, *self._parts, "</svg>"])
        return Markup(printable(drawing, keep="\n"))  # noqa: S704 (escaped already; control characters are no XML)


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return round numbers from low to high, about so many.

    Examples
    --------
    >>> ticks(-2.3, 3.1), ticks(0.0, 0.07, 4)
    ([-2.0, -1.0, 0.0, 1.0, 2.0, 3.0], [0.0, 0.02, 0.04, 0.06])
    """
    span = high - low
    if not (span > 0.0 and math.isfinite(span)):
        return [low]
    power = 10.0 ** math.floor(math.log10(span / about))
    step = next(power * times for times in (1.0, 2.0, 5.0, 10.0) if span / (power * times) <= about + 0.5)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 10) for number in range(first, last + 1)]


def spread(places: Sequence[float], least: float, top: float, bottom: float) -> list[float]:
    """Return places for labels that do not overlap, close to where they belong.

    Examples
    --------
    >>> spread([50.0, 90.0, 51.0], 16.0, 0.0, 100.0)
    [50.0, 90.0, 66.0]
    """
    order = sorted(range(len(places)), key=lambda k: places[k])
    free, made = top, [0.0] * len(places)
    for rank, k in enumerate(order):
        made[k] = min(max(places[k], free), bottom - least * (len(order) - 1 - rank))
        free = made[k] + least
    return made


def room(names: Sequence[str], most: float = 270.0) -> float:
    """Return the width that names need."""
    return min(most, 16.0 + LETTER * max((len(name) for name in names), default=0))


def bar(share: float, width: int = 90) -> Markup:
    """Return a bar for a table; screen readers skip it, since the number is next to it."""
    length = 0.0 if share != share else share * width
    return Markup(
        '<svg class="bar" viewBox="0 0 {0} 10" width="{0}" height="10" aria-hidden="true">'
        '<rect class="trough" width="{0}" height="10"/><rect class="k0" width="{1:.1f}" height="10"/></svg>'
    ).format(width, length)


# What stands on the map next to the dots: axes, arrows named by columns, and names of regions.

WIDTH, TALLEST, LEFT, BOTTOM, MARGIN = 640.0, 560.0, 40.0, 46.0, 26.0
EACH, LONGEST = 3, 19  # arrows in each direction, and letters of a name
NOMINAL = 210.0  # length of the longest arrow, if its name leaves room for it
APART = 17.0, 110.0  # labels closer than this, down and across, would overlap


class Square:
    """Maps positions on two dimensions to positions in the drawing, with the same unit for both."""

    def __init__(self, where: Floats) -> None:
        low, high = where.min(axis=0), where.max(axis=0)
        span = np.maximum(high - low, 1e-6)
        across, down = WIDTH - LEFT - 2 * MARGIN, TALLEST - BOTTOM - 2 * MARGIN
        self.scale = float(min(across / span[0], down / span[1]))
        self.height = float(max(300.0, span[1] * self.scale + 2 * MARGIN + BOTTOM))
        self.middle = (low + high) / 2.0
        self.bottom = self.height - BOTTOM

    def __call__(self, where: Floats) -> Floats:
        """Return positions in the drawing, y downwards."""
        away = (where - self.middle) * self.scale
        return np.column_stack([(LEFT + WIDTH) / 2 + away[:, 0], self.bottom / 2 - away[:, 1]])

    def axes(self, drawn: Drawing) -> None:
        """Draw the frame and the axes; their unit is a standard deviation of the model's rows."""
        drawn.add(
            '<rect class="paper" x="{:.1f}" y=".5" width="{:.0f}" height="{:.0f}"/>',
            LEFT,
            WIDTH - LEFT - 1,
            self.bottom - 1,
        )
        reach = np.array([WIDTH - LEFT, self.bottom]) / 2.0 / self.scale
        low, high = self.middle - reach, self.middle + reach
        for value in ticks(float(low[0]), float(high[0]), 7):
            x = float(self(np.array([[value, 0.0]]))[0, 0])
            drawn.line(x, self.bottom, x, self.bottom + 5, "zero")
            drawn.text(x, self.bottom + 18, f"{value:g}", anchor="middle", style="small")
        for value in ticks(float(low[1]), float(high[1]), 7):
            y = float(self(np.array([[0.0, value]]))[0, 1])
            drawn.line(LEFT - 5, y, LEFT, y, "zero")
            drawn.text(LEFT - 8, y + 4, f"{value:g}", anchor="end", style="small")
        middle = (LEFT + WIDTH) / 2
        drawn.text(middle, self.bottom + 37, "latent position, in standard deviations", anchor="middle", style="small")


def arrows(drawn: Drawing, square: Square, moved: Floats, names: Sequence[str]) -> None:
    """Draw the columns that change most over the map as arrows, in each of its four directions."""
    middle = square(np.zeros((1, 2)))[0]
    shown = _chosen(moved)
    if not shown:
        return
    labels = [plain(names[j], LONGEST) for j in shown]
    ways = moved[:, shown].T * np.array([1.0, -1.0])
    wide = np.array([12.0 + LETTER * len(label) for label in labels])
    free_x = np.where(ways[:, 0] > 0.0, WIDTH - wide - middle[0], middle[0] - LEFT - wide)
    free_y = np.where(ways[:, 1] > 0.0, square.bottom - 8.0 - middle[1], middle[1] - 14.0)
    most = np.column_stack([free_x, free_y]) / np.maximum(np.abs(ways), 1e-12)
    scale = NOMINAL / float(np.hypot(*ways.T).max())
    tips = middle + ways * max(min(scale, float(most.min())), 0.5 * scale)
    for tip in tips:
        way = (tip - middle) / max(float(np.hypot(*(tip - middle))), 1e-9)
        side = np.array([-way[1], way[0]])
        head = " ".join(f"{x:.1f},{y:.1f}" for x, y in (tip, tip - 9 * way + 4 * side, tip - 9 * way - 4 * side))
        end = tip - 6 * way
        drawn.line(middle[0], middle[1], end[0], end[1], "arrow")
        drawn.add('<polygon class="tip" points="{}"/>', head)
    right = tips[:, 0] >= middle[0]
    for side, shift in ((right, 6.0), (~right, -6.0)):
        levels = spread((tips[side, 1] + 4.0).tolist(), APART[0], 14.0, square.bottom - 6.0)
        for k, level in zip(np.flatnonzero(side), levels, strict=True):
            _label(drawn, square, np.array([tips[k, 0] + shift, level]), labels[k], right=shift > 0.0)


def _chosen(moved: Floats) -> list[int]:
    """Return the columns that move most to the right, to the left, up and down, whose names do not overlap."""
    strength = np.hypot(*moved)
    wanted: list[int] = []
    for rank in range(EACH):
        for axis, sign in ((0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0)):
            toward = sign * moved[axis]
            j = int(np.argsort(-toward, kind="stable")[min(rank, len(toward) - 1)])
            if toward[j] > 0.0 and strength[j] > 0.15 * strength.max() and j not in wanted:
                wanted.append(j)
    shown: list[int] = []
    tips = moved * np.array([[1.0], [-1.0]]) * NOMINAL / max(float(strength.max(initial=0.0)), 1e-12)
    down, across = APART
    for j in sorted(wanted, key=lambda j: -strength[j]):
        away = np.abs(tips[:, shown] - tips[:, [j]])
        same_side = np.sign(tips[0, shown]) == np.sign(tips[0, j])
        if not ((away[1] < down) & (same_side | (away[0] < across))).any():
            shown.append(j)
    return shown


def regions(drawn: Drawing, square: Square, centers: Floats, names: Sequence[str]) -> None:
    """Name regions of the map, the first ones first; a name that would cover another moves down."""
    taken: list[Floats] = []
    for place, text in zip(square(centers), names, strict=True):
        spot = place.copy()
        while any(abs(spot[1] - y) < APART[0] and abs(spot[0] - x) < APART[1] for x, y in taken):
            spot[1] += APART[0]
        taken.append(spot)
        _label(drawn, square, spot, text, middle=True)


def _label(drawn: Drawing, square: Square, xy: Floats, text: str, *, middle: bool = False, right: bool = True) -> None:
    """Write a label that stays inside the frame and can be read on top of dots."""
    wide = LETTER * len(text) + 6.0
    x, y = float(xy[0]), float(np.clip(xy[1], 14.0, square.bottom - 6.0))
    begin = x - wide / 2 if middle else x if right else x - wide
    begin = min(max(begin, LEFT + 4.0), WIDTH - 4.0 - wide)
    drawn.text(begin + wide / 2, y, text, anchor="middle", style="label")
