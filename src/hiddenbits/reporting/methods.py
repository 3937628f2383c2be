"""The last section: what `table` is in the lines of code, and the versions."""

from __future__ import annotations

import platform
from importlib.metadata import version

import numpy as np
from markupsafe import Markup

from hiddenbits import __version__
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.elements import Grid, Part, Section, Text
from hiddenbits.reporting.origin import Origin
from hiddenbits.reporting.sample import MOST_COLUMNS, Sample
from hiddenbits.reporting.text import sentence


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
        lines.append("seen = hiddenbits.evaluate.look(table)")
        lines.append("varied = numpy.nan_to_num(seen.means * (1 - seen.means) * seen.observed)")
    if not sample.every_row:
        chosen = f"numpy.random.default_rng({sample.seed}).choice({every}, {len(sample.rows)}, replace=False)"
        lines += [f"rows = numpy.sort({chosen})", "table = hiddenbits.take_rows(table, rows)"]
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
