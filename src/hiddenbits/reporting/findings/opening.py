"""The first two sentences: what the table is, and which picture of it fits."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hiddenbits import evaluate
from hiddenbits.reporting.comparison import label, sized
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.finding import Finding, Number, described
from hiddenbits.reporting.findings.words import joined, word
from hiddenbits.reporting.fits import Fit
from hiddenbits.reporting.text import count, percent, quoted, times

WEAK = math.log(1.5)  # gain of a row, in nats, below which little is hidden
HARDLY = math.log(1.05)  # gain below which there is next to none
SIMPLE = 6  # kinds, influences or scales: where little is hidden more of them, or more than columns, are no picture
LARGEST = "the largest size tried"  # in the note of an entry of the comparison
SCALES = ("LogisticPCA", "ClippedPCA")
STRONG = 0.6  # share of one scale above which it is said to be stronger than the others
SHOWN = 4  # names of columns that are not used
CLEAR = 4.0  # standard errors by which the best model leads clearly


def about_table(context: Context) -> tuple[str, dict[str, Number]]:
    """Say what the table is."""
    seen = context.sample.look
    share = seen.n_ones / max(1, int(seen.observed.sum()))
    blank = seen.n_blank / max(1, seen.n_rows * seen.n_columns)
    blanks = f"{percent(blank)} of all cells are blank" if seen.n_blank else "none is blank"
    values = context.sample.every_value
    noun, more = ("yes/no column", "") if values.all_yes else ("column", " with two values each")
    said = (
        f"A table of {count(seen.n_rows, 'row')} and {count(seen.n_columns, noun)}{more}: {percent(share)} of the "
        f"recorded cells are {values.one}{' (yes)' if values.all_yes else ''}, and {blanks}."
    )
    for group in context.sample.one_of[:SHOWN]:
        if len(group) == 2:
            zero = "0" if values.one == "1" else f"not {values.one}"
            said += f" {quoted(group[1])} is {values.one} exactly where {quoted(group[0])} is {zero}, and is left out."
        else:
            named = f"{quoted(group[0])}, {quoted(group[1])} and {len(group) - 2} more"
            said += (
                f" {named} are answers to one question (exactly one is {values.one} in every row), and are left out."
            )
    if other := _not_used(context):
        shown = [quoted(name) for name in other[:SHOWN]]
        names = joined([*shown, f"{len(other) - SHOWN} more"] if len(other) > SHOWN else shown)
        said += (
            f" Not used: {count(len(other), 'column')} that {'is' if len(other) == 1 else 'are'} not yes/no ({names})."
        )
    return said, {"rows": seen.n_rows, "columns": seen.n_columns, "share of ones": share, "share of blanks": blank}


def about_coding(context: Context) -> tuple[str, dict[str, str]]:
    """Say which values of the table are 1, and return the value of each column in which it is not 1 itself."""
    coding = None if context.table is None else context.table.coding
    if coding is None:
        return "", {}
    ones = {meaning.column: meaning.one for meaning in coding.meanings if meaning.form != "bit"}
    return coding.sentence(quoted, "--recode"), ones


def _not_used(context: Context) -> list[str]:
    """Return the columns of the file that did not enter the table, but for names of rows and groups."""
    table = context.table
    if table is None or table.read_as is None:
        return []
    known = {context.by} | set(() if table.coding is None else table.coding.ids)
    return [name for name in table.read_as.names_beside if name not in known]


def about_picture(context: Context) -> tuple[str, dict[str, Number]]:
    """Say which model fits and how sure that is."""
    if not context.sample.worth_it:
        return "The table is too small, or its columns vary too little, to look for anything hidden.", {}
    found = context.fits.compared
    best, even = found.entry(found.best), found.ties()
    numbers: dict[str, Number] = {"models": len(found.entries) - 1, "test rows": found.n_test}
    numbers |= {"chosen": best.model, "chosen size": best.size}
    if context.fits.doubtful:
        said = (
            f"Nothing hidden was found: none of {word(len(found.entries) - 1)} models predicts unseen rows clearly "
            f"better than the {context.sample.values.share} in each column alone. A weak connection of a few columns "
            "may be too small to show."
        )
        return said, numbers
    fit = described(context)
    if fit is None:
        numbers["tied"] = len(even) - 1
        return (
            f"“{label(best.model)}” fits best, but its fit was cut short, so the report does not describe it.",
            numbers,
        )
    told = found.entry(fit.name)
    alone = next((e for e in found.entries if e.model == "IndependentColumns"), None)
    gain = None if alone is None else told.difference - alone.difference
    weak = gain is not None and gain < WEAK
    simple = int(told.size) <= (SIMPLE if weak else max(SIMPLE, len(context.sample.names)))
    said = PICTURES[told.model](told.size, context.sample.values.one)
    if not simple:
        said = (
            f"The columns are connected{' only weakly, and' if weak else ', but'} in no simple way: a model of them "
            f"has {sized(told.model, told.size)}."
        )
    if simple and (strongest := _strongest(fit)) > STRONG:
        weaker = "one weaker one" if told.size == "2" else f"{word(int(told.size) - 1)} weaker ones"
        said = (
            f"One strong scale and {weaker} lie behind the columns: every row has a place on "
            f"each{', as on a map' if told.size == '2' else ''}. The strong one makes "
            f"{percent(strongest)} of the differences."
        )
        numbers["share of the strongest scale"] = strongest
    if LARGEST in told.note and simple:
        said = (
            f"At least {said[0].lower()}{said[1:]}"
            if told.model != "LatentClassAnalysis"
            else said.replace("into", "into at least")
        )
    others = [model for model in even if model != told.model]
    if others:
        named = [f"“{label(model)}” ({sized(model, found.entry(model).size)})" for model in others]
        fewest = f"has no more parameters than {'the other' if len(others) == 1 else 'any of them'}"
        reason = fewest if told is best else "takes the fewest words"
        also = "Another model" if len(others) == 1 else "Other models"
        said += (
            f" {also}, {joined(named)}, {'predicts' if len(others) == 1 else 'predict'} unseen rows as well within two "
            f"standard errors; the one {'described' if simple else 'named'} here {reason}."
        )
        numbers["tied"] = len(others)
    else:
        next_best = next((e for e in found.entries if e.model != best.model), None)
        if next_best is not None:
            gap, error = best.difference - next_best.difference, max(next_best.difference_error, best.difference_error)
            sure = "clearly" if gap > CLEAR * error else "probably"
            said += (
                f" This model {sure} predicts unseen rows better than the next best model, “{label(next_best.model)}”."
            )
            numbers |= {"gap": gap, "error of the gap": error}
    if gain is not None:
        if weak and simple:
            said = f"The columns are only weakly connected. {said}"
        said += (
            " Unseen rows are hardly more probable under it than under independent columns."
            if gain < HARDLY
            else f" Unseen rows are {times(gain)} as probable under it as under independent columns."
        )
        numbers["gain"] = gain
    numbers |= {"weak": int(weak), "simple": int(simple)}
    numbers["size"] = int(told.size)
    return said, numbers


def _strongest(fit: Fit) -> float:
    """Return the share of the strongest of several scales in their squared loadings; 0 for other models."""
    if fit.name not in SCALES or len(fit.model.components_) < 2:
        return 0.0
    squares = (np.asarray(fit.model.components_, np.float64) ** 2).sum(axis=1)
    return float(squares.max() / squares.sum())


def _kinds(size: str, _: str) -> str:
    return f"The rows fall into {word(int(size))} kinds."


def _scales(size: str, _: str) -> str:
    if size == "1":
        return "One scale lies behind the columns: every row has a place on it, such as an ability or an opinion."
    like = ", as on a map" if size == "2" else ""
    return f"{word(int(size)).capitalize()} scales lie behind the columns: every row has a place on each{like}."


def _influences(size: str, one: str) -> str:
    if size == "1":
        return (
            f"One hidden switch lies behind the columns: where it is on, some columns are more often {one} and others "
            "less."
        )
    return (
        f"{word(int(size)).capitalize()} hidden influences lie behind the columns; several may act on a row at once, "
        f"and each changes how often many columns are {one}."
    )


def _causes(size: str, _: str) -> str:
    if size == "1":
        return "One hidden cause lies behind the columns: where it is present, it switches some of them on."
    return (
        f"{word(int(size)).capitalize()} hidden causes lie behind the columns; several may be present in a row, and "
        "each switches some columns on."
    )


PICTURES = {
    "LatentClassAnalysis": _kinds,
    "LogisticPCA": _scales,
    "ClippedPCA": _scales,
    "CombinationMachine": _influences,
    "NoisyOrNetwork": _causes,
}


# How many of the classes, dimensions or causes that the opening announces are described below it, and why not all.

FIRST = {"class": "the largest", "dimension": "the first"}  # of the others: those that explain most


def how_many(model: str, size: int, found: Sequence[Finding], shown: Sequence[Finding]) -> tuple[str, int]:
    """Return a sentence that says how many of `size` units are described, and that number.

    The sentence is empty where all are. `found` has all units that can be described, `shown` those for which there is
    room.
    """
    unit, n = evaluate.known_families()[model].unit, len(shown)
    units = "classes" if unit == "class" else f"{unit}s"
    if n == size or (unit == "class" and size == 2 and n):  # one finding describes both classes
        return "", size
    ends = "the two ends of " if unit == "dimension" else ""
    if not n:
        which = f"The {unit} is not" if size == 1 else f"None of the {word(size)} {units} is"
        what = f"{ends}{'it' if size == 1 else 'them'}"
        return f" {which} described below: what sets {what} apart is too uncertain to be named.", 0
    if len(found) > n:
        why = f": {FIRST.get(unit, 'those that explain most' if n > 1 else 'the one that explains most')}"
        why += "" if len(found) == size else " of those about which enough is certain"
    else:
        why = f"; what sets {ends}the {'other' if size - n == 1 else 'others'} apart is too uncertain to be named"
    return f" Of the {word(size)} {units}, {word(n)} {'is' if n == 1 else 'are'} described below{why}.", n
