"""`NoisyOrNetwork`: layers of on/off causes, any of which can switch a bit on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import Floats, Randomness
from hiddenbits.data import Table
from hiddenbits.engine import Outcome, Settings, fit_em, fit_persistent, fit_planned
from hiddenbits.families._base.columns import column_names, table_by_column
from hiddenbits.families._base.fit_info import LIKELIHOOD
from hiddenbits.families._base.inputs import as_table
from hiddenbits.families._base.parameters import COMMON, HiddenParts
from hiddenbits.families._base.showing import strongest as listed
from hiddenbits.families._base.transformer import CausesEstimator
from hiddenbits.families.noisy_or.model import NoisyOr
from hiddenbits.families.noisy_or.model_gibbs import SURVEY_TABLE, NoisyOrBlocks, NoisyOrGibbs, NoisyOrSampler
from hiddenbits.families.noisy_or.params import NoisyOrParams, n_free_parameters
from hiddenbits.families.noisy_or.rows import MOST_EXACT, Marginals
from hiddenbits.families.noisy_or.verbs import VERB_ROWS, Reasons, Scores, all_reasons, described, reach, sentences
from hiddenbits.model_api import RowModel
from hiddenbits.quoting import name_of
from hiddenbits.shown import SummaryTable

# `GibbsChains`: how a noisy-OR network learns by Gibbs sampling.


class GibbsChains(BaseEstimator):  # type: ignore[misc]
    """The chains of a `NoisyOrNetwork` that learns by Gibbs sampling: one for each row, carried on from pass to pass.

    Parameters
    ----------
    n_passes : int, default=40
        Passes in which a layer learns its strengths. Half as many follow for priors and leak, and for all layers
        together.
    n_sweeps, first_sweeps : int, default=3 and 15
        How often the states of a row are drawn in a pass, and in the first one.
    spare : float, default=1.0
        How many causes more, as a share, a layer begins with. Those that rows can best do without are taken away
        again; without spare causes a fit often ends in a bad place.

    Examples
    --------
    >>> from hiddenbits import NoisyOrNetwork
    >>> from hiddenbits.options import GibbsChains
    >>> NoisyOrNetwork(20, chains=GibbsChains(n_passes=80))
    NoisyOrNetwork(chains=GibbsChains(n_passes=80), n_components=20)
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_passes": [Interval(Integral, 1, None, closed="left")],
        "n_sweeps": [Interval(Integral, 1, None, closed="left")],
        "first_sweeps": [Interval(Integral, 1, None, closed="left")],
        "spare": [Interval(Real, 0, 10, closed="both")],
    }

    def __init__(self, n_passes: int = 40, n_sweeps: int = 3, first_sweeps: int = 15, spare: float = 1.0) -> None:
        self.n_passes = n_passes
        self.n_sweeps = n_sweeps
        self.first_sweeps = first_sweeps
        self.spare = spare


EXACT_CAUSES = 6  # up to here every state is enumerated by default; beyond, spare causes find better places


