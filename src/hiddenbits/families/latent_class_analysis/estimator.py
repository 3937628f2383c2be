"""`LatentClassAnalysis`: latent classes, one for each row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from hiddenbits.array_types import Floats, Randomness
from hiddenbits.data import Block
from hiddenbits.display import SummaryTable
from hiddenbits.engine import Settings
from hiddenbits.families._base.columns import column_sizes, level_names
from hiddenbits.families._base.parameters import COLUMN_TYPES, COMMON, N_INIT, ColumnTypes, HiddenParts
from hiddenbits.families._base.transformer import ClassesEstimator
from hiddenbits.families.nodes.classes import Classes
from hiddenbits.families.nodes.columns.levels import from_logs
from hiddenbits.families.nodes.params import NodeCounts, NodeParams
from hiddenbits.maths.free_parameters import FreeParameters, Quantity
from hiddenbits.maths.numerics import LARGEST_LOGIT, shares_at, sigmoid

TINY = 200_000  # arithmetic of a pass up to which further starts cost next to nothing: a few columns, many maxima
AGREE = 0.01, 10.0  # nats of the table, and steps of `tol`: restarts as close as that have found the same maximum


class LatentClassAnalysis(ClassesEstimator[NodeParams, NodeCounts]):
    """Latent class analysis: each row belongs to one hidden class, in which its columns are independent.

    Columns are binary, nominal or ordinal, of which each class has its own shares of levels (in another field's words,
    a mixture of products of Bernoulli and categorical distributions). The log-likelihood is exact. Missing cells are
    left out of a row's likelihood, which is right when they are missing at random given the observed ones.

    Parameters
    ----------
    n_components : int, default=2
        Number of classes.
    column_types : "auto", str or dict, default="auto"
        What columns are taken for: "binary", "nominal" or "ordinal", for all columns or by name. Said of all, it leaves
        out ids, dates, text and columns of more than 50 values, with a warning. "auto" reads frames and files: columns
        of more than two values are nominal, or ordinal where they are whole numbers or words of a scale. In an array 0
        and 1 are binary, and anything else needs a word here.
    prior_strength : float, default=1.0
        Strength of the prior on each class's probabilities (Beta, Dirichlet), in pseudo-rows with the shares of the
        table; 0 gives plain maximum likelihood.
    online_passes : int, default=0
        Passes of online EM before the full passes, for tables with very many rows.
    n_init : "auto" or int, default="auto"
        Restarts: the first from k-means on the first singular vectors of the columns, others from random shares of
        rows in classes; the one with the best objective is kept. "auto" is 2, on small tables 3 and on tiny ones 8.
        On long tables twice as many begin on a subsample, and the best goes on over all rows.
    max_iter : int, default=1000
        Most passes over the table, for each restart.
    tol : float, default=1e-6
        Converged when a step raises the objective by at most this much a row, in nats.
    threshold : float, optional
        Turn numbers into bits: 1 where the number is above the threshold. By default only 0 and 1 are accepted.
    random_state : int, RandomState or None, default=None
        Seed of the starts.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Share of each class.
    probabilities_ : ndarray of shape (n_components, columns)
        P(bit = 1) in each class; a column that is not binary has one for each of its levels (`level_names_`).
    level_names_ : list of str
        What the columns of `probabilities_` are: the names of binary columns, and "column=level".
    trace_ : ndarray of shape (n_iter_,)
        Objective after each pass (log-likelihood plus log prior, in nats over the table).
    n_iter_, converged_, stop_reason_ : int, bool, str
        How the best restart went.
    restarts_ : tuple
        Objective, passes and stop reason of every restart.
    n_features_in_, feature_names_in_ : int, ndarray
        As scikit-learn defines them.

    References
    ----------
    Freund and Haussler (1994), "Unsupervised learning of distributions on binary vectors using two layer networks".

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LatentClassAnalysis
    >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], 50, axis=0).astype(float)
    >>> X[0, 1] = np.nan                      # a blank: not observed
    >>> model = LatentClassAnalysis(2, random_state=0).fit(X)
    >>> float(model.complete(X)[0, 1].round(2))
    0.99
    """

    _prior_settings = ("prior_strength",)
    _usual_restarts = 2
    _hidden_parts: ClassVar[tuple[HiddenParts, ...]] = (HiddenParts("classes"),)
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **COMMON,
        "n_init": N_INIT,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "column_types": COLUMN_TYPES,
        "prior_strength": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        column_types: ColumnTypes = "auto",
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
        self.prior_strength = prior_strength
        self.online_passes = online_passes
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.threshold = threshold
        self.random_state = random_state

    def _more_starts(self, settings: Settings, size: float) -> Settings:
        return replace(settings, n_init=8 if size <= TINY else 3)

    def _model(self) -> Classes:
        return Classes(self.n_components, self.prior_strength, sizes=column_sizes(self))

    def _tables(self) -> dict[str, SummaryTable]:
        return self._class_tables(self.weights_, self.probabilities_)

    def _row_scores(self) -> ClassScores:
        return ClassScores(self._model(), self._params)

    @property
    def weights_(self) -> Floats:
        """Share of each class."""
        return self._params.weights

    @property
    def probabilities_(self) -> Floats:
        """P(bit = 1) in each class; of columns that are not binary P(level)."""
        return self._params.probabilities.T

    @property
    def level_names_(self) -> list[str]:
        """What the columns of `probabilities_` are: names of binary columns, and "column=level"."""
        return level_names(self)

    @property
    def _n_agreeing(self) -> int:
        """How many restarts found the maximum of the best."""
        best = max((restart.objective for restart in self.restarts_), default=0.0)
        near = AGREE[0] + AGREE[1] * self.tol * self._fit_weight
        return sum(restart.objective >= best - near for restart in self.restarts_)

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters."""
        return len(self.weights_) * (self._params.layout.n_free + 1) - 1


