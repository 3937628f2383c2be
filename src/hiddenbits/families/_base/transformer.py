"""What the estimators share whose rows have a hidden code."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.engine import one_blas_thread
from hiddenbits.families._base.estimator import BitsEstimator
from hiddenbits.model_api import CodeModel, P, S


class CodingEstimator(TransformerMixin, BitsEstimator[P, S]):  # type: ignore[misc]
    """Base of the estimators whose rows have a hidden code."""

    _code_word = "dimension"  # what a number of a code belongs to

    @abstractmethod
    def _model(self) -> CodeModel[P, S]:
        """Return the model with these hyperparameters."""

    def transform(self, X: object) -> Floats:
        """Return the posterior mean of each row's hidden code.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        codes : ndarray of shape (rows, n_components), or what `set_output` asks for
        """
        return self.posterior(X)

    def posterior(self, X: object) -> Floats:
        """Return the posterior of each row's hidden code given its observed bits.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.
        """
        return self._map(X, self._model().posterior)

    def code(self, X: object) -> Floats:
        """Return the most probable code of each row.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.
        """
        return self._map(X, self._model().code)

    def inverse_transform(self, X: object) -> Floats:
        """Return P(bit = 1) given codes.

        Parameters
        ----------
        X : array of shape (rows, n_components)
            Codes, as from `transform` or `code`.
        """
        check_is_fitted(self, "params_")
        codes = check_array(X, dtype=np.float64)
        if codes.shape[1] != self._n_features_out:
            raise ValueError(f"A code has {self._n_features_out} columns, got {codes.shape[1]}.")
        with one_blas_thread():
            return self._model().reconstruct(self.params_, codes)

    def get_feature_names_out(self, input_features: object = None) -> AnyArray:
        """Return the names of a code's numbers, counted from 1: "class_1", "dimension_1", "cause_1".

        Parameters
        ----------
        input_features : None
            Ignored; scikit-learn's convention.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self, "params_")
        return np.array(self._code_names(), dtype=object)

    def _code_names(self) -> list[str]:
        """Return the names of a code's numbers."""
        return [f"{self._code_word}_{k + 1}" for k in range(self._n_features_out)]

    @property
    def _n_features_out(self) -> int:
        """Width of a code: the classes, where codes are classes."""
        return self.params_.axis_sizes["K"]
