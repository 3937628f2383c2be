"""`LogisticPCAMixture`: several maps, each of some of the rows."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import Floats, Randomness
from hiddenbits.engine import Settings
from hiddenbits.families._base.parameters import COMMON, DRAWS, N_INIT
from hiddenbits.families._base.predictions import PredictsClasses
from hiddenbits.families._base.showing import SummaryTable
from hiddenbits.families._base.transformer import CodingEstimator
from hiddenbits.families.logistic_pca.estimator import LogisticPCA
from hiddenbits.families.logistic_pca.options import Variational
from hiddenbits.families.logistic_pca_mixture.model import LogisticMixture
from hiddenbits.families.logistic_pca_mixture.params import MapsParams, MapsStats, canonical_maps
from hiddenbits.maths.packed_symmetric import unpack


class LogisticPCAMixture(PredictsClasses, CodingEstimator[MapsParams, MapsStats]):
    """A mixture of logistic-PCA maps: each row belongs to one of several maps, and is a point on it.

    A row chooses a map k with probability pi_k, then a place x ~ N(0, I) there, and its bits are
    P(bit i = 1 | k, x) = sigma(w_ki.x + b_ki). Such maps are a closer look at the regions of an overview by
    `LogisticPCA`; `plots.zoom` draws both. The mixture is flat; `map_tree` splits maps into maps again, level by level.
    Missing cells are left out of a row's likelihood, which is right when they are missing at random given the observed
    ones.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of each map.
    n_maps : int, default=2
        Number of maps. With one this is `LogisticPCA`.
    polish : bool, default=True
        After the variational stage, go on with a tighter bound (the best Gaussian posterior of each row on each map).
        It closes most of the gap to maximum likelihood, also in how rows are shared out between the maps.
    ridge : float, default=0.1
        Precision of the normal prior of the loadings, and of the intercepts around the logits of the column means.
        Its log is part of the objective: -(ridge/2) (|w|^2 + (b - c)^2) for each column of each map.
    start : {"classes", "noise"}, default="classes"
        Where restarts begin. "classes": the first and then every other with classes of the rows (some passes of a
        Bernoulli mixture) and the principal components of each, the rest with random maps. "noise": all with random
        maps, which needs no pass over the rows.
    n_draws : int, default=500
        Draws a row and map where `score_samples`, `complete` and `bit_probabilities` have to sample.
    online_passes : int, default=0
        Passes of online EM before the full passes, for tables with very many rows.
    n_init : "auto" or int, default="auto"
        Restarts; the one with the best objective is kept. "auto" is 4, and 8 where a table is small: mixtures
        have many local maxima. On rows drawn from two or three random maps that overlap, about every second restart
        found them. On long tables eight begin on a subsample of the rows, of which four go on there after ten passes,
        and the best of these goes on over all.
    max_iter : int, default=1000
        Most passes over the table, for each restart and stage.
    tol : float, default=1e-5
        Converged when a pass raises the objective by at most this much a row, in nats.
    accelerate : bool, default=True
        Extrapolate between EM steps; the objective still never falls.
    threshold : float, optional
        Turn numbers into bits: 1 where the number is above the threshold. By default only 0 and 1 are accepted.
    random_state : int, RandomState or None, default=None
        Seed of the starts and draws.

    Attributes
    ----------
    weights_ : ndarray of shape (n_maps,)
        Share of each map; after `fit` the largest comes first.
    maps_ : tuple of LogisticPCA
        Each map as a fitted estimator of its own, after `fit` in canonical orientation: for pictures and for what one
        map says about a row.
    likelihood_ : str
        What `score_samples` returns: "exact" (integrated on a grid, to about 1e-8) or "estimate" (sampled).
    trace_ : ndarray of shape (n_iter_,)
        Objective after each pass (bound plus log prior, in nats over the table). Where the polish begins, the bound
        changes and the objective extrapolations.
    n_iter_, converged_, stop_reason_ : int, bool, str
        How the best restart went.
    restarts_ : tuple
        Objective, passes and stop reason of every restart.
    n_features_in_, feature_names_in_ : int, ndarray
        As scikit-learn defines them.

    See Also
    --------
    LogisticPCA : One map.
    map_tree : Maps on several levels, as many as held-out rows ask for.
    BernoulliMixture : Classes without dimensions.

    Notes
    -----
    A code, as `transform` returns it, has n_maps + n_maps n_components numbers: the probability that the row belongs to
    each map, and then its place on the first map, on the second, and so on. `code` has a 1 for the most probable map
    and the most probable places. `inverse_transform` mixes what the maps say at these places by the probabilities.

    References
    ----------
    Tipping (1998), "Probabilistic visualisation of high-dimensional binary data". Bishop and Tipping (1998), "A
    hierarchical latent variable model for data visualization", is the same idea for real numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LogisticPCAMixture
    >>> rng = np.random.default_rng(0)
    >>> place = rng.standard_normal(400)
    >>> ladder = place[:, None] > np.linspace(-2, 2, 12)      # as many ones as the place is high
    >>> another = ladder[:, rng.permutation(12)]              # the same in another order
    >>> X = np.where(np.arange(400)[:, None] < 200, ladder, another).astype(float)
    >>> X[0, 3] = np.nan                      # a blank: not observed
    >>> model = LogisticPCAMixture(1, n_maps=2, random_state=0).fit(X)
    >>> model.weights_.round(1)
    array([0.5, 0.5])
    >>> model.transform(X).shape              # two probabilities, and a place on each of two maps
    (400, 4)
    >>> bool(np.isnan(model.complete(X)).any())
    False
    """

    _usual_restarts = 4
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **COMMON,
        "n_init": N_INIT,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_maps": [Interval(Integral, 1, None, closed="left")],
        "polish": ["boolean"],
        "ridge": [Interval(Real, 0, None, closed="left")],
        "start": [StrOptions({"classes", "noise"})],
        "n_draws": DRAWS,
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_maps: int = 2,
        polish: bool = True,
        ridge: float = 0.1,
        start: Literal["classes", "noise"] = "classes",
        n_draws: int = 500,
        online_passes: int = 0,
        n_init: int | Literal["auto"] = "auto",
        max_iter: int = 1000,
        tol: float = 1e-5,
        accelerate: bool = True,
        threshold: float | None = None,
        random_state: Randomness = None,
    ) -> None:
        self.n_components = n_components
        self.n_maps = n_maps
        self.polish = polish
        self.ridge = ridge
        self.start = start
        self.n_draws = n_draws
        self.online_passes = online_passes
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.accelerate = accelerate
        self.threshold = threshold
        self.random_state = random_state

    @property
    def _n_hidden(self) -> int:
        return self.n_maps * self.n_components

    def _more_starts(self, settings: Settings) -> Settings:
        return replace(settings, n_init=8)

    def _starts_on_few(self, settings: Settings) -> Settings:
        return replace(settings, n_init=2, n_short=2, short_passes=10)  # as many starts as before, half to the end

    def _model(self) -> LogisticMixture:
        # Draws that a verb repeats must not depend on when it is called: a generator is no seed for them.
        seed = int(self.random_state) if isinstance(self.random_state, (int, np.integer)) else 0
        return LogisticMixture(
            n_components=self.n_components,
            n_maps=self.n_maps,
            ridge=self.ridge,
            polish=self.polish,
            start_from=self.start,
            n_draws=self.n_draws,
            seed=seed,
        )

    def _finished(self, params: MapsParams) -> MapsParams:
        return canonical_maps(params)

    @property
    def weights_(self) -> Floats:
        """Share of each map."""
        return self.params_.weights

    @property
    def maps_(self) -> tuple[LogisticPCA, ...]:
        """Each map as a fitted estimator of its own."""
        check_is_fitted(self, "params_")
        return tuple(self._one_map(k) for k in range(len(self.weights_)))

    def _one_map(self, k: int) -> LogisticPCA:
        names = ("ridge", "n_draws", "max_iter", "tol", "accelerate", "threshold", "random_state")
        found = LogisticPCA(
            self._n_dimensions,
            method=Variational(polish=self.polish),
            **{name: getattr(self, name) for name in names},
        )
        kept = ("n_features_in_", "feature_names_in_", "n_iter_", "stop_reason_", "converged_")
        for name in (name for name in kept if hasattr(self, name)):
            setattr(found, name, getattr(self, name))
        found.params_, found.layout_ = self.params_.maps[k], None
        found.weight_seen_ = self.weight_seen_ * float(self.weights_[k])
        found.trace_, found.restarts_, found.running_ = np.zeros(0), (), None
        return found

    @property
    def _n_dimensions(self) -> int:
        return int(self.params_.n_components)

    @property
    def _n_features_out(self) -> int:
        return len(self.weights_) * (1 + self._n_dimensions)

    _code_word = "map"

    def _code_names(self) -> list[str]:
        maps = [f"map_{k + 1}" for k in range(len(self.weights_))]
        return [*maps, *(f"{one}_dimension_{j + 1}" for one in maps for j in range(self._n_dimensions))]

    @property
    def _score_is(self) -> str:
        return "approximate log-likelihood plus log prior"

    def _tables(self) -> dict[str, SummaryTable]:
        K, names = len(self.weights_), self._code_names()
        maps = {"map": names[:K], "share": self.weights_}
        components = np.concatenate([one.components_ for one in self.maps_])
        intercepts = {f"map_{k + 1}_intercept": one.intercepts_ for k, one in enumerate(self.maps_)}
        return {
            "maps": SummaryTable("Maps and their shares", maps, "maps"),
            "loadings": self._loadings(components, intercepts, names[K:]),
        }

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters: a rotation of a map changes nothing, and the shares add up to 1."""
        K, q = len(self.weights_), self._n_dimensions
        return K * (self.n_features_in_ * (q + 1) - q * (q - 1) // 2) + K - 1

    @property
    def likelihood_(self) -> str:
        """What `score_samples` returns: "exact" or "estimate"."""
        check_is_fitted(self, "params_")
        return "exact" if self._model().exact(self.params_) else "estimate"

    def score_samples(self, X: object, *, return_std: bool = False) -> Any:
        """Return the log-likelihood of each row's observed bits, in nats; `likelihood_` says of which kind.

        Up to three dimensions each map is integrated on a grid, to about 1e-8, where one fine enough is small enough.
        Otherwise it is estimated by importance sampling from each row's Gaussian posterior on the map.

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
        both = self._map(X, self._model().likelihood_and_error)
        log_likelihood = np.ascontiguousarray(both[:, 0])
        return (log_likelihood, np.ascontiguousarray(both[:, 1])) if return_std else log_likelihood

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
        return self._map(X, self._model().bound_rows)

    def posterior(self, X: object, *, return_cov: bool = False) -> Any:
        """Return which map each row belongs to, and where on each map it is, given its observed bits.

        Of the Gaussian posteriors, which after a polish are close to exact. Where a row is on a map is said as if it
        belonged there.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.
        return_cov : bool, default=False
            Return the covariances too.

        Returns
        -------
        codes : ndarray of shape (rows, n_maps + n_maps * n_components)
            Probabilities of the maps, then the posterior means on the first map, on the second, and so on.
        covariances : ndarray of shape (rows, n_maps, n_components, n_components)
            Only with `return_cov`.
        """
        both, width = self._map(X, self._model().posterior_moments), self._n_features_out
        codes, K = np.ascontiguousarray(both[:, :width]), len(self.weights_)
        if not return_cov:
            return codes
        return codes, unpack(both[:, width:].reshape(len(both), K, -1), self._n_dimensions)
