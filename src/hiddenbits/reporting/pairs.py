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
from hiddenbits.reporting.svg import TEXT_WIDTH, Drawing, text_width, ticks
from hiddenbits.reporting.text import Chart, Section, TextTable, count, name, percent, plain, sentence

MAX_PAIRS = 12


def pairs(context: Context) -> Section:
    """Draw the observed and the expected shares of the pairs that fit worst."""
    fit, sample = context.fits.best, context.sample
    residuals = diagnostics.residual_pairs(fit.model, sample.cells)
    limit = float(norm.isf(BY_CHANCE / 2.0 / max(1, len(residuals))))
    min_rows = least_rows(len(sample.cells))
    residuals = residuals[np.maximum(residuals["observed"], residuals["expected"]) >= min_rows]
    n_unexplained = int((np.abs(residuals["residual"]) > limit).sum())
    opening = sentence(
        "For each pair of columns, the model “{}” predicts in how many rows both are {}. Of {} with at least {} such "
        "rows, {} further from that than {:.1f} standard errors, which hardly ever occurs by chance.",
        label(fit.name),
        sample.values.one,
        count(len(residuals), "pair"),
        min_rows,
        "none is" if not n_unexplained else "one is" if n_unexplained == 1 else f"{n_unexplained:,} are",
        limit,
    )
    column_of = {f"x{j}": j for j in range(len(sample.names))}
    shown = residuals[:MAX_PAIRS]
    pair_names = [(sample.names[column_of[pair["first"]]], sample.names[column_of[pair["second"]]]) for pair in shown]
    lines = [
        [
            name(first),
            name(second),
            percent(float(one["observed"] / one["rows"])),
            percent(float(one["expected"] / one["rows"])),
            f"{one['residual']:+.1f}",
        ]
        for (first, second), one in zip(pair_names, shown, strict=True)
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
    parts = [Chart(_pair_lines(pair_names, shown, sample.values.one), caption, same)] if len(shown) else []
    return Section("pairs", "Pairs left unexplained", opening, parts, how)


def _pair_lines(pair_names: list[tuple[str, str]], shown: Any, one: str) -> Markup:
    """Draw a line for each pair, with the observed and the expected share."""
    names = [f"{plain(first, 20)} + {plain(second, 20)}" for first, second in pair_names]
    left, height, top = text_width(names, 360.0), 24.0, 4.0
    bottom = top + height * len(names)
    observed, expected = (shown[key] / np.maximum(shown["rows"], 1) for key in ("observed", "expected"))
    high = float(max(observed.max(), expected.max(), 0.01)) * 1.02
    svg = Drawing(TEXT_WIDTH, bottom + 44, f"Observed and expected shares of {count(len(names), 'pair')}.", "wide")

    def x(share: float) -> float:
        return left + 10.0 + share / high * (TEXT_WIDTH - left - 76.0)

    label = f"share of the rows in which both are {one}"
    svg.bottom_axis(ticks(0.0, high, 4), x, bottom, label, form=lambda share: f"{100 * share:g}%", up_to=top)
    for number, text in enumerate(names):
        y, share, by_model = top + height * (number + 0.5), float(observed[number]), float(expected[number])
        svg.text(left - 6, y + 5, text, anchor="end")
        svg.line(x(by_model), y, x(share), y, "whisker")
        svg.dot(x(by_model), y, 4.5, "off paper", f"{text}: {percent(by_model)} expected")
        svg.dot(x(share), y, 5.5, "k0", f"{text}: {percent(share)} observed")
        svg.text(TEXT_WIDTH - 4, y + 5, f"{shown['residual'][number]:+.1f}", anchor="end", style="small")
    return svg.done()
