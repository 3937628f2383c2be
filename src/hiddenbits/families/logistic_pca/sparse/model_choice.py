"""The choice of a model for `LogisticPCA`: one that visits all cells of a table, or the sparse one, only its 1s."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Arrays, Block, Table
from hiddenbits.engine import block_height, current
from hiddenbits.families.logistic_pca.model import Logistic
from hiddenbits.families.logistic_pca.refine import RefinedLogistic
from hiddenbits.families.logistic_pca.sparse.model import SparseLogistic
from hiddenbits.families.logistic_pca.sparse.params import AnchoredParams

AUTO, CELLS, ONES = "auto", "cells", "ones"
N_CELLS = {1: 64, 2: 256, 3: 512}  # of the latent space, by its dimensions
MAX_BLOCK_ROWS = 4096  # of the methods for rows
LARGE_TABLE, SPARSE_SHARE = 5e7, 0.05  # "auto" chooses the sparse model from this many cells, up to this share of 1s


@dataclass(frozen=True, eq=False)
class MissingCount(Arrays):
    """Number of missing cells of a table."""

    count: Floats


def _missing_count(block: Block) -> MissingCount:
    _, o = block.operands()
    observed = np.broadcast_to(o.T @ np.ones((block.n_rows, 1)), (block.n_columns, 1)).sum()
    return MissingCount(np.asarray(block.n_rows * block.n_columns - observed))


def sparse_model(model: Logistic, cost: str, table: Table) -> SparseLogistic | None:
    """Return the sparse model if the fit should use it, otherwise None."""
    n, d = table.shape
    row_cells = table.source.row_cells
    if cost == CELLS or (cost == AUTO and (n * d < LARGE_TABLE or row_cells > SPARSE_SHARE * d)):
        return None
    q = model.n_components
    sparse = SparseLogistic(q, model.ridge, model.start_from, N_CELLS.get(q, 0))
    unmet = _unmet_condition(model, sparse, table)
    if unmet and cost == ONES:
        raise ValueError(f"cost='ones' is {unmet}. Use cost='cells'.")
    return None if unmet else sparse


def _unmet_condition(model: Logistic, sparse: SparseLogistic, table: Table) -> str | None:
    """Return the condition of the sparse model that this fit does not meet, or None."""
    if not isinstance(model, RefinedLogistic):
        return "for refine=True"
    if model.n_components not in N_CELLS:
        return f"for one to three dimensions, not {model.n_components}"
    if getattr(table.source, "complete", False):
        return None
    grid = table.grid(block_height(sparse.footprint(table.shape[1], table.source.row_cells)))
    n_missing = float(current().executor.reduce(_missing_count, grid).count)
    return f"for tables without missing values; this one has {n_missing:,.0f}" if n_missing else None


def plain_params(params: Any) -> Any:
    """Return the parameters without the cells of the sparse model."""
    return params.without_cells() if isinstance(params, AnchoredParams) else params
