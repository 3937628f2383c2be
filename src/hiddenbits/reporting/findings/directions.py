"""Findings about scales: what sets the two ends of a direction of the map apart."""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.drawings import dumbbells
from hiddenbits.reporting.findings.effects import contrast, least_rows
from hiddenbits.reporting.findings.finding import Finding, Number
from hiddenbits.reporting.findings.words import Sides, of_rows
from hiddenbits.reporting.fits import Fit

SHOWN = 2  # directions that are described: the map has two
END = 0.25  # share of the rows at each end
ORDINAL = ("first", "second")


def places(context: Context, fit: Fit) -> Floats:
    """Return the place of each sampled row on the scales of a model."""
    return np.asarray(fit.model.transform(context.sample.cells), np.float64)


def ends(place: Floats) -> tuple[Floats, Floats]:
    """Return which rows lie at the upper and at the lower end of a scale, as weights: about a quarter each."""
    low, high = np.quantile(place, [END, 1.0 - END])
    if low == high:  # many equal rows
        return (place > high).astype(np.float64), (place < low).astype(np.float64)
    return (place >= high).astype(np.float64), (place <= low).astype(np.float64)


def directions(context: Context, fit: Fit) -> list[Finding]:
    """Describe the first two scales of a model by the quarter of the rows at each end."""
    where, sample = places(context, fit), context.sample
    found = []
    for axis in range(min(SHOWN, where.shape[1])):
        upper, lower = ends(where[:, axis])
        sides = Sides(contrast(upper, lower, sample.cells), sample.names, least_rows(len(sample.cells)))
        if not sides.columns:
            continue
        said, numbers = _said(sides, len(sample.names))
        one = where.shape[1] == 1
        whole = "The scale" if one else f"The {ORDINAL[axis]} of {where.shape[1]} scales"
        sentence = f"{whole} {said}{of_rows(context, len(sample.cells))}."
        title = "One scale" if one else f"{ORDINAL[axis].capitalize()} direction of the map"
        numbers |= {"scale": axis + 1, "scales": where.shape[1], "rows at the upper end": int(upper.sum())}
        numbers["rows at the lower end"] = int(lower.sum())
        drawing = dumbbells(sides.lines(), f"{title}; filled dots: upper end, rings: lower end.")
        total = sample.look.n_rows
        found.append(Finding("directions", sentence, numbers, drawing, "map", len(sample.cells), total, title))
    return found


def _said(sides: Sides, n_columns: int) -> tuple[str, dict[str, Number]]:
    """Describe the two ends: many ones against few, or some columns against others."""
    if sides.leaning:
        upper, lower = sides.totals
        top = sides.more if sides.leaning > 0 else sides.less
        said = (
            f"runs from rows with few ones to rows with many: on average {min(upper, lower):.1f} of {n_columns} "
            f"columns in the quarter of the rows at one end, {max(upper, lower):.1f} at the other; it shows most in "
            f"{_listed(sides, top, flipped=sides.leaning < 0)}"
        )
        return said, {"ones, upper end": upper, "ones, lower end": lower, **sides.numbers(top)}
    if sides.more and sides.less:
        said = (
            f"sets rows with {_listed(sides, sides.more)} against rows with "
            f"{_listed(sides, sides.less, flipped=True)}; shares are of the quarter of the rows at either end"
        )
        return said, sides.numbers(sides.more) | sides.numbers(sides.less)
    top = sides.more or sides.less
    said = (
        f"separates rows with and without {_listed(sides, top, flipped=not sides.more)}; shares are of the quarter of "
        "the rows at either end"
    )
    return said, sides.numbers(top)


def _listed(sides: Sides, columns: list[int], *, flipped: bool = False) -> str:
    """Return columns with their shares at this end and at the other."""
    return sides.shown(columns, "at the other", here="at this end", flipped=flipped)
