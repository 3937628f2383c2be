"""`find`: everything that a report begins with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from os.path import commonprefix

from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.directions import connections, directions
from hiddenbits.reporting.findings.finding import Finding, Findings, described
from hiddenbits.reporting.findings.groups import groups
from hiddenbits.reporting.findings.misfit import cells, missing, odd_rows, pairs
from hiddenbits.reporting.findings.opening import about_coding, about_picture, about_table, how_many
from hiddenbits.reporting.findings.units import causes, classes
from hiddenbits.reporting.fits import Fit
from hiddenbits.reporting.text import quoted

MOST, MOST_HIDDEN = 6, 3  # findings in all, and about classes, dimensions or causes
HIDDEN: dict[str, Callable[[Context, Fit], list[Finding]]] = {
    "LatentClassAnalysis": classes,
    "LogisticPCA": directions,
    "ClippedPCA": directions,
    "CombinationMachine": causes,
    "NoisyOrNetwork": causes,
}


def find(context: Context) -> Findings:
    """Return the findings of a table.

    The classes, dimensions or causes of the chosen model come first (if the columns are only weakly associated, after
    the strongest pairs), then the groups of `by`, then misfit and missing values. If no model is clearly better than
    independent columns, there are no findings. A model whose fit did not converge is not described (`described`).

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
    findings: list[Finding] = []
    if context.sample.worth_it and not context.fits.doubtful:
        fit = described(context)
        simple = bool(more.get("simple", 1))
        units = [] if fit is None or not simple else HIDDEN[fit.name](context, fit)
        hidden = (connections(context) if more.get("weak") or not simple else []) + units
        others = [] if fit is None or context.by is None else groups(context, fit)
        others += [one for find_misfit in (pairs, odd_rows, cells, missing) for one in find_misfit(context)]
        findings = [*hidden[: max(1, min(MOST_HIDDEN, MOST - len(others)))], *others][:MOST]
        if fit is not None and simple:
            shown = [unit for unit in units if unit in findings]
            which, more["described"] = how_many(fit.name, int(more["size"]), units, shown)
            picture += which
    coding, ones = about_coding(context)
    return Findings(table, picture, tuple(findings), next_steps(context, findings), numbers | more, coding, ones)


# What to do next: a command or a line of Python, and why.

MOST_NAMED = 3  # columns for which a command has an option each
WHAT = {
    "LatentClassAnalysis": "the probability of each class for every row",
    "LogisticPCA": "the latent position of every row",
    "ClippedPCA": "the latent position of every row",
    "CombinationMachine": "which hidden units are active in every row",
    "NoisyOrNetwork": "which causes are present in every row",
}


def next_steps(context: Context, findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return what to do next, the most useful first."""
    if not context.sample.worth_it:
        return ("Collect more rows, or columns that vary.",)
    compared, (origin, every_column) = context.fits.compared, context.origin_of_models
    comparing = f"`{origin.compare(context.sample.seed)}`"
    if context.fits.doubtful:
        return (
            "Stop here, or collect more rows: a weak association between columns is detected only with many rows.",
            f"{comparing} shows the score of each model.",
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
    topics = {finding.kind for finding in findings}
    if len(compared.ties()) > 1:
        steps.append(f"{comparing} shows how close the tied models are; only more rows can separate them.")
    if topics & {"odd_rows", "cells"}:
        named = " and ".join(word for word, topic in (("rows", "odd_rows"), ("cells", "cells")) if topic in topics)
        steps.append(f"Check the {named} that are named above at their source before any further analysis.")
    if "pairs" in topics:
        option = "`drop=[...]` of `open_table`" if origin.options is None else "`--drop COLUMN`"
        steps.append(f"If two associated columns measure the same thing, exclude one ({option}), and run this again.")
    if "missing" in topics:
        steps.append(f"`{origin.completed()}` imputes the missing values by probabilities.")
    return (*steps, *origin.notes)


def _other_code(context: Context) -> list[str]:
    """Return how to code the smaller of two numbers as 1: it may mean yes, and the other no."""
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
    """Return how the fit differs from that of the report, if it does: more rows, or more columns."""
    sample = context.sample
    more = [] if sample.every_row else [f"all {sample.look.n_rows:,} rows (the report used {len(sample.rows):,})"]
    if not every_column:
        more.append(f"all {sample.look.n_columns:,} columns (the report used {len(sample.names):,})")
    return f", fitted to {' and '.join(more)}" if more else ""
