"""`TopographicMap`: a curved map behind the bits."""

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
from hiddenbits.families._base.parameters import COMMON, MOST_NODES, HiddenParts
from hiddenbits.families._base.transformer import CodingEstimator
from hiddenbits.families.nodes.params import NodeCounts
from hiddenbits.families.topographic_map.model import GRID_DIMENSIONS, Topographic
from hiddenbits.families.topographic_map.model_steps import TopographicSteps
from hiddenbits.families.topographic_map.params import TopographicParams
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

    _code_axis = "q"
    tol: Any  # None stands for a default
    _hidden_parts: ClassVar[tuple[HiddenParts, ...]] = (
        HiddenParts("dimensions", "columns"),
        HiddenParts("points", parameter="n_points", each=POINTS_OF_A_ROW),
    )
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **COMMON,
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
        by_steps = partial(fit_persistent, after_epoch=TopographicSteps.after_epoch)
        return fit_em if self.n_components <= GRID_DIMENSIONS else by_steps

    def _pass_height(self, model: RowModel[TopographicParams, NodeCounts], table: Table) -> int:
        height = self._height(model, table)
        return min(height, model.batch_rows) if isinstance(model, TopographicSteps) else height

    def _arranged(self, model: RowModel[TopographicParams, NodeCounts], table: Table) -> Table:
        return shuffled(table, seed_of(self.random_state)) if isinstance(model, TopographicSteps) else table

    def transform(self, X: object, *, return_weights: bool = False) -> Any:
        """Return the latent position of each row given its observed cells: the mean of its posterior (EAP).

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
        weights = self._map(X, model.node_weights)
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
        return {"columns": table_by_column(self, "P(1) over the map, of each column", spread, weight)}

    @property
    def points_(self) -> Floats:
        """The points."""
        return self._params.points

    @property
    def probabilities_(self) -> Floats:
        """P(bit = 1) at each point."""
        return self._params.probabilities.T

    @property
    def n_parameters_(self) -> int:
        """Number of coefficients; the ridge leaves fewer of them free."""
        return int(self._params.joint.size)


# Where rows are on a curved map: in one place, or in two that both explain them.

TWO_PLACES = 0.2  # smallest share of the posterior that a second place has
SHIFTS = 5  # from the top point to the middle of its place


@dataclass(frozen=True, eq=False)
class Places:
    """What `TopographicMap.places` returns, one line for each row.

    A place is a ball of radius sqrt(q / 2), half the usual distance of two rows, around the mean of the posterior
    within it. One is found from the most probable point, the other from the most probable point at least two radii from
    there; the first is the one with the larger share.

    Attributes
    ----------
    first, second : ndarray of shape (rows, n_components)
        The center of each place.
    first_share, second_share : ndarray of shape (rows,)
        Probability that the row is there.
    effective_points : ndarray of shape (rows,)
        1 / Sum_k r_k^2: how many points share the posterior. Where most rows have fewer than 3, points are too few to
        say where on the map a row is.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import TopographicMap
    >>> kinds = np.array([[1.0, 1, 1, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1, 1, 1]])
    >>> model = TopographicMap(1, random_state=0).fit(np.repeat(kinds, 40, axis=0))
    >>> blank = np.nan
    >>> model.places([kinds[0], [blank, blank, blank, blank, blank, blank, 1, 1]]).two_places
    array([False,  True])
    """

    first: Floats
    second: Floats
    first_share: Floats
    second_share: Floats
    effective_points: Floats

    @property
    def two_places(self) -> NDArray[np.bool_]:
        """Rows whose second place has at least a fifth of the posterior: their mean may be where no row is."""
        return np.asarray(self.second_share >= TWO_PLACES)


def place_rows(model: Topographic, params: TopographicParams, shared: Any, block: Block) -> Floats:
    """Return the fields of `Places` side by side, (n, 2 q + 3)."""
    r, z = model.node_weights(params, shared, block), params.points
    sharpness = (r * r).sum(axis=1)
    one, share = _place(r, z)
    other, its_share = _place(np.where(_squared_distances(one, z) <= 4.0 * z.shape[1] / 2.0, 0.0, r), z)
    swap = its_share > share
    centers = np.where(swap[:, None], np.hstack([other, one]), np.hstack([one, other]))
    return np.column_stack([centers, np.maximum(share, its_share), np.minimum(share, its_share), 1.0 / sharpness])


def _squared_distances(center: Floats, z: Floats) -> Floats:
    return np.asarray((center * center).sum(axis=1)[:, None] - 2.0 * center @ z.T + (z * z).sum(axis=1))


def _place(r: Floats, z: Floats) -> tuple[Floats, Floats]:
    """Return the center of a place and its share: from the top point by mean shift."""
    center = z[r.argmax(axis=1)]
    for _ in range(SHIFTS):
        inside = np.where(_squared_distances(center, z) <= z.shape[1] / 2.0, r, 0.0)
        share = inside.sum(axis=1)
        center = np.divide(inside @ z, share[:, None], out=center.copy(), where=share[:, None] > 0.0)
    return center, share


def split_places(rows: Floats, q: int) -> Places:
    """Return what `place_rows` found, by name."""
    parts = (rows[:, :q], rows[:, q : 2 * q], *rows[:, 2 * q :].T)
    return Places(*(np.ascontiguousarray(part) for part in parts))
