"""What to do next: a command or a line of Python, and why."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from fnmatch import fnmatchcase
from os.path import commonprefix

from hiddenbits import evaluate
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.described import described
from hiddenbits.reporting.findings.finding import Finding
from hiddenbits.reporting.text import quoted

MOST_NAMED = 3  # columns for which a command has an option each
WHAT = {
    "BernoulliMixture": "the probability of each kind for every row",
    "LogisticPCA": "the place of every row",
    "ClippedPCA": "the place of every row",
    "CombinationMachine": "which influences are active in every row",
    "NoisyOrNetwork": "which causes are present in every row",
}


def next_steps(context: Context, found: Sequence[Finding]) -> tuple[str, ...]:
    """Return what to do next, the most useful first."""
    if not context.sample.worth_it:
        return ("Collect more rows, or columns that vary.",)
    compared, table = context.fits.compared, context.argument
    if context.fits.doubtful:
        return (
            "Stop here, or collect more rows: a weak connection between columns shows only in many rows.",
            f"`hiddenbits compare {table}` prints how close each model came.",
        )
    fit = described(context)
    best = compared.entry(compared.best if fit is None else fit.name)
    family = evaluate.known_families()[best.model]
    size = f" --size {best.size}" if best.size else ""
    steps = [
        f"`hiddenbits fit {table} {family.word}{size} --out model.hb` keeps this model, fitted to all rows; in Python "
        f"`hiddenbits.load('model.hb').transform(table)` then gives {WHAT.get(best.model, 'its code for every row')}."
    ]
    steps += _other_code(context)
    kinds = {one.kind for one in found}
    if len(compared.ties()) > 1:
        steps.append(
            f"`hiddenbits compare {table}` shows how close the tied models are; only more rows can separate them."
        )
    if kinds & {"odd_rows", "cells"}:
        named = " and ".join(word for word, kind in (("rows", "odd_rows"), ("cells", "cells")) if kind in kinds)
        steps.append(
            f"Check the {named} that are named above at their source before anything else is computed from them."
        )
    if "pairs" in kinds:
        steps.append(
            "If two columns that belong together ask the same thing, leave one out (`--drop COLUMN`), and run this "
            "again."
        )
    if "missing" in kinds:
        file = shlex.quote(context.file)  # columns are read as the model read them, without options
        steps.append(f"`hiddenbits complete {file} model.hb --out filled.csv` fills in the blanks with probabilities.")
    return tuple(steps)


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
    names = [*(column.name for column in table.coding.columns), *table.coding.left_out]
    pattern = f"{commonprefix(columns)}*"  # noqa: RUF071  (of texts, not of paths)
    named, more = columns, ""
    if len(columns) > 1 and {name for name in names if fnmatchcase(name, pattern)} == set(columns):
        named = [pattern]
    elif len(columns) > MOST_NAMED:
        named, more = columns[:1], f", with a `--code` for each of these {len(columns)} columns"
    options = " ".join(f"--code {shlex.quote(f'{name}:{low}=1')}" for name in named)
    where = f"in these {len(columns)} columns" if len(columns) > 1 else f"in {quoted(columns[0])}"
    return [f"If {low} means yes {where}, and not {high}, run `hiddenbits report {context.argument} {options}`{more}."]
