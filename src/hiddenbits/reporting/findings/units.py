"""Findings about latent classes, causes and hidden units: units that are on in some rows and off in others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.drawings import dumbbells
from hiddenbits.reporting.findings.effects import Contrast, least_rows
from hiddenbits.reporting.findings.finding import Finding, Number
from hiddenbits.reporting.findings.words import Differences, among_rows
from hiddenbits.reporting.fits import Fit
from hiddenbits.reporting.text import percent
from hiddenbits.tables import Piece, Table, map_pieces

UNIT_NAMES = {"CombinationMachine": "hidden unit", "NoisyOrNetwork": "cause"}
DOTS_AND_RINGS = "filled dots: these rows; rings: the other rows"


def classes(context: Context, fit: Fit) -> list[Finding]:
    """Describe the size of each class and how it differs from the other rows; see `all_units` for the rows used."""
    units = all_units(context, fit.model)
    order = unit_order(context, fit.model)
    if len(order) == 2:
        return _two_classes(context, units, int(np.argmax(units.on)))
    findings = []
    for number, k in enumerate(order, 1):
        diff = Differences(units.contrast(k), context.sample, least_rows(units.n))
        phrase, numbers = diff.describe("the other rows")
        if phrase:
            share = float(units.shares[k])
            among = among_rows(context, units.n)
            sentence = f"Class {number} of {len(order)} is {percent(share)} of the rows{among}: they {phrase}."
            numbers = {"class": number, "classes": len(order), "share": share, **numbers}
            title = f"Class {number} of {len(order)}: {percent(share)}"
            findings.append(_finding(context, "classes", title, sentence, numbers, diff, units))
    return findings


def _two_classes(context: Context, units: UnitCounts, larger: int) -> list[Finding]:
    """Describe two classes in one finding, by how they differ from each other."""
    diff = Differences(units.contrast(larger), context.sample, least_rows(units.n))
    share = float(units.shares[larger])
    shares: dict[str, Number] = {"share": share, "share of the other class": 1.0 - share}
    if not diff.columns:
        return []
    opening = (
        f"The rows form two classes, {percent(share)} and {percent(1.0 - share)} of them{among_rows(context, units.n)}."
    )
    if diff.direction or not (diff.more and diff.less):
        phrase, numbers = diff.describe("the other class")
        sentence = f"{opening} Rows of the larger class {phrase}."
    else:
        numbers = diff.numbers(diff.more) | diff.numbers(diff.less)
        sentence = (
            f"{opening} The larger class more often has {diff.phrase(diff.more, 'of the other')}; the smaller class "
            f"{diff.phrase(diff.less, 'of the larger', flipped=True)}."
        )
    return [_finding(context, "classes", "Two classes", sentence, shares | numbers, diff, units)]


def causes(context: Context, fit: Fit) -> list[Finding]:
    """Describe how often each cause is active and what it switches on; those that explain most come first.

    On and off can be exchanged in a hidden unit: a unit that is on in most rows is described by the rows in which it
    is off.
    """
    units, unit = units_of(fit.model, context.sample.cells), UNIT_NAMES[fit.name]
    by_importance = []
    for number, k in enumerate(unit_order(context, fit.model), 1):
        share = float(units.shares[k])
        effect, flipped = units.contrast(k), share > 0.5
        if flipped:
            share, effect = 1.0 - share, Contrast(effect.ones[::-1], effect.observed[::-1])
        diff = Differences(effect, context.sample, least_rows(units.n))
        phrase, numbers = diff.describe("the other rows")
        if phrase:
            on_text = f"{'off' if flipped else 'on'} in {percent(share)} of the rows"
            label = f"{unit.capitalize()} {number} of {len(units.on)}"
            sentence = f"{label} is {on_text}{among_rows(context, units.n)}: these rows {phrase}."
            title = f"{unit.capitalize()} {number}: {on_text}"
            numbers = {unit: number, f"{unit}s": len(units.on), "share": share, **numbers}
            importance = share * (1.0 - share) * float(np.abs(effect.difference[diff.columns]).sum())
            by_importance.append((-importance, _finding(context, "causes", title, sentence, numbers, diff, units)))
    return [finding for _, finding in sorted(by_importance, key=lambda pair: pair[0])]


def _finding(
    context: Context, kind: str, title: str, text: str, numbers: dict[str, Number], diff: Differences, units: UnitCounts
) -> Finding:
    drawing = dumbbells(diff.lines(), f"{title}; {DOTS_AND_RINGS}.")
    total = context.sample.summary.n_rows
    return Finding(kind, text, numbers, drawing, kind, units.n, total, title)  # type: ignore[arg-type]


# Counts of the units of a model (classes, causes, hidden units) over all rows, or over the sampled rows.

MAX_CELLS = 200_000_000  # in larger tables, units are counted over the sampled rows only
PIECE_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class UnitCounts:
    """Sums over rows, each weighted for a unit by the probability that the unit is on in the row.

    `n` is the number of rows, `on` the sum of the weights by unit, `ones` and `observed` count the 1s and the observed
    cells by unit and column, `all_ones` and `all_observed` the same without weights.
    """

    n: int
    on: Floats
    ones: Floats
    observed: Floats
    all_ones: Floats
    all_observed: Floats

    def __add__(self, other: UnitCounts) -> UnitCounts:
        return UnitCounts(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))

    @property
    def shares(self) -> Floats:
        """Share of the rows in which each unit is on."""
        return np.asarray(self.on / self.n)

    def contrast(self, unit: int) -> Contrast:
        """Return the contrast of the rows with a unit and the rows without it."""
        ones = np.stack([self.ones[unit], self.all_ones - self.ones[unit]])
        return Contrast(np.maximum(ones, 0.0), np.stack([self.observed[unit], self.all_observed - self.observed[unit]]))


def unit_order(context: Context, model: Any) -> list[int]:
    """Return the units in the order of all sections: those that are on most often in the sampled rows first."""
    codes = np.asarray(model.transform(context.sample.cells), np.float64)
    return [int(k) for k in np.argsort(-codes.mean(axis=0), kind="stable")]


def units_of(model: Any, cells: Floats) -> UnitCounts:
    """Count the units of a model on these rows."""
    codes = np.asarray(model.transform(cells), np.float64)
    observed, ones = (~np.isnan(cells)).astype(np.float64), np.nan_to_num(cells)
    counts = codes.sum(axis=0), codes.T @ ones, codes.T @ observed, ones.sum(axis=0), observed.sum(axis=0)
    return UnitCounts(len(cells), *counts)


def all_units(context: Context, model: Any) -> UnitCounts:
    """Count the units of a model on all rows of the table, or on the sampled rows if it is too large."""
    sample, table = context.sample, context.table
    if sample.every_row or table is None or table.shape[0] * table.shape[1] > MAX_CELLS:
        return units_of(model, sample.cells)
    return _count_all_rows(table, model, sample.columns)


def _count_all_rows(table: Table, model: Any, columns: NDArray[np.int64]) -> UnitCounts:
    height = max(1, PIECE_CELLS // table.row_size)
    first, *others = map_pieces(_UnitCounter(model, columns), table, height)
    total: UnitCounts = first
    for units in others:
        total = total + units
    return total


@dataclass(frozen=True)
class _UnitCounter:
    """Counts the units in a piece of rows; a class, so that it can be sent to a cluster."""

    model: Any
    columns: NDArray[np.int64]

    def __call__(self, piece: Piece) -> UnitCounts:
        x, observed = piece.table.source.read(0, piece.table.shape[0])
        cells = x.to_dense()[:, self.columns].astype(np.float64)
        cells[observed.to_dense()[:, self.columns] == 0] = np.nan
        return units_of(self.model, cells)
