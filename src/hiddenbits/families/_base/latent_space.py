"""The base class of factor models: the latent position of a row is N(0, I), and every column has loadings on it."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.display import SummaryTable
from hiddenbits.families._base.columns import table_by_column
from hiddenbits.families._base.transformer import LatentEstimator
from hiddenbits.maths.packed_symmetric import unpack
from hiddenbits.maths.rotation import Method, RotatedLoadings, rotated_loadings
from hiddenbits.model_api import CodeModel, P, S


class LatentSpaceModel(CodeModel[P, S], Protocol[P, S]):
    """A model whose rows have positions in a continuous latent space."""

    def likelihood_and_error(self, params: P, shared: Any, block: Block) -> Floats:
        """Return ln P(observed cells) of each row and its standard error, (n, 2)."""

    def posterior_moments(self, params: P, shared: Any, block: Block) -> Floats:
        """Return the mean of each row's posterior and its covariance, packed, (n, q + q (q + 1) / 2)."""


class LatentSpaceEstimator(LatentEstimator[P, S]):
    """Base of the estimators whose rows have positions in a continuous latent space."""

    @property
    @abstractmethod
    def components_(self) -> Floats:
        """Loadings, (n_components, columns)."""

    @property
    @abstractmethod
    def intercepts_(self) -> Floats:
        """The intercept of each column."""

    @abstractmethod
    def _model(self) -> LatentSpaceModel[P, S]:
        """Return the model with these hyperparameters."""

    @abstractmethod
    def _standardized(self) -> tuple[Floats, Floats]:
        """Return standardized loadings, (columns, dimensions), and the factors that give slopes, (columns,)."""

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def score_samples(self, X: object, *, return_std: bool = False) -> Any:
        """Return the log-likelihood of each row's observed cells, in nats: exact, a bound or an estimate (`summary`).

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.
        return_std : bool, default=False
            Return the standard error of each estimate too; 0 where the likelihood is exact.

        Returns
        -------
        log_likelihood : ndarray of shape (rows,)
        standard_error : ndarray of shape (rows,)
            Only with `return_std`.
        """
        estimates = self._map_rows(X, self._model().likelihood_and_error)
        log_likelihood = np.ascontiguousarray(estimates[:, 0])
        return (log_likelihood, np.ascontiguousarray(estimates[:, 1])) if return_std else log_likelihood

    def transform(self, X: object, *, return_cov: bool = False) -> Any:
        """Return the latent position of each row given its observed cells: the mean of its posterior (EAP).

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.
        return_cov : bool, default=False
            Return the covariances too.

        Returns
        -------
        means : ndarray of shape (rows, n_components)
        covariances : ndarray of shape (rows, n_components, n_components)
            Only with `return_cov`.
        """
        moments, q = self._map_rows(X, self._model().posterior_moments), self._n_features_out
        means = np.ascontiguousarray(moments[:, :q])
        return (means, unpack(moments[:, q:], q)) if return_cov else means

    def rotate(self, method: Method = "varimax", *, kaiser: bool | None = None, power: float = 4.0) -> RotatedLoadings:
        """Return the loadings in the standardized metric of factor analysis, rotated to a simple structure.

        A slope a becomes the loading (a/D) / sqrt(1 + |a|^2/D^2), with D = 1.702 for logistic slopes (as in mirt)
        and 1 for those of a probit model (`ClippedPCA`, whose `components_` are standardized already). Varimax and
        oblimin (quartimin) are the best of several starts (GPArotation has one); promax is that of R's
        ``stats::promax``.

        Parameters
        ----------
        method : {"varimax", "promax", "oblimin"}, default="varimax"
            Orthogonal (varimax) or oblique factors (promax, oblimin).
        kaiser : bool, optional
            Kaiser's normalization: rows of loadings are scaled to length 1 to find the rotation. By default only for
            promax, as in R.
        power : float, default=4.0
            Power of the promax target.

        Returns
        -------
        rotated : RotatedLoadings
        """
        check_is_fitted(self, "_params")
        rotated, converged = rotated_loadings(*self._standardized(), method, kaiser, power)
        if not converged:
            warnings.warn(
                f"{method} did not converge: several rotations are equally simple.", ConvergenceWarning, stacklevel=2
            )
        return rotated

    def _loadings(self) -> SummaryTable:
        """Return the table of loadings and intercepts."""
        w = self.components_
        values = {**dict(zip(self._latent_names(), w, strict=True)), "intercept": self.intercepts_}
        return table_by_column(self, "Loadings", values, np.sqrt((w**2).sum(axis=0)))
