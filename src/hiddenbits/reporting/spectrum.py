"""The spectrum: how many scales lie behind the columns, from their pairwise correlations."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from hiddenbits.array_types import Floats
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.elements import Figure, Grid, Part, Section, Text
from hiddenbits.reporting.svg import WIDE, Drawing
from hiddenbits.reporting.text import count, percent, sentence

SHOWN, MANY = 30, 10


def spectrum(context: Context) -> Section:
    """Draw the eigenvalues of the correlations behind the bits, and the level that chance reaches."""
    fit = context.fits.scales
    values = np.asarray(fit.model.spectrum_, np.float64)
    found = fit.model.chance_spectrum_
    chance = np.full(len(values), np.nan) if found is None else np.asarray(found, np.float64)
    shown = min(SHOWN, len(values))
    above = 0
    while above < len(values) and values[above] > chance[above]:
        above += 1
    share = float(values[0] / values[values > 0].sum())
    if above == 0:
        opening = sentence(
            "The columns of this table are no more correlated than by chance: there is no sign of a common scale."
        )
    else:
        opening = sentence(
            "The correlations between the columns of this table suggest {} behind them: the first explains {} of the "
            "variance, and {} above the level that chance reaches.",
            "a single scale" if above == 1 else f"about {count(above, 'scale')}",
            percent(share),
            "no other is" if above == 1 else f"{above} in all are",
        )
    same = Grid(
        "The spectrum as a table",
        ["rank", "size", "chance reaches"],
        [[str(k + 1), f"{values[k]:.2f}", f"{chance[k]:.2f}"] for k in range(shown)],
        frozenset({0, 1, 2}),
    )
    caption = Markup(
        "Each dot is the strength of one scale, the strongest first. The line is the level that chance reaches in a "
        "table of the same size with independent columns. Dots above the line count; those barely above it mean little."
    )
    parts: list[Part] = [Figure(_drawn(values[:shown], chance[:shown]), caption, same)]
    if above > MANY:
        many = "This many scales are of little use: where ones are rare, most of them are produced by chance."
        parts.append(Text(Markup(many)))  # noqa: S704 (ours)
    return Section("spectrum", "How many scales: the spectrum", opening, parts, [("spectrum", fit.line)])


def _drawn(values: Floats, chance: Floats) -> Markup:
    """Draw dots and a line."""
    width, height, left, bottom = WIDE, 230.0, 44.0, 190.0
    top = float(max(values.max(), np.nan_to_num(chance).max(initial=0.0)))
    drawn = Drawing(
        width,
        height,
        f"Spectrum: the strongest scale {values[0]:.1f}, the next {values[min(1, len(values) - 1)]:.1f}; chance "
        f"reaches {chance[0]:.1f}.",
        "wide",
    )

    def at(rank: float, value: float) -> tuple[float, float]:
        across = (width - left - 20.0) / max(1, len(values) - 1)
        return left + 10.0 + rank * across, bottom - max(0.0, value) / top * (bottom - 14.0)

    drawn.add('<line class="zero" x1="{0}" y1="6" x2="{0}" y2="{1}"/>', left, bottom)
    drawn.add('<line class="zero" x1="{}" y1="{}" x2="{}" y2="{}"/>', left, bottom, width - 6, bottom)
    for value in (0.0, top):
        drawn.text(left - 6, at(0, value)[1] + 4, f"{value:.1f}" if value else "0", anchor="end", style="small")
    line = [at(rank, value) for rank, value in enumerate(chance) if np.isfinite(value)]
    drawn.add('<polyline class="chance" points="{}"/>', " ".join(f"{x:.1f},{y:.1f}" for x, y in line))
    for rank, value in enumerate(values):
        x, y = at(rank, value)
        drawn.add(
            '<circle class="k0" cx="{:.1f}" cy="{:.1f}" r="5"><title>{}</title></circle>',
            x,
            y,
            f"scale {rank + 1}: {value:.2f}, chance {chance[rank]:.2f}",
        )
    for rank in (0, len(values) - 1):
        drawn.text(at(rank, 0)[0], bottom + 17, rank + 1, anchor="middle", style="small")
    drawn.text(left + (width - left) / 2, bottom + 34, "rank", anchor="middle", style="small")
    return drawn.done()
