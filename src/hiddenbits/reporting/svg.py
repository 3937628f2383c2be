"""Drawings as SVG: shapes with CSS classes; the page's style sets their colours, light and dark.

Why these are our own and no library's: docs/design/drawings_of_the_report.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from markupsafe import Markup

from hiddenbits.quoting import printable

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
        at: Callable[[float], float],
        y: float,
        words: str,
        *,
        form: Callable[[float], str] = "{:g}".format,
        up_to: float | None = None,
    ) -> None:
        """Draw an axis below a drawing: ticks with their values, faint lines up to `up_to`, and what it measures."""
        for value in ticks:
            self.line(at(value), y if up_to is None else up_to, at(value), y + 5, "grid")
            self.text(at(value), y + 18, form(value), anchor="middle", style="small")
        self.text((at(ticks[0]) + at(ticks[-1])) / 2, y + 36, words, anchor="middle", style="small")

    def left_axis(
        self,
        ticks: Sequence[float],
        at: Callable[[float], float],
        x: float,
        words: str,
        *,
        form: Callable[[float], str] = "{:g}".format,
        right: float | None = None,
    ) -> None:
        """Draw an axis on the left of a drawing; what it measures stands above it, where it can be read."""
        for value in ticks:
            self.line(x - 5, at(value), x if right is None else right, at(value), "grid")
            self.text(x - 9, at(value) + 4, form(value), anchor="end", style="small")
        self.text(2, min(at(value) for value in ticks) - 12, words, style="small")

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
