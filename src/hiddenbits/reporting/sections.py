"""Which sections of evidence a report has: those of the model that the findings describe, and what findings name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hiddenbits.reporting.about import about, methods
from hiddenbits.reporting.anomalies import blanks, doubtful_cells, odd_rows
from hiddenbits.reporting.causes import causes
from hiddenbits.reporting.comparison import comparison
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings import Findings, find
from hiddenbits.reporting.findings.finding import described_fit
from hiddenbits.reporting.findings.groups import DIMENSIONAL
from hiddenbits.reporting.findings.misfit import possible_errors
from hiddenbits.reporting.fits import CAUSES
from hiddenbits.reporting.groups import groups
from hiddenbits.reporting.pairs import pairs
from hiddenbits.reporting.profiles import classes, items
from hiddenbits.reporting.row_map import chart
from hiddenbits.reporting.text import KEYS, Section

Step = Callable[[str, float], None]  # the words, and the share of the work that is done

MAKERS: dict[str, Callable[[Context], Section]] = {
    "table": about,
    "which": comparison,
    "map": chart,
    "groups": groups,
    "classes": classes,
    "items": items,
    "causes": causes,
    "pairs": pairs,
    "cells": doubtful_cells,
    "blanks": blanks,
    "how": methods,
}


def made(context: Context, step: Step) -> tuple[Findings, list[Section]]:
    """Return the findings and the sections."""
    if context.sample.worth_it:
        _ = context.fits.compared  # reports its own progress
    step("summarizing the findings", 0.0)
    findings = find(context)
    wanted = supported(context) | {finding.evidence for finding in findings.findings}
    keys = [key for key in KEYS if key in wanted]
    sections = []
    for number, key in enumerate(keys, 1):
        step("drawing the evidence", 0.5 + 0.5 * number / len(keys))
        sections.append(odd_rows(context, findings) if key == "odd" else MAKERS[key](context))
    return findings, sections


def supported(context: Context) -> set[str]:
    """Return the sections that the table and the chosen models support; where nothing is hidden, these are few."""
    keys = {"table", "how"}
    if not context.sample.worth_it:
        return keys
    keys.add("which")
    if context.fits.doubtful:
        return keys
    fit = described_fit(context)
    shown = "" if fit is None else fit.name
    scales = 0 if fit is None or shown not in DIMENSIONAL else len(fit.model.components_)
    wanted = {
        "map": True,
        "odd": True,
        "groups": context.by is not None,
        "classes": shown == "LatentClassAnalysis",
        "items": scales == 1,
        "causes": shown in CAUSES,
        "cells": bool(possible_errors(context)[1]),
        "blanks": bool(np.isnan(context.sample.cells).any()),
    }
    return keys | {key for key, yes in wanted.items() if yes}