# Scores of rows under latent classes, in logits: what standard errors are made of.
#
# Coordinates: ln pi_k - ln pi_c for every class k but the largest, c; then, class by class, logit(theta_kj) of a
# binary column and ln p_kl - ln p_kc for every level but the class's most probable, c. Given its class k, a row has
# the score S: [class = l] - pi_l for each l, and in class k o_j (x_j - theta_kj) for each bit (o: the column's cell
# is recorded). The score of the row is the mean of S over its classes (Fisher), and its information E[-S'] - Var[S]
# (Louis).

FEWEST = 0.01  # a probability is at the border where fewer rows of its class than this are expected to differ


@dataclass(frozen=True, eq=False)
class ClassScores:
    """The scores at given parameters."""

    model: Classes
    params: NodeParams

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates."""
        return int(self.moving.sum()) + len(self.params.weights) - 1

    @property
    def others(self) -> NDArray[np.intp]:
        """All classes but the largest."""
        return np.delete(np.arange(len(self.params.weights)), int(np.argmax(self.params.weights)))

    @cached_property
    def moving(self) -> NDArray[np.bool_]:
        """Which bits have a coordinate in each class, (K, d): all but the most probable level of each column."""
        theta, layout = self.params.probabilities.T, self.params.layout
        moving = np.ones(theta.shape, bool)
        for start, size in zip(layout.starts, layout.sizes, strict=True):
            if size > 1:
                moving[np.arange(len(theta)), start + theta[:, start : start + size].argmax(axis=1)] = False
        return moving

    @property
    def _parts(self) -> list[slice]:
        """Which coordinates belong to each class."""
        ends = len(self.params.weights) - 1 + np.cumsum(self.moving.sum(axis=1))
        return [slice(end - int(m.sum()), end) for end, m in zip(ends.tolist(), self.moving, strict=True)]

    def _slopes(self, k: int) -> Floats:
        """Return the derivatives of the probabilities of a class by their logits, (d, d)."""
        theta, layout = self.params.probabilities[:, k], self.params.layout
        same = layout.is_level[:, None] & (layout.columns[:, None] == layout.columns)
        return np.asarray(np.diag(theta * np.where(layout.is_level, 1.0, 1.0 - theta)) - same * np.outer(theta, theta))

    def free(self, weight: float) -> FreeParameters:
        """Return the coordinates, of a fit to rows of this weight."""
        params, s, others, moving = self.params, self.model.prior_strength, self.others, self.moving
        pi, theta, m, is_level = params.weights, params.probabilities.T, params.prior_mean, params.layout.is_level
        (K, d), p = theta.shape, self.n_coordinates
        log_pi = np.log(pi)
        few_rows = weight * pi < FEWEST
        rarer = np.where(is_level, theta, np.minimum(theta, 1.0 - theta))
        few = (weight * pi[:, None] * rarer < FEWEST) & (s == 0.0)
        jacobian_pi, jacobian_theta, curvature = np.zeros((K, p)), np.zeros((K, d, p)), np.zeros((p, p))
        jacobian_pi[:, : K - 1] = (np.diag(pi) - np.outer(pi, pi))[:, others]
        for k, part in enumerate(self._parts):
            slopes = self._slopes(k)
            jacobian_theta[k, :, part] = slopes[:, moving[k]]
            curvature[part, part] = s * slopes[np.ix_(moving[k], moving[k])]
        largest = np.maximum.reduceat(np.log(theta), params.layout.starts, axis=1)[:, params.layout.columns]
        logits = np.where(is_level, np.log(theta) - largest, params.scores.of_one.T)
        return FreeParameters(
            vector=np.concatenate([log_pi[others] - log_pi.max(), logits[moving]]),
            prior_gradient=np.concatenate([np.zeros(K - 1), (s * (m - theta))[moving]]),
            prior_curvature=curvature,
            border=np.concatenate([few_rows[others], (few | few_rows[:, None])[moving]]),
            ties=np.zeros((0, p)),
            quantities=(
                Quantity("weights", pi, jacobian_pi, ("class",), "probability"),
                Quantity("probabilities", theta, jacobian_theta.reshape(-1, p), ("class", "column"), "probability"),
            ),
        )

    def at(self, vector: Floats) -> NodeParams:
        """Return the parameters at a vector of coordinates."""
        params, layout, K = self.params, self.params.layout, len(self.params.weights)
        logs = np.zeros(K)
        logs[self.others] = vector[: K - 1]
        logits = np.zeros(self.moving.shape)
        logits[self.moving] = np.clip(vector[K - 1 :], -LARGEST_LOGIT, LARGEST_LOGIT)
        of_bits, of_levels = sigmoid(np.ascontiguousarray(logits.T)), from_logs(logits.T, layout)
        theta = np.where(layout.is_level[:, None], of_levels, of_bits)
        return params.at(shares_at(logs), theta)

    def _rows(self, block: Block) -> tuple[Floats, Floats, Floats]:
        """Return r, (n, K), x - theta, (K, n, d), 0 where not recorded, and what was recorded, (n, d)."""
        r = self.model.posterior(self.params, self.model.prepare(self.params), block)
        x = block.x.to_dense().astype(np.float64)
        o = self.params.layout.recorded(block.x, block.observed).astype(np.float64)
        return r, x - o * self.params.probabilities.T[:, None, :], o

    def _gradients(self, r: Floats, away: Floats) -> Floats:
        of_bits = [r[:, k, None] * away[k][:, self.moving[k]] for k in range(len(away))]
        return np.concatenate([(r - self.params.weights)[:, self.others], *of_bits], axis=1)

    def gradients(self, block: Block) -> Floats:
        """Return the gradient of ln P(row) of each row."""
        r, away, _ = self._rows(block)
        return self._gradients(r, away)

    def information(self, block: Block) -> Floats:
        """Return minus the second derivatives of the weighted log-likelihood of a block."""
        r, away, o = self._rows(block)
        pi, others, w, K = self.params.weights, self.others, block.weights, len(self.params.weights)
        g = self._gradients(r, away)
        total = (g * w[:, None]).T @ g
        wr = w[:, None] * r
        size = wr.sum(axis=0)
        unit = np.eye(K) - pi  # row k: [k = l] - pi_l
        first = w.sum() * (np.diag(pi) - np.outer(pi, pi)) - (unit * size[:, None]).T @ unit
        total[: K - 1, : K - 1] += first[np.ix_(others, others)]
        for k, part in enumerate(self._parts):
            bits = self.moving[k]
            weighted = (away[k] * wr[:, k : k + 1])[:, bits]
            cross = np.outer(unit[k, others], weighted.sum(axis=0))
            total[: K - 1, part] -= cross
            total[part, : K - 1] -= cross.T
            recorded = (wr[:, k] @ o)[:, None] * self._slopes(k)
            total[part, part] += recorded[np.ix_(bits, bits)] - weighted.T @ away[k][:, bits]
        return total
