"""The first section: what the table is."""

from __future__ import annotations

import numpy as np

from hiddenbits.reporting.context import Context
from hiddenbits.reporting.elements import Grid, Part, Section
from hiddenbits.reporting.findings.opening import about_coding
from hiddenbits.reporting.svg import bar
from hiddenbits.reporting.text import count, name, names, percent, sentence

SHOWN = 40  # columns listed at once; the others are folded


def about(context: Context) -> Section:
    """Say what is in the table."""
    seen = context.sample.look
    cells = max(1, int(seen.observed.sum()))
    share, blank = seen.n_ones / cells, seen.n_blank / (seen.n_rows * seen.n_columns)
    values, (coding, _) = context.sample.every_value, about_coding(context)
    opening = sentence(
        "This table has {} and {} {}: {} of the recorded cells are {}, and {}.{}",
        count(seen.n_rows, "row"),
        count(seen.n_columns, "column"),
        "with two values each" if coding else "that are each 1 (yes) or 0 (no)",
        percent(share),
        values.one if coding else values.ones,
        f"{percent(blank)} of all cells are blank" if seen.n_blank else "no cell is blank",
        f" {coding}" if coding else "",
    )
    rough = "" if seen.different_exact else "about "
    facts: list[list[object]] = [
        ["rows", f"{seen.n_rows:,}"],
        ["columns", f"{seen.n_columns:,}"],
        [values.ones, f"{seen.n_ones:,} ({percent(share)} of recorded cells)"],
        [f"most {values.ones} in a row", f"{seen.most_ones:,}"],
        ["distinct rows", f"{rough}{seen.n_different:,} ({percent(seen.n_different / seen.n_rows)})"],
        ["blanks", seen.about_blanks],
    ]
    if seen.blank_rows:
        facts.append(["rows without any recorded cell", f"{seen.blank_rows:,}"])
    if seen.constant_columns:
        facts.append(["constant columns, the same in every row", names(seen.constant_columns, 8)])
    if context.sample.beside:
        facts.append(["other columns, used for colours and labels", names(context.sample.beside, 8)])
    parts: list[Part] = [Grid("The table in figures", ["", ""], facts)]
    order = np.argsort(-np.nan_to_num(seen.means), kind="stable")
    heads = ["column", values.share, "", values.ones, "recorded"]
    lines: list[list[object]] = [
        [
            name(values.names[j]),
            percent(float(seen.means[j])),
            bar(float(seen.means[j])),
            f"{seen.ones[j]:,}",
            f"{seen.observed[j]:,}",
        ]
        for j in order
    ]
    right = frozenset({1, 3, 4})
    varied = [line for line, j in zip(lines, order, strict=True) if 0 < seen.ones[j] < seen.observed[j]]
    if len(lines) <= SHOWN:
        parts.append(Grid(f"The columns, those with the most {values.ones} first", heads, lines, right))
    else:
        parts.append(
            Grid(f"The columns with the most {values.ones}, of those that vary", heads, varied[: SHOWN // 2], right)
        )
        most = 1000
        caption = f"The {most:,} columns with the most {values.ones}"
        caption = f"All {len(lines):,} columns" if len(lines) <= most else caption
        parts.append(Grid(caption, heads, lines[:most], right, folded=True))
    how = [("counts", f"hiddenbits.evaluate.look({context.origin.opening})")]
    return Section("table", "The table and its columns", opening, parts, how, every_row=True)
