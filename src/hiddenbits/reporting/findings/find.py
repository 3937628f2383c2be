"""`find`: the summary, the findings and the next steps, with which a report begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from os.path import commonprefix

from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.directions import connections, directions
from hiddenbits.reporting.findings.finding import Finding, Findings, described_fit
from hiddenbits.reporting.findings.groups import groups
from hiddenbits.reporting.findings.misfit import cells, missing, odd_rows, pairs
from hiddenbits.reporting.findings.opening import about_coding, about_model, about_table, how_many
from hiddenbits.reporting.findings.units import causes, classes
from hiddenbits.reporting.fits import Fit
from hiddenbits.reporting.text import quoted

MAX_FINDINGS, MAX_ON_STRUCTURE = 6, 3  # number of findings: all, and those about classes, dimensions or causes
STRUCTURE_FINDERS: dict[str, Callable[[Context, Fit], list[Finding]]] = {
    "LatentClassAnalysis": classes,
    "LogisticPCA": directions,
    "ClippedPCA": directions,
    "CombinationMachine": causes,
    "NoisyOrNetwork": causes,
}


def find(context: Context) -> Findings:
    """Return the findings of a table.

    The order: the strongest pairs if the columns are only weakly associated; the classes, dimensions or causes of the
    chosen model; the groups of `by`; misfit; missing values. If no model is clearly better than
    independent columns, there are no findings. A model whose fit did not converge is not described (`described_fit`).

    Parameters
    ----------
    context : Context
        The sampled rows and the models.

    Returns
    -------
    findings : Findings
    """
    table, numbers = about_table(context)
    picture, more = about_model(context)
    findings: list[Finding] = []
    if context.sample.enough_data and not context.fits.no_structure:
        fit = described_fit(context)
        simple = bool(more.get("simple", 1))
        on_units = [] if fit is None or not simple else STRUCTURE_FINDERS[fit.name](context, fit)
        on_structure = (connections(context) if more.get("weak") or not simple else []) + on_units
        others = [] if fit is None or context.by is None else groups(context, fit)
        others += [one for find_misfit in (pairs, odd_rows, cells, missing) for one in find_misfit(context)]
        findings = [*on_structure[: max(1, min(MAX_ON_STRUCTURE, MAX_FINDINGS - len(others)))], *others][:MAX_FINDINGS]
        if fit is not None and simple:
            shown_units = [unit for unit in on_units if unit in findings]
            sentence, more["described"] = how_many(fit.name, int(more["size"]), on_units, shown_units)
            picture += sentence
    coding, ones = about_coding(context)
    return Findings(table, picture, tuple(findings), next_steps(context, findings), numbers | more, coding, ones)


# What to do next: a command or a line of Python, and why.

MAX_OPTIONS = 3  # columns that a printed command recodes one by one
MODEL_OUTPUT = {
    "LatentClassAnalysis": "the probability of each class for every row",
    "LogisticPCA": "the latent position of every row",
    "ClippedPCA": "the latent position of every row",
    "CombinationMachine": "which hidden units are active in every row",
    "NoisyOrNetwork": "which causes are present in every row",
}


def next_steps(context: Context, findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return what to do next, the most useful first."""
    if not context.sample.enough_data:
        return ("Collect more rows, or columns that vary.",)
    compared, (origin, every_column) = context.fits.compared, context.origin_of_models
    compare_code = f"`{origin.compare(context.sample.seed)}`"
    if context.fits.no_structure:
        return (
            "Stop here, or collect more rows: a weak association between columns is detected only with many rows.",
            f"{compare_code} shows the score of each model.",
            *origin.notes,
        )
    fit = described_fit(context)
    entry = compared.entry(compared.best if fit is None else fit.name)
    steps = [
        f"`{origin.fit(entry.model, entry.size, context.sample.seed)}` keeps this "
        f"model{_other_data(context, every_column)}. Then `{origin.codes()}` "
        f"{'gives' if origin.options is None else 'writes'} {MODEL_OUTPUT.get(entry.model, 'its code for every row')}."
    ]
    steps += _recoding_step(context)
    topics = {finding.kind for finding in findings}
    if len(compared.ties()) > 1:
        steps.append(f"{compare_code} shows how close the tied models are; only more rows can separate them.")
    if topics & {"odd_rows", "cells"}:
        parts = " and ".join(word for word, topic in (("rows", "odd_rows"), ("cells", "cells")) if topic in topics)
        steps.append(f"Check the {parts} that are named above at their source before any further analysis.")
    if "pairs" in topics:
        option = "`drop=[...]` of `open_table`" if origin.options is None else "`--drop COLUMN`"
        steps.append(f"If two associated columns measure the same thing, exclude one ({option}), and run this again.")
    if "missing" in topics:
        steps.append(f"`{origin.completed()}` imputes the missing values by probabilities.")
    return (*steps, *origin.notes)


def _recoding_step(context: Context) -> list[str]:
    """Suggest a command that codes the smaller of two codes as 1, in case it means yes and the larger one no."""
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
    options, note = columns, ""
    if len(columns) > 1 and {name for name in names if fnmatchcase(name, pattern)} == set(columns):
        options = [pattern]
    elif len(columns) > MAX_OPTIONS:
        options, note = columns[:1], f", with the same for each of these {len(columns)} columns"
    these = f"in these {len(columns)} columns" if len(columns) > 1 else f"in {quoted(columns[0])}"
    return [f"If {low} means yes {these}, and not {high}, run `{context.origin.recoded(options, low)}`{note}."]


def _other_data(context: Context, every_column: bool) -> str:
    """Return which rows and columns the command fits the model to, if they are not those of the report."""
    sample = context.sample
    data = [] if sample.every_row else [f"all {sample.summary.n_rows:,} rows (the report used {len(sample.rows):,})"]
    if not every_column:
        data.append(f"all {sample.summary.n_columns:,} columns (the report used {len(sample.names):,})")
    return f", fitted to {' and '.join(data)}" if data else ""