class NoisyOrNetwork(CausesEstimator[NoisyOrParams, Any]):
    """A layered noisy-OR network: rows are explained by the causes that are on, and causes by causes above them.

    A bit is on if any of the causes that are on switched it on, each with a probability of its own and independently of
    the others: P(bit = 1) = 1 - (1 - leak) Prod_i (1 - strength_i) over the causes that are on. So a zero is evidence
    against every cause that would have made it a one, and a one needs no more than one cause.

    Parameters
    ----------
    n_components : int or tuple of int, default=2
        Number of causes, or of those in each layer, the lowest first.
    method : {"auto", "exact", "gibbs"}, default="auto"
        Enumerate all states of a layer, which is exact and takes 2^causes; or draw the states of each row by Gibbs
        sampling, whose cost follows the ones in the table. By default exact up to 6 causes a layer, and Gibbs sampling
        beyond, which with its spare causes is less likely to end in a bad place. On tables of few columns "exact" is
        quick up to 12 causes, and ends higher: raise `n_init` with it.
    prior : tuple of two floats, default=(1.0, 1.5)
        Shape and rate of the gamma prior of the weights -ln(1 - strength). The rate counts as that many rows in which
        the cause was on and the bit stayed off.
    cause_prior : float, optional
        P(cause on) while a layer learns its strengths; then it is estimated, with a beta prior that counts as one row
        (a pseudo-row) in which each cause of the top layer is on with this probability. By default such that about
        three causes are on in a row.
    leak : float, default=0.001
        P(unit on without a cause) while a layer learns its strengths, at most; then it is estimated.
    chains : GibbsChains, optional
        With Gibbs sampling: how many passes and sweeps there are, and spare causes.
    online_passes : int, default=0
        Passes of online EM before the full passes, for tables with very many rows; for ``method="exact"``.
    n_init : int, default=2
        Restarts; the one with the best objective is kept.
    max_iter : int, default=1000
        Most passes over the table, for each restart (for each stage of an exact fit).
    tol : float, default=1e-6
        Exact fits have converged when a step raises the objective by at most this much a row, in nats.
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
        P(cause on) in the top layer, with the pseudo-row of `cause_prior`.
    trace_ : ndarray of shape (n_iter_,)
        Objective after each pass: log-likelihood plus log prior; with Gibbs sampling that of the bits together with the
        states that were drawn, in nats over the table.
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
    >>> model.posterior_mode([[1, 1, 1, 1, 1], [0, 0, 1, 1, 1]])
    array([[1., 1.],
           [1., 0.]])
    """

    _sampled: ClassVar[type[NoisyOrSampler]] = NoisyOrGibbs
    _hidden_parts: ClassVar[tuple[HiddenParts, ...]] = (HiddenParts("causes"),)
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **COMMON,
        "n_components": [Interval(Integral, 1, None, closed="left"), tuple, list],
        "method": [StrOptions({"auto", "exact", "gibbs"})],
        "prior": [tuple, list],
        "cause_prior": [Interval(Real, 0, 1, closed="neither"), None],
        "leak": [Interval(Real, 0, 1, closed="neither")],
        "chains": [GibbsChains, None],
    }

    def __init__(
        self,
        n_components: int | Sequence[int] = 2,
        *,
        method: Literal["auto", "exact", "gibbs"] = "auto",
        prior: Sequence[float] = (1.0, 1.5),
        cause_prior: float | None = None,
        leak: float = 1e-3,
        chains: GibbsChains | None = None,
        online_passes: int = 0,
        n_init: int = 2,
        max_iter: int = 1000,
        tol: float = 1e-6,
        threshold: float | None = None,
        random_state: Randomness = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.prior = prior
        self.cause_prior = cause_prior
        self.leak = leak
        self.chains = chains
        self.online_passes = online_passes
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
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
    ) -> NoisyOrNetwork:
        """Return the network as Lewicki and Sejnowski fitted it, for reproductions.

        First strengths between .05 and .15, no spare causes, weights again after blocks of 200 rows, `n_epochs` epochs
        a layer, states drawn until no cause would change with a probability of .05, at most 15 times, gamma prior with
        shape 1 and rate 1.5, priors held, one run. The defaults of the class are better. A file holds the fitted
        network as a plain `NoisyOrNetwork`.

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
        >>> model.chains, model.cause_prior, model.n_init
        (GibbsChains(spare=0.0), 0.3, 1)
        """
        return _PaperNetwork(n_components, cause_prior=cause_prior, n_epochs=n_epochs, random_state=random_state)

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

    def _gamma(self) -> tuple[float, float]:
        """Return shape and rate of the prior; refuse what is no such pair."""
        given: Any = list(self.prior)
        numbers = len(given) == 2 and all(isinstance(one, (int, float, np.number)) for one in given)
        if not numbers or not (given[0] >= 1.0 and 0.0 < given[1] < np.inf and given[0] < np.inf):
            raise ValueError(
                f"prior={self.prior!r}: give the shape and the rate of the gamma prior, such as (1.0, 1.5), the shape "
                "at least 1 and the rate above 0."
            )
        return float(given[0]), float(given[1])

    @property
    def _how(self) -> str:
        """How it learns, "exact" or "gibbs"."""
        most = max(self._sizes())
        if self.method == "auto":
            return "gibbs" if most > EXACT_CAUSES else "exact"
        if self.method == "exact" and most > MOST_EXACT:
            raise ValueError(
                f'method="exact" goes through all states of a layer, and {most} causes have 2^{most}. '
                f'Give at most {MOST_EXACT}, or use method="gibbs".'
            )
        return self.method

    def _settings(self) -> Settings:
        if self._how != "exact" and self.online_passes:
            raise ValueError('online_passes are for method="exact". Set online_passes=0.')
        return super()._settings()

    @property
    def _loop(self) -> Callable[..., Outcome]:
        return fit_em if self._how == "exact" else fit_planned

    def _options(self) -> dict[str, Any]:
        return {"chains": self.chains or GibbsChains()}

    def _model(self) -> NoisyOr | NoisyOrSampler:
        """Return the network that verbs ask: it enumerates where the fitted layers are small, however they learned."""
        fitted = hasattr(self, "_params")
        exact = max(self._params.n_causes) <= MOST_EXACT if fitted else self._how == "exact"
        return NoisyOr(**self._declared()) if exact else self._sampler()

    def _declared(self) -> dict[str, Any]:
        alpha, beta = self._gamma()
        priors = {"alpha": alpha, "beta": beta, "prior": self.cause_prior, "leak": float(self.leak)}
        return {"n_components": self._sizes(), **priors}

    def _sampler(self) -> NoisyOrSampler:
        given = self._options()["chains"]
        chains = {name: getattr(given, name) for name in ("n_passes", "n_sweeps", "first_sweeps")}
        return self._sampled(**self._declared(), **chains, spare=float(given.spare), seed=self._sampling_seed)

    def _model_for_fit(self, model: Any, table: Table) -> Any:
        if self._how == "exact":
            return NoisyOr(**self._declared())
        return replace(self._sampler(), survey_share=min(1.0, SURVEY_TABLE / max(table.shape[0], 1)))

    def _canonical_params(self, params: NoisyOrParams) -> NoisyOrParams:
        """Causes in order of falling activity: their order means nothing."""
        return params.ordered() if self._model().mismatch(params) is None else params

    @property
    def _n_features_out(self) -> int:
        return len(self._params.names)

    def _latent_names(self) -> list[str]:
        sizes = self._params.n_causes
        layers = ["" if len(sizes) == 1 else f"layer_{number + 1}_" for number in range(len(sizes))]
        return [f"{layer}cause_{i + 1}" for layer, n in zip(layers, sizes, strict=True) for i in range(n)]

    @property
    def _objective_name(self) -> str | None:
        return LIKELIHOOD if self._how == "exact" else None

    def _tables(self) -> dict[str, SummaryTable]:
        causes, names, params = self._latent_names(), column_names(self), self._params
        lists = [listed(row, names) for layer in reach(params) for row in layer]
        columns = {"cause": causes, "on": np.concatenate(params.activity), "switches on": lists}
        lowest = dict(zip(causes, params.layers[0], strict=False))  # the leak comes last
        strengths = {**lowest, "no cause": params.layers[0][-1]}
        spread = params.layers[0][:-1].max(axis=0, initial=0.0)
        title = "Strengths: P(a cause alone switches the bit on)"
        return {
            "causes": SummaryTable("Causes, how often they are on, and what they switch on", columns, "causes"),
            "strengths": table_by_column(self, title, strengths, spread),
        }

    def marginals(self, X: object) -> Marginals:
        """Return P(unit on | observed bits) of all units, with Monte-Carlo standard errors.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        marginals : Marginals
            `probabilities` and `errors`, both of shape (rows, units), the lowest layer first. Errors are 0 where the
            states could be enumerated.
        """
        model = self._model()
        if isinstance(model, NoisyOr):
            p = self.transform(X)
            return Marginals(p, np.zeros(p.shape))
        both = self._map_rows(X, model.posterior_and_error)
        half = both.shape[1] // 2
        return Marginals(both[:, :half], both[:, half:])

    def score_with_error(self, X: object) -> Scores:
        """Return the log-likelihood of each row's observed bits with its standard error.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        scores : Scores
            `log_likelihood` and `errors`. An annealed estimate is made from two sides, and refused where they disagree.
        """
        model = self._model()
        if isinstance(model, NoisyOr):
            values = self.score_samples(X)
            return Scores(values, np.zeros(len(values)))
        both = self._map_rows(X, model.log_likelihood_and_error)
        return Scores(both[:, 0], both[:, 1])

    def why(self, X: object) -> Reasons:
        """Return the share of each cause in every bit that is on.

        Of the causes that are on in a row, each takes part in bit j in proportion to its weight -ln(1 - strength);
        the shares are averaged over what causes may be on given the row.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`; a few rows, since every one gets a number for each cause.

        Returns
        -------
        reasons : Reasons
        """
        table, model = as_table(self, X, reset=False), self._model()
        return all_reasons(model, self._params, table.grid(self._height(model, table)))

    def describe(self, *, n_bits: int = 5) -> list[str]:
        """Return a line for each cause, those of the lowest layer first: how often it is on, and its strongest bits.

        In each layer those come first that bring the most ones into the table: P(on) times the sum of strengths. Of
        causes above the lowest layer the numbers are P(bit on) when this cause alone is on, leaks apart.

        Parameters
        ----------
        n_bits : int, default=5
            Bits of a line.

        Returns
        -------
        lines : list of str
        """
        check_is_fitted(self, "_params")
        return described(self._params, self._bit_names(), n_bits)

    def explain(self, X: object, *, n_bits: int = 3, what: str = "row") -> list[str]:
        """Return a sentence for each row: which causes are most probably on, and which of its bits each explains.

        A bit is said to be explained by the strongest of the causes that are on; `why` has all shares.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`; a few rows.
        n_bits : int, default=3
            How many of its strongest bits stand for the name of a cause.
        what : str, default="row"
            What a row is, such as "basket" or "patient".

        Returns
        -------
        sentences : list of str
        """
        table = as_table(self, X, reset=False)
        return sentences(self._params, self.posterior_mode(table), table, self._bit_names(), n_bits, what)

    def _bit_names(self) -> list[str]:
        return [name_of(n) for n in getattr(self, "feature_names_in_", np.arange(self.n_features_in_))]

    def _height(self, model: RowModel[NoisyOrParams, Any], table: Table) -> int:
        height = super()._height(model, table)
        return height if isinstance(model, NoisyOr) else min(height, VERB_ROWS)

    def _pass_height(self, model: RowModel[NoisyOrParams, Any], table: Table) -> int:
        height = super()._height(model, table)
        return min(height, model.batch_rows) if isinstance(model, NoisyOrBlocks) else height

    @property
    def strengths_(self) -> Floats:
        """P(a cause of the lowest layer alone switches the bit on)."""
        return self._params.layers[0][:-1]

    @property
    def layers_(self) -> tuple[Floats, ...]:
        """Strengths of each layer, (causes, units below), the lowest first."""
        return tuple(f[:-1] for f in self._params.layers)

    @property
    def leaks_(self) -> tuple[Floats, ...]:
        """P(unit on without a cause), for the columns and for each layer but the top one."""
        return tuple(f[-1] for f in self._params.layers)

    @property
    def priors_(self) -> Floats:
        """P(cause on) in the top layer."""
        return self._params.priors

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters: layers above one of K causes add at most 2^K - 1."""
        return n_free_parameters(self._params.n_causes, self._params.n_columns)


class _PaperNetwork(NoisyOrNetwork):
    """The network of `NoisyOrNetwork.paper`: its constructor has what the paper varies."""

    _saved_as = NoisyOrNetwork
    _sampled = NoisyOrBlocks
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_components": [tuple, list],
        "cause_prior": [Interval(Real, 0, 1, closed="neither")],
        "n_epochs": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: Sequence[int] = (10, 5),
        *,
        cause_prior: float = 0.3,
        n_epochs: int = 10,
        random_state: Randomness = None,
    ) -> None:
        fixed: Any = {"method": "gibbs", "chains": GibbsChains(spare=0.0), "n_init": 1}
        super().__init__(n_components, cause_prior=cause_prior, **fixed, random_state=random_state)
        self.n_epochs = n_epochs

    def _settings(self) -> Settings:
        return replace(super()._settings(), max_iter=self.n_epochs * len(self._sizes()))

    @property
    def _loop(self) -> Callable[..., Outcome]:
        return fit_persistent
