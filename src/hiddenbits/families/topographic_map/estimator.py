"""`TopographicMap`: a curved map behind the bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from hiddenbits.array_types import Floats, Randomness
from hiddenbits.data import Table
from hiddenbits.engine import Outcome, Settings, fit_em, fit_persistent
from hiddenbits.families._base.inputs import seed_of, shuffled
from hiddenbits.families._base.parameters import COMMON, MOST_NODES
from hiddenbits.families._base.showing import SummaryTable
from hiddenbits.families._base.sizes import HiddenParts
from hiddenbits.families._base.transformer import CodingEstimator
from hiddenbits.families.nodes.params import NodeCounts
from hiddenbits.families.topographic_map.model import Topographic
from hiddenbits.families.topographic_map.model_steps import TopographicSteps
from hiddenbits.families.topographic_map.params import TopographicParams
from hiddenbits.families.topographic_map.places import Places, place_rows, split_places
from hiddenbits.families.topographic_map.points import GRID_DIMENSIONS
from hiddenbits.model_api import RowModel

SIZES = {1: (128, 64), 2: (1024, 256)}  # points and features, by dimensions
MORE = (8192, 1024)  # and of more dimensions
POINTS_OF_A_ROW = 1000  # from far fewer on, further points change nothing
GRID_SCALE = 0.7  # length scale of 1 and 2 dimensions
GRID_TOL, STEPS_TOL = 1e-3, 1e-5  # tolerance of 1 and 2 dimensions, and of more


class TopographicMap(CodingEstimator[TopographicParams, NodeCounts]):
    """A curved map: every row has a position, and the log-odds of each bit are a smooth function of it.

    The positions are a fixed set of points with equal weights, so the model is a mixture whose classes are tied to each
    other: likelihood, blanks, completion and draws are exact for that mixture. One and two dimensions have a grid of
    points and are fitted by EM, with at most 256 points at first. More have scrambled Sobol points, fresh in every step
    of a stochastic fit and frozen at its end; rows that are split off decide when to stop.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the map.
    n_points : int, optional
        Points of the fitted mixture: by default 128 and 1024 (32 x 32) for 1 and 2 dimensions, 8192 for more. More
        points raise the likelihood a little, and cost as many times more.
    n_features : int, optional
        Cosines that the curves are made of: by default 64, 256 and 1024 for 1, 2 and more dimensions.
    length_scale : float, optional
        How far apart two positions are whose probabilities differ freely: smaller is more curved. By default 0.7 for 1
        and 2 dimensions, and the square root of `n_components` for more.
    ridge : float, default=1.0
        Precision of the normal prior of the coefficients, of the whole table.
    learning_rate : float, default=0.01
        More than 2 dimensions: size of the first steps (Adam).
    batch_rows : int, default=256
        More than 2 dimensions: rows of a step.
    validation_share : float, default=0.1
        More than 2 dimensions: share of the rows that are not learned from. Where their likelihood has not risen for 3
        epochs, steps become smaller; the fourth time the fit is over.
    n_init : int, default=1
        Restarts, each with other features; the one with the best objective is kept.
    max_iter : int, default=300
        Most passes over the table, for each restart.
    tol : float, optional
        Converged when a step raises the objective by at most this much a row, in nats; with more than 2 dimensions,
        what counts as a rise of the likelihood of rows that were split off. By default 1e-3 for 1 and 2 dimensions,
        where less changes held-out rows by hundredths of a nat and no picture, and 1e-5 for more.
    threshold : float, optional
        Turn numbers into bits: 1 where the number is above the threshold. By default only 0 and 1 are accepted.
    random_state : int, RandomState or None, default=None
        Seed of features, points and steps.

    Attributes
    ----------
    points_ : ndarray of shape (points, n_components)
        The points.
    probabilities_ : ndarray of shape (points, columns)
        P(bit = 1) at each point.
    trace_ : ndarray of shape (n_iter_,)
        Objective after each pass (log-likelihood plus log prior, in nats over the table; it may fall once, when the
        first points give way to all of them); with more than 2 dimensions the mean log-likelihood of the rows that were
        split off.
    n_iter_, converged_, stop_reason_ : int, bool, str
        How the best restart went.
    restarts_ : tuple
        Objective, passes and stop reason of every restart.
    n_features_in_, feature_names_in_ : int, ndarray
        As scikit-learn defines them.

    References
    ----------
    Bishop, Svensen and Williams (1998), "GTM: the generative topographic mapping". Correia, Gala, Quaeghebeur, de
    Campos and Peharz (2023), "Continuous mixtures of tractable probabilistic models".

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import TopographicMap
    >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], 50, axis=0).astype(float)
    >>> X[0, 1] = np.nan                      # a blank: not observed
    >>> model = TopographicMap(1, random_state=0).fit(X)
    >>> bool(model.complete(X)[0, 1] > 0.9)
    True
    >>> model.transform(X).shape
    (100, 1)
    """

    online_passes = 0
    accelerate = True
    tol: Any  # None stands for a default
    _hidden_parts: ClassVar[tuple[HiddenParts, ...]] = (
        HiddenParts("dimensions", "columns"),
        HiddenParts("points", parameter="n_points", each=POINTS_OF_A_ROW),
    )
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **{name: COMMON[name] for name in ("n_init", "max_iter", "threshold", "random_state")},
        "tol": [*COMMON["tol"], None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_points": [Interval(Integral, 2, MOST_NODES, closed="both"), None],
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

    def _rows_to_begin_on(self) -> int | None:
        rows = super()._rows_to_begin_on()
        return rows and 2 * rows  # the M-step does not depend on the rows: a start on very few saves little

    def _model(self) -> Topographic:
        q = int(self.n_components)
        n_points, n_features = SIZES.get(q, MORE)
        scale = GRID_SCALE if q <= GRID_DIMENSIONS else np.sqrt(q)
        sizes = (
            q,
            int(self.n_points or n_points),
            int(self.n_features or n_features),
            float(self.length_scale or scale),
            float(self.ridge),
        )
        if q <= GRID_DIMENSIONS:
            return Topographic(*sizes)
        return TopographicSteps(
            *sizes, float(self.learning_rate), int(self.batch_rows), float(self.validation_share), self._tol
        )

    @property
    def _tol(self) -> float:
        default = GRID_TOL if self.n_components <= GRID_DIMENSIONS else STEPS_TOL
        return default if self.tol is None else float(self.tol)

    def _settings(self) -> Settings:
        return replace(super()._settings(), tol=self._tol)

    @property
    def _loop(self) -> Callable[..., Outcome]:
        return fit_em if self.n_components <= GRID_DIMENSIONS else fit_persistent

    def _pass_height(self, model: RowModel[TopographicParams, NodeCounts], table: Table) -> int:
        height = self._height(model, table)
        return min(height, model.batch_rows) if isinstance(model, TopographicSteps) else height

    def _arranged(self, model: RowModel[TopographicParams, NodeCounts], table: Table) -> Table:
        return shuffled(table, seed_of(self.random_state)) if isinstance(model, TopographicSteps) else table

    def posterior(self, X: object, *, return_weights: bool = False) -> Any:
        """Return where on the map each row is, given its observed bits: the mean of the posterior.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.
        return_weights : bool, default=False
            Return the posterior itself too.

        Returns
        -------
        means : ndarray of shape (rows, n_components)
        weights : ndarray of shape (rows, points)
            Only with `return_weights`: the probability of each of `points_`.
        """
        model = self._model()
        if not return_weights:
            return self._map(X, model.posterior)
        weights = self._map(X, model.point_weights)
        return weights @ self.points_, weights

    def places(self, X: object) -> Places:
        """Return how sure the position of each row is: the points that share it, and whether there are two places.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        places : Places
        """
        return split_places(self._map(X, partial(place_rows, self._model())), self._n_features_out)

    def _tables(self) -> dict[str, SummaryTable]:
        p = self.probabilities_
        spread = {"smallest": p.min(axis=0), "mean": p.mean(axis=0), "largest": p.max(axis=0)}
        weight = p.std(axis=0)
        return {"columns": self._by_column("P(1) over the map, of each column", spread, weight)}

    @property
    def points_(self) -> Floats:
        """The points."""
        return self.params_.points

    @property
    def probabilities_(self) -> Floats:
        """P(bit = 1) at each point."""
        return self.params_.nodes.probabilities.T

    @property
    def _n_features_out(self) -> int:
        return int(self.params_.points.shape[1])

    @property
    def n_parameters_(self) -> int:
        """Number of coefficients; the ridge leaves fewer of them free."""
        return int(self.params_.joint.size)
