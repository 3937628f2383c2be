"""`find`: everything that a report says first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from os.path import commonprefix

from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.directions import connections, directions
from hiddenbits.reporting.findings.finding import Finding, Findings, described
from hiddenbits.reporting.findings.groups import groups
from hiddenbits.reporting.findings.kinds import causes, kinds
from hiddenbits.reporting.findings.misfit import cells, missing, odd_rows, pairs
from hiddenbits.reporting.findings.opening import about_coding, about_picture, about_table, how_many
from hiddenbits.reporting.fits import Fit
from hiddenbits.reporting.text import quoted

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


# What to do next: a command or a line of Python, and why.

MOST_NAMED = 3  # columns for which a command has an option each
WHAT = {
    "LatentClassAnalysis": "the probability of each kind for every row",
    "LogisticPCA": "the place of every row",
    "ClippedPCA": "the place of every row",
    "CombinationMachine": "which influences are active in every row",
    "NoisyOrNetwork": "which causes are present in every row",
}


def next_steps(context: Context, found: Sequence[Finding]) -> tuple[str, ...]:
    """Return what to do next, the most useful first."""
    if not context.sample.worth_it:
        return ("Collect more rows, or columns that vary.",)
    compared, (origin, every_column) = context.fits.compared, context.origin_of_models
    comparing = f"`{origin.compare(context.sample.seed)}`"
    if context.fits.doubtful:
        return (
            "Stop here, or collect more rows: a weak connection between columns shows only in many rows.",
            f"{comparing} shows how close each model came.",
            *origin.notes,
        )
    fit = described(context)
    best = compared.entry(compared.best if fit is None else fit.name)
    steps = [
        f"`{origin.fit(best.model, best.size, context.sample.seed)}` keeps this "
        f"model{_more(context, every_column)}. Then `{origin.codes()}` "
        f"{'gives' if origin.options is None else 'writes'} {WHAT.get(best.model, 'its code for every row')}."
    ]
    steps += _other_code(context)
    kinds = {one.kind for one in found}
    if len(compared.ties()) > 1:
        steps.append(f"{comparing} shows how close the tied models are; only more rows can separate them.")
    if kinds & {"odd_rows", "cells"}:
        named = " and ".join(word for word, kind in (("rows", "odd_rows"), ("cells", "cells")) if kind in kinds)
        steps.append(
            f"Check the {named} that are named above at their source before anything else is computed from them."
        )
    if "pairs" in kinds:
        option = "`drop=[...]` of `open_table`" if origin.options is None else "`--drop COLUMN`"
        steps.append(
            f"If two columns that belong together ask the same thing, leave one out ({option}), and run this again."
        )
    if "missing" in kinds:
        steps.append(f"`{origin.completed()}` fills in the blanks with probabilities.")
    return (*steps, *origin.notes)


def _other_code(context: Context) -> list[str]:
    """Return how to count the smaller of two codes as yes: 1 may mean yes, and 2 no."""
    table = context.table
    if table is None or table.coding is None or not table.coding.named:
        return []
    by_codes: dict[tuple[str, ...], list[str]] = {}
    for meaning in table.coding.meanings:
        if len(meaning.codes) == 2 and meaning.one == meaning.codes[1]:
            by_codes.setdefault(meaning.codes, []).append(meaning.column)
    if not by_codes:
        return []
    (low, high), columns = max(by_codes.items(), key=lambda group: len(group[1]))
    names = [*(column.name for column in table.coding.columns), *table.coding.excluded]
    pattern = f"{commonprefix(columns)}*"  # noqa: RUF071  (of texts, not of paths)
    named, more = columns, ""
    if len(columns) > 1 and {name for name in names if fnmatchcase(name, pattern)} == set(columns):
        named = [pattern]
    elif len(columns) > MOST_NAMED:
        named, more = columns[:1], f", with the same for each of these {len(columns)} columns"
    where = f"in these {len(columns)} columns" if len(columns) > 1 else f"in {quoted(columns[0])}"
    return [f"If {low} means yes {where}, and not {high}, run `{context.origin.recoded(named, low)}`{more}."]


def _more(context: Context, every_column: bool) -> str:
    """Return what sets the fit apart from the report's own, if anything: more rows, or more columns."""
    sample = context.sample
    more = [] if sample.every_row else [f"all {sample.look.n_rows:,} rows (the report used {len(sample.rows):,})"]
    if not every_column:
        more.append(f"all {sample.look.n_columns:,} columns (the report used {len(sample.names):,})")
    return f", fitted to {' and '.join(more)}" if more else ""
