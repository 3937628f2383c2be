"""What `CombinationMachine` does with tables of real numbers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import Randomness
from hiddenbits.data.request import Request
from hiddenbits.families.combination_machine.chain_verbs import ChainsVerbs


class RealsVerbs(ChainsVerbs):
    """The verbs that differ between machines over bits and over reals; likelihood, codes and posterior do not."""

    visible: str

    @property
    def _takes_reals(self) -> bool:
        return self.visible == "reals"

    def _request(self, *, reset: bool) -> Request:
        if self._takes_reals and self.threshold is not None:
            raise ValueError('threshold= turns numbers into bits, and visible="reals" takes them as they are.')
        return super()._request(reset=reset)

    def complete(self, X: object) -> Any:
        """Fill in the missing cells from the row's observed ones; observed cells stay as they are.

        A missing bit becomes P(bit = 1), a missing real number its mean.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        completed : ndarray of shape (rows, columns), or a frame where X is one
        """
        return super().complete(X)

    def sample(self, n_samples: int = 1, *, random_state: Randomness = None) -> Any:
        """Draw new rows from the fitted model: exactly, or by tempered Markov chains where units are too many.

        Parameters
        ----------
        n_samples : int
            Number of rows.
        random_state : int, RandomState or None
            Seed of the draw; by default that of the estimator.

        Returns
        -------
        X : ndarray of shape (n_samples, columns) of uint8, or of float64 with ``visible="reals"``
        """
        check_is_fitted(self, "params_")
        if self.visible == "bits":
            return super().sample(n_samples, random_state=random_state)
        return self._drawn(partial(self._model().draw, self.params_), n_samples, random_state, np.float64)
