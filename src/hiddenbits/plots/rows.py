"""Rows as points: rows at the same position are drawn once, with an area proportional to their number."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats, Rows
from hiddenbits.plots.style import GREY, glyph

SAME = 6  # positions that agree to this many decimals are the same: equal rows agree to about 1e-9
MOST_CATEGORIES = 20
LARGEST_AREA, UNIT_AREA, SMALLEST_AREA = 800.0, 22.0, 2.0  # of a glyph, in points^2


@dataclass(frozen=True)
class Kind:
    """A category as it is drawn."""

    name: str
    rows: NDArray[np.bool_]
    color: str
    marker: str


@dataclass(frozen=True)
class Places:
    """Distinct positions: coordinates, number of rows (or weight), mean of a number, and the row indices."""

    where: Floats
    counts: Floats
    numbers: Floats | None
    first: Rows
    members: list[Rows]


def places(means: Floats, weights: Floats, numbers: Floats | None = None, beside: Floats | None = None) -> Places:
    """Group rows at the same position, the largest group first, so that none is hidden behind a larger one.

    `beside` are further columns that must agree too.
    """
    keys = means if beside is None else np.column_stack([means, beside])
    _, first, inverse = np.unique(np.round(keys, SAME), axis=0, return_index=True, return_inverse=True)
    inverse = inverse.reshape(-1)
    counts = np.asarray(np.bincount(inverse, weights, len(first)), np.float64)
    order = np.argsort(-counts, kind="stable")
    averages = None
    if numbers is not None:
        known = ~np.isnan(numbers)
        with np.errstate(invalid="ignore"):
            totals = np.bincount(inverse, np.where(known, numbers, 0.0) * weights, len(first))
            averages = (totals / np.bincount(inverse, known * weights, len(first)))[order]
    by_place = np.split(np.argsort(inverse, kind="stable"), np.cumsum(np.bincount(inverse, minlength=len(first)))[:-1])
    members = [by_place[place] for place in order]
    return Places(means[first][order], counts[order], averages, first[order], members)


def area_of_one(most: float) -> float:
    """Return the area of a glyph for one row, if the largest group has `most` rows."""
    return min(UNIT_AREA, LARGEST_AREA / max(most, 1.0))


def areas(counts: Floats, unit: float) -> Floats:
    """Return areas in proportion to counts; a glyph too small to see is drawn as the smallest that can be seen."""
    return np.maximum(counts * unit, SMALLEST_AREA)


def size_key(counts: Floats) -> list[int]:
    """Return up to three whole counts for the legend: the smallest, one between, the largest."""
    low, high = max(1, int(np.floor(counts.min()))), int(np.floor(counts.max()))
    if high <= low:
        return []
    middle = round(np.sqrt(low * high))
    return sorted({low, middle, high})


def is_numeric(color: Any) -> bool:
    """Whether a color is a number (a scale) and not a category."""
    if "categor" in str(getattr(color, "dtype", "")).lower():  # a frame's categories may be numbers
        return False
    return bool(np.issubdtype(np.asarray(color).dtype, np.number))


def is_blank(value: Any) -> bool:
    """Whether a category is not known: None, NaN or pandas' NA."""
    try:
        return value is None or bool(value != value)  # NaN differs from itself
    except TypeError:  # pandas' NA is neither true nor false
        return True


def kinds(color: Any) -> list[Kind]:
    """Return the categories of the rows, in order of their names; the rarest share one glyph where there are many."""
    values = np.asarray(color, dtype=object)
    missing = np.array([is_blank(value) for value in values], dtype=bool)
    names = np.array(["" if gone else str(value) for gone, value in zip(missing, values, strict=True)], dtype=object)
    distinct, counts = np.unique(names[~missing].astype(str), return_counts=True)
    kept, rest = list(distinct), []
    if len(distinct) > MOST_CATEGORIES:
        order = np.argsort(-counts, kind="stable")
        large = set(distinct[order[: MOST_CATEGORIES - 1]])
        kept, rest = [name for name in distinct if name in large], [name for name in distinct if name not in large]
        warnings.warn(
            f"There are {len(distinct)} categories, more than the {MOST_CATEGORIES} glyphs a reader can distinguish: "
            f"the {len(kept)} largest have their own glyph, the other {len(rest)} are gray.",
            stacklevel=4,  # the caller of `map`
        )
    found = [Kind(name, names == name, *glyph(number)) for number, name in enumerate(kept)]
    if rest:
        found.append(Kind(f"{len(rest)} other categories", np.isin(names.astype(str), rest) & ~missing, GREY, "."))
    if missing.any():
        found.append(Kind("not known", missing, GREY, "x"))
    return found
