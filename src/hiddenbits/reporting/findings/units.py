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
from hiddenbits.reporting.findings.words import Sides, of_rows
from hiddenbits.reporting.fits import Fit
from hiddenbits.reporting.text import percent
from hiddenbits.tables import Piece, Table, map_pieces

UNIT = {"CombinationMachine": "hidden unit", "NoisyOrNetwork": "cause"}
RINGS = "filled dots: these rows; rings: the other rows"


def classes(context: Context, fit: Fit) -> list[Finding]:
    """Describe the size of each class and how it differs; values are of all rows unless the table is too large."""
    units = all_units(context, fit.model)
    order = unit_order(context, fit.model)
    if len(order) == 2:
        return _two_classes(context, units, int(np.argmax(units.on)))
    findings = []
    for number, k in enumerate(order, 1):
        sides = Sides(units.contrast(k), context.sample, least_rows(units.n))
        difference, numbers = sides.apart("the other rows")
        if difference:
            share = float(units.shares[k])
            of_all = of_rows(context, units.n)
            sentence = f"Class {number} of {len(order)} is {percent(share)} of the rows{of_all}: they {difference}."
            numbers = {"class": number, "classes": len(order), "share": share, **numbers}
            title = f"Class {number} of {len(order)}: {percent(share)}"
            findings.append(_made(context, "classes", title, sentence, numbers, sides, units))
    return findings


def _two_classes(context: Context, units: UnitCounts, large: int) -> list[Finding]:
    """Describe two classes in one sentence: each is what the other is not."""
    sides = Sides(units.contrast(large), context.sample, least_rows(units.n))
    share = float(units.shares[large])
    shares: dict[str, Number] = {"share": share, "share of the other class": 1.0 - share}
    if not sides.columns:
        return []
    opening = (
        f"The rows form two classes, {percent(share)} and {percent(1.0 - share)} of them{of_rows(context, units.n)}."
    )
    if sides.leaning or not (sides.more and sides.less):
        difference, numbers = sides.apart("the other class")
        sentence = f"{opening} Rows of the larger class {difference}."
    else:
        numbers = sides.numbers(sides.more) | sides.numbers(sides.less)
        sentence = (
            f"{opening} The larger class more often has {sides.shown(sides.more, 'of the other')}; the smaller class "
            f"{sides.shown(sides.less, 'of the larger', flipped=True)}."
        )
    return [_made(context, "classes", "Two classes", sentence, shares | numbers, sides, units)]


def causes(context: Context, fit: Fit) -> list[Finding]:
    """Describe how often each cause is active and what it switches on; those that explain most come first.

    A hidden unit can be exchanged with its complement: one that is on in most rows is described by the rows in which it
    is off.
    """
    units, unit = units_of(fit.model, context.sample.cells), UNIT[fit.name]
    weighted = []
    for number, k in enumerate(unit_order(context, fit.model), 1):
        share = float(units.shares[k])
        between, flipped = units.contrast(k), share > 0.5
        if flipped:
            share, between = 1.0 - share, Contrast(between.ones[::-1], between.observed[::-1])
        sides = Sides(between, context.sample, least_rows(units.n))
        difference, numbers = sides.apart("the other rows")
        if difference:
            where = f"{'off' if flipped else 'on'} in {percent(share)} of the rows"
            label = f"{unit.capitalize()} {number} of {len(units.on)}"
            sentence = f"{label} is {where}{of_rows(context, units.n)}: these rows {difference}."
            title = f"{unit.capitalize()} {number}: {where}"
            numbers = {unit: number, f"{unit}s": len(units.on), "share": share, **numbers}
            weight = share * (1.0 - share) * float(np.abs(between.difference[sides.columns]).sum())
            weighted.append((-weight, _made(context, "causes", title, sentence, numbers, sides, units)))
    return [finding for _, finding in sorted(weighted, key=lambda pair: pair[0])]


def _made(
    context: Context, kind: str, title: str, sentence: str, numbers: dict[str, Number], sides: Sides, units: UnitCounts
) -> Finding:
    drawing = dumbbells(sides.lines(), f"{title}; {RINGS}.")
    total = context.sample.look.n_rows
    return Finding(kind, sentence, numbers, drawing, kind, units.n, total, title)  # type: ignore[arg-type]


# Counts of the units of a model (classes, causes, hidden units), over all rows or over those that the models use.

ALL_CELLS = 200_000_000  # tables with at most this many cells are counted whole
PIECE_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class UnitCounts:
    """Sums over rows. A row counts for a unit by the probability that the unit is on in it.

    `n` is the number of rows, `on` the sum by unit, `ones` and `observed` the 1s and the observed cells by unit and
    column, `all_ones` and `all_observed` the same of all rows.
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
        """How often each unit is on."""
        return np.asarray(self.on / self.n)

    def contrast(self, unit: int) -> Contrast:
        """Return the rows with a unit against those without."""
        ones = np.stack([self.ones[unit], self.all_ones - self.ones[unit]])
        return Contrast(np.maximum(ones, 0.0), np.stack([self.observed[unit], self.all_observed - self.observed[unit]]))


def unit_order(context: Context, model: Any) -> list[int]:
    """Return the units, those that are on most often in the sampled rows first: all sections number them so."""
    codes = np.asarray(model.transform(context.sample.cells), np.float64)
    return [int(k) for k in np.argsort(-codes.mean(axis=0), kind="stable")]


def units_of(model: Any, cells: Floats) -> UnitCounts:
    """Return the units of a model on these rows."""
    codes = np.asarray(model.transform(cells), np.float64)
    observed, ones = (~np.isnan(cells)).astype(np.float64), np.nan_to_num(cells)
    counts = codes.sum(axis=0), codes.T @ ones, codes.T @ observed, ones.sum(axis=0), observed.sum(axis=0)
    return UnitCounts(len(cells), *counts)


def all_units(context: Context, model: Any) -> UnitCounts:
    """Return the units of a model on all rows of the table, or if it is too large for that on the sampled rows."""
    sample, table = context.sample, context.table
    if sample.every_row or table is None or table.shape[0] * table.shape[1] > ALL_CELLS:
        return units_of(model, sample.cells)
    return _counted(table, model, sample.columns)


def _counted(table: Table, model: Any, columns: NDArray[np.int64]) -> UnitCounts:
    height = max(1, PIECE_CELLS // table.shape[1])
    first, *others = map_pieces(_UnitCounter(model, columns), table, height)
    total: UnitCounts = first
    for units in others:
        total = total + units
    return total


@dataclass(frozen=True)
class _UnitCounter:
    """Counts the units of a piece; a class, so that it can be sent to a cluster."""

    model: Any
    columns: NDArray[np.int64]

    def __call__(self, piece: Piece) -> UnitCounts:
        x, observed = piece.table.source.read(0, piece.table.shape[0])
        cells = x.to_dense()[:, self.columns].astype(np.float64)
        cells[observed.to_dense()[:, self.columns] == 0] = np.nan
        return units_of(self.model, cells)
