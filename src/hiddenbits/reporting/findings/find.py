"""`find`: everything that a report says first."""

from __future__ import annotations

from collections.abc import Callable

from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.announced import how_many
from hiddenbits.reporting.findings.connections import connections
from hiddenbits.reporting.findings.described import described
from hiddenbits.reporting.findings.directions import directions
from hiddenbits.reporting.findings.finding import Finding, Findings
from hiddenbits.reporting.findings.groups import groups
from hiddenbits.reporting.findings.kinds import causes, kinds
from hiddenbits.reporting.findings.misfit import cells, odd_rows, pairs
from hiddenbits.reporting.findings.missing import missing
from hiddenbits.reporting.findings.next_steps import next_steps
from hiddenbits.reporting.findings.opening import about_coding, about_picture, about_table
from hiddenbits.reporting.fits import Fit

MOST, MOST_HIDDEN = 6, 3  # findings in all, and about kinds, scales or causes
HIDDEN: dict[str, Callable[[Context, Fit], list[Finding]]] = {
    "LatentClassAnalysis": kinds,
    "LogisticPCA": directions,
    "ClippedPCA": directions,
    "CombinationMachine": causes,
    "NoisyOrNetwork": causes,
}


def find(context: Context) -> Findings:
    """Return the findings of a table.

    First comes what the chosen model says: kinds of rows, directions, or causes (where the columns are only weakly
    connected, the strongest pairs come before it); then the groups that were asked for; then what does not fit, and
    what is missing. If no model is clearly better than independent columns there are no
    findings at all. A model whose fit did not converge is not described (`described`).

    Parameters
    ----------
    context : Context
        The sampled rows and the models.

    Returns
    -------
    findings : Findings
    """
    table, numbers = about_table(context)
    picture, more = about_picture(context)
    found: list[Finding] = []
    if context.sample.worth_it and not context.fits.doubtful:
        fit = described(context)
        simple = bool(more.get("simple", 1))
        units = [] if fit is None or not simple else HIDDEN[fit.name](context, fit)
        hidden = (connections(context) if more.get("weak") or not simple else []) + units
        others = [] if fit is None or context.by is None else groups(context, fit)
        others += [one for what in (pairs, odd_rows, cells, missing) for one in what(context)]
        found = [*hidden[: max(1, min(MOST_HIDDEN, MOST - len(others)))], *others][:MOST]
        if fit is not None and simple:
            said, more["described"] = how_many(fit.name, int(more["size"]), units, [u for u in units if u in found])
            picture += said
    coding, ones = about_coding(context)
    return Findings(table, picture, tuple(found), next_steps(context, found), numbers | more, coding, ones)
