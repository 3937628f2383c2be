"""Hidden classes and hidden causes: the columns that go with each, as lists and as Hinton diagrams."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from sklearn.base import BaseEstimator

from hiddenbits.array_types import Floats, Rows
from hiddenbits.reporting.comparison import label
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.elements import Figure, Grid, Listed, Part, Section, Text
from hiddenbits.reporting.fits import Fit
from hiddenbits.reporting.svg import hinton
from hiddenbits.reporting.text import count, name, names, percent, sentence

IN_LIST, IN_DIAGRAM = 6, 24
UNIT = {"CombinationMachine": "influence", "NoisyOrNetwork": "cause"}
LEAST = 0.02  # smallest difference of shares that is listed
SMOOTH = 0.5  # added to ones and zeros, so that shares of few rows stay inside (0, 1)


@dataclass(frozen=True)
class Units:
    """Hidden units of a model, those that are on most often first.

    `order` are their numbers in the model, `shares` how often each is on, `on` and `off` the shares of ones in the
    columns with it and without it, `first` describes the most common unit in words.
    """

    order: Rows
    shares: Floats
    on: Floats
    off: Floats
    first: Markup


def classes(context: Context) -> Section:
    """Describe the kinds of rows."""
    fit = context.fits.classes
    units = _units(context, fit)
    opening = sentence(
        "If every row is one of {} kinds, the largest kind holds {} of the rows, which have {}.",
        len(units.order),
        percent(float(units.shares[0])),
        units.first,
    )
    weights = _logit(units.on) - _logit(units.off)
    parts = _shown(context, units, "kind", weights, "log odds against all other rows")
    return Section("classes", "Hidden kinds of rows", opening, [*parts, *_said(context, fit)], [("kinds", fit.line)])


def causes(context: Context) -> Section:
    """Describe the causes, several of which may be on in a row."""
    fit = context.fits.causes
    units = _units(context, fit)
    opening = sentence(
        "If instead several {} can be active in one row, {} of them are enough: the most common is active in {} of "
        "the rows, which have {}.",
        label(fit.name).removeprefix("several "),
        len(units.order),
        percent(float(units.shares[0])),
        units.first,
    )
    weights, values = _weights(fit.model)
    parts = _shown(context, units, UNIT[fit.name], weights[units.order], values)
    return Section("causes", "Hidden causes", opening, [*parts, *_said(context, fit)], [("causes", fit.line)])


def _units(context: Context, fit: Fit) -> Units:
    """Return the units of a model, with the shares of ones where they are on and off."""
    codes = np.asarray(fit.model.transform(context.sample.cells), np.float64)
    order = np.argsort(-codes.mean(axis=0), kind="stable")
    on, off = switched(codes[:, order], context.sample.cells)
    return Units(order, codes.mean(axis=0)[order], on, off, _apart(on[0], off[0], context.sample.names))


def _apart(on: Floats, off: Floats, columns: list[str]) -> Markup:
    """Name the columns that are more or less often 1 with a unit: the four that distinguish it most."""
    order = [j for j in np.argsort(-_telling(on, off), kind="stable")[:4] if abs(on[j] - off[j]) > LEAST]
    found = {word: [columns[j] for j in order if (on[j] > off[j]) == (word == "more")] for word in ("more", "less")}
    said = [sentence("{} often {}", word, names(some)) for word, some in found.items() if some]
    return Markup(", and ").join(said) if said else Markup("no column that sets them apart")


def switched(codes: Floats, cells: Floats) -> tuple[Floats, Floats]:
    """Return the share of ones in each column where a hidden unit is on, and where it is off; both (units, columns).

    Rows count by the probability that the unit is on in them: Sum_n r_nk x_nj / Sum_n r_nk over observed cells.
    """
    seen, ones = (~np.isnan(cells)).astype(np.float64), np.nan_to_num(cells)

    def share(weights: Floats) -> Floats:
        return np.asarray((weights.T @ ones + SMOOTH) / (weights.T @ seen + 2.0 * SMOOTH))

    return share(codes), share(1.0 - codes)


def _telling(on: Floats, off: Floats) -> Floats:
    """Return how well each column distinguishes a unit: the divergence between its shares of ones, on and off."""
    return np.asarray(on * np.log(on / off) + (1.0 - on) * np.log((1.0 - on) / (1.0 - off)))


def _logit(share: Floats) -> Floats:
    return np.asarray(np.log(share) - np.log1p(-share))


def _weights(model: BaseEstimator) -> tuple[Floats, str]:
    """Return the weights of a model of causes for its Hinton diagram, and their name."""
    if hasattr(model, "strengths_"):
        return np.asarray(-np.log1p(-np.clip(model.strengths_, 0.0, 1.0 - 1e-9))), "strength"
    return np.asarray(model.weights_, np.float64), "weight"


def _shown(context: Context, found: Units, word: str, weights: Floats, values: str) -> list[Part]:
    """Return the columns that go with each unit, as lists and as a diagram."""
    on, off, every = found.on, found.off, context.sample.names
    telling = _telling(on, off)
    units = [f"{word} {k + 1}" for k in range(len(found.order))]
    cards = []
    for k, unit in enumerate(units):
        order = np.argsort(-telling[k], kind="stable")
        lists = []
        for words, more in (("more often", True), ("less often", False)):
            chosen = [j for j in order if (on[k, j] > off[k, j]) == more and abs(on[k, j] - off[k, j]) > LEAST]
            lines = [(name(every[j]), f"{percent(on[k, j])}, otherwise {percent(off[k, j])}") for j in chosen[:IN_LIST]]
            if lines:
                lists.append((words, lines))
        cards.append((unit, sentence("{} of the rows", percent(float(found.shares[k]))), lists))
    strongest = np.sort(np.argsort(-telling.max(axis=0), kind="stable")[:IN_DIAGRAM])
    drawn = strongest[np.argsort(-weights[0, strongest], kind="stable")]
    columns = [every[j] for j in drawn]
    most = f" Only the {len(columns)} columns that differ most are drawn." if len(columns) < len(every) else ""
    drawing = hinton(
        weights[:, drawn],
        columns,
        [str(k + 1) for k in range(len(units))],
        f"Hinton diagram of {count(len(units), word)} and {count(len(columns), 'column')}.",
        values,
    )
    same = Grid(
        "The diagram as a table",
        ["column", *units],
        [[name(every[j]), *(f"{weights[k, j]:+.2f}" for k in range(len(units)))] for j in drawn],
        frozenset(range(1, len(units) + 1)),
    )
    caption = sentence(
        "One line for each column of the table, one square for each {}. White: the bit is more often 1 with it; black: "
        "less often. Larger squares are stronger ({}).{}",
        word,
        values,
        most,
    )
    return [Listed(cards), Figure(drawing, caption, same)]


def _said(context: Context, fit: Fit) -> list[Part]:
    """Return the reasons to read this section with caution."""
    said = [f"the fit {fit.note}"] if fit.note else []
    if context.fits.doubtful:
        said.append("no model predicts unseen rows clearly better than “nothing hidden”, so this may be chance")
    return [Text(sentence("Caution: {}.", "; ".join(said)))] if said else []
