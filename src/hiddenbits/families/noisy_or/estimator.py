"""`NoisyOrNetwork`: layers of on/off causes, any of which can make a cell 1."""

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
from hiddenbits.display import SummaryTable
from hiddenbits.engine import Outcome, Settings, fit_em, fit_persistent, fit_planned
from hiddenbits.families._base.columns import column_names, table_by_column
from hiddenbits.families._base.fit_info import LIKELIHOOD
from hiddenbits.families._base.inputs import as_table
from hiddenbits.families._base.parameters import COMMON, HiddenParts
from hiddenbits.families._base.showing import strongest as strongest_columns
from hiddenbits.families._base.transformer import LatentEstimator
from hiddenbits.families.noisy_or import explanations
from hiddenbits.families.noisy_or.model import NoisyOr
from hiddenbits.families.noisy_or.model_gibbs import SURVEY_TABLE_ROWS, NoisyOrBlocks, NoisyOrGibbs, NoisyOrSampler
from hiddenbits.families.noisy_or.params import NoisyOrParams, n_free_parameters
from hiddenbits.families.noisy_or.rows import MOST_EXACT_CAUSES, Marginals
from hiddenbits.model_api import RowModel
from hiddenbits.quoting import name_of

# `GibbsChains`: options of the fit by Gibbs sampling.


