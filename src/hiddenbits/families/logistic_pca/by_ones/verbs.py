"""Which way `LogisticPCA` takes its passes: by the cells of a table, or by its ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Arrays, Block, Table
from hiddenbits.engine import block_height, current
from hiddenbits.families.logistic_pca.by_ones.model import LogisticByOnes
from hiddenbits.families.logistic_pca.by_ones.params import AnchoredParams
from hiddenbits.families.logistic_pca.model import Logistic
from hiddenbits.families.logistic_pca.refine import RefinedLogistic

AUTO, CELLS, ONES = "auto", "cells", "ones"
N_CELLS = {1: 64, 2: 256, 3: 512}  # of the map, by its dimensions
TALLEST = 4096  # rows of a block of the verbs
LARGE, SPARSE = 5e7, 0.05  # cells of a table, and its share of ones, from and up to which "auto" takes the ones


@dataclass(frozen=True, eq=False)
class Blanks(Arrays):
    """Number of blanks of a table."""

    blanks: Floats


def _blanks(block: Block) -> Blanks:
    _, o = block.operands()
    observed = np.broadcast_to(o.T @ np.ones((block.n_rows, 1)), (block.n_columns, 1)).sum()
    return Blanks(np.asarray(block.n_rows * block.n_columns - observed))


def model_of_ones(model: Logistic, cost: str, table: Table) -> LogisticByOnes | None:
    """Return the model of a fit whose passes go by the ones of a table; None where they go by its cells."""
    n, d = table.shape
    row_cells = table.source.row_cells
    if cost == CELLS or (cost == AUTO and (n * d < LARGE or row_cells > SPARSE * d)):
        return None
    q = model.n_components
    by_ones = LogisticByOnes(q, model.ridge, model.start_from, N_CELLS.get(q, 0))
    refusal = _refusal(model, by_ones, table)
    if refusal and cost == ONES:
        raise ValueError(f"cost='ones' is {refusal}. Use cost='cells'.")
    return None if refusal else by_ones


def _refusal(model: Logistic, by_ones: LogisticByOnes, table: Table) -> str | None:
    """Return what passes by the ones are for, where this fit is something else."""
    if not isinstance(model, RefinedLogistic):
        return "for refine=True"
    if model.n_components not in N_CELLS:
        return f"for one to three dimensions, not {model.n_components}"
    if getattr(table.source, "complete", False):
        return None
    grid = table.grid(block_height(by_ones.footprint(table.shape[1], table.source.row_cells)))
    blanks = float(current().executor.reduce(_blanks, grid).blanks)
    return f"for tables without blanks; this one has {blanks:,.0f}" if blanks else None


def plain_params(params: Any) -> Any:
    """Return the parameters of a map, without the cells of passes by the ones."""
    return params.plain() if isinstance(params, AnchoredParams) else params
