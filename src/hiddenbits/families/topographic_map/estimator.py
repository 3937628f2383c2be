"""`TopographicMap`: generative topographic mapping of binary data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from hiddenbits.array_types import Floats, Randomness
from hiddenbits.data import Block, Table
from hiddenbits.display import SummaryTable
from hiddenbits.engine import Outcome, Settings, fit_em, fit_persistent
from hiddenbits.families._base.columns import table_by_column
from hiddenbits.families._base.inputs import seed_of, shuffled
from hiddenbits.families._base.parameters import COMMON, HiddenParts
from hiddenbits.families._base.transformer import LatentEstimator
from hiddenbits.families.nodes.params import NodeCounts
from hiddenbits.families.topographic_map.model import MAX_GRID_DIMENSIONS, Topographic
from hiddenbits.families.topographic_map.model_steps import TopographicSteps
from hiddenbits.families.topographic_map.params import TopographicParams
from hiddenbits.model_api import RowModel

GRID_POINTS_AND_FEATURES = {1: (128, 64), 2: (1024, 256)}  # defaults, by number of dimensions
SOBOL_POINTS_AND_FEATURES = (8192, 1024)  # defaults with more dimensions
MAX_POINTS_PER_ROW = 1000  # far fewer are enough
GRID_LENGTH_SCALE = 0.7  # default length scale with 1 and 2 dimensions
GRID_TOL, STEPS_TOL = 1e-3, 1e-5  # default tolerance with 1 and 2 dimensions, and with more


class TopographicMap(LatentEstimator[TopographicParams, NodeCounts]):
    """Generative topographic mapping (GTM): the log-odds of each column are a smooth function of a latent position.

    A nonlinear latent trait model for binary data. The latent positions are a fixed set of points with equal weights,
    so the model is a mixture whose classes are tied to each other: likelihood, missing values, imputation and samples
    are exact for that mixture. With one or two dimensions the points are a grid, and the model is fitted by EM, which
    begins with at most 256 points. With more they are scrambled Sobol points, new in every step of a stochastic fit and
    fixed at its end; validation rows decide when to stop.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the latent space.
    n_points : int, optional
        Points of the fitted mixture: by default 128 and 1024 (32 x 32) for 1 and 2 dimensions, 8192 for more. More
        points raise the likelihood a little, at a proportional cost.
    n_features : int, optional
        Number of cosine features: by default 64, 256 and 1024 for 1, 2 and more dimensions.
    length_scale : float, optional
        Distance of two positions whose probabilities are hardly related: smaller is more curved. By default 0.7 for 1
        and 2 dimensions, and the square root of `n_components` for more.
    ridge : float, default=1.0
        Precision of the normal prior on the coefficients, for the whole table.
    learning_rate : float, default=0.01
        More than 2 dimensions: size of the first steps (Adam).
    batch_rows : int, default=256
        More than 2 dimensions: rows of a step.
    validation_share : float, default=0.1
        More than 2 dimensions: share of the rows that are validation rows. When their likelihood has not increased for
        3 epochs, steps become smaller; the fourth time the fit ends.
    n_init : int, default=1
        Number of restarts, each with other features; the one with the best objective is kept.
    max_iter : int, default=300
        Maximum number of iterations (epochs) per restart.
    tol : float, optional
        Convergence tolerance: the smallest increase of the objective in an iteration, in nats per row; with more than 2
        dimensions, of the likelihood of the validation rows. By default 1e-3 for 1 and 2 dimensions, where a smaller
        one changes the likelihood of held-out rows by hundredths of a nat and no plot, and 1e-5 for more.
    threshold : float, optional
        Binarize numbers: 1 if above the threshold. By default only 0 and 1 are accepted.
    random_state : int, RandomState or None, default=None
        Seed of features, points and steps.

    Attributes
    ----------
    points_ : ndarray of shape (points, n_components)
        The points.
    probabilities_ : ndarray of shape (points, columns)
        P(x = 1) at each point.
    trace_ : ndarray of shape (n_iter_,)
        Objective after each iteration (log-likelihood plus log prior, in nats over the table; it may decrease once,
        when all points replace the first ones); with more than 2 dimensions the mean log-likelihood of the validation
        rows.
    n_iter_, converged_, stop_reason_ : int, bool, str
        Iterations of the best restart, whether it converged, and why it stopped.
    restarts_ : tuple
        Objective, iterations and stop reason of every restart.
    n_features_in_, feature_names_in_ : int, ndarray
        As in scikit-learn.

    See Also
    --------
    LogisticPCA : Log-odds that are linear in the latent position.
    LatentClassAnalysis : Classes that are not tied to each other.

    References
    ----------
    Bishop, Svensen and Williams (1998), "GTM: the generative topographic mapping". Correia, Gala, Quaeghebeur, de
    Campos and Peharz (2023), "Continuous mixtures of tractable probabilistic models".

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import TopographicMap
    >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], 50, axis=0).astype(float)
    >>> X[0, 1] = np.nan                      # missing
    >>> model = TopographicMap(1, random_state=0).fit(X)
    >>> float(model.complete(X)[0, 1].round(1))
    1.0
    >>> model.transform(X).shape
    (100, 1)
    """

    _latent_axis = "q"
    tol: Any  # None: a default that depends on n_components
    _hidden_parts: ClassVar[tuple[HiddenParts, ...]] = (
        HiddenParts("dimensions", "columns"),
        HiddenParts("points", parameter="n_points", per_row=MAX_POINTS_PER_ROW),
    )
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **COMMON,
        "tol": [*COMMON["tol"], None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_points": [Interval(Integral, 2, 1_000_000, closed="both"), None],  # points x columns are held in memory
        "n_features": [Interval(Integral, 1, 100_000, closed="both"), None],
        "length_scale": [Interval(Real, 0, None, closed="neither"), None],
        "ridge": [Interval(Real, 0, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "batch_rows": [Interval(Integral, 1, None, closed="left")],
        "validation_share": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_points: int | None = None,
        n_features: int | None = None,
        length_scale: float | None = None,
        ridge: float = 1.0,
        learning_rate: float = 0.01,
        batch_rows: int = 256,
        validation_share: float = 0.1,
        n_init: int = 1,
        max_iter: int = 300,
        tol: float | None = None,
        threshold: float | None = None,
        random_state: Randomness = None,
    ) -> None:
        self.n_components = n_components
        self.n_points = n_points
        self.n_features = n_features
        self.length_scale = length_scale
        self.ridge = ridge
        self.learning_rate = learning_rate
        self.batch_rows = batch_rows
        self.validation_share = validation_share
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.threshold = threshold
        self.random_state = random_state

    def _subsample_rows(self) -> int | None:
        rows = super()._subsample_rows()
        return rows and 2 * rows  # a smaller one saves little: the cost of the M-step does not depend on the rows

    def _model(self) -> Topographic:
        q = int(self.n_components)
        n_points, n_features = GRID_POINTS_AND_FEATURES.get(q, SOBOL_POINTS_AND_FEATURES)
        scale = GRID_LENGTH_SCALE if q <= MAX_GRID_DIMENSIONS else np.sqrt(q)
        sizes = (
            q,
            int(self.n_points or n_points),
            int(self.n_features or n_features),
            float(self.length_scale or scale),
            float(self.ridge),
        )
        if q <= MAX_GRID_DIMENSIONS:
            return Topographic(*sizes)
        return TopographicSteps(
            *sizes, float(self.learning_rate), int(self.batch_rows), float(self.validation_share), self._tol
        )

    @property
    def _tol(self) -> float:
        default = GRID_TOL if self.n_components <= MAX_GRID_DIMENSIONS else STEPS_TOL
        return default if self.tol is None else float(self.tol)

    def _settings(self) -> Settings:
        return replace(super()._settings(), tol=self._tol)

    @property
    def _loop(self) -> Callable[..., Outcome]:
        fit_by_steps = partial(fit_persistent, after_epoch=TopographicSteps.after_epoch)
        return fit_em if self.n_components <= MAX_GRID_DIMENSIONS else fit_by_steps

    def _pass_height(self, model: RowModel[TopographicParams, NodeCounts], table: Table) -> int:
        height = self._height(model, table)
        return min(height, model.batch_rows) if isinstance(model, TopographicSteps) else height

    def _ordered_table(self, model: RowModel[TopographicParams, NodeCounts], table: Table) -> Table:
        return shuffled(table, seed_of(self.random_state)) if isinstance(model, TopographicSteps) else table

    def transform(self, X: object, *, return_weights: bool = False) -> Any:
        """Return the latent position of each row given its observed cells: the mean of its posterior (EAP).

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.
        return_weights : bool, default=False
            Return the posterior too.

        Returns
        -------
        means : ndarray of shape (rows, n_components)
        weights : ndarray of shape (rows, points)
            Only with `return_weights`: the posterior probability of each of `points_`.
        """
        model = self._model()
        if not return_weights:
            return self._map_rows(X, model.posterior)
        weights = self._map_rows(X, model.node_weights)
        return weights @ self.points_, weights

    def position_summary(self, X: object) -> PositionSummary:
        """Return the modes of the posterior of each row's latent position: one or two, and how concentrated it is.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        summary : PositionSummary
        """
        fields = self._map_rows(X, partial(posterior_modes, self._model()))
        q = self._n_features_out
        arrays = (fields[:, :q], fields[:, q : 2 * q], *fields[:, 2 * q :].T)
        return PositionSummary(*(np.ascontiguousarray(array) for array in arrays))

    def _tables(self) -> dict[str, SummaryTable]:
        p = self.probabilities_
        ranges = {"smallest": p.min(axis=0), "mean": p.mean(axis=0), "largest": p.max(axis=0)}
        spread = p.std(axis=0)
        return {"columns": table_by_column(self, "P(x = 1) over the latent space, of each column", ranges, spread)}

    @property
    def points_(self) -> Floats:
        """The points."""
        return self._params.points

    @property
    def probabilities_(self) -> Floats:
        """P(x = 1) at each point."""
        return self._params.probabilities.T

    @property
    def n_parameters_(self) -> int:
        """Number of coefficients; the ridge leaves fewer of them free."""
        return int(self._params.joint.size)


# The modes of the posterior of a row's latent position, as balls.

SECOND_MODE_SHARE = 0.2  # smallest posterior probability of a second mode that is reported
MEAN_SHIFTS = 5  # from the most probable point to the center of its mode


@dataclass(frozen=True, eq=False)
class PositionSummary:
    """The posterior of the latent position of each row, from `TopographicMap.position_summary`.

    A mode is a ball of radius sqrt(q / 2), half the usual distance of two rows, around the posterior mean within it.
    The search for one mode starts from the most probable point, that for the other from the most probable point that
    is at least two radii from the center of the first. `first` is the mode with the larger share.

    Attributes
    ----------
    first, second : ndarray of shape (rows, n_components)
        The center of each mode.
    first_share, second_share : ndarray of shape (rows,)
        Posterior probability within each mode.
    effective_points : ndarray of shape (rows,)
        1 / Sum_k r_k^2, with r_k the posterior probability of point k: the number of points that share the posterior.
        If it is below 3 in most rows, the points are too few to resolve the positions.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import TopographicMap
    >>> profiles = np.array([[1.0, 1, 1, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1, 1, 1]])
    >>> model = TopographicMap(1, random_state=0).fit(np.repeat(profiles, 40, axis=0))
    >>> nan = np.nan
    >>> model.position_summary([profiles[0], [nan, nan, nan, nan, nan, nan, 1, 1]]).two_places
    array([False,  True])
    """

    first: Floats
    second: Floats
    first_share: Floats
    second_share: Floats
    effective_points: Floats

    @property
    def two_places(self) -> NDArray[np.bool_]:
        """Rows whose second mode has at least a fifth of the posterior: their mean may be where no row is."""
        return np.asarray(self.second_share >= SECOND_MODE_SHARE)


def posterior_modes(model: Topographic, params: TopographicParams, shared: Any, block: Block) -> Floats:
    """Return the fields of `PositionSummary` side by side, (n, 2 q + 3)."""
    r, z = model.node_weights(params, shared, block), params.points
    center, share = _mode(r, z)
    center2, share2 = _mode(np.where(_squared_distances(center, z) <= 4.0 * z.shape[1] / 2.0, 0.0, r), z)
    centers = np.where((share2 > share)[:, None], np.hstack([center2, center]), np.hstack([center, center2]))
    effective_points = 1.0 / (r * r).sum(axis=1)
    return np.column_stack([centers, np.maximum(share, share2), np.minimum(share, share2), effective_points])


def _squared_distances(center: Floats, z: Floats) -> Floats:
    return np.asarray((center * center).sum(axis=1)[:, None] - 2.0 * center @ z.T + (z * z).sum(axis=1))


def _mode(r: Floats, z: Floats) -> tuple[Floats, Floats]:
    """Return the center of a mode and its share: from the most probable point by mean shift."""
    center = z[r.argmax(axis=1)]
    for _ in range(MEAN_SHIFTS):
        inside = np.where(_squared_distances(center, z) <= z.shape[1] / 2.0, r, 0.0)
        share = inside.sum(axis=1)
        center = np.divide(inside @ z, share[:, None], out=center.copy(), where=share[:, None] > 0.0)
    return center, share
