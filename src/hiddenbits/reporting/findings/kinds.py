"""Findings about kinds of rows, and about causes: hidden units that are on in some rows and off in others."""

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

UNIT = {"CombinationMachine": "influence", "NoisyOrNetwork": "cause"}
RINGS = "filled dots: these rows; rings: the other rows"


def kinds(context: Context, fit: Fit) -> list[Finding]:
    """Say how large the kinds are and what sets each apart; figures are of all rows where that is quick."""
    units = all_units(context, fit.model)
    order = unit_order(context, fit.model)
    if len(order) == 2:
        return _two_kinds(context, units, int(np.argmax(units.on)))
    found = []
    for number, k in enumerate(order, 1):
        sides = Sides(units.contrast(k), context.sample, least_rows(units.n))
        said, numbers = sides.apart("the other rows")
        if said:
            share = float(units.shares[k])
            of_all = of_rows(context, units.n)
            sentence = f"Kind {number} of {len(order)} is {percent(share)} of the rows{of_all}: they {said}."
            figures: dict[str, Number] = {"kind": number, "kinds": len(order), "share": share, **numbers}
            title = f"Kind {number} of {len(order)}: {percent(share)}"
            found.append(_made(context, "classes", title, sentence, figures, sides, units))
    return found


def _two_kinds(context: Context, units: Units, large: int) -> list[Finding]:
    """Describe two kinds in one sentence: each is what the other is not."""
    sides = Sides(units.contrast(large), context.sample, least_rows(units.n))
    share = float(units.shares[large])
    figures: dict[str, Number] = {"share": share, "share of the other kind": 1.0 - share}
    if not sides.columns:
        return []
    opening = (
        f"The rows are of two kinds, {percent(share)} and {percent(1.0 - share)} of them{of_rows(context, units.n)}."
    )
    if sides.leaning or not (sides.more and sides.less):
        said, numbers = sides.apart("the other kind")
        sentence = f"{opening} Rows of the larger kind {said}."
    else:
        numbers = sides.numbers(sides.more) | sides.numbers(sides.less)
        sentence = (
            f"{opening} The larger kind more often has {sides.shown(sides.more, 'of the other')}; the smaller kind "
            f"{sides.shown(sides.less, 'of the larger', flipped=True)}."
        )
    return [_made(context, "classes", "Two kinds of rows", sentence, figures | numbers, sides, units)]


def causes(context: Context, fit: Fit) -> list[Finding]:
    """Say how often each cause is active and what it switches on; those that explain most come first.

    What an influence does when it is on, its opposite does when it is off: one that is on in most rows is described by
    the rows in which it is off.
    """
    units, unit = units_of(fit.model, context.sample.cells), UNIT[fit.name]
    found = []
    for number, k in enumerate(unit_order(context, fit.model), 1):
        share = float(units.shares[k])
        between, flipped = units.contrast(k), share > 0.5
        if flipped:
            share, between = 1.0 - share, Contrast(between.ones[::-1], between.seen[::-1])
        sides = Sides(between, context.sample, least_rows(units.n))
        said, numbers = sides.apart("the other rows")
        if said:
            where = f"{'off' if flipped else 'on'} in {percent(share)} of the rows"
            called = f"{unit.capitalize()} {number} of {len(units.on)}"
            sentence = f"{called} is {where}{of_rows(context, units.n)}: these rows {said}."
            title = f"{unit.capitalize()} {number}: {where}"
            figures: dict[str, Number] = {unit: number, f"{unit}s": len(units.on), "share": share, **numbers}
            weight = share * (1.0 - share) * float(np.abs(between.difference[sides.columns]).sum())
            found.append((-weight, _made(context, "causes", title, sentence, figures, sides, units)))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def _made(
    context: Context, kind: str, title: str, sentence: str, numbers: dict[str, Number], sides: Sides, units: Units
) -> Finding:
    drawing = dumbbells(sides.lines(), f"{title}; {RINGS}.")
    total = context.sample.look.n_rows
    return Finding(kind, sentence, numbers, drawing, kind, units.n, total, title)  # type: ignore[arg-type]


# The hidden units of a model, kinds of rows or causes, counted over all rows or over those that the models use.

ALL_CELLS = 200_000_000  # tables with at most this many cells are counted whole
PIECE_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class Units:
    """Sums over rows. A row counts for a unit by the probability that the unit is on in it.

    `n` is the number of rows, `on` its sum by unit, `ones` and `seen` the ones and the observed cells by unit and
    column, `all_ones` and `all_seen` the same of all rows.
    """

    n: int
    on: Floats
    ones: Floats
    seen: Floats
    all_ones: Floats
    all_seen: Floats

    def __add__(self, other: Units) -> Units:
        return Units(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))

    @property
    def shares(self) -> Floats:
        """How often each unit is on."""
        return np.asarray(self.on / self.n)

    def contrast(self, unit: int) -> Contrast:
        """Return the rows with a unit against those without."""
        ones = np.stack([self.ones[unit], self.all_ones - self.ones[unit]])
        return Contrast(np.maximum(ones, 0.0), np.stack([self.seen[unit], self.all_seen - self.seen[unit]]))


def unit_order(context: Context, model: Any) -> list[int]:
    """Return the units, those that are on most often in the sampled rows first: all sections number them so."""
    codes = np.asarray(model.transform(context.sample.cells), np.float64)
    return [int(k) for k in np.argsort(-codes.mean(axis=0), kind="stable")]


def units_of(model: Any, cells: Floats) -> Units:
    """Return the units of a model on these rows."""
    codes = np.asarray(model.transform(cells), np.float64)
    seen, ones = (~np.isnan(cells)).astype(np.float64), np.nan_to_num(cells)
    return Units(len(cells), codes.sum(axis=0), codes.T @ ones, codes.T @ seen, ones.sum(axis=0), seen.sum(axis=0))


def all_units(context: Context, model: Any) -> Units:
    """Return the units of a model on all rows of the table, or if it is too large for that on the sampled rows."""
    sample, table = context.sample, context.table
    if sample.every_row or table is None or table.shape[0] * table.shape[1] > ALL_CELLS:
        return units_of(model, sample.cells)
    return _counted(table, model, sample.columns)


def _counted(table: Table, model: Any, columns: NDArray[np.int64]) -> Units:
    height = max(1, PIECE_CELLS // table.shape[1])
    first, *others = map_pieces(_Count(model, columns), table, height)
    total: Units = first
    for units in others:
        total = total + units
    return total


@dataclass(frozen=True)
class _Count:
    """Counts the units of a piece; a class, so that it can be sent to a cluster."""

    model: Any
    columns: NDArray[np.int64]

    def __call__(self, piece: Piece) -> Units:
        x, observed = piece.table.source.read(0, piece.table.shape[0])
        cells = x.to_dense()[:, self.columns].astype(np.float64)
        cells[observed.to_dense()[:, self.columns] == 0] = np.nan
        return units_of(self.model, cells)
