"""The score of each row (gradient of its log-likelihood) and the observed information, for standard errors."""

from __future__ import annotations

from typing import Any, Protocol

from hiddenbits.array_types import Floats
from hiddenbits.data import Block, Grid, Table
from hiddenbits.engine import block_height, current, one_blas_thread
from hiddenbits.families._base.inputs import rows_of
from hiddenbits.maths.free_parameters import FreeParameters
from hiddenbits.model_api import Footprint


class ScoreFunction(Protocol):
    """The scores of rows and the information at given parameters of a family, in unconstrained coordinates."""

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates, p."""

    def free_parameters(self, weight: float) -> FreeParameters:
        """Return the coordinates of a fit to rows of this weight."""

    def params_at(self, vector: Floats) -> Any:
        """Return the parameters at a vector of coordinates."""

    def gradients(self, block: Block) -> Floats:
        """Return the gradient of ln P(row) of each row, (n, p)."""

    def information(self, block: Block) -> Floats:
        """Return minus the second derivatives of the weighted log-likelihood of a block, (p, p)."""


def row_gradients(scores: ScoreFunction, table: Table) -> Floats:
    """Return the score of each row, (rows, p)."""
    with one_blas_thread():
        return rows_of(current().executor.map_rows(scores.gradients, _grid(scores, table)), table.shape[0])


def observed_information(scores: ScoreFunction, table: Table) -> Floats:
    """Return minus the second derivatives of the log-likelihood of a table, (p, p)."""
    with one_blas_thread():
        total: Floats = current().executor.reduce(scores.information, _grid(scores, table))
    return total


def _grid(scores: ScoreFunction, table: Table) -> Grid:
    """Return blocks of a table, so small that the gradients of a block fit in a core's cache."""
    p, d = scores.n_coordinates, table.shape[1]
    return table.grid(block_height(Footprint(working=4 * p + d, statistics=p * p, flops=2 * p * p)))
