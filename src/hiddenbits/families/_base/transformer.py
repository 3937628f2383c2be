"""The base classes of estimators whose rows have latent variables: of any kind, or classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data import Block
from hiddenbits.data.layout import Layout
from hiddenbits.display import SummaryTable
from hiddenbits.engine import one_blas_thread
from hiddenbits.families._base.columns import column_sizes, table_by_column
from hiddenbits.families._base.estimator import ModelEstimator
from hiddenbits.model_api import CodeModel, P, S


def _is_not_classes(estimator: LatentEstimator[Any, Any]) -> bool:
    return not isinstance(estimator, ClassesEstimator)


class LatentEstimator(TransformerMixin, ModelEstimator[P, S]):  # type: ignore[misc]
    """Base of the estimators whose rows have latent variables."""

    _latent_axis: ClassVar[str] = "K"  # letter of the number of latent variables in the shapes of parameters
    _latent_name: ClassVar[str] = "dimension"  # name of one latent variable

    @abstractmethod
    def _model(self) -> CodeModel[P, S]:
        """Return the model with these hyperparameters."""

    def transform(self, X: object) -> Any:
        """Return the posterior mean of each row's latent variables given its observed cells.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        means : ndarray of shape (rows, n_components), or what `set_output` asks for
        """
        return self._map_rows(X, self._model().posterior)

    @available_if(_is_not_classes)  # type: ignore[untyped-decorator]
    def posterior_mode(self, X: object) -> Floats:
        """Return the most probable values of each row's latent variables (maximum a posteriori).

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        modes : ndarray of shape (rows, n_components)
        """
        return self._modes(X)

    def _modes(self, X: object) -> Floats:
        return self._map_rows(X, self._model().posterior_mode)

    @available_if(_is_not_classes)  # type: ignore[untyped-decorator]
    def inverse_transform(self, X: object) -> Floats:
        """Return P(x = 1) of every cell given values of the latent variables; where columns are real, their means.

        Parameters
        ----------
        X : array of shape (rows, n_components)
            Values of the latent variables, as from `transform` or `posterior_mode`.

        Returns
        -------
        expected : ndarray of shape (rows, columns)
        """
        return self._reconstruct(X)

    def _reconstruct(self, X: object) -> Floats:
        """Return the expected values of the cells given values of the latent variables."""
        check_is_fitted(self, "_params")
        latent = check_array(X, dtype=np.float64)
        if latent.shape[1] != self._n_features_out:
            raise ValueError(f"X has {latent.shape[1]} columns, but there are {self._n_features_out} latent variables.")
        with one_blas_thread():
            return self._model().reconstruct(self._params, latent)

    def get_feature_names_out(self, input_features: object = None) -> AnyArray:
        """Return the names of the columns of `transform`, counted from 1: "class_1", "dimension_1", "cause_1".

        Parameters
        ----------
        input_features : None
            Ignored; scikit-learn's convention.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self, "_params")
        return np.array(self._latent_names(), dtype=object)

    def _latent_names(self) -> list[str]:
        """Return the names of the columns of `transform`."""
        return [f"{self._latent_name}_{k + 1}" for k in range(self._n_features_out)]

    @property
    def _n_features_out(self) -> int:
        """Number of columns of `transform`."""
        return self._params.axis_sizes[self._latent_axis]


class ClassesEstimator(LatentEstimator[P, S]):
    """Base of the estimators whose rows belong to one of several latent classes; `transform` has the probabilities."""

    _latent_name = "class"

    @property
    @abstractmethod
    def weights_(self) -> Floats:
        """Share of each class."""

    def predict(self, X: object) -> NDArray[np.int64]:
        """Return the most probable class of each row given its observed cells: the largest of `predict_proba`.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        classes : ndarray of shape (rows,) of int
            Counted from 0, as in scikit-learn: 0 is `class_1`.
        """
        return self._map_rows(X, partial(_most_probable_class, self._model().posterior))

    def predict_proba(self, X: object) -> Floats:
        """Return the probability of each class for each row, given its observed cells.

        `transform` returns the same probabilities, for scikit-learn's pipelines.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        probabilities : ndarray of shape (rows, n_components)
        """
        return self._map_rows(X, self._model().posterior)

    def predict_log_proba(self, X: object) -> Floats:
        """Return the logarithm of `predict_proba`; -inf where a probability is 0.

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
        y : array of shape (rows,), optional
            As for `fit`.
        sample_weight : str or array of shape (rows,), optional
            Weight of each row, or the name of the column that has it.

        Returns
        -------
        classes : ndarray of shape (rows,) of int
            As in `predict`.
        """
        fitted: Self = self.fit(X, y, sample_weight)
        return fitted.predict(X)

    def _order_classes(self, params: P) -> P:
        return params.reordered(self._latent_axis, np.argsort(-self.weights_, kind="stable"))

    def _latent(self, latent: Floats) -> NDArray[np.int64]:
        return np.asarray(latent.argmax(axis=1), np.int64)

    def _class_tables(self, weights: Floats, probabilities: Floats) -> dict[str, SummaryTable]:
        """Return the tables of classes: their shares, and P(x = 1) or P(level) in each, (classes, binary columns)."""
        names, spread, sizes = self._latent_names(), np.ptp(probabilities, axis=0), column_sizes(self)
        title = "Profiles: P(x = 1) in each class"
        if sizes:  # the levels of a column share its largest spread
            title = "Profiles: share of each level in each class"
            layout = Layout(sizes)
            spread = np.maximum.reduceat(spread, layout.starts)[layout.columns]
        profiles = dict(zip(names, probabilities, strict=True))
        tables = {"classes": SummaryTable("Classes and their shares", {"class": names, "share": weights}, "classes")}
        return tables | {"profiles": table_by_column(self, title, profiles, spread)} if probabilities.size else tables


def _most_probable_class(posterior: Callable[..., Floats], params: Any, shared: Any, block: Block) -> NDArray[np.int64]:
    """Return the most probable class of each row of a block."""
    return np.asarray(posterior(params, shared, block).argmax(axis=1), np.int64)
