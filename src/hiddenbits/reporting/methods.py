"""The last section, how each figure was computed: versions, seed, lines of code."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import version

from markupsafe import Markup

from hiddenbits import __version__
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.elements import Grid, Part, Section, Text
from hiddenbits.reporting.text import count, sentence


def methods(context: Context, sections: Sequence[Section]) -> Section:
    """List what was computed, with the line of Python that reproduces it."""
    sample = context.sample
    opening = sentence(
        "Everything here was computed from {} by hiddenbits {}; the same seed ({}) and versions give the same report.",
        count(sample.look.n_rows, "row"),
        __version__,
        sample.seed,
    )
    used = [("Python", platform.python_version()), ("hiddenbits", __version__)]
    used += [(package, version(package)) for package in ("numpy", "scipy", "scikit-learn", "jinja2")]
    lines = [
        [section.title, what, Markup("<code>{}</code>").format(line)]
        for section in sections
        for what, line in section.how
    ]
    drawn = (
        "`table` is the whole table."
        if sample.every_row
        else f"`table` is a sample of {len(sample.rows):,} rows, drawn by numpy.random.default_rng({sample.seed})."
    )
    parts: list[Part] = [
        Grid("What was computed", ["section", "what", "in Python"], lines),
        Text(sentence("{} Constant columns are left out.", drawn)),
        Grid("Versions", ["package", "version"], used),
    ]
    return Section("how", "How each figure was computed", opening, parts, opened=False)
