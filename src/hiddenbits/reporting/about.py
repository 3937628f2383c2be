"""The first section: what the table is."""

from __future__ import annotations

import platform
from importlib.metadata import version

import numpy as np
from markupsafe import Markup

from hiddenbits import __version__
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.opening import about_coding
from hiddenbits.reporting.origin import Origin
from hiddenbits.reporting.sample import MOST_COLUMNS, Sample
from hiddenbits.reporting.svg import bar
from hiddenbits.reporting.text import Grid, Part, Section, Text, count, name, names, percent, sentence

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
        facts.append(["other columns, used for colors and labels", names(context.sample.beside, 8)])
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
    how = [("counts", f"hiddenbits.evaluate.describe({context.origin.opening})")]
    return Section("table", "The table and its columns", opening, parts, how, every_row=True)


# The last section: what `table` is in the lines of code, and the versions.


def methods(context: Context) -> Section:
    """Say how to repeat the figures."""
    sample = context.sample
    origin = context.origin
    opening = sentence(
        "The same table, seed ({}) and versions give the same report, but for the date. Every section ends with the "
        "lines of Python that repeat its figures.",
        sample.seed,
    )
    made = Markup('This {} made the report: <span class="lines"><code>{}</code></span>')
    used = [("Python", platform.python_version()), ("hiddenbits", __version__)]
    used += [(package, version(package)) for package in ("numpy", "scipy", "scikit-learn", "jinja2")]
    parts: list[Part] = [Text(made.format("call" if origin.options is None else "command", origin.call))]
    parts += [Text(Markup("{}").format(note)) for note in origin.notes]
    parts += [Text(said) for said in sample.about()]
    parts.append(Text(Markup("The lines of all sections work on <code>table</code>, which these lines make:")))
    parts.append(Text(Markup('<span class="lines">{}</span>').format("\n".join(code(sample, origin)))))
    parts.append(Grid("Versions", ["package", "version"], used))
    return Section("how", "How to repeat this", opening, parts)


def code(sample: Sample, origin: Origin) -> list[str]:
    """Return the lines that make the rows and columns that the models used."""
    packages = "pathlib, numpy, hiddenbits" if "pathlib." in origin.opening else "numpy, hiddenbits"
    lines = [f"import {packages}", f"table = {origin.opening}"]
    every, columns = sample.look.n_rows, sample.look.n_columns
    if sample.groups is not None:
        lines.append(f"groups = numpy.asarray([str(label) for label in {origin.labels}])")
    if sample.limited:
        lines.append("seen = hiddenbits.evaluate.describe(table)")
        lines.append("varied = numpy.nan_to_num(seen.means * (1 - seen.means) * seen.observed)")
    if not sample.every_row:
        chosen = f"numpy.random.default_rng({sample.seed}).choice({every}, {len(sample.rows)}, replace=False)"
        lines += [f"rows = numpy.sort({chosen})", "table = hiddenbits.tables.take_rows(table, rows)"]
        lines += ["groups = groups[rows]"] if sample.groups is not None else []
    lines.append("table = table.to_float()")
    if sample.limited:
        most = f'numpy.argsort(-varied, kind="stable")[:{MOST_COLUMNS}]'
        lines.append(f"table = table[:, numpy.sort({most})]")
    if sample.limited or len(sample.names) + len(sample.answers) < columns:
        lines.append("table = table[:, numpy.nanmin(table, axis=0) < numpy.nanmax(table, axis=0)]")
    if sample.answers:
        places = np.searchsorted(np.union1d(sample.columns, sample.answers), sample.answers).tolist()
        lines.append(f"table = numpy.delete(table, {places}, axis=1)  # answers to one question")
    return lines
