"""`LatentClassAnalysis`, and its score function for standard errors. The model itself is in `nodes/classes.py`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from numbers import Integral, Real
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import Floats, Randomness
from hiddenbits.data import Block
from hiddenbits.data.coding.coded_columns import CodedColumn, Method
from hiddenbits.display import SummaryTable
from hiddenbits.engine import Settings
from hiddenbits.families._base.columns import column_names, column_sizes, level_names, numbers_of_columns
from hiddenbits.families._base.parameters import COLUMN_TYPES, COMMON, N_INIT, ColumnTypes, HiddenParts
from hiddenbits.families._base.transformer import ClassesEstimator
from hiddenbits.families.latent_class_analysis.sql import posterior_query
from hiddenbits.families.nodes.classes import Classes
from hiddenbits.families.nodes.columns.levels import softmax_levels
from hiddenbits.families.nodes.columns.real import TIED, VARIANCE_FLOOR, n_free
from hiddenbits.families.nodes.mixed import MixedParams
from hiddenbits.families.nodes.params import NodeCounts, NodeParams
from hiddenbits.maths.free_parameters import FreeParameters, Quantity
from hiddenbits.maths.numerics import LARGEST_LOGIT, shares_at, sigmoid

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
    LogisticPCA : Continuous dimensions instead of classes (item response models).

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
    """

    _prior_settings = ("prior_strength",)
    _usual_restarts = 2
    _hidden_parts: ClassVar[tuple[HiddenParts, ...]] = (HiddenParts("classes"),)
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **COMMON,
        "n_init": N_INIT,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "column_types": COLUMN_TYPES,
        "covariance_type": [StrOptions({"diag", "full", "tied", "tied_diag"})],
        "prior_strength": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        column_types: ColumnTypes = "auto",
        covariance_type: Literal["diag", "full", "tied", "tied_diag"] = "diag",
        prior_strength: float = 1.0,
        online_passes: int = 0,
        n_init: int | Literal["auto"] = "auto",
        max_iter: int = 1000,
        tol: float = 1e-6,
        threshold: float | None = None,
        random_state: Randomness = None,
    ) -> None:
        self.n_components = n_components
        self.column_types = column_types
        self.covariance_type = covariance_type
        self.prior_strength = prior_strength
        self.online_passes = online_passes
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.threshold = threshold
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
        not occur in the fit, its probabilities are NULL. Values are compared as text: 1, 1.0, "1" and TRUE are equal,
        and so are "Yes" and "yes"; words without a known meaning must be spelled as in the fit. Text in a column of
        numbers, other than missing values, is an error of the database. With ``covariance_type="full"`` or
        ``"tied"`` probabilities are NULL if some of the continuous cells of a row are missing, and others not.

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
        return posterior_query(self._params, self._coded_columns(), self._latent_names(), table, id)

    def _coded_columns(self) -> list[CodedColumn]:
        """Return how each column is read, with its name in a database."""
        coding = self._coding
        if coding is not None:
            return [c if coding.named else replace(c, name=f"x{c.name}") for c in coding.columns]
        how: Method = "binary" if self.threshold is None else "above"
        return [CodedColumn(name, how, threshold=self.threshold) for name in column_names(self)]

    def _with_extra_restarts(self, settings: Settings, flops: float) -> Settings:
        return replace(settings, n_init=8 if flops <= TINY_TABLE_FLOPS else 3)

    def _model(self) -> Classes:
        n_continuous, n_counts = numbers_of_columns(self)
        return Classes(
            self.n_components,
            self.prior_strength,
            sizes=column_sizes(self),
            n_continuous=n_continuous,
            n_counts=n_counts,
            covariance_type=self.covariance_type,
        )

    def _tables(self) -> dict[str, SummaryTable]:
        tables = self._class_tables(self.weights_, self.probabilities_)
        return tables | self._number_tables() if isinstance(self._params, MixedParams) else tables

    def _number_tables(self) -> dict[str, SummaryTable]:
        """Return the tables of means, variances or covariances, and rates; one line per column."""
        names, classes, coding = {"continuous": list[str](), "count": list[str]()}, self._latent_names(), self._coding
        for column in () if coding is None else coding.number_columns:
            names[column.how].append(column.name if coding is None or coding.named else f"x{column.name}")
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
        K, (n_continuous, n_counts) = len(self.weights_), numbers_of_columns(self)
        of_class = self._params.layout.n_free + n_continuous + n_counts
        return K * (of_class + 1) - 1 + n_free(n_continuous, K, self.covariance_type)


