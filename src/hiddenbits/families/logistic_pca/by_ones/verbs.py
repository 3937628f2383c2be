"""Which way `LogisticPCA` takes its passes: by the cells of a table, or by its ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Arrays, Block, Table
from hiddenbits.engine import Position, block_height, current
from hiddenbits.families.logistic_pca.by_ones.model import LogisticByOnes
from hiddenbits.families.logistic_pca.by_ones.params import AnchoredParams
from hiddenbits.families.logistic_pca.mixed.verbs import MixedVerbs
from hiddenbits.families.logistic_pca.model import Logistic
from hiddenbits.store.validation import require

CELLS, ONES = "cells", "ones"
N_CELLS = {1: 64, 2: 256, 3: 512}  # of the map, by its dimensions
MOST_CELLS = 1024  # of a map of more dimensions
MOST_COMPONENTS = 2  # by default: held-out figures are recorded up to here; the error grows with the dimensions
MIN_ROWS = 4  # rows for each cell of the map: with fewer, passes by cells are quick enough
SPARSE = 0.1  # share of ones up to which the default takes passes by the ones
SAID = {CELLS: "passes over all cells", ONES: "passes over the ones, rows grouped by their place on the map"}


@dataclass(frozen=True, eq=False)
class Counts(Arrays):
    """Weighted ones of a table, the weight of its rows, and its blanks."""

    ones: Floats
    weight: Floats
    blanks: Floats


def _counts(block: Block) -> Counts:
    x, o = block.operands()
    each = np.ones((block.n_rows, 1))
    observed = np.broadcast_to(o.T @ each, (block.n_columns, 1)).sum()
    ones = (x.T @ block.weights[:, None]).sum()
    blanks = block.n_rows * block.n_columns - observed
    return Counts(np.asarray(ones), np.asarray(block.weights.sum()), np.asarray(blanks))


def n_cells_for(n_components: int) -> int:
    """Return how many cells a map is cut into."""
    return N_CELLS.get(n_components, MOST_CELLS)


class CostVerbs(MixedVerbs):
    """What a pass of `LogisticPCA` costs: chosen for each fit, and said."""

    n_components: int
    ridge: float
    start: Any
    cost_: str

    def _fit_model(self, model: Any, table: Table) -> Any:
        method: Any = self._group("method")
        asked = method.cost if isinstance(model, Logistic) else CELLS
        by_ones = asked == ONES or (asked == "auto" and model.polish and self._worth_it(table))
        if asked == ONES:
            self._refuse(model, table)
        self.cost_ = ONES if by_ones else CELLS
        if not by_ones:
            return model
        return LogisticByOnes(self.n_components, self.ridge, self.start, n_cells_for(self.n_components))

    def _count(self, table: Table) -> Counts:
        model = LogisticByOnes(self.n_components)
        grid = table.grid(block_height(model.footprint(table.shape[1], table.source.row_cells)))
        found: Counts = current().executor.reduce(_counts, grid)
        return found

    def _worth_it(self, table: Table) -> bool:
        """Return whether passes by the ones are quicker for this table, and known to be close.

        The cells of a table against its ones, as they are stored, and cells of the map x columns.
        """
        me: Any = self
        (n, d), n_cells = table.shape, n_cells_for(self.n_components)
        if me.online_passes or self.n_components > MOST_COMPONENTS or n < MIN_ROWS * n_cells:
            return False
        found = self._count(table)
        return float(found.blanks) == 0.0 and float(found.ones) <= SPARSE * d * float(found.weight)

    def _refuse(self, model: Logistic, table: Table) -> None:
        me: Any = self
        if not model.polish or me.online_passes:
            raise ValueError("cost='ones' is for polish=True and online_passes=0. Use cost='auto'.")
        blanks = float(self._count(table).blanks)
        if blanks:
            raise ValueError(f"cost='ones' is for tables without blanks; this one has {blanks:,.0f}. Use cost='auto'.")

    def _attributes_at(self, weight: float, position: Position) -> dict[str, object]:
        return {
            **super()._attributes_at(weight, position),
            "layout_": self.layout_,
            "cost_": getattr(self, "cost_", CELLS),
        }

    def _story(self) -> dict[str, str]:
        said = super()._story()
        return {**said, "passes": f"{said['passes']} ({SAID[ONES]})"} if self._by_ones else said

    @property
    def _by_ones(self) -> bool:
        return getattr(self, "cost_", CELLS) == ONES

    def _more_meta(self) -> dict[str, object]:
        return {**super()._more_meta(), **({"cost": ONES} if self._by_ones else {})}

    def _take_meta(self, more: dict[str, object], n_columns: object, names: object) -> None:
        more = dict(more)
        cost = more.pop("cost", CELLS)
        require(cost in SAID, "the cost of its passes is unknown")
        self.cost_ = str(cost)
        super()._take_meta(more, n_columns, names)


def plain_params(params: Any) -> Any:
    """Return the parameters of a map, without the cells of passes by the ones."""
    return params.plain() if isinstance(params, AnchoredParams) else params
