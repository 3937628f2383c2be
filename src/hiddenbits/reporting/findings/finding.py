"""A finding: a sentence, the numbers in it, and the section that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from hiddenbits.reporting.context import Context
from hiddenbits.reporting.fits import Fit

Kind = Literal[
    "picture",
    "connections",
    "classes",
    "directions",
    "causes",
    "pairs",
    "odd_rows",
    "cells",
    "missing",
    "groups",
    "nothing",
]
Number = float | int | str


@dataclass(frozen=True)
class Finding:
    """One finding about a table.

    Attributes
    ----------
    kind : str
        What it is about.
    sentence : str
        Plain text (not markup: the page escapes it), which contains names and cells of the table.
    numbers : dict
        Every number in the sentence, by name and before rounding.
    drawing : str
        A small SVG of about 220 x 90, or "".
    evidence : str
        The section that shows the evidence: "table", "map", "classes", "causes", "pairs", "odd", "cells", "blanks",
        "groups" or "which".
    rows, of_rows : int
        The number of rows on which the finding is based, and the number in the table.
    title : str
        Two to five words, such as "Class 1 of 3: 40%".
    names_rows : bool
        Whether the sentence names individual rows. `find` returns no such finding for a report without rows.
    """

    kind: Kind
    sentence: str
    numbers: Mapping[str, Number]
    drawing: str
    evidence: str
    rows: int
    of_rows: int
    title: str = ""
    names_rows: bool = False


@dataclass(frozen=True)
class Findings:
    """The summary, the findings and the next steps, with which a report begins.

    Attributes
    ----------
    table : str
        Summary of the table, in a sentence.
    picture : str
        The model that fits and how certain that is, in a sentence or two.
    findings : tuple of Finding
        The most important first, at most six; empty if no model beats independent columns.
    next_steps : tuple of str
        What to do next: each is a sentence with a command or a line of Python between backticks.
    numbers : dict
        The numbers in `table` and `picture`, by name.
    coding : str
        Which values of the table are 1, in a sentence; empty if the table has 0 and 1.
    ones : dict of str
        By column, the value that is coded as 1, if it is not 1 itself.
    """

    table: str
    picture: str
    findings: tuple[Finding, ...] = ()
    next_steps: tuple[str, ...] = ()
    numbers: Mapping[str, Number] = field(default_factory=dict)
    coding: str = ""
    ones: Mapping[str, str] = field(default_factory=dict)


# Which of the tied models the findings describe.

# A hidden unit raises some columns and lowers others, which takes many words: classes or dimensions are easier to
# describe, so a tied model that has these is preferred.
HARD_TO_READ = "CombinationMachine"
READABLE = ("LatentClassAnalysis", "LogisticPCA", "ClippedPCA", "NoisyOrNetwork", HARD_TO_READ)


def described_fit(context: Context) -> Fit | None:
    """Return the chosen model, or a tied one if it is hard to read or did not converge; None if none converged."""
    compared = context.fits.compared
    tied = sorted((name for name in compared.ties() if name in READABLE), key=READABLE.index)
    order = [compared.best, *tied]
    if compared.best == HARD_TO_READ:
        order = tied
    for name in order:
        fit = context.fits.of(name, compared.entry(name).size)
        if not fit.note:
            return fit
    return None
