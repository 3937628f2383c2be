"""Which way `LogisticPCA` takes its passes: by the cells of a table, or by its ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Arrays, Block, Table
from hiddenbits.engine import Position, block_height, current
from hiddenbits.families._base.transformer import CodingEstimator
from hiddenbits.families.logistic_pca.by_ones.likelihood import LogisticOfOnes
from hiddenbits.families.logistic_pca.by_ones.model import LogisticByOnes
from hiddenbits.families.logistic_pca.by_ones.params import AnchoredParams
from hiddenbits.families.logistic_pca.model import ROW_CELLS, Logistic
from hiddenbits.store.validation import require

AUTO, CELLS, ONES = "auto", "cells", "ones"
N_CELLS = {1: 64, 2: 256, 3: 512}  # of the map, by its dimensions
TALLEST = 4096  # rows of a block of the verbs
LARGE, SPARSE = 5e7, 0.05  # cells of a table, and its share of ones, from and up to which "auto" takes the ones
SAID = {CELLS: "passes over all cells", ONES: "passes over the ones, rows grouped by their place on the map"}


@dataclass(frozen=True, eq=False)
class Blanks(Arrays):
    """Number of blanks of a table."""

    blanks: Floats


def _blanks(block: Block) -> Blanks:
    _, o = block.operands()
    observed = np.broadcast_to(o.T @ np.ones((block.n_rows, 1)), (block.n_columns, 1)).sum()
    return Blanks(np.asarray(block.n_rows * block.n_columns - observed))


class CostVerbs(CodingEstimator[Any, Any]):  # parameters of a fit by the cells, or by the ones
    """What a pass of `LogisticPCA` costs: chosen for each fit, and said."""

    n_components: int
    ridge: float
    start: Any
    tol: float
    cost_: str

    def _fit_model(self, model: Any, table: Table) -> Any:
        method = self._options()["method"]
        self.cost_ = CELLS
        if not isinstance(model, Logistic) or method.cost == CELLS:
            return model
        n, d = table.shape
        row_cells = table.source.row_cells
        if method.cost == AUTO and (n * d < LARGE or row_cells > SPARSE * d):
            return model
        by_ones = LogisticByOnes(self.n_components, self.ridge, self.start, N_CELLS.get(self.n_components, 0), self.tol)
        refusal = self._refusal(model, by_ones, table)
        if refusal and method.cost == ONES:
            raise ValueError(f"cost='ones' is {refusal}. Use cost='cells'.")
        self.cost_ = CELLS if refusal else ONES
        return model if refusal else by_ones

    def _refusal(self, model: Logistic, by_ones: LogisticByOnes, table: Table) -> str | None:
        """Return what passes by the ones are for, where this fit is something else."""
        if not model.polish:
            return "for polish=True"
        if self.n_components not in N_CELLS:
            return f"for one to three dimensions, not {self.n_components}"
        if getattr(table.source, "complete", False):
            return None
        grid = table.grid(block_height(by_ones.footprint(table.shape[1], table.source.row_cells)))
        blanks = float(current().executor.reduce(_blanks, grid).blanks)
        return f"for tables without blanks; this one has {blanks:,.0f}" if blanks else None

    def _height(self, model: Any, table: Table) -> int:
        height = super()._height(model, table)
        if not isinstance(model, LogisticOfOnes):
            return height
        return max(height, min(TALLEST, ROW_CELLS // table.shape[1]))  # a row of few ones is little work

    def _attributes_at(self, weight: float, position: Position) -> dict[str, object]:
        return {
            **super()._attributes_at(weight, position),
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
