"""The small drawings next to findings: about 220 x 90, few words, colors from the page's style."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.reporting.svg import Drawing
from hiddenbits.reporting.text import percent, plain

WIDTH, HEIGHT, LEFT, PITCH = 220.0, 90.0, 96.0, 22.0
NAME_LENGTH = 13  # letters of a name; longer ones are shortened


def dumbbells(
    lines: Sequence[tuple[str, float, float]], alt: str, names: tuple[str, str] = ("these rows", "others")
) -> str:
    """Draw two shares, from 0 to 1, for each of up to four columns: a filled dot and a ring; `names` name them."""
    bottom = 12.0 + PITCH * max(1, len(lines[:4]))
    svg = Drawing(WIDTH, bottom + 14.0, alt, "small-drawing")

    def x(share: float) -> float:
        return LEFT + 8.0 + share * (WIDTH - LEFT - 18.0)

    for number, (name, share, other) in enumerate(lines[:4]):
        y = 6.0 + PITCH * (number + 0.5)
        svg.text(LEFT - 4, y + 4, plain(name, NAME_LENGTH), anchor="end", style="small")
        svg.add('<line class="zero" x1="{0:.1f}" y1="{2}" x2="{1:.1f}" y2="{2}"/>', x(0.0), x(1.0), y)
        svg.add('<line class="whisker" x1="{:.1f}" y1="{}" x2="{:.1f}" y2="{}"/>', x(other), y, x(share), y)
        svg.add('<circle class="off" cx="{:.1f}" cy="{}" r="4.5"/>', x(other), y)
        tip = f"{name}: {percent(share)}, others {percent(other)}"
        svg.add('<circle class="k0" cx="{:.1f}" cy="{}" r="5"><title>{}</title></circle>', x(share), y, tip)
    svg.add('<circle class="k0" cx="{}" cy="{}" r="4"/>', LEFT - 44.0, bottom + 4.0)
    svg.text(LEFT - 36.0, bottom + 8.0, names[0], style="small")
    svg.add('<circle class="off" cx="{}" cy="{}" r="4"/>', LEFT + 52.0, bottom + 4.0)
    svg.text(LEFT + 60.0, bottom + 8.0, names[1], style="small")
    return str(svg.done())


def bars(lines: Sequence[tuple[str, float, float]], alt: str, shown: Sequence[str]) -> str:
    """Draw up to four values of at least 0 as bars, with two standard errors either way; `shown` are their labels."""
    svg = Drawing(WIDTH, 12.0 + PITCH * max(1, len(lines[:4])), alt, "small-drawing")
    largest = max((value + 2.0 * error for _, value, error in lines[:4]), default=1.0) or 1.0
    scale = (WIDTH - LEFT - 52.0) / largest
    for number, (name, value, error) in enumerate(lines[:4]):
        y = 6.0 + PITCH * (number + 0.5)
        svg.text(LEFT - 4, y + 4, plain(name, NAME_LENGTH), anchor="end", style="small")
        svg.add('<rect class="k{}" x="{}" y="{}" width="{:.1f}" height="12"/>', number % 7, LEFT, y - 6, value * scale)
        if error:
            low, high = max(0.0, value - 2.0 * error) * scale, (value + 2.0 * error) * scale
            svg.add('<line class="whisker" x1="{0:.1f}" y1="{2}" x2="{1:.1f}" y2="{2}"/>', LEFT + low, LEFT + high, y)
        svg.text(WIDTH - 2, y + 4, shown[number], anchor="end", style="small")
    return str(svg.done())


def dots(lines: Sequence[tuple[str, float, float]], alt: str) -> str:
    """Draw up to four positions on a dimension as dots, with two standard errors either way."""
    svg = Drawing(WIDTH, 12.0 + PITCH * max(1, len(lines[:4])), alt, "small-drawing")
    ends = [abs(value) + 2.0 * error for _, value, error in lines[:4]]
    scale = (WIDTH - LEFT - 20.0) / 2.0 / (max(ends, default=1.0) or 1.0)
    middle = LEFT + (WIDTH - LEFT) / 2.0
    svg.add('<line class="zero" x1="{0:.1f}" y1="2" x2="{0:.1f}" y2="{1}"/>', middle, 10.0 + PITCH * len(lines[:4]))
    for number, (name, value, error) in enumerate(lines[:4]):
        y, x, half = 6.0 + PITCH * (number + 0.5), middle + value * scale, 2.0 * error * scale
        svg.text(LEFT - 4, y + 4, plain(name, NAME_LENGTH), anchor="end", style="small")
        svg.add('<line class="whisker" x1="{0:.1f}" y1="{2}" x2="{1:.1f}" y2="{2}"/>', x - half, x + half, y)
        svg.add('<circle class="k{}" cx="{:.1f}" cy="{}" r="5"/>', number % 7, x, y)
    return str(svg.done())


def histogram(values: Floats, edge: float, alt: str) -> str:
    """Draw how values are distributed; those below `edge` in another color."""
    svg = Drawing(WIDTH, HEIGHT, alt, "small-drawing")
    counts, edges = np.histogram(values, bins=26)
    width, bottom = (WIDTH - 16.0) / len(counts), HEIGHT - 20.0
    for k, count in enumerate(counts):
        if count:
            height = max(3.0, (bottom - 6.0) * count / counts.max())
            style = "k1" if edges[k] < edge else "k0"
            svg.add(
                '<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>',
                style,
                8.0 + width * k + 0.5,
                bottom - height,
                width - 1.0,
                height,
            )
    svg.add('<line class="zero" x1="8" y1="{0}" x2="{1}" y2="{0}"/>', bottom, WIDTH - 8)
    svg.text(8, HEIGHT - 5, "outliers", style="small")
    svg.text(WIDTH - 8, HEIGHT - 5, "typical", anchor="end", style="small")
    return str(svg.done())
