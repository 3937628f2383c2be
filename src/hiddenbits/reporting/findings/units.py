"""The hidden units of a model, kinds of rows or causes, counted over all rows or over those that the models use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits import Piece, Table, map_pieces
from hiddenbits.array_types import Floats
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.effects import Contrast

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
