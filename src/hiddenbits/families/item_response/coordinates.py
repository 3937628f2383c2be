"""Which numbers of the items are free: patterns of loadings, equal and fixed slopes.

The coefficients B of an item's predictors, (M, q + 1), are linear in its numbers b: B = T b. A graded item has one
slope for all predictors, in a partial credit item the predictor of level m has m times the slope, and a nominal item
has slopes of its own for each level. Free numbers have a place in the vector of all coordinates; slopes that are equal
share one. Fixed numbers keep the values of the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats
from hiddenbits.families.item_response.params import ItemParams, Items, items_of
from hiddenbits.families.item_response.response import OF_BITS, Kind

ALIKE: tuple[Kind, ...] = ("binary", "guessing", "graded", "partial_credit")  # with one slope, which may be equal
MAX_LOG_STEP = 6.0  # of the logarithm of the distance of two thresholds, as a coordinate


class ItemNumbers(NamedTuple):
    """Items of one kind, T, (M (q + 1), P), where each number is read from B, and its coordinate (-1: fixed)."""

    items: Items
    design: Floats
    sources: NDArray[np.intp]  # (P,), places in the flat B
    places: NDArray[np.intp]  # (J, P)

    def read(self, params: ItemParams) -> Floats:
        """Return the numbers of each item, (J, P)."""
        B = params.coefficients(self.items)
        return np.ascontiguousarray(B.reshape(len(B), -1)[:, self.sources])

    def coefficients(self, numbers: Floats) -> Floats:
        """Return B, (J, M, q + 1)."""
        flat = numbers @ self.design.T
        return np.asarray(flat.reshape(len(flat), self.n_predictors, -1))

    @property
    def n_predictors(self) -> int:
        """M."""
        kind, n_bits = self.items.kind, self.items.cells.shape[1]
        return 2 if kind in ("guessing", "continuous") else max(n_bits - 1, 1)

    @property
    def thresholds(self) -> slice:
        """The thresholds of graded items, which fall."""
        n = self.n_predictors if self.items.kind == "graded" else 0
        return slice(self.design.shape[1] - n, self.design.shape[1])


@dataclass(frozen=True)
class ItemCoordinates:
    """The free numbers of all items, and their number."""

    groups: tuple[ItemNumbers, ...]
    size: int
    has_shared: bool

    def vector(self, values: Sequence[Floats]) -> Floats:
        """Return the vector of all free numbers, given numbers (J, P) for each group."""
        out = np.zeros(self.size)
        for group, numbers in zip(self.groups, values, strict=True):
            free = group.places >= 0
            out[group.places[free]] = numbers[free]
        return out

    def spread(self, vector: Floats, params: ItemParams) -> list[Floats]:
        """Return the numbers of each group, (J, P), at a vector; fixed numbers are those of `params`."""
        return [np.where(g.places >= 0, vector[g.places], g.read(params)) for g in self.groups]

    def unbounded(self, params: ItemParams) -> Floats:
        """Return coordinates for extrapolation: thresholds as the first one and logs of their distances."""
        values = [group.read(params) for group in self.groups]
        for group, numbers in zip(self.groups, values, strict=True):
            d = numbers[:, group.thresholds]
            if d.shape[1] > 1:
                d[:, 1:] = np.log(np.maximum(-np.diff(d, axis=1), np.exp(-2.0 * MAX_LOG_STEP)))
        return self.vector(values)

    def params_at_unbounded(self, vector: Floats, params: ItemParams) -> ItemParams:
        """Return the parameters at any coordinates for extrapolation."""
        values = self.spread(vector, params)
        for group, numbers in zip(self.groups, values, strict=True):
            d = numbers[:, group.thresholds]
            if d.shape[1] > 1:
                d[:, 1:] = d[:, :1] - np.cumsum(np.exp(np.clip(d[:, 1:], -2.0 * MAX_LOG_STEP, MAX_LOG_STEP)), axis=1)
        return self.with_numbers(values, params)

    def with_numbers(self, values: Sequence[Floats], params: ItemParams) -> ItemParams:
        """Return parameters with the numbers of each group."""
        pairs = zip(self.groups, values, strict=True)
        return params.with_coefficients([(group.items, group.coefficients(numbers)) for group, numbers in pairs])


@lru_cache(maxsize=64)
def coordinates_of(
    types: bytes, columns: bytes, n_continuous: int, n_numbers: int, loads: bytes, q: int, slopes: str
) -> ItemCoordinates:
    """Return the coordinates of all items.

    Parameters
    ----------
    types, columns, n_continuous, n_numbers
        The items: `ItemParams.items_key`.
    loads : bytes
        Which column loads on which axis, bool (columns, q): columns of bits first, then numbers.
    q : int
        Number of axes.
    slopes : {"free", "equal", "fixed"}
        Slopes of binary and ordinal items.
    """
    groups, size, shared = list[ItemNumbers](), 0, -1
    of_bits = np.frombuffer(columns).astype(np.intp)
    n_bit_columns = int(of_bits[-1]) + 1 if len(of_bits) else 0
    loads_on = np.frombuffer(loads, bool).reshape(-1, q)
    for items in items_of(types, columns, n_continuous, n_numbers):
        design, sources = _design(items, q)
        P, J = design.shape[1], len(items.cells)
        first = items.cells[:, 0]
        column = of_bits[first] if items.kind in OF_BITS else n_bit_columns + first
        is_free = np.ones((J, P), bool)
        axis = sources % (q + 1)
        for number in np.flatnonzero(axis < q):
            is_free[:, number] = loads_on[column, axis[number]]
        is_alike = items.kind in ALIKE and slopes != "free"
        if is_alike:
            is_free[:, axis < q] = False
        index = np.full((J, P), -1)
        index[is_free] = size + np.arange(is_free.sum())
        size += int(is_free.sum())
        if is_alike and slopes == "equal":
            if shared < 0:
                shared, size = size, size + 1
            index[:, axis < q] = shared
        groups.append(ItemNumbers(items, design, sources, index))
    return ItemCoordinates(tuple(groups), size, shared >= 0)


def _design(items: Items, q: int) -> tuple[Floats, NDArray[np.intp]]:
    """Return T and where each number is read from."""
    kind, n_bits = items.kind, items.cells.shape[1]
    M = 2 if kind in ("guessing", "continuous") else max(n_bits - 1, 1)
    place = np.arange(M * (q + 1)).reshape(M, q + 1)
    columns: list[tuple[NDArray[np.intp], Floats]] = []
    if kind == "nominal":
        columns += [(place[m, axis][None], np.ones(1)) for m in range(M) for axis in range(q)]
    else:
        factors = np.arange(1.0, M + 1.0) if kind == "partial_credit" else np.ones(M)
        n_sloped = 1 if kind in ("guessing", "continuous") else M
        columns += [(place[:n_sloped, axis], factors[:n_sloped]) for axis in range(q)]
    columns += [(place[m, q][None], np.ones(1)) for m in range(M)]
    design = np.zeros((M * (q + 1), len(columns)))
    for number, (rows, values) in enumerate(columns):
        design[rows, number] = values
    return design, np.array([rows[0] for rows, _ in columns])
