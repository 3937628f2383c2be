"""How groups of rows lie in the picture: their mean places on the map, and the kinds that they hold, with errors."""

from __future__ import annotations

from collections import Counter

import numpy as np
from markupsafe import Markup

from hiddenbits.array_types import Floats
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.elements import Figure, Grid, Part, Section
from hiddenbits.reporting.profiles import FEWEST
from hiddenbits.reporting.svg import WIDE, Drawing, room, ticks
from hiddenbits.reporting.text import count, name, percent, plain, sentence

GROUPS = 16  # groups that are drawn, the largest


def group_labels(context: Context) -> list[str]:
    """Return the label of each sampled row in the column that the report is asked to go by; "" where it is blank."""
    sample = context.sample
    if context.by in sample.beside:
        return sample.beside[context.by]
    cells = sample.cells[:, sample.own_names.index(str(context.by))]
    return ["" if cell != cell else f"{cell:.0f}" for cell in cells]


def groups(context: Context) -> Section:
    """Draw the mean place of each group on the two scales of the map."""
    fit, sample = context.fits.map, context.sample
    labels = np.asarray(group_labels(context))
    sizes = Counter(label for label in labels if label)
    large = [label for label, n in sizes.most_common(GROUPS) if n >= FEWEST]
    places = np.asarray(fit.model.transform(sample.cells), np.float64)
    means = np.array([places[labels == label].mean(axis=0) for label in large]).reshape(-1, 2)
    errors = np.array([places[labels == label].std(axis=0, ddof=1) / np.sqrt(sizes[label]) for label in large])
    errors = errors.reshape(-1, 2)
    left_out = len(sizes) - len(large)
    opening = sentence(
        "Rows are grouped by {}: {} with at least {} rows{}. The picture shows where the average row of each group lies "
        "on the two scales of the map.",
        name(context.by),
        count(len(large), "group"),
        FEWEST,
        f"; {count(left_out, 'smaller group is', 'smaller groups are')} left out" if left_out else "",
    )
    parts: list[Part] = []
    how = [("places of rows", f"{fit.line}.transform(table)")]
    if large:
        heads = ["group", "rows", "left to right", "", "bottom to top", ""]
        lines = [
            [
                name(label),
                f"{sizes[label]:,}",
                *(text for axis in (0, 1) for text in (f"{means[g, axis]:+.2f}", f"± {2 * errors[g, axis]:.2f}")),
            ]
            for g, label in enumerate(large)
        ]
        same = Grid("The groups as a table", heads, lines, frozenset(range(1, 6)))
        caption = Markup(
            "The mean place of the rows of each group, in standard deviations of all rows. The line shows two standard "
            "errors either way: groups whose lines overlap cannot be told apart."
        )
        parts.append(Figure(_drawn(large, means, errors), caption, same))
        parts.append(_by_kind(context, labels, large))
        how.append(("kinds of rows", f"{context.fits.classes.line}.transform(table)"))
    return Section("groups", f"By {plain(context.by)}", opening, parts, how)


def _drawn(large: list[str], means: Floats, errors: Floats) -> Markup:
    """Draw two panels: left to right, and bottom to top."""
    shown = [plain(label, 24) for label in large]
    left, line, top = room(shown, 190.0), 26.0, 28.0
    bottom = top + line * len(large)
    wide = (WIDE - left - 40.0) / 2
    drawn = Drawing(WIDE, bottom + 46, f"Mean places of {count(len(large), 'group')} on two scales.", "wide")
    low = float(min((means - 2 * errors).min(), 0.0))
    high = float(max((means + 2 * errors).max(), 0.0))
    for axis, words in ((0, "left to right on the map"), (1, "bottom to top on the map")):
        begin = left + axis * (wide + 24.0) + 10.0

        def x(value: float, begin: float = begin) -> float:
            return begin + (value - low) / (high - low or 1.0) * (wide - 10.0)

        drawn.text(begin, 16, words, style="strong")
        drawn.bottom_axis(ticks(low, high, 5), x, bottom, "standard deviations", up_to=top)
        for g, label in enumerate(large):
            y = top + line * (g + 0.5)
            mean, error = float(means[g, axis]), float(errors[g, axis])
            drawn.line(x(mean - 2 * error), y, x(mean + 2 * error), y, "whisker")
            drawn.dot(x(mean), y, 5.5, f"k{g % 7}", f"{label}: {mean:+.2f} ± {2 * error:.2f}")
    for g, text in enumerate(shown):
        drawn.text(left - 6, top + line * (g + 0.5) + 5, text, anchor="end")
    return drawn.done()


def _by_kind(context: Context, labels: Floats, large: list[str]) -> Grid:
    """Return the share of each kind in each group, with its standard error."""
    codes = np.asarray(context.fits.classes.model.transform(context.sample.cells), np.float64)
    codes = codes[:, np.argsort(-codes.mean(axis=0), kind="stable")]
    lines = []
    for label in large:
        inside = codes[labels == label]
        share, error = inside.mean(axis=0), inside.std(axis=0, ddof=1) / np.sqrt(len(inside))
        pairs = zip(share, error, strict=True)
        lines.append([name(label), *(f"{percent(float(s))} ± {100 * e:.1f}" for s, e in pairs)])
    heads = ["group", *(f"kind {k + 1}" for k in range(codes.shape[1]))]
    title = "Kinds of rows in each group, with standard errors in percentage points"
    return Grid(title, heads, lines, frozenset(range(1, len(heads))), folded=True)
