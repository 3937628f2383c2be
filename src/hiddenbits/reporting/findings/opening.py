"""The first two sentences: a summary of the table, and the model that fits it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hiddenbits import evaluate
from hiddenbits.reporting.comparison import label, sized
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.finding import Finding, Number, described_fit
from hiddenbits.reporting.findings.words import in_words, join
from hiddenbits.reporting.fits import Fit
from hiddenbits.reporting.text import count, percent, plural, quoted, times

WEAK_GAIN = math.log(1.5)  # gain over independent columns, in nats per row, below which associations are weak
NEGLIGIBLE_GAIN = math.log(1.05)  # the same, below which columns are hardly associated
MAX_UNITS = 6  # a model with more classes, dimensions or causes is not described if associations are weak
LARGEST_SIZE_NOTE = "the largest size tried"  # text in the note of a model in the comparison
DIMENSIONAL = ("LogisticPCA", "ClippedPCA")
STRONG_SHARE = 0.6  # of the squared loadings; a dimension with more is reported as the strong one
MAX_NAMES = 4  # unused columns that are listed by name
CLEAR_LEAD = 4.0  # standard errors; a larger lead of the best model is called clear


def about_table(context: Context) -> tuple[str, dict[str, Number]]:
    """Summarize the table."""
    summary = context.sample.summary
    share = summary.n_ones / max(1, int(summary.observed.sum()))
    blank = summary.n_blank / max(1, summary.n_rows * summary.n_columns)
    missing = f"{percent(blank)} of all cells are missing" if summary.n_blank else "none is missing"
    values = context.sample.all_values
    noun, codes = ("yes/no column", "") if values.all_yes else ("column", " with two values each")
    text = (
        f"A table of {count(summary.n_rows, 'row')} and {count(summary.n_columns, noun)}{codes}: {percent(share)} of "
        f"the observed cells are {values.one}{' (yes)' if values.all_yes else ''}, and {missing}."
    )
    for group in context.sample.one_of[:MAX_NAMES]:
        if len(group) == 2:
            zero = "0" if values.one == "1" else f"not {values.one}"
            text += f" {quoted(group[1])} is {values.one} exactly where {quoted(group[0])} is {zero}, and is excluded."
        else:
            named = f"{quoted(group[0])}, {quoted(group[1])} and {len(group) - 2} more"
            text += (
                f" {named} are answers to one question (exactly one is {values.one} in every row), and are excluded."
            )
    if other := _unused_columns(context):
        shown = [quoted(name) for name in other[:MAX_NAMES]]
        names = join([*shown, f"{len(other) - MAX_NAMES} more"] if len(other) > MAX_NAMES else shown)
        text += (
            f" Not used: {count(len(other), 'column')} that {'is' if len(other) == 1 else 'are'} not binary ({names})."
        )
    return text, {"rows": summary.n_rows, "columns": summary.n_columns, "share of 1s": share, "share missing": blank}


def about_coding(context: Context) -> tuple[str, dict[str, str]]:
    """Return a sentence on which values are coded as 1, and by column the value, if it is not 1 itself."""
    coding = None if context.table is None else context.table.coding
    if coding is None:
        return "", {}
    ones = {meaning.column: meaning.one for meaning in coding.meanings if meaning.form != "bit"}
    return coding.sentence(quoted, "--recode"), ones


def _unused_columns(context: Context) -> list[str]:
    """Return the metadata columns, except row names and groups."""
    table = context.table
    if table is None or table.read_as is None:
        return []
    known = {context.by} | set(() if table.coding is None else table.coding.ids)
    return [name for name in table.read_as.names_beside if name not in known]


def about_model(context: Context) -> tuple[str, dict[str, Number]]:
    """Describe which model fits and how certain that is."""
    if not context.sample.enough_data:
        return "The table is too small, or its columns vary too little, to fit a model.", {}
    result = context.fits.compared
    best, tied = result.entry(result.best), result.ties()
    numbers: dict[str, Number] = {"models": len(result.entries) - 1, "test rows": result.n_test}
    numbers |= {"chosen": best.model, "chosen size": best.size}
    if context.fits.no_structure:
        text = (
            f"No latent structure was found: none of {in_words(len(result.entries) - 1)} models predicts held-out rows "
            f"clearly better than the {context.sample.values.share} in each column alone. A weak association of a few "
            "columns may be too small to detect."
        )
        return text, numbers
    fit = described_fit(context)
    if fit is None:
        numbers["tied"] = len(tied) - 1
        return (
            f"“{label(best.model)}” fits best, but its fit did not converge, so the report does not describe it.",
            numbers,
        )
    entry = result.entry(fit.name)
    independent = next((e for e in result.entries if e.model == "IndependentColumns"), None)
    gain = None if independent is None else entry.difference - independent.difference
    weak = gain is not None and gain < WEAK_GAIN
    simple = int(entry.size) <= (MAX_UNITS if weak else max(MAX_UNITS, len(context.sample.names)))
    text = MODEL_SENTENCES[entry.model](entry.size, context.sample.values.one)
    if not simple:
        text = (
            f"The columns are {'weakly ' if weak else ''}associated, but without a simple structure: a model of them "
            f"has {sized(entry.model, entry.size)}."
        )
    if simple and (strongest := _share_of_strongest(fit)) > STRONG_SHARE:
        weaker = "one weaker one" if entry.size == "2" else f"{in_words(int(entry.size) - 1)} weaker ones"
        text = (
            f"The columns reflect one strong latent dimension and {weaker}: every row has a position on "
            f"each{', as on a map' if entry.size == '2' else ''}. The strong one has {percent(strongest)} of the "
            "squared loadings."
        )
        numbers["share of the strongest dimension"] = strongest
    if LARGEST_SIZE_NOTE in entry.note and simple:
        for verb in ("fall into", "reflect", "depend on"):
            text = text.replace(f" {verb} ", f" {verb} at least ", 1)
    others = [model for model in tied if model != entry.model]
    if others:
        phrases = [f"“{label(model)}” ({sized(model, result.entry(model).size)})" for model in others]
        fewest = f"has no more parameters than {'the other' if len(others) == 1 else 'any of them'}"
        reason = fewest if entry is best else "is the easiest to describe"
        subject = "Another model" if len(others) == 1 else "Other models"
        text += (
            f" {subject}, {join(phrases)}, {'predicts' if len(others) == 1 else 'predict'} held-out rows as well "
            f"within two standard errors; the one {'described' if simple else 'named'} here {reason}."
        )
        numbers["tied"] = len(others)
    else:
        next_best = next((e for e in result.entries if e.model != best.model), None)
        if next_best is not None:
            lead, error = best.difference - next_best.difference, max(next_best.difference_error, best.difference_error)
            sure = "clearly" if lead > CLEAR_LEAD * error else "probably"
            text += f" This model {sure} predicts held-out rows better than the next best, “{label(next_best.model)}”."
            numbers |= {"gap": lead, "error of the gap": error}
    if gain is not None:
        if weak and simple:
            text = f"The columns are only weakly associated. {text}"
        text += (
            " Held-out rows are hardly more probable under it than under independent columns."
            if gain < NEGLIGIBLE_GAIN
            else f" Held-out rows are {times(gain)} as probable under it as under independent columns."
        )
        numbers["gain"] = gain
    numbers |= {"weak": int(weak), "simple": int(simple)}
    numbers["size"] = int(entry.size)
    return text, numbers


def _share_of_strongest(fit: Fit) -> float:
    """Return the share of the strongest of several dimensions in their squared loadings; 0 for other models."""
    if fit.name not in DIMENSIONAL or len(fit.model.components_) < 2:
        return 0.0
    squares = (np.asarray(fit.model.components_, np.float64) ** 2).sum(axis=1)
    return float(squares.max() / squares.sum())


def _classes(size: str, _: str) -> str:
    return f"The rows fall into {in_words(int(size))} latent classes."


def _dimensions(size: str, _: str) -> str:
    if size == "1":
        return "The columns reflect one latent dimension, such as ability or opinion: every row has a position on it."
    like = ", as on a map" if size == "2" else ""
    return f"The columns reflect {in_words(int(size))} latent dimensions: every row has a position on each{like}."


def _hidden_units(size: str, one: str) -> str:
    if size == "1":
        return (
            f"The columns depend on one hidden unit: where it is on, some columns are more often {one} and others less "
            "often."
        )
    return (
        f"The columns depend on {in_words(int(size))} hidden units; several may be on in a row, and each changes how "
        f"often many columns are {one}."
    )


def _causes(size: str, _: str) -> str:
    if size == "1":
        return "The columns depend on one hidden cause: where it is present, it switches some of them on."
    return (
        f"The columns depend on {in_words(int(size))} hidden causes; several may be present in a row, and each "
        "switches some columns on."
    )


MODEL_SENTENCES = {
    "LatentClassAnalysis": _classes,
    "LogisticPCA": _dimensions,
    "ClippedPCA": _dimensions,
    "CombinationMachine": _hidden_units,
    "NoisyOrNetwork": _causes,
}


# The opening announces a number of classes, dimensions or causes: how many are described below it, and why not all.

SHOWN_FIRST = {"class": "the largest", "dimension": "the first"}  # for other units: those that explain most


def how_many(model: str, size: int, certain: Sequence[Finding], shown: Sequence[Finding]) -> tuple[str, int]:
    """Return the number of `size` units that are described, in a sentence and as a number.

    The sentence is empty if all are described. `certain` are the findings about units whose differences are certain
    enough, `shown` those of them for which there is room.
    """
    unit, n = evaluate.known_families()[model].unit, len(shown)
    units = plural(unit)
    if n == size or (unit == "class" and size == 2 and n):  # one finding describes both classes
        return "", size
    ends = "the two ends of " if unit == "dimension" else ""
    if not n:
        subject = f"The {unit} is not" if size == 1 else f"None of the {in_words(size)} {units} is"
        object_ = f"{ends}{'it' if size == 1 else 'them'}"
        return f" {subject} described below: what distinguishes {object_} is too uncertain to be named.", 0
    if len(certain) > n:
        why = f": {SHOWN_FIRST.get(unit, 'those that explain most' if n > 1 else 'the one that explains most')}"
        why += "" if len(certain) == size else " of those that can be described with certainty"
    else:
        why = f"; what distinguishes {ends}the {'other' if size - n == 1 else 'others'} is too uncertain to be named"
    return f" Of the {in_words(size)} {units}, {in_words(n)} {'is' if n == 1 else 'are'} described below{why}.", n
