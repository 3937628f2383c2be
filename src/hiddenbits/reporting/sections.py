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

Step = Callable[[str, float], None]  # called with the current step and the share of the work that is done

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


def make_sections(context: Context, step: Step) -> tuple[Findings, list[Section]]:
    """Return the findings and the sections."""
    if context.sample.enough_data:
        _ = context.fits.compared  # reports its own progress
    step("summarizing the findings", 0.0)
    findings = find(context)
    chosen = supported_sections(context) | {finding.evidence for finding in findings.findings}
    keys = [key for key in KEYS if key in chosen]
    sections = []
    for number, key in enumerate(keys, 1):
        step("drawing the evidence", 0.5 + 0.5 * number / len(keys))
        sections.append(odd_rows(context, findings) if key == "odd" else MAKERS[key](context))
    return findings, sections


def supported_sections(context: Context) -> set[str]:
    """Return the keys of the sections that apply to the table and the chosen models."""
    keys = {"table", "how"}
    if not context.sample.enough_data:
        return keys
    keys.add("which")
    if context.fits.no_structure:
        return keys
    fit = described_fit(context)
    model_name = "" if fit is None else fit.name
    n_dimensions = 0 if fit is None or model_name not in DIMENSIONAL else len(fit.model.components_)
    by_section = {
        "map": True,
        "odd": True,
        "groups": context.by is not None,
        "classes": model_name == "LatentClassAnalysis",
        "items": n_dimensions == 1,
        "causes": model_name in CAUSES,
        "cells": bool(possible_errors(context)[1]),
        "blanks": bool(np.isnan(context.sample.cells).any()),
    }
    return keys | {key for key, is_wanted in by_section.items() if is_wanted}
