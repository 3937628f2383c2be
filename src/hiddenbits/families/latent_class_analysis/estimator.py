"""`LatentClassAnalysis`. The model itself is in `nodes/classes.py`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import Floats, Randomness
from hiddenbits.data import Table
from hiddenbits.data.added_column import with_nominal_column
from hiddenbits.data.coding.coded_columns import CodedColumn, Method
from hiddenbits.data.layout import layout_of
from hiddenbits.data.request import HandleUnknown
from hiddenbits.display import SummaryTable
from hiddenbits.engine import Settings
from hiddenbits.families._base.columns import column_names, column_sizes, level_names, number_names, numbers_of_columns
from hiddenbits.families._base.parameters import COLUMN_TYPES, COMMON, HANDLE_UNKNOWN, N_INIT, ColumnTypes, HiddenParts
from hiddenbits.families._base.transformer import ClassesEstimator
from hiddenbits.families.latent_class_analysis.given import given_arrays, known_classes
from hiddenbits.families.latent_class_analysis.score_function import ClassScoreFunction
from hiddenbits.families.latent_class_analysis.sql import posterior_query
from hiddenbits.families.nodes.classes import Classes
from hiddenbits.families.nodes.columns.real import TIED
from hiddenbits.families.nodes.mixed import MixedParams
from hiddenbits.families.nodes.params import NodeCounts, NodeParams
from hiddenbits.store.validation import require

PARAMETERS: list[object] = [dict, BaseEstimator, None]
TINY_TABLE_FLOPS = 200_000  # up to so many floating-point operations in an iteration, n_init="auto" is 8
AGREEMENT_NATS, AGREEMENT_TOLS = 0.01, 10.0  # restarts at one maximum may differ by 0.01 nats + 10 tol per row


class LatentClassAnalysis(ClassesEstimator[NodeParams, NodeCounts]):
    """Latent class analysis: each row belongs to one latent class, within which its columns are independent.

    For binary, nominal, ordinal and continuous columns, and counts: each class has its own probability of every level,
    and its own means, variances and rates (a mixture of products of Bernoulli, categorical, normal and Poisson
    distributions; latent profile analysis is the case of continuous columns). The model is fitted by EM, and its
    log-likelihood is exact. Missing values are left out of a row's likelihood, which is right if they are missing at
    random.

    Parameters
    ----------
    n_components : int, default=2
        Number of classes.
    column_types : "auto", str or dict, default="auto"
        Type of the columns: "binary", "nominal", "ordinal", "continuous", "count" or "quantiles" (numbers as five
        levels of about equal size; a value held by more than 5% of the rows is a level of its own), for all columns or
        by name. A type for all columns excludes ids, dates, text and, unless it is one of numbers, columns of more than
        50 values, with a warning. With "auto", columns of frames and files with more than two values are nominal,
        ordinal if they are up to 11 whole numbers or words of a scale, or continuous; counts look like ratings, and
        must be requested. In an array 0 and 1 are binary; other values need a type.
    covariance_type : {"diag", "full", "tied", "tied_diag"}, default="diag"
        Continuous columns within a class: independent of each other with variances of each class ("diag") or of all
        classes ("tied_diag"), or with covariances of each class ("full") or of all classes ("tied").
    handle_unknown : {"error", "missing"}, default="error"
        What methods over rows and `partial_fit` do with values of nominal, ordinal and recoded columns that did not
        occur in the fit: raise an error, or read them as missing, with one warning that counts them. A table on disk is
        then read once more.
    prior_strength : float, default=1.0
        Strength of the prior on the parameters of each class, in pseudo-rows with the proportions, variances and mean
        counts of the table (Beta, Dirichlet, inverse gamma or Wishart, and gamma distributions); 0 gives maximum
        likelihood. No variance falls below 1e-6 of that of its column, because the likelihood of a class that sits on
        one repeated value has no maximum.
    online_passes : int, default=0
        Passes of online EM before the iterations over all rows, for tables with very many rows.
    n_init : "auto" or int, default="auto"
        Number of restarts: the first from k-means on the first singular vectors of the columns, others from random
        class memberships; the one with the best objective is kept. "auto" is 2, on small tables 3 and on tiny ones 8.
        On long tables twice as many begin on a subsample, and the best continues on all rows.
    max_iter : int, default=1000
        Maximum number of iterations per restart.
    tol : float, default=1e-6
        Convergence tolerance: the smallest increase of the objective in an iteration, in nats per row.
    threshold : float, optional
        Binarize numbers: 1 if above the threshold. By default only 0 and 1 are accepted.
    start : dict of tables or fitted LatentClassAnalysis, optional
        Parameters with which the only restart begins: a fitted model, or tables as `summary` has them, of probabilities
        ("profiles") and shares ("classes", by default equal). The classes keep their order.
    fixed : dict of tables or fitted LatentClassAnalysis, optional
        Parameters that stay as they are, in the same form. Other parameters are free: those of lines or columns that a
        table does not have, or where it has NaN. The levels of a column are fixed together, and so are the shares. The
        classes keep their order, and fixed parameters have no prior.
    random_state : int, RandomState or None, default=None
        Seed of the start values.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Share of each class.
    probabilities_ : ndarray of shape (n_components, columns)
        P(x = 1) in each class; a nominal or ordinal column has one probability per level (`level_names_`).
    level_names_ : list of str
        The columns of `probabilities_`: names of binary columns, and "column=level".
    means_ : ndarray of shape (n_components, continuous columns)
        Mean of each continuous column in each class.
    covariances_ : ndarray of shape (n_components, continuous columns) or (n_components, continuous columns, same)
        Variances in each class, or covariances if `covariance_type` is "full" or "tied".
    rates_ : ndarray of shape (n_components, columns of counts)
        Mean count in each class.
    trace_ : ndarray of shape (n_iter_,)
        Objective after each iteration (log-likelihood plus log prior, in nats over the table).
    n_iter_, converged_, stop_reason_ : int, bool, str
        Iterations of the best restart, whether it converged, and why it stopped.
    restarts_ : tuple
        Objective, iterations and stop reason of every restart.
    n_features_in_, feature_names_in_ : int, ndarray
        As in scikit-learn.

    See Also
    --------
    TreeMixture : Classes within which columns may depend on each other.
    ItemResponseModel : Continuous dimensions instead of classes.

    References
    ----------
    Lazarsfeld and Henry (1968), "Latent structure analysis".
    Freund and Haussler (1994), "Unsupervised learning of distributions on binary vectors using two layer networks".

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LatentClassAnalysis
    >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], 50, axis=0).astype(float)
    >>> X[0, 1] = np.nan                      # missing
    >>> model = LatentClassAnalysis(2, random_state=0).fit(X)
    >>> float(model.complete(X)[0, 1].round(2))
    0.99
    >>> ages = np.append(np.random.default_rng(0).normal([20, 50], 5, (100, 2)), [[np.nan, 51.0]], axis=0)
    >>> groups = LatentClassAnalysis(2, column_types="continuous", random_state=0).fit(ages)
    >>> groups.means_.shape, groups.predict_proba(ages).shape
    ((2, 2), (101, 2))

    Begin where another fit ended, or with tables of one's own, which may fix a part of the parameters:

    >>> LatentClassAnalysis(2, start=model).fit(X).n_iter_
    2
    >>> tables = {"profiles": {"column": ["x0", "x3"], "class_1": [0.0, 1.0]}}
    >>> fixed = LatentClassAnalysis(2, fixed=tables, random_state=0).fit(X)
    >>> fixed.probabilities_.round(2)
    array([[0.  , 0.01, 0.99, 1.  ],
           [0.99, 0.99, 0.01, 0.01]])
    >>> model.n_parameters_, fixed.n_parameters_
    (9, 7)
    """

    _prior_settings = ("prior_strength",)
    _not_saved = ("start", "fixed")
    _usual_restarts = 2
    _hidden_parts: ClassVar[tuple[HiddenParts, ...]] = (HiddenParts("classes"),)
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **COMMON,
        "n_init": N_INIT,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "column_types": COLUMN_TYPES,
        "covariance_type": [StrOptions({"diag", "full", "tied", "tied_diag"})],
        "handle_unknown": HANDLE_UNKNOWN,
        "prior_strength": [Interval(Real, 0, None, closed="left")],
        "start": PARAMETERS,
        "fixed": PARAMETERS,
    }

    # Set by fit.
    _start_values: Mapping[str, Floats] | None = None
    _fixed: Mapping[str, NDArray[np.bool_]] | None = None
    _has_known_classes: bool = False

    def __init__(
        self,
        n_components: int = 2,
        *,
        column_types: ColumnTypes = "auto",
        covariance_type: Literal["diag", "full", "tied", "tied_diag"] = "diag",
        handle_unknown: HandleUnknown = "error",
        prior_strength: float = 1.0,
        online_passes: int = 0,
        n_init: int | Literal["auto"] = "auto",
        max_iter: int = 1000,
        tol: float = 1e-6,
        threshold: float | None = None,
        start: object = None,
        fixed: object = None,
        random_state: Randomness = None,
    ) -> None:
        self.n_components = n_components
        self.column_types = column_types
        self.covariance_type = covariance_type
        self.handle_unknown = handle_unknown
        self.prior_strength = prior_strength
        self.online_passes = online_passes
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.threshold = threshold
        self.start = start
        self.fixed = fixed
        self.random_state = random_state

    def to_sql(self, table: str | Sequence[str], *, id: str | Sequence[str] = ()) -> str:  # noqa: A002
        """Return an SQL query that computes the probability of each class, as `predict_proba` does, in a database.

        The query is standard SQL but for the word MATERIALIZED, which other databases than DuckDB, PostgreSQL and
        SQLite (3.35 or later) do not need: `sql.replace(" MATERIALIZED", "")`. It ends without a semicolon, so that it
        can be a view or a subquery.

        Parameters
        ----------
        table : str or sequence of str
            The table, or its schema and name: ``("main", "survey")``. It has the columns of the fit, in any order;
            those of an array are called x0, x1, ... Names are quoted: they must be spelled as in the database.
        id : str or sequence of str, optional
            Columns of the table that the result has, too, such as the key of the rows.

        Returns
        -------
        sql : str
            The result has the columns `id` and `get_feature_names_out()`, one row for each row of the table.

        Notes
        -----
        NULL, and values that the fit read as missing ("n/a", codes), are missing values. If a row has a value that did
        not occur in the fit, its probabilities are NULL, unless ``handle_unknown="missing"``. Values are compared as
        text: 1, 1.0, "1" and TRUE are equal, and so are "Yes" and "yes"; words without a known meaning must be spelled
        as in the fit. Text in a column of numbers, other than missing values, is an error of the database. With
        ``covariance_type="full"`` or ``"tied"`` probabilities are NULL if some of the continuous cells of a row are
        missing, and others not.

        Examples
        --------
        >>> import sqlite3
        >>> import pandas as pd
        >>> from hiddenbits import LatentClassAnalysis
        >>> frame = pd.DataFrame({"milk": [1, 1, 1, 0, 0] * 20, "bread": [1, 1, 0, 0, 0] * 20, "who": range(100)})
        >>> model = LatentClassAnalysis(2, random_state=0).fit(frame[["milk", "bread"]])
        >>> with sqlite3.connect(":memory:") as database:
        ...     _ = frame.to_sql("baskets", database)
        ...     result = pd.read_sql(model.to_sql("baskets", id="who"), database)
        >>> result.round(3).head(3)
           who  class_1  class_2
        0    0    0.003    0.997
        1    1    0.003    0.997
        2    2    0.501    0.499
        """
        check_is_fitted(self, "_params")
        unknown = "-1" if self.handle_unknown == "missing" else "NULL"
        columns = self._coded_columns()
        return posterior_query(self._params, columns, self._latent_names(), table, id, unknown=unknown)

    def _coded_columns(self) -> list[CodedColumn]:
        """Return how each column is read, with its name in a database."""
        coding = self._coding
        if coding is not None:
            return [c if coding.named else replace(c, name=f"x{c.name}") for c in coding.columns]
        how: Method = "binary" if self.threshold is None else "above"
        return [CodedColumn(name, how, threshold=self.threshold) for name in column_names(self)]

    def _with_extra_restarts(self, settings: Settings, flops: float) -> Settings:
        return replace(settings, n_init=8 if flops <= TINY_TABLE_FLOPS else 3)

    def _settings_for(self, settings: Settings, model: Any, weight: float, n_columns: int) -> Settings:
        settings = super()._settings_for(settings, model, weight, n_columns)
        return settings if self.start is None else replace(settings, n_init=1, start_rows=None)

    def _model(self) -> Classes:
        n_continuous, n_counts = numbers_of_columns(self)
        return Classes(
            self.n_components,
            self.prior_strength,
            sizes=column_sizes(self),
            n_continuous=n_continuous,
            n_counts=n_counts,
            covariance_type=self.covariance_type,
            start_values=self._start_values,
            fixed=self._fixed,
        )

    def _begin_fit(self, table: Table, y: object) -> Table:
        start, values = given_arrays(self, "start", complete=True), given_arrays(self, "fixed")
        self._fixed = {name: ~np.isnan(array) for name, array in values.items()} or None
        for name, array in start.items():
            values[name] = np.where(np.isnan(values[name]), array, values[name]) if name in values else array
        self._start_values = values or None
        classes = known_classes(y, self.n_components, table.shape[0])
        self._has_known_classes = classes is not None and self.n_components > 1
        return table if classes is None else with_nominal_column(table, classes, self.n_components)

    def _model_for_fit(self, model: Any, table: Table) -> Any:
        if not self._has_known_classes:
            return model
        K, free = self.n_components, np.zeros((self._n_bits, self.n_components), bool)
        known = np.ones((K, K))  # the bits of known classes stay as they are; the model does not use their numbers
        start_values, fixed = dict(model.start_values or {}), dict(model.fixed or {})
        fixed["probabilities"] = np.vstack([fixed.get("probabilities", free), known == 1.0])
        if start_values:
            start_values["probabilities"] = np.vstack([start_values["probabilities"], known / K])
        sizes = (*layout_of(model.sizes, self._n_bits).sizes, K)
        return replace(model, sizes=sizes, start_values=start_values, fixed=fixed, has_known_classes=True)

    def _canonical_params(self, params: NodeParams) -> NodeParams:
        return params.reordered("d", np.arange(self._n_bits)) if self._has_known_classes else params

    def _order_classes(self, params: NodeParams) -> NodeParams:
        return params if self._has_known_classes or self._start_values else super()._order_classes(params)

    @property
    def _n_bits(self) -> int:
        return layout_of(column_sizes(self), self.n_features_in_).n_bits

    def fit(self, X: object, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to a table; the classes of some rows may be known.

        Parameters
        ----------
        X : array, sparse array or matrix, frame, path or Table of shape (rows, columns)
            Anything that `open_table` opens, with missing values (NaN, None, masked). Two-valued columns of frames and
            files are recoded; `coding_` shows how.
        y : array of shape (rows,), optional
            The class of each row, counted from 0; NaN, None or -1 where it is not known. The classes keep these
            numbers, and `trace_` includes ln P(y); other methods, such as `predict`, use X alone. A `y` without missing
            values is ignored, as in all scikit-learn estimators without a target: pipelines pass the target of their
            last step to every step.
        sample_weight : str or array of shape (rows,), optional
            Weight of each row; a weight of 2 counts as two equal rows. A string is the name of the column of a frame or
            file that has the weights, such as counts of equal rows; it does not enter the model.

        Returns
        -------
        self

        Examples
        --------
        >>> import numpy as np
        >>> from hiddenbits import LatentClassAnalysis
        >>> X = np.repeat([[1, 1, 1, 0], [0, 0, 0, 1]], [80, 20], axis=0)
        >>> y = np.full(100, -1)
        >>> y[-1] = 0                             # the last row is in the first class, which is the smaller one
        >>> LatentClassAnalysis(2, random_state=0).fit(X, y).weights_.round(2)
        array([0.2, 0.8])
        """
        fitted: Self = super().fit(X, y, sample_weight)
        return fitted

    def _refit(self, X: object, sample_weight: ArrayLike | None = None, *, tol: float | None = None) -> Self:
        if self._has_known_classes:
            raise ValueError("This model was fitted with known classes (y), which a refit would lack. Fit without y.")
        return super()._refit(X, sample_weight, tol=tol)

    def __sklearn_clone__(self) -> Self:
        bare = copy(self).set_params(start=None, fixed=None)  # a clone of a fitted model would not be fitted
        cloned: Self = super(LatentClassAnalysis, bare).__sklearn_clone__()
        cloned.start, cloned.fixed = self.start, self.fixed
        return cloned

    def _extra_meta(self) -> dict[str, object]:
        masks = (self._fixed or {}).items()
        fixed = {name: [list(mask.shape), np.packbits(mask).tobytes().hex()] for name, mask in masks}
        extra = {"fixed": fixed, "has_known_classes": self._has_known_classes}
        return {name: value for name, value in extra.items() if value}

    def _restore_extra_meta(self, extra: dict[str, Any]) -> None:
        require(set(extra) <= {"fixed", "has_known_classes"}, "its description is not complete")
        self._has_known_classes = bool(extra.get("has_known_classes"))
        fixed = {}
        for name, (shape, text) in extra.get("fixed", {}).items():
            bits = np.unpackbits(np.frombuffer(bytes.fromhex(text), np.uint8))
            fixed[name] = bits[: math.prod(shape)].reshape(shape) == 1
        self._fixed = fixed or None

    def _tables(self) -> dict[str, SummaryTable]:
        tables = self._class_tables(self.weights_, self.probabilities_)
        return tables | self._number_tables() if isinstance(self._params, MixedParams) else tables

    def _number_tables(self) -> dict[str, SummaryTable]:
        """Return the tables of means, variances or covariances, and rates; one line per column."""
        names, classes = number_names(self), self._latent_names()
        covariances, tables = self.covariances_, dict[str, SummaryTable]()
        by_column = [("means", "Means in each class", "continuous", self.means_)]
        if covariances.ndim == 2:
            by_column.append(("variances", "Variances in each class", "continuous", covariances))
        by_column.append(("rates", "Mean counts in each class", "count", self.rates_))
        for name, title, how, values in by_column:
            if values.size:
                by_class = dict(zip(classes, values, strict=True))
                tables[name] = SummaryTable(title, {"column": names[how], **by_class}, "columns")
        if covariances.ndim == 3:
            a, b = np.tril_indices(covariances.shape[1])
            first, second = ([names["continuous"][j] for j in numbers] for numbers in (a, b))
            pairs = dict(zip(classes, covariances[:, a, b], strict=True))
            table = {"column": first, "with": second, **pairs}
            tables["covariances"] = SummaryTable("Covariances in each class", table, "columns")
        return tables

    def _score_function(self) -> ClassScoreFunction:
        if isinstance(self._params, MixedParams) and self._params.has_covariances:
            raise ValueError(
                f"There is no score function for covariance_type={self.covariance_type!r}. Use inference.bootstrap."
            )
        return ClassScoreFunction(self._model(), self._params)

    @property
    def weights_(self) -> Floats:
        """Share of each class."""
        return self._params.weights

    @property
    def probabilities_(self) -> Floats:
        """P(x = 1) in each class, and P(level) of nominal and ordinal columns."""
        return self._params.probabilities.T

    @property
    def level_names_(self) -> list[str]:
        """The columns of `probabilities_`: names of binary columns, and "column=level"."""
        return level_names(self)

    @property
    def means_(self) -> Floats:
        """Means of the continuous columns in each class, (n_components, continuous columns)."""
        params = self._params
        return params.original_means.T if isinstance(params, MixedParams) else np.zeros((len(params.weights), 0))

    @property
    def covariances_(self) -> Floats:
        """Variances of the continuous columns in each class, or covariances if columns covary within classes."""
        params = self._params
        if not isinstance(params, MixedParams):
            return np.zeros((len(params.weights), 0))
        by_class = params.original_covariances.transpose(2, 0, 1)
        return np.ascontiguousarray(by_class if self.covariance_type in ("full", "tied") else by_class[:, :, 0])

    @property
    def rates_(self) -> Floats:
        """Mean counts in each class, (n_components, columns of counts)."""
        params = self._params
        return params.rates.T if isinstance(params, MixedParams) else np.zeros((len(params.weights), 0))

    @property
    def _n_agreeing(self) -> int:
        """Number of restarts that reached the maximum of the best."""
        best = max((restart.objective for restart in self.restarts_), default=0.0)
        tolerance = AGREEMENT_NATS + AGREEMENT_TOLS * self.tol * self._fit_weight
        return sum(restart.objective >= best - tolerance for restart in self.restarts_)

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters."""
        function, params = ClassScoreFunction(self._model(), self._params), self._params
        if not isinstance(params, MixedParams) or not params.has_covariances:
            return function.n_coordinates
        free = ~function.fixed.get("covariances", np.zeros(params.covariances.shape, bool))
        of_class = free[np.tril_indices(len(free))].sum(axis=0)
        return function.n_coordinates + int(of_class[0] if self.covariance_type in TIED else of_class.sum())
