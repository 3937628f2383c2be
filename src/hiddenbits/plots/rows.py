"""Rows as points of a map: rows at the same position are drawn once, with an area proportional to their number."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats, Rows
from hiddenbits.plots.style import GRAY, glyph

DECIMALS = 6  # positions that agree to this many decimals are the same: equal rows agree to about 1e-9
MOST_CATEGORIES = 20
LARGEST_AREA, UNIT_AREA, SMALLEST_AREA = 800.0, 22.0, 2.0  # of the marker of a position, in points^2


@dataclass(frozen=True)
class Category:
    """A category of rows, with its color and marker."""

    name: str
    rows: NDArray[np.bool_]
    color: str
    marker: str


@dataclass(frozen=True)
class Points:
    """Distinct positions: coordinates, number of rows (or weight), mean of a number, and the row indices."""

    positions: Floats
    counts: Floats
    numbers: Floats | None
    first: Rows
    members: list[Rows]


def distinct_points(
    means: Floats, weights: Floats, numbers: Floats | None = None, keys: Floats | None = None
) -> Points:
    """Group rows at the same position, the largest group first, so that none is hidden behind a larger one.

    `keys` are further columns that must also agree.
    """
    keys = means if keys is None else np.column_stack([means, keys])
    _, first, inverse = np.unique(np.round(keys, DECIMALS), axis=0, return_index=True, return_inverse=True)
    inverse = inverse.reshape(-1)
    counts = np.asarray(np.bincount(inverse, weights, len(first)), np.float64)
    order = np.argsort(-counts, kind="stable")
    averages = None
    if numbers is not None:
        known = ~np.isnan(numbers)
        with np.errstate(invalid="ignore"):
            totals = np.bincount(inverse, np.where(known, numbers, 0.0) * weights, len(first))
            averages = (totals / np.bincount(inverse, known * weights, len(first)))[order]
    rows = np.split(np.argsort(inverse, kind="stable"), np.cumsum(np.bincount(inverse, minlength=len(first)))[:-1])
    members = [rows[i] for i in order]
    return Points(means[first][order], counts[order], averages, first[order], members)


def unit_area(most: float) -> float:
    """Return the area of a glyph for one row, if the largest group has `most` rows."""
    return min(UNIT_AREA, LARGEST_AREA / max(most, 1.0))


def areas(counts: Floats, unit: float) -> Floats:
    """Return areas in proportion to counts; glyphs that would be too small are drawn at the smallest visible size."""
    return np.maximum(counts * unit, SMALLEST_AREA)


def size_key(counts: Floats) -> list[int]:
    """Return up to three whole counts for the legend: the smallest, the geometric mean, and the largest."""
    low, high = max(1, int(np.floor(counts.min()))), int(np.floor(counts.max()))
    if high <= low:
        return []
    middle = round(np.sqrt(low * high))
    return sorted({low, middle, high})


def is_numeric(color: Any) -> bool:
    """Whether colors are numbers, to be drawn on a color scale, and not categories."""
    if "categor" in str(getattr(color, "dtype", "")).lower():  # categories of a data frame may be numbers
        return False
    return bool(np.issubdtype(np.asarray(color).dtype, np.number))


def is_missing(value: Any) -> bool:
    """Whether a category is missing: None, NaN or pandas' NA."""
    try:
        return value is None or bool(value != value)  # NaN differs from itself
    except TypeError:  # pandas' NA is neither true nor false
        return True


def categories(color: Any) -> list[Category]:
    """Return the categories of the rows, ordered by name; if there are many, the rarest share one glyph."""
    values = np.asarray(color, dtype=object)
    missing = np.array([is_missing(value) for value in values], dtype=bool)
    names = np.array(["" if is_na else str(value) for is_na, value in zip(missing, values, strict=True)], dtype=object)
    distinct, counts = np.unique(names[~missing].astype(str), return_counts=True)
    own_glyph, others = list(distinct), []
    if len(distinct) > MOST_CATEGORIES:
        order = np.argsort(-counts, kind="stable")
        large = set(distinct[order[: MOST_CATEGORIES - 1]])
        own_glyph = [name for name in distinct if name in large]
        others = [name for name in distinct if name not in large]
        warnings.warn(
            f"There are {len(distinct)} categories, more than the {MOST_CATEGORIES} glyphs a reader can distinguish: "
            f"the {len(own_glyph)} largest have their own glyph, the other {len(others)} are gray.",
            stacklevel=4,  # the caller of `map`
        )
    result = [Category(name, names == name, *glyph(number)) for number, name in enumerate(own_glyph)]
    if others:
        is_other = np.isin(names.astype(str), others) & ~missing
        result.append(Category(f"{len(others)} other categories", is_other, GRAY, "."))
    if missing.any():
        result.append(Category("missing", missing, GRAY, "x"))
    return result