class GibbsChains(BaseEstimator):  # type: ignore[misc]
    """The chains of a `NoisyOrNetwork` fitted by Gibbs sampling: one for each row, continued from pass to pass.

    Parameters
    ----------
    n_passes : int, default=40
        Passes in which the strengths of a layer are fitted. Half as many follow for priors and leak, and for all layers
        together.
    n_sweeps, first_sweeps : int, default=3 and 15
        Number of times that the states of a row are sampled in a pass, and in the first pass.
    spare : float, default=1.0
        Spare causes that a layer starts with, as a share. Those that contribute least are removed later; without spare
        causes a fit often ends in a bad local optimum.

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


MOST_AUTO_EXACT_CAUSES = 6  # for method="auto"; with more causes, spare causes find better optima


class NoisyOrNetwork(LatentEstimator[NoisyOrParams, Any]):
    """Layered noisy-OR network: rows are explained by the causes that are on, and causes by causes in layers above.

    A cell is 1 if any of the causes that are on switches it on, each with its own probability and independently of the
    others: P(cell = 1) = 1 - (1 - leak) Prod_i (1 - strength_i) over the causes that are on. So a zero is evidence
    against every cause that would have made it a 1, and a 1 needs only one cause.

    Parameters
    ----------
    n_components : int or tuple of int, default=2
        Number of causes, or of those in each layer, the lowest first.
    method : {"auto", "exact", "gibbs"}, default="auto"
        Enumerate all states of a layer, which is exact and takes time proportional to 2^causes; or sample the states of
        each row by Gibbs sampling, whose cost is proportional to the number of 1s. By default exact up to 6 causes per
        layer, and Gibbs sampling for more, which is less likely to end in a bad local optimum because of its spare
        causes. On tables with few columns "exact" is fast up to 12 causes, and reaches a higher log-likelihood with a
        larger `n_init`.
    prior : tuple of two floats, default=(1.0, 1.5)
        Shape and rate of the gamma prior of the weights -ln(1 - strength). The rate counts as that many rows in which
        the cause was on and the cell stayed 0.
    cause_prior : float, optional
        P(cause on) while the strengths of a layer are fitted; then it is estimated, with a beta prior that counts as
        one row (a pseudo-row) in which each cause of the top layer is on with this probability. By default such that
        about three causes are on per row.
    leak : float, default=0.001
        Largest P(unit on without a cause) while the strengths of a layer are fitted; then it is estimated.
    chains : GibbsChains, optional
        With Gibbs sampling: numbers of passes, sweeps and spare causes.
    online_passes : int, default=0
        Passes of online EM before the full passes, for tables with very many rows; for ``method="exact"``.
    n_init : int, default=2
        Restarts; the one with the best objective is kept.
    max_iter : int, default=1000
        Maximum number of iterations, for each restart (for each stage of an exact fit).
    tol : float, default=1e-6
        Exact fits have converged when a step increases the objective by at most this much per row, in nats.
    threshold : float, optional
        Turn numbers into 0 and 1: 1 where the number is above the threshold. By default only 0 and 1 are accepted.
    random_state : int, RandomState or None, default=None
        Seed of starts and samples.

    Attributes
    ----------
    strengths_ : ndarray of shape (causes, columns)
        P(a cause of the lowest layer alone makes a cell 1). Causes are in order of decreasing activity.
    layers_ : tuple of ndarray
        The same for each layer, (causes, units below).
    leaks_ : tuple of ndarray
        P(unit on without a cause), for the columns and for each layer but the top one.
    priors_ : ndarray
        P(cause on) in the top layer, with the pseudo-row of `cause_prior`.
    trace_ : ndarray of shape (n_iter_,)
        Objective after each iteration: log-likelihood plus log prior; with Gibbs sampling that of the data together
        with the sampled states, in nats for the whole table.
    n_iter_, converged_, stop_reason_ : int, bool, str
        Iterations, convergence and reason to stop of the best restart. Gibbs sampling has a fixed schedule
        ("schedule_done").
    restarts_ : tuple
        Objective, iterations and reason to stop of every restart.
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
    >>> X = causes @ [[1, 1, 1, 0, 0], [0, 0, 1, 1, 1]] > 0     # ... which both switch on the column in the middle
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
    _latent_name = "cause"
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
        """Return the network with the settings of Lewicki and Sejnowski, for reproductions.

        First strengths between .05 and .15, no spare causes, an update after every 200 rows, `n_epochs` epochs per
        layer, states sampled until no cause would change with a probability of .05, at most 15 times, gamma prior with
        shape 1 and rate 1.5, fixed priors, one run. The defaults of the class are better. `save` writes a plain
        `NoisyOrNetwork`.

        Parameters
        ----------
        n_components : tuple of int
            Causes of each layer, the lowest first.
        cause_prior : float
            P(cause on), which the paper does not report.
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
        """Return the causes of each layer; raise an error if `n_components` is invalid."""
        declared: Any = self.n_components
        sizes: list[Any] = [declared] if isinstance(declared, (int, np.integer)) else list(declared)
        if not sizes or not all(isinstance(n, (int, np.integer)) and n >= 1 for n in sizes):
            raise ValueError(
                f"n_components={self.n_components!r} must be the number of causes, or a tuple with the number in each "
                "layer, the lowest first, all of them at least 1."
            )
        return [int(n) for n in sizes]

    def _gamma(self) -> tuple[float, float]:
        """Return shape and rate of the prior; raise an error if `prior` is invalid."""
        prior: Any = list(self.prior)
        numbers = len(prior) == 2 and all(isinstance(value, (int, float, np.number)) for value in prior)
        if not numbers or not (prior[0] >= 1.0 and 0.0 < prior[1] < np.inf and prior[0] < np.inf):
            raise ValueError(
                f"prior={self.prior!r} must be the shape and the rate of the gamma prior, such as (1.0, 1.5), the "
                "shape at least 1 and the rate above 0."
            )
        return float(prior[0]), float(prior[1])

    @property
    def _fit_method(self) -> str:
        """The method of the fit, "exact" or "gibbs"."""
        largest_layer = max(self._sizes())
        if self.method == "auto":
            return "gibbs" if largest_layer > MOST_AUTO_EXACT_CAUSES else "exact"
        if self.method == "exact" and largest_layer > MOST_EXACT_CAUSES:
            raise ValueError(
                f'method="exact" enumerates all states of a layer, and {largest_layer} causes have 2^{largest_layer}. '
                f'Use at most {MOST_EXACT_CAUSES}, or use method="gibbs".'
            )
        return self.method

    def _settings(self) -> Settings:
        if self._fit_method != "exact" and self.online_passes:
            raise ValueError('online_passes are for method="exact". Set online_passes=0.')
        return super()._settings()

    @property
    def _loop(self) -> Callable[..., Outcome]:
        return fit_em if self._fit_method == "exact" else fit_planned

    def _options(self) -> dict[str, Any]:
        return {"chains": self.chains or GibbsChains()}

    def _model(self) -> NoisyOr | NoisyOrSampler:
        """Return the model of the row functions: it enumerates if the fitted layers are small, whatever the method."""
        fitted = hasattr(self, "_params")
        exact = max(self._params.n_causes) <= MOST_EXACT_CAUSES if fitted else self._fit_method == "exact"
        return NoisyOr(**self._declared()) if exact else self._sampler()

    def _declared(self) -> dict[str, Any]:
        alpha, beta = self._gamma()
        priors = {"alpha": alpha, "beta": beta, "prior": self.cause_prior, "leak": float(self.leak)}
        return {"n_components": self._sizes(), **priors}

    def _sampler(self) -> NoisyOrSampler:
        options = self._options()["chains"]
        chains = {name: getattr(options, name) for name in ("n_passes", "n_sweeps", "first_sweeps")}
        return self._sampled(**self._declared(), **chains, spare=float(options.spare), seed=self._sampling_seed)

    def _model_for_fit(self, model: Any, table: Table) -> Any:
        if self._fit_method == "exact":
            return NoisyOr(**self._declared())
        return replace(self._sampler(), survey_share=min(1.0, SURVEY_TABLE_ROWS / max(table.shape[0], 1)))

    def _canonical_params(self, params: NoisyOrParams) -> NoisyOrParams:
        """Return causes in order of decreasing activity: their order is arbitrary."""
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
        return LIKELIHOOD if self._fit_method == "exact" else None

    def _tables(self) -> dict[str, SummaryTable]:
        causes, names, params = self._latent_names(), column_names(self), self._params
        strongest = [strongest_columns(row, names) for layer in explanations.cause_effects(params) for row in layer]
        columns = {"cause": causes, "on": np.concatenate(params.activity), "switches on": strongest}
        lowest = dict(zip(causes, params.layers[0], strict=False))  # the leak comes last
        strengths = {**lowest, "no cause": params.layers[0][-1]}
        largest = params.layers[0][:-1].max(axis=0, initial=0.0)
        title = "Strengths: P(a cause alone makes the cell 1)"
        return {
            "causes": SummaryTable("Causes, how often they are on, and what they switch on", columns, "causes"),
            "strengths": table_by_column(self, title, strengths, largest),
        }

    def marginals(self, X: object) -> Marginals:
        """Return P(unit on | observed cells) of all units, with Monte-Carlo standard errors.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        marginals : Marginals
            `probabilities` and `errors`, both of shape (rows, units), the lowest layer first. Errors are 0 where the
            states can be enumerated.
        """
        model = self._model()
        if isinstance(model, NoisyOr):
            p = self.transform(X)
            return Marginals(p, np.zeros(p.shape))
        columns = self._map_rows(X, model.posterior_and_error)
        n_units = columns.shape[1] // 2
        return Marginals(columns[:, :n_units], columns[:, n_units:])

    def score_with_error(self, X: object) -> explanations.NetworkScores:
        """Return the log-likelihood of each row's observed cells with its standard error.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        scores : NetworkScores
            `log_likelihood` and `errors`. Annealing gives two estimates; if they disagree, an error is raised.
        """
        model = self._model()
        if isinstance(model, NoisyOr):
            values = self.score_samples(X)
            return explanations.NetworkScores(values, np.zeros(len(values)))
        columns = self._map_rows(X, model.log_likelihood_and_error)
        return explanations.NetworkScores(columns[:, 0], columns[:, 1])

    def responsibilities(self, X: object) -> explanations.Responsibilities:
        """Return the responsibility of each cause for every 1.

        Given which causes are on in a row, the share of a cause in the 1 of column j is proportional to its weight
        -ln(1 - strength). The responsibility is the posterior mean of this share.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`; a few rows, since the result has a number for each 1 and cause.

        Returns
        -------
        responsibilities : Responsibilities
            `rows` and `columns` of the 1s, and `shares` of shape (ones, causes + 1), the leak's last.
        """
        table, model = as_table(self, X, reset=False), self._model()
        return explanations.responsibilities_of_rows(model, self._params, table.grid(self._height(model, table)))

    def describe(self, *, n_bits: int = 5) -> list[str]:
        """Return a line for each cause, those of the lowest layer first: how often it is on, and its strongest columns.

        Causes of a layer are in order of the number of 1s that they account for, P(on) times the sum of strengths. For
        causes above the lowest layer the numbers are P(cell = 1) when only this cause is on, without leaks.

        Parameters
        ----------
        n_bits : int, default=5
            Columns per line.

        Returns
        -------
        lines : list of str
        """
        check_is_fitted(self, "_params")
        return explanations.cause_lines(self._params, self._bit_names(), n_bits)

    def explain(self, X: object, *, n_bits: int = 3, what: str = "row") -> list[str]:
        """Return a sentence for each row: the most probable causes, and the 1s that each of them explains.

        A 1 is explained by the strongest of the causes that are on; `responsibilities` has the shares of all causes.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`; a few rows.
        n_bits : int, default=3
            Number of strongest columns that serve as the name of a cause.
        what : str, default="row"
            Name of a row, such as "basket" or "patient".

        Returns
        -------
        sentences : list of str
        """
        table = as_table(self, X, reset=False)
        return explanations.sentences(self._params, self.posterior_mode(table), table, self._bit_names(), n_bits, what)

    def _bit_names(self) -> list[str]:
        return [name_of(n) for n in getattr(self, "feature_names_in_", np.arange(self.n_features_in_))]

    def _height(self, model: RowModel[NoisyOrParams, Any], table: Table) -> int:
        height = super()._height(model, table)
        return height if isinstance(model, NoisyOr) else min(height, explanations.BLOCK_ROWS)

    def _pass_height(self, model: RowModel[NoisyOrParams, Any], table: Table) -> int:
        height = super()._height(model, table)
        return min(height, model.batch_rows) if isinstance(model, NoisyOrBlocks) else height

    @property
    def strengths_(self) -> Floats:
        """P(a cause of the lowest layer alone makes a cell 1)."""
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
    """The network of `NoisyOrNetwork.paper`, with the settings that the paper varies as parameters."""

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
