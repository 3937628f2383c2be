"""Pairs of columns that the chosen model leaves unexplained."""

from __future__ import annotations

from typing import Any

import numpy as np
from markupsafe import Markup
from scipy.stats import norm

from hiddenbits import diagnostics
from hiddenbits.reporting.comparison import label
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.effects import least_rows
from hiddenbits.reporting.findings.misfit import BY_CHANCE
from hiddenbits.reporting.svg import WIDE, Drawing, room, ticks
from hiddenbits.reporting.text import Chart, Section, TextTable, count, name, percent, plain, sentence

SHOWN = 12


def pairs(context: Context) -> Section:
    """Draw how often the pairs that fit worst occur, next to what the model expects."""
    fit, sample = context.fits.best, context.sample
    residuals = diagnostics.residual_pairs(fit.model, sample.cells)
    edge = float(norm.isf(BY_CHANCE / 2.0 / max(1, len(residuals))))
    least = least_rows(len(sample.cells))
    residuals = residuals[np.maximum(residuals["observed"], residuals["expected"]) >= least]
    beyond = int((np.abs(residuals["residual"]) > edge).sum())
    opening = sentence(
        "For each pair of columns, the model “{}” predicts in how many rows both are {}. Of {} with at least {} such "
        "rows, {} further from that than {:.1f} standard errors, which hardly ever occurs by chance.",
        label(fit.name),
        sample.values.one,
        count(len(residuals), "pair"),
        least,
        "none is" if not beyond else "one is" if beyond == 1 else f"{beyond:,} are",
        edge,
    )
    places = {f"x{j}": j for j in range(len(sample.names))}
    shown = residuals[:SHOWN]
    both = [(sample.names[places[pair["first"]]], sample.names[places[pair["second"]]]) for pair in shown]
    lines = [
        [
            name(first),
            name(second),
            percent(float(one["observed"] / one["rows"])),
            percent(float(one["expected"] / one["rows"])),
            f"{one['residual']:+.1f}",
        ]
        for (first, second), one in zip(both, shown, strict=True)
    ]
    heads = ["column", "column", f"both are {sample.values.one}", "expected", "residual"]
    same = TextTable("The pairs as a table", heads, lines, frozenset({2, 3, 4}))
    caption = sentence(
        "The {} that fit worst: the share of rows in which both columns are {} (filled), and what the model expects "
        "(ring). The number is the residual: the difference in standard errors.",
        count(len(shown), "pair"),
        sample.values.one,
    )
    how = [("residuals of pairs", f"hiddenbits.diagnostics.residual_pairs({fit.line}, table)")]
    parts = [Chart(_drawn(both, shown, sample.values.one), caption, same)] if len(shown) else []
    return Section("pairs", "Pairs left unexplained", opening, parts, how)


def _drawn(both: list[tuple[str, str]], shown: Any, one: str) -> Markup:
    """Draw a line for each pair: what is observed, and what is expected."""
    names = [f"{plain(first, 20)} + {plain(second, 20)}" for first, second in both]
    left, line, top = room(names, 360.0), 24.0, 4.0
    bottom = top + line * len(names)
    observed, expected = (shown[key] / np.maximum(shown["rows"], 1) for key in ("observed", "expected"))
    high = float(max(observed.max(), expected.max(), 0.01)) * 1.02
    drawn = Drawing(WIDE, bottom + 44, f"Observed and expected shares of {count(len(names), 'pair')}.", "wide")

    def x(share: float) -> float:
        return left + 10.0 + share / high * (WIDE - left - 76.0)

    words = f"share of the rows in which both are {one}"
    drawn.bottom_axis(ticks(0.0, high, 4), x, bottom, words, form=lambda share: f"{100 * share:g}%", up_to=top)
    for number, text in enumerate(names):
        y, share, by_model = top + line * (number + 0.5), float(observed[number]), float(expected[number])
        drawn.text(left - 6, y + 5, text, anchor="end")
        drawn.line(x(by_model), y, x(share), y, "whisker")
        drawn.dot(x(by_model), y, 4.5, "off paper", f"{text}: {percent(by_model)} expected")
        drawn.dot(x(share), y, 5.5, "k0", f"{text}: {percent(share)} observed")
        drawn.text(WIDE - 4, y + 5, f"{shown['residual'][number]:+.1f}", anchor="end", style="small")
    return drawn.done()
