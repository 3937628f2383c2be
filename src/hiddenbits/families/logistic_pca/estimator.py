"""`LogisticPCA`: binary data from a few continuous latent dimensions."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import Floats, Randomness
from hiddenbits.data import Table
from hiddenbits.display import SummaryTable
from hiddenbits.families._base.columns import table_by_column
from hiddenbits.families._base.latent_space import LatentSpaceEstimator
from hiddenbits.families._base.parameters import COMMON, DRAWS, HiddenParts
from hiddenbits.families.logistic_pca.model import CELLS_PER_SLICE, Logistic
from hiddenbits.families.logistic_pca.params import canonical
from hiddenbits.families.logistic_pca.refine import RefinedLogistic
from hiddenbits.families.logistic_pca.sparse.model_choice import (
    AUTO,
    CELLS,
    MAX_BLOCK_ROWS,
    ONES,
    plain_params,
    sparse_model,
)
from hiddenbits.model_api import RowModel
from hiddenbits.store.validation import require

LOGISTIC_TO_NORMAL = 1.702  # sigma(1.702 z) is within .01 of the normal distribution function of z


class LogisticPCA(LatentSpaceEstimator[Any, Any]):  # parameters of a fit over all cells, or over the 1s
    """Logistic PCA (logistic factor analysis): binary data from a few latent dimensions.

    Each row has a latent position x ~ N(0, I), and P(cell i = 1 | x) = sigma(w_i.x + b_i) (Tipping 1998). Missing cells
    are excluded from a row's likelihood, which is correct when they are missing at random given the observed cells.

    The fit maximizes a variational bound, for any number of dimensions and tables with many columns. The slopes in
    textbooks and from ltm or mirt for a short test are those of `ItemResponseModel`, from which the slopes of this fit
    differ by 2% on LSAT, and one by 11% on WIRS.

    `score_samples` and `transform` integrate on a grid, up to three dimensions, where a sufficiently fine grid is small
    enough: the log-likelihood is then exact to about 1e-8, and means are to about 1e-7. Otherwise likelihoods are
    estimated by importance sampling from each row's Gaussian posterior, or where cells are nearly certain from a wider
    one, and means are those of the best Gaussian posterior, which is close to exact (without refinement that of the
    paper, 13 to 30% too narrow). In two dimensions rows without missing cells are then integrated over a table of the
    contribution of zeros, to about 0.0001, in time proportional to their 1s, unless loadings exceed 8. Grids end at 8
    standard deviations of x: the likelihood of rows beyond is too low.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions.
    refine : bool, default=True
        After the variational stage, continue with a tighter bound (the best Gaussian posterior of each row). It closes
        most of the gap to maximum likelihood and corrects posteriors that are too narrow.
    dtype : {"float64", "float32"}, default="float64"
        Precision of computations per cell in the variational stage. Sums over rows and the refinement are float64.
    cost : {"auto", "cells", "ones"}, default="auto"
        What the time of an iteration is proportional to: the cells of the table, or its 1s, with rows grouped by their
        latent position. The latter is an approximation for up to three dimensions and tables without missing values.
        "auto" chooses the 1s for large sparse tables (from 50 million cells, up to 5% 1s) where possible; `cost_` is
        the choice.
    ridge : float, default=0.1
        Precision of the normal prior of the loadings, and of the intercepts around the logits of the column means.
        Its log is part of the objective: -(ridge/2) (|w|^2 + (b - c)^2) for each column.
    start : {"pca", "noise"}, default="pca"
        Where the first restart begins: principal components, or random loadings. Further restarts are random.
    n_draws : int, default=500
        Samples per row where `score_samples`, `complete` and `cell_probabilities` need sampling.
    online_passes : int, default=0
        Passes of online EM before the full passes, for tables with very many rows.
    n_init : int, default=1
        Restarts; the one with the best objective is kept.
    max_iter : int, default=1000
        Maximum number of iterations, for each restart and stage.
    tol : float, default=1e-5
        Converged when an iteration increases the objective by at most this much per row, in nats.
    threshold : float, optional
        Turn numbers into 0 and 1: 1 where the number is above the threshold. By default only 0 and 1 are accepted.
    random_state : int, RandomState or None, default=None
        Seed of the starts and samples.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, columns)
        Loadings, after `fit` in canonical orientation: orthogonal, ordered by size, the largest entry of each positive.
    intercepts_ : ndarray of shape (columns,)
        b.
    cost_ : str
        What the time of an iteration was proportional to: "cells" or "ones".
    trace_ : ndarray of shape (n_iter_,)
        Objective after each iteration (bound plus log prior, in nats for the whole table). At the start of the
        refinement the bound changes, and the objective may decrease.
    n_iter_, converged_, stop_reason_ : int, bool, str
        Iterations, convergence and reason to stop of the best restart.
    restarts_ : tuple
        Objective, iterations and reason to stop of every restart.
    n_features_in_, feature_names_in_ : int, ndarray
        As scikit-learn defines them.

    See Also
    --------
    ItemResponseModel : Maximum likelihood in one to three dimensions, items of every type, standard errors.

    References
    ----------
    Tipping (1998), "Probabilistic visualisation of high-dimensional binary data".

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LogisticPCA
    >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], 50, axis=0).astype(float)
    >>> X[0, 1] = np.nan                      # missing
    >>> model = LogisticPCA(1, random_state=0).fit(X)
    >>> bool(model.complete(X)[0, 1] > 0.9)
    True
    >>> model.transform(X).shape
    (100, 1)
    """

    cost_ = CELLS
    _objective_name = "approximate log-likelihood plus log prior"
    _prior_settings = ("ridge",)
    _hidden_parts: ClassVar[tuple[HiddenParts, ...]] = (HiddenParts("dimensions", "columns"),)
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **COMMON,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "refine": ["boolean"],
        "dtype": [StrOptions({"float64", "float32"})],
        "cost": [StrOptions({AUTO, CELLS, ONES})],
        "ridge": [Interval(Real, 0, None, closed="left")],
        "start": [StrOptions({"pca", "noise"})],
        "n_draws": DRAWS,
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        refine: bool = True,
        dtype: Literal["float64", "float32"] = "float64",
        cost: Literal["auto", "cells", "ones"] = "auto",
        ridge: float = 0.1,
        start: Literal["pca", "noise"] = "pca",
        n_draws: int = 500,
        online_passes: int = 0,
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-5,
        threshold: float | None = None,
        random_state: Randomness = None,
    ) -> None:
        self.n_components = n_components
        self.refine = refine
        self.dtype = dtype
        self.cost = cost
        self.ridge = ridge
        self.start = start
        self.n_draws = n_draws
        self.online_passes = online_passes
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.threshold = threshold
        self.random_state = random_state

    def _model(self) -> Logistic:
        return (RefinedLogistic if self.refine else Logistic)(
            n_components=self.n_components,
            ridge=self.ridge,
            start_from=self.start,
            dtype=self.dtype,
            n_draws=self.n_draws,
            seed=self._sampling_seed,
        )

    def _standardized(self) -> tuple[Floats, Floats]:
        slopes: Floats = self._params.loadings
        scale = np.sqrt(LOGISTIC_TO_NORMAL**2 + (slopes**2).sum(axis=1))
        return slopes / scale[:, None], scale

    def _model_for_fit(self, model: Any, table: Table) -> Any:
        sparse = sparse_model(model, self.cost, table)
        self.cost_ = CELLS if sparse is None else ONES
        return model if sparse is None else sparse

    def _height(self, model: RowModel[Any, Any], table: Table) -> int:
        height = super()._height(model, table)
        # Tall blocks, because similar rows are processed together.
        return max(height, min(MAX_BLOCK_ROWS, CELLS_PER_SLICE // table.shape[1]))

    def _pass_height(self, model: RowModel[Any, Any], table: Table) -> int:
        return super()._height(model, table)

    def _fit_info(self) -> dict[str, str]:
        info, sparse = super()._fit_info(), " (iterations over the 1s, rows grouped by latent position)"
        return {**info, "iterations": info["iterations"] + sparse} if self.cost_ == ONES else info

    def _extra_meta(self) -> dict[str, object]:
        return {"cost": ONES} if self.cost_ == ONES else {}

    def _restore_extra_meta(self, more: dict[str, Any]) -> None:
        require(more in ({}, {"cost": ONES}), "the cost of its iterations is unknown")
        self.cost_ = more.get("cost", CELLS)

    def _canonical_params(self, params: Any) -> Any:
        return canonical(plain_params(params))

    def _tables(self) -> dict[str, SummaryTable]:
        a, b = self.components_, self.intercepts_
        if len(a) > 1:
            return {"loadings": self._loadings()}
        with np.errstate(divide="ignore", invalid="ignore"):  # columns with slope 0
            items = {"discrimination": a[0], "difficulty": -b / a[0], "intercept": b}
        title = "Items: P(1) = 1/2 where the scale is at the difficulty; a larger discrimination makes a steeper step"
        return {"items": table_by_column(self, title, items, np.abs(a[0]))}

    @property
    def components_(self) -> Floats:
        """Loadings, (n_components, columns)."""
        loadings: Floats = self._params.loadings
        return loadings.T

    @property
    def intercepts_(self) -> Floats:
        """The intercept of each column."""
        intercepts: Floats = self._params.intercepts
        return intercepts

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters: a rotation of the dimensions changes nothing."""
        q = self._n_features_out
        return self.n_features_in_ * (q + 1) - q * (q - 1) // 2

    @property
    def _likelihood_kind(self) -> str:
        """What `score_samples` returns: "exact" or "estimate"."""
        check_is_fitted(self, "_params")
        return "estimate" if self._model().rule(self._params) is None else "exact"

    def bound_samples(self, X: object) -> Floats:
        """Return the variational lower bound of each row's log-likelihood (Jaakkola and Jordan's), in nats.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        bound : ndarray of shape (rows,)
        """
        return self._map_rows(X, self._model().bound_rows)
