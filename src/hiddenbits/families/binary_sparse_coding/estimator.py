"""`BinarySparseCoding`: sparse coding of real data by binary causes."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions

from hiddenbits.array_types import Floats, Randomness
from hiddenbits.display import SummaryTable
from hiddenbits.families._base.columns import column_names, table_by_column
from hiddenbits.families._base.parameters import COMMON, HiddenParts
from hiddenbits.families._base.showing import strongest_each_way
from hiddenbits.families._base.transformer import LatentEstimator
from hiddenbits.families.binary_sparse_coding.model import AnnealedCoding
from hiddenbits.families.binary_sparse_coding.params import CodingParams

# `Annealing`: the start of a fit, and its schedule.


class Annealing(BaseEstimator):  # type: ignore[misc]
    """Annealing schedule of a fit of `BinarySparseCoding`.

    Parameters
    ----------
    n_passes : int, default=60
        Passes of the schedule.
    temperature : float, default=3.0
        Temperature of prior and likelihood in the first pass; it decreases to 1 over 80% of the schedule.
    wide_candidates, wide_active : int, default=8 and 5
        `n_candidates` and `max_active` for the last quarter of the schedule, and for scoring; up to 12 causes are
        scored with all states.
    data_cut : bool, default=True
        Exclude the rows with the lowest likelihood from the updates: as many as probably have more causes on than the
        states allow, but at most 90%. Costs a second pass over the data in each iteration.
    cut_from, cut_to : float, default=1/3 and 2/3
        Shares of the schedule between which the cut is phased in.
    jitter : float, default=0.0
        Standard deviation of noise that is added to the fields after every iteration.
    settle : bool, default=True
        Continue after the schedule until convergence; otherwise the fit ends with the schedule.
    start : {"noise", "mean"}, default="noise"
        Fields from noise, or the mean row plus small noise.
    start_scale : float, optional
        Standard deviation of that noise; by default a third of the columns' (a hundredth with "mean").
    start_active : float, default=5.0
        Expected number of causes that are on in a row, at the start; at most half of them.

    Examples
    --------
    >>> from hiddenbits import BinarySparseCoding
    >>> from hiddenbits.options import Annealing
    >>> BinarySparseCoding(10, schedule=Annealing(n_passes=100, temperature=5.0))
    BinarySparseCoding(schedule=Annealing(n_passes=100, temperature=5.0))
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_passes": [Interval(Integral, 0, None, closed="left")],
        "temperature": [Interval(Real, 1, None, closed="left")],
        **{name: [Interval(Integral, 1, None, closed="left")] for name in ("wide_candidates", "wide_active")},
        "data_cut": ["boolean"],
        **{name: [Interval(Real, 0, 1, closed="both")] for name in ("cut_from", "cut_to")},
        "jitter": [Interval(Real, 0, None, closed="left")],
        "settle": ["boolean"],
        "start": [StrOptions({"noise", "mean"})],
        "start_scale": [Interval(Real, 0, None, closed="neither"), None],
        "start_active": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_passes: int = 60,
        temperature: float = 3.0,
        wide_candidates: int = 8,
        wide_active: int = 5,
        data_cut: bool = True,
        cut_from: float = 1 / 3,
        cut_to: float = 2 / 3,
        jitter: float = 0.0,
        settle: bool = True,
        start: Literal["noise", "mean"] = "noise",
        start_scale: float | None = None,
        start_active: float = 5.0,
    ) -> None:
        self.n_passes = n_passes
        self.temperature = temperature
        self.wide_candidates = wide_candidates
        self.wide_active = wide_active
        self.data_cut = data_cut
        self.cut_from = cut_from
        self.cut_to = cut_to
        self.jitter = jitter
        self.settle = settle
        self.start = start
        self.start_scale = start_scale
        self.start_active = start_active


