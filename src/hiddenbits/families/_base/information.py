"""What standard errors are made of, for estimators whose rows have a score: gradients of rows, and their curvature."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from functools import partial
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.engine import block_height, current, one_blas_thread
from hiddenbits.families._base.inputs import as_table, rows_of
from hiddenbits.maths.free_parameters import FreeParameters
from hiddenbits.model_api import Footprint


class RowScores(Protocol):
    """A family's mathematics of scores, at given parameters."""

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates, p."""

    def free(self, weight: float) -> FreeParameters:
        """Return the coordinates, of a fit to rows of this weight."""

    def at(self, vector: Floats) -> Any:
        """Return the parameters at a vector of coordinates."""

    def gradients(self, block: Block) -> Floats:
        """Return the gradient of ln P(row) of each row, (n, p)."""

    def information(self, block: Block) -> Floats:
        """Return minus the second derivatives of the weighted log-likelihood of a block, (p, p)."""


class InformationVerbs:
    """Adds gradients of rows and the observed information to an estimator that has `_row_scores`."""

    params_: Any
    weight_seen_: float

    @abstractmethod
    def _row_scores(self) -> RowScores:
        """Return the scores at the fitted parameters; refuse where rows have none."""

    def free_parameters(self) -> FreeParameters:
        """Return the coordinates in which `row_gradients` and `observed_information` are, and what depends on them.

        Returns
        -------
        free : FreeParameters
            `vector` (the coordinates of the fit), `border` (those without an error), `quantities` (what people publish,
            with derivatives) and more; `hiddenbits.inference` uses it.
        """
        check_is_fitted(self, "params_")
        return self._row_scores().free(self.weight_seen_)

    def at_vector(self, vector: ArrayLike) -> Self:
        """Return a copy of the fitted estimator with its parameters at other coordinates.

        Parameters
        ----------
        vector : array of shape (coordinates,)
            As `free_parameters().vector`.
        """
        check_is_fitted(self, "params_")
        moved = copy(self)
        moved.params_ = self._row_scores().at(np.asarray(vector, np.float64))
        return moved

    def row_gradients(self, X: object) -> Floats:
        """Return the gradient of each row's log-likelihood by the coordinates of `free_parameters` (the row's score).

        By Fisher's identity it is the posterior mean of the gradient that one would have if hidden codes were known.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        gradients : ndarray of shape (rows, coordinates)
        """
        check_is_fitted(self, "params_")
        table = as_table(self, X, reset=False)
        scores = self._row_scores()
        with one_blas_thread():
            grid = table.grid(_height(scores, table.shape[1]))
            return rows_of(current().executor.map_rows(scores.gradients, grid), table.shape[0])

    def observed_information(self, X: object, sample_weight: ArrayLike | None = None) -> Floats:
        """Return minus the second derivatives of the log-likelihood of X by the coordinates of `free_parameters`.

        By Louis' formula: the expected curvature if hidden codes were known, less what not knowing them costs. The
        prior of a fit is not part of it.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.
        sample_weight : str or array of shape (rows,), optional
            Weight of each row; a weight of 2 counts as two equal rows.

        Returns
        -------
        information : ndarray of shape (coordinates, coordinates)
        """
        check_is_fitted(self, "params_")
        table = as_table(self, X, reset=False, sample_weight=sample_weight)
        scores = self._row_scores()
        with one_blas_thread():
            grid = table.grid(_height(scores, table.shape[1]))
            found: Floats = current().executor.reduce(partial(_information, scores), grid)
        return found


def _height(scores: RowScores, n_columns: int) -> int:
    """Return how many rows make a block: the gradients of one should fit in a core's cache."""
    p = scores.n_coordinates
    return block_height(Footprint(working=4 * p + n_columns, statistics=p * p, flops=2 * p * p))


def _information(scores: RowScores, block: Block) -> Floats:
    return scores.information(block)
