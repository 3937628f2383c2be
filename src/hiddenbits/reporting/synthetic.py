"""Rows drawn from the model next to real ones: how similar they are."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from hiddenbits.array_types import Floats
from hiddenbits.reporting.anomalies import HIDDEN
from hiddenbits.reporting.comparison import label
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.elements import Figure, Grid, Part, Section, Text
from hiddenbits.reporting.svg import cells
from hiddenbits.reporting.text import name, percent, sentence

ROWS, COLUMNS = 24, 40
MOST = 20_000


def synthetic(context: Context) -> Section:
    """Show drawn rows next to real ones, and how their columns and pairs of columns agree."""
    fit, sample = context.fits.best, context.sample
    n = min(MOST, max(1000, len(sample.cells)))
    drawn = np.asarray(fit.model.sample(n, random_state=sample.seed), np.float64)
    apart = np.abs(drawn.mean(axis=0) - sample.shares)
    opening = sentence(
        "In rows drawn from the model “{}”, the shares of ones differ from the real ones by {} percentage points on "
        "average, and the correlations between columns by {}.",
        label(fit.name),
        f"{100.0 * apart.mean():.1f}",
        f"{_pairs_apart(sample.cells, drawn):.3f}",
    )
    parts: list[Part] = []
    common = np.sort(np.argsort(-sample.shares, kind="stable")[:COLUMNS])
    common = common[np.argsort(-sample.shares[common], kind="stable")]
    if context.rows:
        rng = np.random.default_rng([sample.seed, 2])
        real = sample.cells[np.sort(rng.choice(len(sample.cells), min(ROWS, len(sample.cells)), replace=False))]
        made = drawn[: len(real)]
        few = "" if len(common) == len(sample.names) else f" The {len(common)} columns with the most ones are shown."
        for title, rows in (("Real rows", real[:, common]), ("Drawn rows", made[:, common])):
            caption = sentence("{}: filled is 1, empty is 0, a dot is a blank.{}", title, few)
            heads = ["row", *(name(sample.names[j]) for j in common)]
            lines = [[str(i + 1), *("" if bit != bit else f"{bit:.0f}" for bit in row)] for i, row in enumerate(rows)]
            same = Grid(f"{title} as a table", heads, lines)
            parts.append(Figure(cells(rows, f"{title}: {len(rows)} rows of {len(common)} bits."), caption, same))
    else:
        also = Markup(" Drawn rows are left out too: one of them may happen to equal a real one.")
        parts.append(Text(HIDDEN + also))
    lines = [
        [name(sample.names[j]), percent(float(sample.shares[j])), percent(float(drawn[:, j].mean()))] for j in common
    ]
    heads = ["column", "real", "drawn"]
    parts.append(Grid("Shares of ones, real and drawn", heads, lines, frozenset({1, 2}), folded=True))
    how = [("drawn rows", f"{fit.line}.sample({n}, random_state={sample.seed})")]
    return Section("synthetic", "Rows drawn from the model", opening, parts, how)


def _pairs_apart(real: Floats, drawn: Floats) -> float:
    """Return the mean absolute difference of correlations between columns; blanks are left out pair by pair."""
    columns = np.argsort(-np.nanvar(real, axis=0), kind="stable")[:100]
    found = []
    for table in (real[:, columns], drawn[:, columns]):
        seen = ~np.isnan(table)
        x, o = np.nan_to_num(table), seen.astype(np.float64)
        both = np.maximum(o.T @ o, 1.0)
        mean, other = (x.T @ o) / both, (o.T @ x) / both
        spread = np.sqrt(np.maximum(mean * (1.0 - mean) * other * (1.0 - other), 1e-12))
        found.append((x.T @ x / both - mean * other) / spread)
    apart = np.abs(found[0] - found[1])[np.triu_indices(len(columns), 1)]
    return float(apart.mean())
