"""`predict`, where a row's code is a class, or causes that are on or off."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data import Block


class PredictsClasses:
    """Rows belong to one of several classes; their probabilities come first in a code."""

    _code_word = "class"

    def predict(self, X: object) -> NDArray[np.int64]:
        """Return the most probable class of each row given its observed bits: the largest of `transform`.

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
        posterior = me._model().posterior

        def best(params: Any, shared: Any, block: Block) -> NDArray[np.int64]:
            chances = posterior(params, shared, block)[:, : len(params.weights)]
            return np.asarray(chances.argmax(axis=1), np.int64)

        found: NDArray[np.int64] = me._map(X, best)
        return found

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
