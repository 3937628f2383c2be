"""`predict` and its kin, where a row's code is a class, or causes that are on or off."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hiddenbits.array_types import Floats
from hiddenbits.data import Block


class PredictsClasses:
    """Rows belong to one of several classes, of which a code has the probabilities."""

    _code_word = "class"

    def predict(self, X: object) -> NDArray[np.int64]:
        """Return the most probable class of each row given its observed cells: the largest of `predict_proba`.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        classes : ndarray of shape (rows,) of int
            Counted from 0, as scikit-learn does: 0 is the class that names call `class_1`.
        """
        me: Any = self
        found: NDArray[np.int64] = me._map(X, partial(_best, me._model().posterior))
        return found

    def predict_proba(self, X: object) -> Floats:
        """Return the probability of each class for each row, given its observed cells.

        In scikit-learn's pipelines `transform` hands on the same numbers, under the names of the classes.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        probabilities : ndarray of shape (rows, n_components)
        """
        me: Any = self
        found: Floats = me.posterior(X)
        return found

    def predict_log_proba(self, X: object) -> Floats:
        """Return the logarithm of `predict_proba`; -inf for a class that a row cannot be in.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        log_probabilities : ndarray of shape (rows, n_components)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def fit_predict(self, X: object, y: object = None, sample_weight: ArrayLike | None = None) -> NDArray[np.int64]:
        """Fit the model and return the most probable class of each row.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.
        y : None
            Ignored; scikit-learn's convention.
        sample_weight : str or array of shape (rows,), optional
            Weight of each row, or the name of the column that has it.

        Returns
        -------
        classes : ndarray of shape (rows,) of int
            As `predict` returns them.
        """
        me: Any = self
        fitted: Self = me.fit(X, sample_weight=sample_weight)
        return fitted.predict(X)

    def _predicted_names(self) -> list[str]:
        return [self._code_word]


class PredictsCauses:
    """Rows have several causes, each on or off."""

    _code_word = "cause"

    def predict(self, X: object) -> NDArray[np.uint8]:
        """Return which causes are more probably on than off in each row, given its observed bits.

        Each cause is judged by itself: 1 where `transform` is above 1/2. `code` has the most probable combination of
        all causes, which may differ where causes explain the same bits.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        on : ndarray of shape (rows, causes) of uint8
        """
        me: Any = self
        posterior = me._model().posterior

        def more_probable(params: Any, shared: Any, block: Block) -> NDArray[np.uint8]:
            return np.asarray(posterior(params, shared, block) > 0.5, np.uint8)

        found: NDArray[np.uint8] = me._map(X, more_probable)
        return found

    def _predicted_names(self) -> list[str]:
        return [str(name) for name in self.get_feature_names_out()]  # type: ignore[attr-defined]


def _best(posterior: Callable[..., Floats], params: Any, shared: Any, block: Block) -> NDArray[np.int64]:
    """Return the most probable class of each row of a block."""
    return np.asarray(posterior(params, shared, block).argmax(axis=1), np.int64)
