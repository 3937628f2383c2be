"""The first section, a summary of the table, and the last one, how to reproduce the report."""

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
from hiddenbits.reporting.text import Paragraph, Part, Section, TextTable, count, name, names, percent, sentence

MAX_SHOWN = 40  # columns in the open table; a table of more is folded


def about(context: Context) -> Section:
    """Summarize the table."""
    summary = context.sample.summary
    cells = max(1, int(summary.observed.sum()))
    share, missing = summary.n_ones / cells, summary.n_blank / (summary.n_rows * summary.n_columns)
    values, (coding, _) = context.sample.all_values, about_coding(context)
    opening = sentence(
        "This table has {} and {} {}: {} of the observed cells are {}, and {}.{}",
        count(summary.n_rows, "row"),
        count(summary.n_columns, "column"),
        "with two values each" if coding else "that are each 1 (yes) or 0 (no)",
        percent(share),
        values.one if coding else values.ones,
        f"{percent(missing)} of all cells are missing" if summary.n_blank else "no cell is missing",
        f" {coding}" if coding else "",
    )
    approximate = "" if summary.different_exact else "about "
    facts: list[list[object]] = [
        ["rows", f"{summary.n_rows:,}"],
        ["columns", f"{summary.n_columns:,}"],
        [values.ones, f"{summary.n_ones:,} ({percent(share)} of observed cells)"],
        [f"most {values.ones} in a row", f"{summary.most_ones:,}"],
        ["distinct rows", f"{approximate}{summary.n_different:,} ({percent(summary.n_different / summary.n_rows)})"],
        ["missing values", summary.about_blanks],
    ]
    if summary.blank_rows:
        facts.append(["rows without any observed cell", f"{summary.blank_rows:,}"])
    if summary.constant_columns:
        facts.append(["constant columns, the same in every row", names(summary.constant_columns, 8)])
    if context.sample.beside:
        facts.append(["other columns, used for colors and labels", names(context.sample.beside, 8)])
    parts: list[Part] = [TextTable("The table in numbers", ["", ""], facts)]
    order = np.argsort(-np.nan_to_num(summary.means), kind="stable")
    heads = ["column", values.share, "", values.ones, "observed"]
    lines: list[list[object]] = [
        [
            name(values.names[j]),
            percent(float(summary.means[j])),
            bar(float(summary.means[j])),
            f"{summary.ones[j]:,}",
            f"{summary.observed[j]:,}",
        ]
        for j in order
    ]
    numeric = frozenset({1, 3, 4})
    varying = [line for line, j in zip(lines, order, strict=True) if 0 < summary.ones[j] < summary.observed[j]]
    if len(lines) <= MAX_SHOWN:
        parts.append(TextTable(f"The columns, those with the most {values.ones} first", heads, lines, numeric))
    else:
        parts.append(
            TextTable(f"The columns with the most {values.ones} that vary", heads, varying[: MAX_SHOWN // 2], numeric)
        )
        max_rows = 1000
        caption = f"The {max_rows:,} columns with the most {values.ones}"
        caption = f"All {len(lines):,} columns" if len(lines) <= max_rows else caption
        parts.append(TextTable(caption, heads, lines[:max_rows], numeric, folded=True))
    how = [("counts", f"hiddenbits.evaluate.describe({context.origin.opening})")]
    return Section("table", "The table and its columns", opening, parts, how, every_row=True)


# The last section: the code that makes `table`, and the versions.


def methods(context: Context) -> Section:
    """Describe how to reproduce the values."""
    sample = context.sample
    origin = context.origin
    opening = sentence(
        "The same table, seed ({}) and versions give the same report, but for the date. Every section ends with the "
        "lines of Python that reproduce its values.",
        sample.seed,
    )
    call_text = Markup('This {} made the report: <span class="lines"><code>{}</code></span>')
    used = [("Python", platform.python_version()), ("hiddenbits", __version__)]
    used += [(package, version(package)) for package in ("numpy", "scipy", "scikit-learn", "jinja2")]
    parts: list[Part] = [Paragraph(call_text.format("call" if origin.options is None else "command", origin.call))]
    parts += [Paragraph(Markup("{}").format(note)) for note in origin.notes]
    parts += [Paragraph(note) for note in sample.about()]
    parts.append(Paragraph(Markup("The code of all sections uses <code>table</code>, which these lines make:")))
    parts.append(Paragraph(Markup('<span class="lines">{}</span>').format("\n".join(code(sample, origin)))))
    parts.append(TextTable("Versions", ["package", "version"], used))
    return Section("how", "How to reproduce this", opening, parts)


def code(sample: Sample, origin: Origin) -> list[str]:
    """Return the lines of Python that select the rows and columns that the models used."""
    packages = "pathlib, numpy, hiddenbits" if "pathlib." in origin.opening else "numpy, hiddenbits"
    lines = [f"import {packages}", f"table = {origin.opening}"]
    n_rows, columns = sample.summary.n_rows, sample.summary.n_columns
    if sample.groups is not None:
        lines.append(f"groups = numpy.asarray([str(label) for label in {origin.labels}])")
    if sample.limited:
        lines.append("summary = hiddenbits.evaluate.describe(table)")
        lines.append("varied = numpy.nan_to_num(summary.means * (1 - summary.means) * summary.observed)")
    if not sample.every_row:
        chosen = f"numpy.random.default_rng({sample.seed}).choice({n_rows}, {len(sample.rows)}, replace=False)"
        lines += [f"rows = numpy.sort({chosen})", "table = hiddenbits.tables.take_rows(table, rows)"]
        lines += ["groups = groups[rows]"] if sample.groups is not None else []
    lines.append("table = table.to_float()")
    if sample.limited:
        chosen_columns = f'numpy.argsort(-varied, kind="stable")[:{MOST_COLUMNS}]'
        lines.append(f"table = table[:, numpy.sort({chosen_columns})]")
    if sample.limited or len(sample.names) + len(sample.answers) < columns:
        lines.append("table = table[:, numpy.nanmin(table, axis=0) < numpy.nanmax(table, axis=0)]")
    if sample.answers:
        columns_to_drop = np.searchsorted(np.union1d(sample.columns, sample.answers), sample.answers).tolist()
        lines.append(f"table = numpy.delete(table, {columns_to_drop}, axis=1)  # answers to one question")
    return lines