# The score of a row (gradient of ln P(row)) and the observed information, for standard errors.
#
# Coordinates: ln pi_k - ln pi_c for every class k except the largest, c; then, class by class, logit(theta_kj) of a
# binary column, ln p_kl - ln p_kc for every level l except the most probable one in the class, c, the mean m of a
# continuous column (in units of its scale), ln rate of a count, ln v of a continuous column; ln v that all classes
# share come last. If the class k of a row were known, its complete-data score S would be [k = l] - pi_l for each class
# l, and in class k, with o_j = 1 if the cell of its column is observed, o_j (x_j - theta_kj) for each bit,
# o_j (z_j - m_kj) / v_kj for each mean, o_j ((z_j - m_kj)^2 / v_kj - 1) / 2 for each ln v, and o_j (x_j - rate_kj) for
# each ln rate. The score of the row is the posterior mean of S (Fisher's identity), and its information is
# E[-S'] - Var[S] (Louis' formula).

BOUNDARY_ROWS = 0.01  # a probability is at the boundary if fewer rows of its class are expected to have the rarer value


@dataclass(frozen=True, eq=False)
class ClassScoreFunction:
    """The score function of latent classes at given parameters."""

    model: Classes
    params: NodeParams

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates."""
        return int(self._class_ends[-1]) + (self._n_continuous if self._is_tied else 0)

    @property
    def free_classes(self) -> NDArray[np.intp]:
        """The classes whose weight has a coordinate: all but the largest."""
        return np.delete(np.arange(len(self.params.weights)), int(np.argmax(self.params.weights)))

    @cached_property
    def is_free(self) -> NDArray[np.bool_]:
        """Which bits have a coordinate in each class, (K, d): all except the most probable level of each column."""
        theta, layout = self.params.probabilities.T, self.params.layout
        is_free = np.ones(theta.shape, bool)
        for start, size in zip(layout.starts, layout.sizes, strict=True):
            if size > 1:
                is_free[np.arange(len(theta)), start + theta[:, start : start + size].argmax(axis=1)] = False
        return is_free

    @cached_property
    def _numbers(self) -> tuple[Floats, Floats, Floats]:
        """Means, variances and rates, (K, columns), the first two in units of z."""
        params = self.params
        if not isinstance(params, MixedParams):
            none = np.zeros((len(params.weights), 0))
            return none, none, none
        return params.means.T, params.covariances[:, 0].T, params.rates.T

    @property
    def _n_continuous(self) -> int:
        return int(self._numbers[0].shape[1])

    @property
    def _is_tied(self) -> bool:
        return self.model.covariance_type in TIED

    @cached_property
    def _class_ends(self) -> list[int]:
        """The first coordinate of each class, and the end of those of the last class."""
        means, _, rates = self._numbers
        n_numbers = means.shape[1] * (1 if self._is_tied else 2) + rates.shape[1]
        sizes = self.is_free.sum(axis=1) + n_numbers
        return (len(self.params.weights) - 1 + np.concatenate([[0], np.cumsum(sizes)])).tolist()  # type: ignore[no-any-return]

    @cached_property
    def _coordinates(self) -> list[NDArray[np.intp]]:
        """The coordinates of the parameters of each class: of bits, means, ln rates, and ln v, which may be shared."""
        shared = np.arange(self._class_ends[-1], self.n_coordinates)
        return [np.append(np.arange(*ends), shared) for ends in pairwise(self._class_ends)]

    def _parts(self, k: int) -> list[NDArray[np.intp]]:
        """Return the coordinates of a class: those of its free bits, means, ln rates and ln v."""
        (means, _, rates), n_bits = self._numbers, int(self.is_free[k].sum())
        return np.split(self._coordinates[k], np.cumsum([n_bits, means.shape[1], rates.shape[1]]))

    def _jacobian(self, k: int) -> Floats:
        """Return the derivatives of the probabilities of a class by their logits, (d, d).

        theta (1 - theta) for a binary column; diag(p) - p p' for the levels of a column.
        """
        theta, layout = self.params.probabilities[:, k], self.params.layout
        same_column = layout.is_level[:, None] & (layout.columns[:, None] == layout.columns)
        diagonal = theta * np.where(layout.is_level, 1.0, 1.0 - theta)
        return np.asarray(np.diag(diagonal) - same_column * np.outer(theta, theta))

    def free_parameters(self, weight: float) -> FreeParameters:
        """Return the coordinates of a fit to rows of this weight."""
        params, s, free_classes, is_free = self.params, self.model.prior_strength, self.free_classes, self.is_free
        pi, theta, m, is_level = params.weights, params.probabilities.T, params.prior_mean, params.layout.is_level
        (K, d), p = theta.shape, self.n_coordinates
        means, variances, rates = self._numbers
        log_pi = np.log(pi)
        empty_class = weight * pi < BOUNDARY_ROWS
        rarer = np.where(is_level, theta, np.minimum(theta, 1.0 - theta))
        at_boundary = (weight * pi[:, None] * rarer < BOUNDARY_ROWS) & (s == 0.0)
        largest = (
            np.maximum.reduceat(np.log(theta), params.layout.starts, axis=1)[:, params.layout.columns] if d else 0.0
        )
        logits = np.where(is_level, np.log(theta) - largest, params.scores.x_coefs.T)
        prior_rates = params.prior_rates if isinstance(params, MixedParams) else np.zeros(0)
        vector, gradient, border = np.zeros(p), np.zeros(p), np.zeros(p, bool)
        curvature, jacobian_pi, jacobian_theta = np.zeros((p, p)), np.zeros((K, p)), np.zeros((K, d, p))
        jacobians = [np.zeros((*array.shape, p)) for array in (means, variances, rates)]
        vector[: K - 1], border[: K - 1] = log_pi[free_classes] - log_pi.max(), empty_class[free_classes]
        jacobian_pi[:, : K - 1] = (np.diag(pi) - np.outer(pi, pi))[:, free_classes]
        n_priors = K if self._is_tied else 1  # of tied variances, the prior counts once
        for k in range(K):
            of_bits, of_means, of_rates, of_variances = parts = self._parts(k)
            free, jacobian, v, rate = is_free[k], self._jacobian(k), variances[k], rates[k]
            vector[np.concatenate(parts)] = np.concatenate([logits[k, free], means[k], np.log(rate), np.log(v)])
            gradient[of_bits], gradient[of_rates] = (s * (m - theta[k]))[free], s * (prior_rates - rate)
            gradient[of_variances] += 0.5 * s * (1.0 / v - 1.0) / n_priors
            curvature[np.ix_(of_bits, of_bits)] = s * jacobian[np.ix_(free, free)]
            curvature[of_rates, of_rates] = s * rate
            curvature[of_variances, of_variances] += 0.5 * s / v / n_priors
            at_floor = [v <= 2.0 * VARIANCE_FLOOR, (weight * pi[k] * rate < BOUNDARY_ROWS) & (s == 0.0)]
            border[of_bits], border[of_variances], border[of_rates] = at_boundary[k, free], *at_floor
            border[np.concatenate(parts[:3])] |= empty_class[k]
            jacobian_theta[k][:, of_bits] = jacobian[:, free]
            for array, coordinates, values in zip(
                jacobians, (of_means, of_variances, of_rates), (np.ones(len(v)), v, rate), strict=True
            ):
                array[k, np.arange(len(values)), coordinates] = values
        quantities = [
            Quantity("weights", pi, jacobian_pi, ("class",), "probability"),
            Quantity("probabilities", theta, jacobian_theta.reshape(-1, p), ("class", "column"), "probability"),
        ]
        if isinstance(params, MixedParams):
            scales = params.scales[:, None]
            of_means, of_variances, of_rates = (
                (jacobian * factor).reshape(-1, p)
                for jacobian, factor in zip(jacobians, (scales, scales**2, 1.0), strict=True)
            )
            quantities += [
                Quantity("means", params.original_means.T, of_means, ("class", "continuous")),
                Quantity(
                    "covariances",
                    params.original_covariances[:, 0].T,
                    of_variances,
                    ("class", "continuous"),
                    "positive",
                ),
                Quantity("rates", rates, of_rates, ("class", "count"), "positive"),
            ]
        return FreeParameters(
            vector=vector,
            prior_gradient=gradient,
            prior_curvature=curvature,
            border=border,
            ties=np.zeros((0, p)),
            quantities=tuple(quantity for quantity in quantities if quantity.values.size),
        )

    def params_at(self, vector: Floats) -> NodeParams:
        """Return the parameters at a vector of coordinates."""
        params, layout, K = self.params, self.params.layout, len(self.params.weights)
        log_weights = np.zeros(K)
        log_weights[self.free_classes] = vector[: K - 1]
        logits = np.zeros(self.is_free.shape)
        means, variances, rates = (np.zeros(array.shape) for array in self._numbers)
        for k in range(K):
            of_bits, of_means, of_rates, of_variances = self._parts(k)
            logits[k, self.is_free[k]] = np.clip(vector[of_bits], -LARGEST_LOGIT, LARGEST_LOGIT)
            means[k], variances[k], rates[k] = vector[of_means], np.exp(vector[of_variances]), np.exp(vector[of_rates])
        theta = sigmoid(np.ascontiguousarray(logits.T))
        if not layout.all_binary:
            theta = np.where(layout.is_level[:, None], softmax_levels(logits.T, layout), theta)
        moved = params.with_values(shares_at(log_weights), theta)
        if not isinstance(moved, MixedParams):
            return moved
        covariances = np.ascontiguousarray(variances.T[:, None, :]).reshape(params.covariances.shape)  # type: ignore[attr-defined]
        return replace(moved, means=means.T.copy(), covariances=covariances, rates=rates.T.copy())

    def _observed(self, block: Block) -> tuple[Floats, Floats, Floats]:
        """Return x and z, 0 where missing, and which cells are observed: bits, continuous columns, counts."""
        params, x = self.params, block.x.to_dense().astype(np.float64)
        o = params.layout.recorded(block.x, block.observed).astype(np.float64)
        if not isinstance(params, MixedParams) or block.numbers is None:
            return x, np.zeros((len(x), 0)), o
        numbers = np.concatenate([params.standardized(block.numbers), block.numbers[:, self._n_continuous :]], axis=1)
        return x, np.nan_to_num(numbers), np.concatenate([o, ~np.isnan(numbers)], axis=1)

    def _scores_of_class(self, k: int, cells: tuple[Floats, Floats, Floats], r: Floats) -> tuple[Floats, Floats]:
        """Return S of each row if its class is k, and Sum_n r_n E[-S']; both by the coordinates of the class."""
        (x, numbers, o), d, q = cells, self.params.probabilities.shape[0], self._n_continuous
        (means, variances, rates), free = self._numbers, self.is_free[k]
        o_bits, o_real, o_counts = o[:, :d], o[:, d : d + q], o[:, d + q :]
        v = variances[k]
        deviations = o_real * (numbers[:, :q] - means[k])
        squares = deviations**2 / v
        scores = [
            (x - o_bits * self.params.probabilities[:, k])[:, free],
            deviations / v,
            o_counts * (numbers[:, q:] - rates[k]),
            0.5 * (squares - o_real),
        ]
        n_bits, n_counts = int(free.sum()), rates.shape[1]
        information = np.zeros((n_bits + n_counts + 2 * q,) * 2)
        information[:n_bits, :n_bits] = ((r @ o_bits)[:, None] * self._jacobian(k))[np.ix_(free, free)]
        of_means = n_bits + np.arange(q)
        of_counts, of_variances = n_bits + q + np.arange(n_counts), n_bits + q + n_counts + np.arange(q)
        information[of_means, of_means] = (r @ o_real) / v
        information[of_means, of_variances] = information[of_variances, of_means] = (r @ deviations) / v
        information[of_variances, of_variances] = 0.5 * (r @ squares)
        information[of_counts, of_counts] = (r @ o_counts) * rates[k]
        return np.concatenate(scores, axis=1), information

    def _gradients(self, r: Floats, scores: list[Floats]) -> Floats:
        """Return the posterior mean of the complete-data score."""
        out = np.zeros((len(r), self.n_coordinates))
        out[:, : len(self.free_classes)] = (r - self.params.weights)[:, self.free_classes]
        for k, of_class in enumerate(scores):
            out[:, self._coordinates[k]] += r[:, k, None] * of_class
        return out

    def gradients(self, block: Block) -> Floats:
        """Return the gradient of ln P(row) of each row."""
        r, cells = self.model.posterior(self.params, self.model.prepare(self.params), block), self._observed(block)
        return self._gradients(r, [self._scores_of_class(k, cells, r[:, k])[0] for k in range(r.shape[1])])

    def information(self, block: Block) -> Floats:
        """Return minus the second derivatives of the weighted log-likelihood: E[-S'] - E[S S'] + E[S] E[S]'."""
        r, cells = self.model.posterior(self.params, self.model.prepare(self.params), block), self._observed(block)
        pi, free_classes, w, K = self.params.weights, self.free_classes, block.weights, len(self.params.weights)
        wr = w[:, None] * r
        scores, expected = zip(*(self._scores_of_class(k, cells, wr[:, k]) for k in range(K)), strict=True)
        g = self._gradients(r, list(scores))
        total = (g * w[:, None]).T @ g  # E[S] E[S]'
        size = wr.sum(axis=0)
        score_pi = np.eye(K) - pi  # row k: [k = l] - pi_l, the score of the class weights if the class is k
        block_pi = w.sum() * (np.diag(pi) - np.outer(pi, pi)) - (score_pi * size[:, None]).T @ score_pi
        total[: K - 1, : K - 1] += block_pi[np.ix_(free_classes, free_classes)]
        for k, of_class in enumerate(self._coordinates):
            weighted = scores[k] * wr[:, k : k + 1]
            cross = np.outer(score_pi[k, free_classes], weighted.sum(axis=0))
            total[: K - 1, of_class] -= cross
            total[of_class, : K - 1] -= cross.T
            total[np.ix_(of_class, of_class)] += expected[k] - weighted.T @ scores[k]
        return total
