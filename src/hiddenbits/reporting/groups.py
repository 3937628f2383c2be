"""How groups of rows differ under the chosen model: mean positions or shares, with errors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from markupsafe import Markup

from hiddenbits.array_types import Floats
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.effects import least_rows
from hiddenbits.reporting.findings.finding import described_fit
from hiddenbits.reporting.findings.groups import DIMENSIONAL, UNIT_NAMES, group_codes, labels_of, means_by_group
from hiddenbits.reporting.svg import TEXT_WIDTH, Drawing, text_width, ticks
from hiddenbits.reporting.text import Chart, Part, Section, TextTable, count, name, percent, plain, plural, sentence

MAX_GROUPS, MAX_PANELS = 16, 3  # number of groups and units drawn


def groups(context: Context) -> Section:
    """Draw the mean latent values of each group."""
    fit, labels = described_fit(context) or context.fits.best, labels_of(context)
    min_rows, scale = least_rows(len(labels)), fit.name in DIMENSIONAL
    means = means_by_group(group_codes(context, fit), labels, min_rows, shares=not scale)
    unit = "dimension" if scale else UNIT_NAMES.get(fit.name, "unit")
    n_small = len({label for label in labels if label}) - len(means)
    opening = sentence(
        "Rows are grouped by {}: {} with at least {} rows{}. The drawing shows {}.",
        name(context.by),
        count(len(means), "group"),
        min_rows,
        f" ({count(n_small, 'smaller group is', 'smaller groups are')} excluded)" if n_small else "",
        "the mean position of each group" if scale else f"the share of each {unit} in each group",
    )
    parts: list[Part] = []
    if means:
        shown = list(means)[:MAX_GROUPS]
        table = np.stack([means[label][0] for label in shown])
        errors = np.stack([means[label][1] for label in shown])
        units = [f"{unit} {k + 1}" for k in range(table.shape[1])]
        form = "{:+.2f}".format if scale else percent

        def with_error(value: float, error: float) -> str:
            return f"{form(value)} ± {error:.2f}" if scale else f"{form(value)} ± {100 * error:.1f}"

        lines = [
            [name(label), f"{means[label][2]:,}", *(with_error(float(m), float(e)) for m, e in zip(*rows, strict=True))]
            for label, *rows in zip(shown, table, errors, strict=True)
        ]
        heads = ["group", "rows", *units]
        caption = f"All {plural(unit)} by group, with standard errors{'' if scale else ' in percentage points'}"
        same = TextTable(caption, heads, lines, frozenset(range(1, len(heads))))
        chosen = np.sort(np.argsort(-(table.max(axis=0) - table.min(axis=0)), kind="stable")[:MAX_PANELS])
        drawing = _panels(shown, table[:, chosen], errors[:, chosen], [units[k] for k in chosen], scale=scale)
        words = sentence(
            "Dots are means; the line shows two standard errors either way: groups whose lines overlap do not "
            "clearly differ.{}",
            f" Shown are the {len(chosen)} {plural(unit)} that differ most." if len(chosen) < len(units) else "",
        )
        parts.append(Chart(drawing, words, same))
    how = [(f"{plural(unit)} of each row", f"{fit.line}.transform(table)")]
    return Section("groups", f"By {plain(context.by)}", opening, parts, how)


def _panels(shown: list[str], means: Floats, errors: Floats, units: list[str], *, scale: bool) -> Markup:
    """Draw a panel for each unit."""
    names = [plain(label, 24) for label in shown]
    left, height, top = text_width(names, 200.0), 26.0, 28.0
    bottom = top + height * len(shown)
    panel_width = (TEXT_WIDTH - left - 30.0) / len(units)
    alt = f"Means of {count(len(shown), 'group')} on {', '.join(units)}, with two standard errors."
    svg = Drawing(TEXT_WIDTH, bottom + 46, alt, "wide")
    low, high = float((means - 2 * errors).min()), float((means + 2 * errors).max())
    low, high = (min(low, 0.0), max(high, 0.0)) if scale else (0.0, min(1.0, max(high, 0.01)))
    form: Callable[[float], str] = "{:g}".format if scale else lambda share: f"{100 * share:g}%"
    for k, unit in enumerate(units):
        begin = left + k * panel_width + 14.0

        def x(value: float, begin: float = begin) -> float:
            return begin + (min(max(value, low), high) - low) / (high - low or 1.0) * (panel_width - 36.0)

        svg.text(begin, 16, unit, style="strong")
        axis_label = "standard deviations" if scale else "of the group's rows"
        svg.bottom_axis(ticks(low, high, 3), x, bottom, axis_label, form=form, up_to=top)
        for g, label in enumerate(shown):
            y, mean, error = top + height * (g + 0.5), float(means[g, k]), float(errors[g, k])
            svg.line(x(mean - 2 * error), y, x(mean + 2 * error), y, "whisker")
            svg.dot(x(mean), y, 5.5, f"k{g % 7}", f"{label}: {form(round(mean, 3))} ± {form(round(2 * error, 3))}")
    for g, text in enumerate(names):
        svg.text(left - 6, top + height * (g + 0.5) + 5, text, anchor="end")
    return svg.done()
