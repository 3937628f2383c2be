"""Findings about kinds of rows, and about causes: hidden units that are on in some rows and off in others."""

from __future__ import annotations

import numpy as np

from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.drawings import dumbbells
from hiddenbits.reporting.findings.effects import Contrast, least_rows
from hiddenbits.reporting.findings.finding import Finding, Number
from hiddenbits.reporting.findings.units import Units, all_units, unit_order, units_of
from hiddenbits.reporting.findings.words import Sides, of_rows
from hiddenbits.reporting.fits import Fit
from hiddenbits.reporting.text import percent

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
