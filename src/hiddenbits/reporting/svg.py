"""Drawings as SVG: shapes with CSS classes; the page's style sets their colours, light and dark."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from hiddenbits.array_types import Floats
from hiddenbits.reporting.text import plain

CELL = 24  # side of a cell of a Hinton diagram
FULL = 0.9  # side of the largest square, in cells
LINE = 9.0  # width of a letter, about
WIDE = 400.0  # width of a drawing that fills the page; small enough that text stays readable on a phone


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

    def done(self) -> Markup:
        """Return the drawing."""
        head = Markup(
            '<svg viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" height="{1:.0f}" role="img" '
            'class="{2}" aria-label="{3}">'
        ).format(self.width, self.height, self.style, self.label)
        return head + Markup("\n").join(self._parts) + Markup("</svg>")


def bar(share: float, width: int = 90) -> Markup:
    """Return a bar for a table; screen readers skip it, since the number is next to it."""
    length = 0.0 if share != share else share * width
    return Markup(
        '<svg class="bar" viewBox="0 0 {0} 10" width="{0}" height="10" aria-hidden="true">'
        '<rect class="trough" width="{0}" height="10"/><rect class="k0" width="{1:.1f}" height="10"/></svg>'
    ).format(width, length)


def hinton(weights: Floats, columns: Sequence[str], units: Sequence[str], label: str, values: str) -> Markup:
    """Draw weights of shape (units, columns) as squares, columns downwards: white is more, black is less."""
    most = float(np.abs(weights).max(initial=0.0)) or 1.0
    names = [plain(column, 26) for column in columns]
    left = 12 + LINE * min(26, max(map(len, names)))
    top = 26
    drawn = Drawing(left + CELL * len(units) + 8, top + CELL * len(names) + 6, label, "natural")
    drawn.add(
        '<rect class="ground" x="{:.1f}" y="{}" width="{}" height="{}"/>',
        left,
        top,
        CELL * len(units),
        CELL * len(names),
    )
    for k, unit in enumerate(units):
        drawn.text(left + CELL * (k + 0.5), top - 8, unit, anchor="middle")
    for j, column in enumerate(names):
        y = top + CELL * (j + 0.5)
        drawn.text(left - 8, y + 4, column, anchor="end")
        for k, unit in enumerate(units):
            value = float(weights[k, j])
            half = 0.5 * CELL * FULL * np.sqrt(abs(value) / most)
            if half < 0.4:
                continue
            drawn.add(
                '<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}</title></rect>',
                "more" if value > 0 else "less",
                left + CELL * (k + 0.5) - half,
                y - half,
                2 * half,
                2 * half,
                f"{unit}, {columns[j]}: {values} {value:+.2f}",
            )
    return drawn.done()


def cells(bits: Floats, label: str) -> Markup:
    """Draw rows of bits as small squares: filled is 1, empty is 0, a dot is a blank."""
    rows, columns = bits.shape
    cell = int(np.clip(320 // columns, 8, 14))
    drawn = Drawing(cell * columns + 1, cell * rows + 1, label, "natural")
    drawn.add(
        '<rect class="paper" x=".5" y=".5" width="{}" height="{}"/>',
        cell * columns,
        cell * rows,
    )
    ones, blanks = [], []
    for i, j in zip(*np.nonzero(bits != 0.0), strict=True):
        if np.isnan(bits[i, j]):
            blanks.append(f"M{cell * j + cell // 2 - 1} {cell * i + cell // 2}h2v2h-2z")
        else:
            ones.append(f"M{cell * j + 1} {cell * i + 1}h{cell - 1}v{cell - 1}h-{cell - 1}z")
    drawn.add('<path class="k0" d="{}"/><path class="blank" d="{}"/>', "".join(ones), "".join(blanks))
    return drawn.done()
