"""`NoisyOrNetwork`: layers of on/off causes, any of which can switch a bit on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from hiddenbits.array_types import Floats, Randomness
from hiddenbits.engine import Outcome, Settings, fit_em, fit_persistent
from hiddenbits.families._base.inputs import seed_of
from hiddenbits.families._base.parameters import COMMON
from hiddenbits.families.noisy_or.model import NoisyOr
from hiddenbits.families.noisy_or.model_gibbs import NoisyOrGibbs
from hiddenbits.families.noisy_or.model_minibatch import NoisyOrBlocks
from hiddenbits.families.noisy_or.model_truncated import NoisyOrTruncated
from hiddenbits.families.noisy_or.params import NoisyOrParams
from hiddenbits.families.noisy_or.rows import MOST_EXACT
from hiddenbits.families.noisy_or.verbs import NoisyOrVerbs
from hiddenbits.store.validation import require

EXACT_CAUSES = 6  # up to here every state is enumerated by default; beyond, spare causes find better places


class NoisyOrNetwork(NoisyOrVerbs):
    """A layered noisy-OR network: rows are explained by the causes that are on, and causes by causes above them.

    A bit is on if any of the causes that are on switched it on, each with a probability of its own and independently of
    the others: P(bit = 1) = 1 - (1 - leak) Prod_i (1 - strength_i) over the causes that are on. So a zero is evidence
    against every cause that would have made it a one, and a one needs no more than one cause.

    Parameters
    ----------
    n_components : int or tuple of int, default=2
        Number of causes, or of those in each layer, the lowest first.
    method : {"auto", "exact", "gibbs", "truncated"}, default="auto"
        Enumerate all states of a layer, which is exact and takes 2^causes; or draw the states of each row by Gibbs
        sampling, whose cost follows the ones in the table; or keep the best few states of each row that a search
        without random numbers finds, whose bound on the likelihood never falls. By default exact up to 6 causes a
        layer, and Gibbs sampling beyond, which with its spare causes is the least likely to end in a bad place. On
        tables of few columns "exact" is quick up to 12 causes, and ends higher: raise `n_init` with it.
    n_states : int, default=8
        With ``method="truncated"``: states that a row keeps.
    spare : float, default=1.0
        With Gibbs sampling: how many causes more, as a share, a layer begins with. Those that rows can best do without
        are taken away again; without spare causes a fit often ends in a bad place.
    prior_shape, prior_rate : float, default=1.0, 1.5
        The gamma prior of the weights -ln(1 - strength). The rate counts as that many rows in which the cause was on
        and the bit stayed off.
    cause_prior : float, optional
        P(cause on) while a layer learns its strengths; then it is estimated. By default such that about three causes
        are on in a row.
    leak : float, default=0.001
        P(bit on without a cause) while a layer learns its strengths, at most; then it is estimated.
    n_passes : int, default=40
        With Gibbs sampling: passes in which a layer learns its strengths. Half as many follow for priors and leak, and
        for all layers together.
    n_sweeps, first_sweeps : int, default=3, 15
        With Gibbs sampling: how often the states of a row are drawn in a pass, and in the first one.
    schedule : {"passes", "stability"}, default="passes"
        With Gibbs sampling: a layer learns for `n_passes`, or only until its rows stop making up their minds: until
        their states change no less readily than a few passes before.
    batch_rows : int, optional
        Learn again after every so many rows, from states that begin afresh, for `max_iter` epochs, as in the paper.
    stop_below : float, default=0.0
        With Gibbs sampling: a row is not drawn again in this pass when no cause would change with a probability of at
        least this.
    first_strengths : tuple of two floats, optional
        Range of the strengths to begin with; by default a share of each column's mean.
    online_passes : int, default=0
        Passes of online EM before the full passes, for tables with very many rows; for ``method="exact"``.
    n_init : int, default=2
        Restarts; the one with the best objective is kept.
    max_iter : int, default=1000
        Most passes over the table, for each restart (for each stage of an exact fit).
    tol : float, default=1e-6
        Exact and truncated fits have converged when a step raises the objective by at most this much a row, in nats.
    accelerate : bool, default=True
        Extrapolate between the EM steps of exact and truncated fits; the objective still never falls.
    threshold : float, optional
        Turn numbers into bits: 1 where the number is above the threshold. By default only 0 and 1 are accepted.
    random_state : int, RandomState or None, default=None
        Seed of starts and draws.

    Attributes
    ----------
    strengths_ : ndarray of shape (causes, columns)
        P(a cause of the lowest layer alone switches the bit on). Causes come in order of falling activity.
    layers_ : tuple of ndarray
        The same for each layer, (causes, units below).
    leaks_ : tuple of ndarray
        P(unit on without a cause), for the columns and for each layer but the top one.
    priors_ : ndarray
        P(cause on) in the top layer.
    trace_ : ndarray of shape (n_iter_,)
        Objective after each pass: log-likelihood (truncated: a bound on it) plus log prior; with Gibbs sampling that of
        the bits together with the states that were drawn, in nats over the table; with `batch_rows` its mean a row.
    n_iter_, converged_, stop_reason_ : int, bool, str
        How the best restart went. Gibbs sampling comes to a planned end ("schedule_done").
    restarts_ : tuple
        Objective, passes and stop reason of every restart.
    n_features_in_, feature_names_in_ : int, ndarray
        As scikit-learn defines them.

    References
    ----------
    Lewicki and Sejnowski (1996), "Bayesian unsupervised learning of higher order structure".

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import NoisyOrNetwork
    >>> rng = np.random.default_rng(0)
    >>> causes = rng.random((400, 2)) < 0.4                     # two causes ...
    >>> X = causes @ [[1, 1, 1, 0, 0], [0, 0, 1, 1, 1]] > 0     # ... which both switch on the bit in the middle
    >>> model = NoisyOrNetwork(2, random_state=0).fit(X)
    >>> (model.strengths_ > 0.5).astype(int)
    array([[0, 0, 1, 1, 1],
           [1, 1, 1, 0, 0]])
    >>> model.code([[1, 1, 1, 1, 1], [0, 0, 1, 1, 1]])
    array([[1., 1.],
           [1., 0.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **COMMON,
        "n_components": [Interval(Integral, 1, None, closed="left"), tuple, list],
        "method": [StrOptions({"auto", "exact", "gibbs", "truncated"})],
        "n_states": [Interval(Integral, 1, None, closed="left")],
        "spare": [Interval(Real, 0, 10, closed="both")],
        "prior_shape": [Interval(Real, 1, None, closed="left")],
        "prior_rate": [Interval(Real, 0, None, closed="neither")],
        "cause_prior": [Interval(Real, 0, 1, closed="neither"), None],
        "leak": [Interval(Real, 0, 1, closed="neither")],
        "n_passes": [Interval(Integral, 1, None, closed="left")],
        "n_sweeps": [Interval(Integral, 1, None, closed="left")],
        "first_sweeps": [Interval(Integral, 1, None, closed="left")],
        "schedule": [StrOptions({"passes", "stability"})],
        "batch_rows": [Interval(Integral, 1, None, closed="left"), None],
        "stop_below": [Interval(Real, 0, 1, closed="left")],
        "first_strengths": [tuple, list, None],
    }

    def __init__(
        self,
        n_components: int | Sequence[int] = 2,
        *,
        method: Literal["auto", "exact", "gibbs", "truncated"] = "auto",
        n_states: int = 8,
        spare: float = 1.0,
        prior_shape: float = 1.0,
        prior_rate: float = 1.5,
        cause_prior: float | None = None,
        leak: float = 1e-3,
        n_passes: int = 40,
        n_sweeps: int = 3,
        first_sweeps: int = 15,
        schedule: Literal["passes", "stability"] = "passes",
        batch_rows: int | None = None,
        stop_below: float = 0.0,
        first_strengths: Sequence[float] | None = None,
        online_passes: int = 0,
        n_init: int = 2,
        max_iter: int = 1000,
        tol: float = 1e-6,
        accelerate: bool = True,
        threshold: float | None = None,
        random_state: Randomness = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.n_states = n_states
        self.spare = spare
        self.prior_shape = prior_shape
        self.prior_rate = prior_rate
        self.cause_prior = cause_prior
        self.leak = leak
        self.n_passes = n_passes
        self.n_sweeps = n_sweeps
        self.first_sweeps = first_sweeps
        self.schedule = schedule
        self.batch_rows = batch_rows
        self.stop_below = stop_below
        self.first_strengths = first_strengths
        self.online_passes = online_passes
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.accelerate = accelerate
        self.threshold = threshold
        self.random_state = random_state

    @classmethod
    def paper(
        cls,
        n_components: Sequence[int] = (10, 5),
        *,
        cause_prior: float = 0.3,
        n_epochs: int = 10,
        random_state: Randomness = None,
    ) -> Self:
        """Return the network as Lewicki and Sejnowski fitted it, for reproductions.

        First strengths between .05 and .15, no spare causes, weights again after blocks of 200 rows, `n_epochs` epochs
        a layer, states drawn until no cause would change with a probability of .05, at most 15 times, gamma prior with
        shape 1 and rate 1.5, priors held, one run. The defaults of the class are better.

        Parameters
        ----------
        n_components : tuple of int
            Causes of each layer, the lowest first.
        cause_prior : float
            P(cause on), which the paper does not give.
        n_epochs : int
            Epochs of each layer.
        random_state : int, RandomState or None
            Seed.

        Examples
        --------
        >>> from hiddenbits import NoisyOrNetwork
        >>> model = NoisyOrNetwork.paper((10, 5))
        >>> model.batch_rows, model.stop_below, model.max_iter
        (200, 0.05, 20)
        """
        return cls(
            n_components,
            method="gibbs",
            spare=0.0,
            cause_prior=cause_prior,
            batch_rows=200,
            stop_below=0.05,
            first_strengths=(0.05, 0.15),
            n_init=1,
            max_iter=n_epochs * len(n_components),
            random_state=random_state,
        )

    def _sizes(self) -> list[int]:
        """Return the causes of each layer; refuse what is no such list."""
        given: Any = self.n_components
        sizes: list[Any] = [given] if isinstance(given, (int, np.integer)) else list(given)
        if not sizes or not all(isinstance(n, (int, np.integer)) and n >= 1 for n in sizes):
            raise ValueError(
                f"n_components={self.n_components!r}: give the number of causes, or a tuple with the number in each "
                "layer, the lowest first, all of them at least 1."
            )
        return [int(n) for n in sizes]

    @property
    def _how(self) -> str:
        if self.method == "auto":
            return "gibbs" if self.batch_rows is not None or max(self._sizes()) > EXACT_CAUSES else "exact"
        return self.method

    def _settings(self) -> Settings:
        if self._how != "exact" and self.online_passes:
            raise ValueError('online_passes are for method="exact". With Gibbs sampling learn from batch_rows instead.')
        return super()._settings()

    def _model(self) -> NoisyOr | NoisyOrGibbs | NoisyOrTruncated:
        sizes = self._sizes()
        priors = (float(self.prior_shape), float(self.prior_rate), self.cause_prior, float(self.leak))
        if self._how != "gibbs" and self.batch_rows is not None:
            raise ValueError('batch_rows is for Gibbs sampling. Use method="gibbs", or leave it out.')
        if self._how == "exact":
            if max(sizes) > MOST_EXACT:
                raise ValueError(
                    f'method="exact" goes through all states of a layer, and {max(sizes)} causes have 2^{max(sizes)}. '
                    f'Give at most {MOST_EXACT}, or use method="gibbs".'
                )
            return NoisyOr(sizes, *priors)
        seed = seed_of(self.random_state) if isinstance(self.random_state, (int, np.integer)) else 0
        if self._how == "truncated":
            return NoisyOrTruncated(sizes, *priors, n_states=self.n_states, seed=seed)
        first = None
        if self.first_strengths is not None:
            first = [float(f) for f in self.first_strengths]
            if len(first) != 2 or not 0.0 < first[0] <= first[1] < 1.0:
                raise ValueError(
                    f"first_strengths={self.first_strengths!r}: give two probabilities, the smaller first."
                )
        sampling: dict[str, Any] = {
            "spare": float(self.spare),
            "first": first,
            "n_passes": self.n_passes,
            "n_sweeps": self.n_sweeps,
            "first_sweeps": self.first_sweeps,
            "stop_below": float(self.stop_below),
            "schedule": self.schedule,
            "estimate_priors": self.batch_rows is None,
            "seed": seed,
        }
        if self.batch_rows is not None:
            return NoisyOrBlocks(sizes, *priors, **sampling, batch_rows=self.batch_rows)
        return NoisyOrGibbs(sizes, *priors, **sampling)

    @property
    def _loop(self) -> Callable[..., Outcome]:
        return fit_em if self.batch_rows is None else fit_persistent

    def _finished(self, params: NoisyOrParams) -> NoisyOrParams:
        """Causes in order of falling activity: their order means nothing."""
        return params.ordered() if self._model().mismatch(params) is None else params

    def _take_meta(self, more: dict[str, object], n_columns: object, names: object) -> None:
        require(not more, "its description is not complete")
        for name in ("n_components", "first_strengths"):  # a file knows lists alone
            if isinstance(value := getattr(self, name), list):
                setattr(self, name, tuple(value))

    @property
    def strengths_(self) -> Floats:
        """P(a cause of the lowest layer alone switches the bit on)."""
        return self.params_.layers[0][:-1]

    @property
    def layers_(self) -> tuple[Floats, ...]:
        """Strengths of each layer, (causes, units below), the lowest first."""
        return tuple(f[:-1] for f in self.params_.layers)

    @property
    def leaks_(self) -> tuple[Floats, ...]:
        """P(unit on without a cause), for the columns and for each layer but the top one."""
        return tuple(f[-1] for f in self.params_.layers)

    @property
    def priors_(self) -> Floats:
        """P(cause on) in the top layer."""
        return self.params_.priors

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters."""
        return int(self.params_.strengths.size + self.params_.priors.size)
