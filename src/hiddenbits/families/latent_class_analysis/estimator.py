"""`LatentClassAnalysis`, and its score function for standard errors. The model itself is in `nodes/classes.py`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval

from hiddenbits.array_types import Floats, Randomness
from hiddenbits.data import Block, Table
from hiddenbits.data.added_column import with_nominal_column
from hiddenbits.data.layout import layout_of
from hiddenbits.data.request import HandleUnknown
from hiddenbits.display import SummaryTable
from hiddenbits.engine import Settings
from hiddenbits.families._base.columns import column_sizes, level_names
from hiddenbits.families._base.parameters import COLUMN_TYPES, COMMON, HANDLE_UNKNOWN, N_INIT, ColumnTypes, HiddenParts
from hiddenbits.families._base.transformer import ClassesEstimator
from hiddenbits.families.latent_class_analysis.given import given_arrays, known_classes
from hiddenbits.families.nodes.classes import Classes
from hiddenbits.families.nodes.columns.levels import softmax_levels
from hiddenbits.families.nodes.params import NodeCounts, NodeParams, with_kept
from hiddenbits.maths.free_parameters import FreeParameters, Quantity
from hiddenbits.maths.numerics import LARGEST_LOGIT, shares_at, sigmoid
from hiddenbits.store.validation import require

PARAMETERS: list[object] = [dict, BaseEstimator, None]
TINY_TABLE_FLOPS = 200_000  # up to so many floating-point operations in an iteration, n_init="auto" is 8
AGREEMENT_NATS, AGREEMENT_TOLS = 0.01, 10.0  # restarts at one maximum may differ by 0.01 nats + 10 tol per row


class LatentClassAnalysis(ClassesEstimator[NodeParams, NodeCounts]):
    """Latent class analysis: each row belongs to one latent class, within which its columns are independent.

    For binary, nominal and ordinal columns; each class has its own probability of every level (a mixture of products of
    Bernoulli and categorical distributions). The model is fitted by EM, and its log-likelihood is exact. Missing values
    are left out of a row's likelihood, which is right if they are missing at random.

    Parameters
    ----------
    n_components : int, default=2
        Number of classes.
    column_types : "auto", str or dict, default="auto"
        Type of the columns: "binary", "nominal" or "ordinal", for all columns or by name. A type for all columns
        excludes ids, dates, text and columns of more than 50 values, with a warning. With "auto", columns of frames and
        files with more than two values are nominal, or ordinal if they are whole numbers or words of a scale. In an
        array 0 and 1 are binary; other values need a type.
    handle_unknown : {"error", "missing"}, default="error"
        What methods over rows and `partial_fit` do with values of nominal, ordinal and recoded columns that did not
        occur in the fit: raise an error, or read them as missing, with one warning that counts them. A table on disk is
        then read once more.
    prior_strength : float, default=1.0
        Strength of the Beta or Dirichlet prior on the probabilities of each class, in pseudo-rows with the proportions
        of the table; 0 gives maximum likelihood.
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

    def _with_extra_restarts(self, settings: Settings, flops: float) -> Settings:
        return replace(settings, n_init=8 if flops <= TINY_TABLE_FLOPS else 3)

    def _settings_for(self, settings: Settings, model: Any, weight: float, n_columns: int) -> Settings:
        settings = super()._settings_for(settings, model, weight, n_columns)
        return settings if self.start is None else replace(settings, n_init=1, start_rows=None)

    def _model(self) -> Classes:
        sizes, start_values, fixed = column_sizes(self), self._start_values, self._fixed
        return Classes(self.n_components, self.prior_strength, None, sizes, start_values, fixed)

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
        return self._class_tables(self.weights_, self.probabilities_)

    def _score_function(self) -> ClassScoreFunction:
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
    def _n_agreeing(self) -> int:
        """Number of restarts that reached the maximum of the best."""
        best = max((restart.objective for restart in self.restarts_), default=0.0)
        tolerance = AGREEMENT_NATS + AGREEMENT_TOLS * self.tol * self._fit_weight
        return sum(restart.objective >= best - tolerance for restart in self.restarts_)

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters."""
        return self._score_function().n_coordinates


# The score of a row (gradient of ln P(row)) and the observed information, for standard errors.
#
# Coordinates: ln pi_k - ln pi_c for every class k except the largest, c; then, class by class, logit(theta_kj) of a
# binary column, and ln p_kl - ln p_kc for every level l except the most probable one in the class, c. If the class k of
# a row were known, its complete-data score S would be [k = l] - pi_l for each class l, and o_j (x_j - theta_kj) for
# each bit in class k, with o_j = 1 if the cell of its column is observed. The score of the row is the posterior mean of
# S (Fisher's identity), and its information is E[-S'] - Var[S] (Louis' formula).

BOUNDARY_ROWS = 0.01  # a probability is at the boundary if fewer rows of its class are expected to have the rarer value


@dataclass(frozen=True, eq=False)
class ClassScoreFunction:
    """The score function of latent classes at given parameters."""

    model: Classes
    params: NodeParams

    @property
    def fixed(self) -> Mapping[str, NDArray[np.bool_]]:
        """Which parameters are fixed, by the name of their array."""
        return self.model.fixed or {}

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates."""
        return int(self.is_free.sum()) + len(self.free_classes)

    @property
    def free_classes(self) -> NDArray[np.intp]:
        """The classes whose weight has a coordinate: all but the largest, or none if they are fixed."""
        if "weights" in self.fixed and self.fixed["weights"].all():
            return np.zeros(0, np.intp)
        return np.delete(np.arange(len(self.params.weights)), int(np.argmax(self.params.weights)))

    @cached_property
    def is_free(self) -> NDArray[np.bool_]:
        """Which bits have a coordinate in each class, (K, d): not fixed, and not the most probable level."""
        theta, layout = self.params.probabilities.T, self.params.layout
        is_free = np.ones(theta.shape, bool)
        for start, size in zip(layout.starts, layout.sizes, strict=True):
            if size > 1:
                is_free[np.arange(len(theta)), start + theta[:, start : start + size].argmax(axis=1)] = False
        return is_free & ~self.fixed["probabilities"].T if "probabilities" in self.fixed else is_free

    @property
    def _class_slices(self) -> list[slice]:
        """The coordinates of the probabilities of each class."""
        ends = len(self.free_classes) + np.cumsum(self.is_free.sum(axis=1))
        return [slice(end - int(free.sum()), end) for end, free in zip(ends.tolist(), self.is_free, strict=True)]

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
        log_pi = np.log(pi)
        empty_class = weight * pi < BOUNDARY_ROWS
        rarer = np.where(is_level, theta, np.minimum(theta, 1.0 - theta))
        at_boundary = (weight * pi[:, None] * rarer < BOUNDARY_ROWS) & (s == 0.0)
        jacobian_pi, jacobian_theta, curvature = np.zeros((K, p)), np.zeros((K, d, p)), np.zeros((p, p))
        n = len(free_classes)
        jacobian_pi[:, :n] = (np.diag(pi) - np.outer(pi, pi))[:, free_classes]
        for k, of_class in enumerate(self._class_slices):
            jacobian = self._jacobian(k)
            jacobian_theta[k, :, of_class] = jacobian[:, is_free[k]]
            curvature[of_class, of_class] = s * jacobian[np.ix_(is_free[k], is_free[k])]
        largest = np.maximum.reduceat(np.log(theta), params.layout.starts, axis=1)[:, params.layout.columns]
        logits = np.where(is_level, np.log(theta) - largest, params.scores.x_coefs.T)
        return FreeParameters(
            vector=np.concatenate([log_pi[free_classes] - log_pi.max(), logits[is_free]]),
            prior_gradient=np.concatenate([np.zeros(n), (s * (m - theta))[is_free]]),
            prior_curvature=curvature,
            border=np.concatenate([empty_class[free_classes], (at_boundary | empty_class[:, None])[is_free]]),
            ties=np.zeros((0, p)),
            quantities=(
                Quantity("weights", pi, jacobian_pi, ("class",), "probability"),
                Quantity("probabilities", theta, jacobian_theta.reshape(-1, p), ("class", "column"), "probability"),
            ),
        )

    def params_at(self, vector: Floats) -> NodeParams:
        """Return the parameters at a vector of coordinates."""
        params, layout, K = self.params, self.params.layout, len(self.params.weights)
        log_weights = np.zeros(K)
        n = len(self.free_classes)
        log_weights[self.free_classes] = vector[:n]
        logits = np.zeros(self.is_free.shape)
        logits[self.is_free] = np.clip(vector[n:], -LARGEST_LOGIT, LARGEST_LOGIT)
        binary, levels = sigmoid(np.ascontiguousarray(logits.T)), softmax_levels(logits.T, layout)
        updated = params.with_values(shares_at(log_weights), np.where(layout.is_level[:, None], levels, binary))
        return with_kept(updated, params, self.fixed)

    def _residuals(self, block: Block) -> tuple[Floats, Floats, Floats]:
        """Return r, (n, K), o (x - theta), (K, n, d), and o, whether a cell was observed, (n, d)."""
        r = self.model.posterior(self.params, self.model.prepare(self.params), block)
        x = block.x.to_dense().astype(np.float64)
        o = self.params.layout.recorded(block.x, block.observed).astype(np.float64)
        return r, x - o * self.params.probabilities.T[:, None, :], o

    def _gradients(self, r: Floats, residuals: Floats) -> Floats:
        """Return the posterior mean of the complete-data score: r - pi, and r_k o (x - theta_k) of each class."""
        by_class = [r[:, k, None] * residuals[k][:, self.is_free[k]] for k in range(len(residuals))]
        return np.concatenate([(r - self.params.weights)[:, self.free_classes], *by_class], axis=1)

    def gradients(self, block: Block) -> Floats:
        """Return the gradient of ln P(row) of each row."""
        r, residuals, _ = self._residuals(block)
        return self._gradients(r, residuals)

    def information(self, block: Block) -> Floats:
        """Return minus the second derivatives of the weighted log-likelihood: E[-S'] - E[S S'] + E[S] E[S]'."""
        r, residuals, o = self._residuals(block)
        pi, free_classes, w, K = self.params.weights, self.free_classes, block.weights, len(self.params.weights)
        g = self._gradients(r, residuals)
        total = (g * w[:, None]).T @ g  # E[S] E[S]'
        wr = w[:, None] * r
        size = wr.sum(axis=0)
        score_pi = np.eye(K) - pi  # row k: [k = l] - pi_l, the score of the class weights if the class is k
        block_pi = w.sum() * (np.diag(pi) - np.outer(pi, pi)) - (score_pi * size[:, None]).T @ score_pi
        n = len(free_classes)
        total[:n, :n] += block_pi[np.ix_(free_classes, free_classes)]
        for k, of_class in enumerate(self._class_slices):
            free = self.is_free[k]
            weighted = (residuals[k] * wr[:, k : k + 1])[:, free]
            cross = np.outer(score_pi[k, free_classes], weighted.sum(axis=0))
            total[:n, of_class] -= cross
            total[of_class, :n] -= cross.T
            expected = (wr[:, k] @ o)[:, None] * self._jacobian(k)  # E[-S']
            total[of_class, of_class] += expected[np.ix_(free, free)] - weighted.T @ residuals[k][:, free]
        return total