class BinarySparseCoding(LatentEstimator[CodingParams, Any]):
    """Binary sparse coding: each row of real numbers is the sum of the fields of a few binary causes, plus noise.

    For image patches, spectra, recordings. Every cause has a field, a vector that it adds to the rows where it is on.
    The number of causes that are on and the noise are estimated too. Each row has a few candidates among the causes, of
    which a few may be on together (expectation truncation).

    There is no intercept: center columns whose zero has no meaning. NaN are missing values; a row with missing values
    has an additional cost of about `n_candidates` squared times its columns.

    Parameters
    ----------
    n_components : int, default=10
        Number of causes. Choose it by `score` on held-out rows, for instance with scikit-learn's `GridSearchCV`.
    n_candidates, max_active : int, default=5 and 3
        Candidates for each row, and how many of them may be on together, at the start. Small numbers prevent several
        causes from sharing the field of one. The schedule has the numbers for its last quarter.
    activity : {"shared", "each"}, default="shared"
        One P(on) for all causes, or one for each.
    schedule : Annealing, optional
        Start of the fit, and what changes between iterations: temperature, candidates, and the rows that count. By
        default `Annealing()`; `Annealing(temperature=1, start="mean")` if causes do not add up.
    dtype : {"float64", "float32"}, default="float64"
        Precision of products over rows: float32 takes half the time, and half the memory if the table is float32 too.
    n_init : int, default=2
        Restarts; the one with the best objective is kept.
    max_iter : int, default=200
        Maximum number of iterations of each restart, including those of the schedule.
    tol : float, default=1e-4
        Converged when an iteration after the schedule increases the objective by at most this much per row, in nats.
    random_state : int, RandomState or None, default=None
        Seed of the starts.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, columns)
        The field of each cause, in order of decreasing activity.
    activity_ : ndarray of shape (n_components,)
        P(a cause is on).
    n_active_ : float
        Expected number of causes that are on in a row.
    noise_ : float
        Standard deviation of the noise.
    trace_ : ndarray of shape (n_iter_,)
        Free energy of all rows after each iteration, in nats, at the temperature of that iteration. It may decrease,
        because the omitted states and rows change.
    n_iter_, converged_, stop_reason_ : int, bool, str
        Iterations, convergence and reason to stop of the best restart.
    restarts_ : tuple
        Objective, iterations and reason to stop of every restart.
    n_features_in_, feature_names_in_ : int, ndarray
        As scikit-learn defines them.

    References
    ----------
    Henniges, Puertas, Bornschein, Eggert and Luecke (2010), "Binary sparse coding". Luecke and Sahani (2008), "Maximal
    causes for non-linear component extraction". Bornschein, Henniges and Luecke (2013), "Are V1 simple cells optimized
    for visual occlusions?".

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import BinarySparseCoding
    >>> rng = np.random.default_rng(0)
    >>> fields = np.array([[5.0, 5, 0, 0], [0, 5, 5, 0], [0, 0, -5, 5]])
    >>> causes = rng.random((400, 3)) < 0.3
    >>> X = causes @ fields + rng.normal(0, 0.5, (400, 4))
    >>> model = BinarySparseCoding(3, random_state=0).fit(X)
    >>> nearest = [fields[np.argmin(((fields - field) ** 2).sum(axis=1))] for field in model.components_]
    >>> bool(np.abs(model.components_ - nearest).max() < 0.3)
    True
    >>> X[0, 1] = np.nan                                        # missing
    >>> bool(abs(model.complete(X)[0, 1] - (causes @ fields)[0, 1]) < 1.0)
    True
    """

    _takes_reals = True  # cells are real numbers, not 0 and 1
    visible = "reals"  # like the parameter of `CombinationMachine`; `evaluate` reads it

    _latent_axis = "H"
    _latent_name = "cause"
    _objective_name = None  # a free energy, at the temperature of its pass
    _hidden_parts: ClassVar[tuple[HiddenParts, ...]] = (HiddenParts("causes"),)
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **COMMON,
        **{key: [Interval(Integral, 1, None, closed="left")] for key in ("n_components", "n_candidates", "max_active")},
        "activity": [StrOptions({"shared", "each"})],
        "schedule": [Annealing, None],
        "dtype": [StrOptions({"float64", "float32"})],
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        n_candidates: int = 5,
        max_active: int = 3,
        activity: Literal["shared", "each"] = "shared",
        schedule: Annealing | None = None,
        dtype: Literal["float64", "float32"] = "float64",
        n_init: int = 2,
        max_iter: int = 200,
        tol: float = 1e-4,
        random_state: Randomness = None,
    ) -> None:
        self.n_components = n_components
        self.n_candidates = n_candidates
        self.max_active = max_active
        self.activity = activity
        self.schedule = schedule
        self.dtype = dtype
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @classmethod
    def paper(cls, task: Literal["bars", "images"] = "bars", *, random_state: Randomness = None) -> Self:
        """Return the settings of Henniges et al. (2010), for reproductions. The defaults of the class are better.

        No annealing, constant numbers of candidates, one start, and the fit ends with the schedule.

        Parameters
        ----------
        task : {"bars", "images"}
            The linear bars test: 10 causes, 5 candidates of which 3 may be on, 60 iterations, noise of .05.
            Or patches of natural images: 700 causes, 10 candidates of which 8 may be on, 200 iterations, from the mean
            patch.
        random_state : int, RandomState or None
            Seed of the start.

        Examples
        --------
        >>> from hiddenbits import BinarySparseCoding
        >>> model = BinarySparseCoding.paper("images")
        >>> model.n_components, model.n_candidates, model.max_active
        (700, 10, 8)
        """
        common: dict[str, Any] = {"n_init": 1, "random_state": random_state}
        no_annealing: dict[str, Any] = {"temperature": 1.0, "settle": False}
        if task == "images":
            timing: dict[str, Any] = {"n_passes": 200, "cut_from": 0.33, "cut_to": 0.5}
            start: dict[str, Any] = {"start": "mean", "start_active": 1.0}
            schedule = Annealing(wide_candidates=10, wide_active=8, **timing, **start, **no_annealing)
            return cls(700, n_candidates=10, max_active=8, schedule=schedule, **common)
        schedule = Annealing(wide_candidates=5, wide_active=3, start_scale=2.0, jitter=0.05, **no_annealing)
        return cls(10, schedule=schedule, **common)

    def _options(self) -> dict[str, Any]:
        return {"schedule": self.schedule or Annealing()}

    def _model(self) -> AnnealedCoding:
        schedule = self._options()["schedule"]
        return AnnealedCoding(
            n_components=self.n_components,
            n_candidates=schedule.wide_candidates,
            max_active=schedule.wide_active,
            shared_activity=self.activity == "shared",
            dtype=self.dtype,
            jitter=schedule.jitter,
            first_candidates=self.n_candidates,
            first_active=self.max_active,
            first_temperature=schedule.temperature,
            planned_passes=schedule.n_passes,
            settles=schedule.settle,
            data_cut=schedule.data_cut,
            cut_from=schedule.cut_from,
            cut_to=schedule.cut_to,
            start_from=schedule.start,
            start_scale=schedule.start_scale,
            start_active=schedule.start_active,
        )

    def _canonical_params(self, params: CodingParams) -> CodingParams:
        """Return causes in order of decreasing activity, equal ones by the norm of their fields."""
        return params.ordered()

    def _tables(self) -> dict[str, SummaryTable]:
        names, causes, W = column_names(self), self._latent_names(), self.components_
        strongest = strongest_each_way(W, names, "adds to", "takes from")
        fields = dict(zip(causes, W, strict=True))
        return {
            "causes": SummaryTable("Causes", {"cause": causes, "on": self.activity_, **strongest}, "causes"),
            "fields": table_by_column(self, "What each cause adds to the columns", fields, np.abs(W).max(axis=0)),
        }

    @property
    def components_(self) -> Floats:
        """The field of each cause."""
        return self._params.fields.T

    @property
    def activity_(self) -> Floats:
        """P(a cause is on)."""
        return self._params.activity

    @property
    def n_active_(self) -> float:
        """Expected number of causes that are on in a row."""
        return float(self._params.activity.sum())

    @property
    def noise_(self) -> float:
        """Standard deviation of the noise."""
        return float(self._params.noise)

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters: fields, the activity (one for all causes, or one each) and the noise."""
        n_activities = 1 if self.activity == "shared" else self._params.n_components
        return int(self._params.fields.size) + n_activities + 1
