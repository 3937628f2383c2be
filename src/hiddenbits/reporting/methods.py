"""The last section: what `table` is in the lines of code, and the versions."""

from __future__ import annotations

import platform
from importlib.metadata import version

from markupsafe import Markup

from hiddenbits import __version__
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.elements import Grid, Part, Section, Text
from hiddenbits.reporting.sample import MOST_COLUMNS, Sample
from hiddenbits.reporting.text import sentence


def methods(context: Context) -> Section:
    """Say how to repeat the figures."""
    sample = context.sample
    opening = sentence(
        "Every section ends with the lines of Python that repeat its figures. The same table, seed ({}) and versions "
        "give the same report.",
        sample.seed,
    )
    used = [("Python", platform.python_version()), ("hiddenbits", __version__)]
    used += [(package, version(package)) for package in ("numpy", "scipy", "scikit-learn", "jinja2")]
    parts: list[Part] = [Text(said) for said in sample.about()]
    parts.append(Text(Markup("The lines of all sections work on <code>table</code>, which these lines make:")))
    parts.append(Text(Markup('<span class="lines">{}</span>').format("\n".join(code(sample)))))
    parts.append(Grid("Versions", ["package", "version"], used))
    return Section("how", "How to repeat this", opening, parts)


def code(sample: Sample) -> list[str]:
    """Return the lines that make the rows and columns that the models used."""
    lines = ["import numpy, hiddenbits", "table = hiddenbits.open_table(...)  # your table"]
    every, columns = sample.look.n_rows, sample.look.n_columns
    limited = len(sample.look.constant_columns) + MOST_COLUMNS < columns
    if limited:
        lines.append("seen = hiddenbits.evaluate.look(table)")
        lines.append("varied = numpy.nan_to_num(seen.means * (1 - seen.means) * seen.observed)")
    if not sample.every_row:
        chosen = f"numpy.random.default_rng({sample.seed}).choice({every}, {len(sample.rows)}, replace=False)"
        lines += [f"rows = numpy.sort({chosen})", "table = hiddenbits.take_rows(table, rows)"]
    lines.append("table = table.to_float()")
    if limited:
        most = f'numpy.argsort(-varied, kind="stable")[:{MOST_COLUMNS}]'
        lines.append(f"table = table[:, numpy.sort({most})]")
    if limited or len(sample.names) < columns:
        lines.append("table = table[:, numpy.nanmin(table, axis=0) < numpy.nanmax(table, axis=0)]")
    return lines
