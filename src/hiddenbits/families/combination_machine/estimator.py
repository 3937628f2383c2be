"""`CombinationMachine`: a restricted Boltzmann machine, with exact likelihood for few hidden units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import Floats, Randomness
from hiddenbits.data import Table
from hiddenbits.display import SummaryTable
from hiddenbits.engine import Key, Outcome, Settings, fit_persistent
from hiddenbits.exceptions import UntrustedLikelihoodError
from hiddenbits.families._base.columns import column_names, table_by_column
from hiddenbits.families._base.fit_info import LIKELIHOOD
from hiddenbits.families._base.inputs import seed_of, shuffled
from hiddenbits.families._base.outputs import sampled_values
from hiddenbits.families._base.parameters import COMMON, N_INIT, HiddenParts
from hiddenbits.families._base.showing import strongest_each_way
from hiddenbits.families._base.sizes import subsample_rows
from hiddenbits.families._base.transformer import LatentEstimator
from hiddenbits.families.combination_machine.chain_results import add_estimate, partition_error, sample_with_warning
from hiddenbits.families.combination_machine.growth import fit_machine
from hiddenbits.families.combination_machine.model import Combination
from hiddenbits.families.combination_machine.model_chains import EXACT_UNITS, UNKNOWN, ChainsParams, CombinationChains
from hiddenbits.families.combination_machine.model_real import CombinationReal
from hiddenbits.families.combination_machine.options import Chains, Growth, Pursuit
from hiddenbits.families.combination_machine.paper import epochs
from hiddenbits.families.combination_machine.params import CombinationParams, CombinationStats
from hiddenbits.maths.annealed_importance import Partition
from hiddenbits.model_api import RowModel


class CombinationMachine(LatentEstimator[CombinationParams, CombinationStats]):
    """Restricted Boltzmann machine (influence combination machine), with exact likelihood for up to 20 hidden units.

    Every row has its own set of active hidden units, and the weights of all active units add up in the log-odds of each
    column. Up to 20 hidden units likelihood, gradient, sampling and imputation are exact, by enumeration of all states
    of the units. With more, Markov chains are used, and likelihoods are estimates and labeled as such.

    Parameters
    ----------
    n_components : int, default=4
        Number of hidden units. `hiddenbits.evaluate.select` compares several numbers, on held-out rows or by BIC.
    ridge : float, default=0.1
        Precision of the normal prior of the weights; 0 gives maximum likelihood.
    bias : bool, default=True
        Whether every column has an intercept. The model of the paper has none.
    visible : {"bits", "reals"}, default="bits"
        Type of the columns. Real numbers are normal with variance 1 around the sum of the active units' weights:
        scale columns so that their noise is about 1. Only for frames and arrays in memory, and exact fits.
    start : {"grow", "noise", "pursuit"}, Growth or Pursuit, default="grow"
        Add hidden units one by one, each the best of some candidates, and fit all of them each time; or start with all
        units and small random weights; or with units from projection pursuit, which is fast. `Growth` and `Pursuit`
        have options such as the number of candidates.
    method : {"auto", "exact", "chains"}, default="auto"
        Enumerate all states of the hidden units, which is exact, and maximize by scipy's quasi-Newton method; or use
        Markov chains (persistent contrastive divergence), for hundreds of units. By default exact up to 20 units, and
        chains for more.
    chains : Chains, optional
        With chains: their number and temperatures, and options of the gradient steps.
    online_passes : int, default=0
        Passes of online EM before the full passes, for tables with very many rows; all units then start together.
    start_rows : int, "auto" or None, default="auto"
        Fit a random sample of about this many rows first (at least 32), and continue from its result, which saves most
        of the time on large tables. Where units are added one by one, the sample is also fitted from noise. "auto"
        is 400 for each unit, at least 4,096. With `ridge=0` the sample is larger where a column would have fewer than
        about 20 1s or zeros. Only for binary data, if the table has at least four times as many rows, and the sample
        at most 67 million cells. None starts with all rows.
    n_init : "auto" or int, default="auto"
        Restarts; the one with the best objective is kept. "auto" is 1, and 3 for small tables where units are added
        one by one: the other two have one candidate for each unit.
    max_iter : int, default=1000
        Maximum number of iterations, for each restart and each added unit. 0 returns the start.
    tol : float, default=1e-5
        Converged when five iterations in a row each increase the objective by at most this much per row, in nats.
    threshold : float, optional
        Turn numbers into 0 and 1: 1 where the number is above the threshold. By default only 0 and 1 are accepted.
    random_state : int, RandomState or None, default=None
        Seed of the starts.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components, columns)
        Weight of each hidden unit on each column: an active unit adds twice this to the log-odds (for reals, once to
        the mean). Units are in order of decreasing norm of their weights.
    thresholds_ : ndarray of shape (n_components,)
        Bias of each hidden unit: larger values make it active in more rows.
    bias_ : ndarray of shape (columns,)
        Half the log-odds of each column while no unit is active (for reals, the mean).
    log_partition_, log_partition_error_ : float
        ln Z and its standard error: 0 where it is exact.
    trace_ : ndarray of shape (n_iter_,)
        Objective after each iteration (log-likelihood plus log prior, in nats for the whole table). With chains: minus
        the mean squared difference between E[x h] in the data and in the chains, after each epoch.
    n_iter_, converged_, stop_reason_ : int, bool, str
        Iterations, convergence and reason to stop of the best restart.
    restarts_ : tuple
        Objective, iterations and reason to stop of every restart.
    n_features_in_, feature_names_in_ : int, ndarray
        As scikit-learn defines them.

    References
    ----------
    Freund and Haussler (1994), "Unsupervised learning of distributions on binary vectors using two layer networks".

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import CombinationMachine
    >>> rng = np.random.default_rng(0)
    >>> causes = rng.integers(0, 2, (500, 2))                  # two causes ...
    >>> X = np.repeat(causes, 3, axis=1).astype(float)         # ... each of which sets three columns
    >>> X[0, 1] = np.nan                                       # missing
    >>> model = CombinationMachine(2, random_state=0).fit(X)
    >>> bool(abs(model.complete(X)[0, 1] - X[0, 0]) < 0.01)
    True
    """

    partition_: Partition

    _latent_axis = "m"
    _prior_settings = ("ridge",)
    _hidden_parts: ClassVar[tuple[HiddenParts, ...]] = (HiddenParts("units"),)
    _latent_name = "cause"
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **COMMON,
        "n_init": N_INIT,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "ridge": [Interval(Real, 0, None, closed="left")],
        "bias": ["boolean"],
        "visible": [StrOptions({"bits", "reals"})],
        "start": [StrOptions({"grow", "noise", "pursuit"}), Growth, Pursuit],
        "method": [StrOptions({"auto", "exact", "chains"})],
        "chains": [Chains, None],
        "start_rows": [Interval(Integral, 32, None, closed="left"), StrOptions({"auto"}), None],
    }

    def __init__(
        self,
        n_components: int = 4,
        *,
        ridge: float = 0.1,
        bias: bool = True,
        visible: Literal["bits", "reals"] = "bits",
        start: Literal["grow", "noise", "pursuit"] | Growth | Pursuit = "grow",
        method: Literal["auto", "exact", "chains"] = "auto",
        chains: Chains | None = None,
        online_passes: int = 0,
        start_rows: int | Literal["auto"] | None = "auto",
        n_init: int | Literal["auto"] = "auto",
        max_iter: int = 1000,
        tol: float = 1e-5,
        threshold: float | None = None,
        random_state: Randomness = None,
    ) -> None:
        self.n_components = n_components
        self.ridge = ridge
        self.bias = bias
        self.visible = visible
        self.start = start
        self.method = method
        self.chains = chains
        self.online_passes = online_passes
        self.start_rows = start_rows
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.threshold = threshold
        self.random_state = random_state

    @classmethod
    def paper(
        cls,
        n_components: int = 10,
        *,
        start: Literal["noise", "pursuit"] = "pursuit",
        max_iter: int = 1000,
        random_state: Randomness = None,
    ) -> CombinationMachine:
        """Return the model with the settings of Freund and Haussler, for reproductions.

        No visible bias, no prior, gradient ascent with momentum for `max_iter` epochs, from projection pursuit with
        one candidate and four EM steps per unit, or from noise. The fit ends after its epochs, converged or not. The
        paper does not give its learning rate; .05 with momentum .9 reproduces its results. With more than 20 units,
        such as the 45 of the paper's digits, the gradient cannot be enumerated, and the result is that of projection
        pursuit alone, as in the paper; its likelihood is an estimate. The defaults of the class are better. `save`
        writes a plain `CombinationMachine`.

        Parameters
        ----------
        n_components : int
            Number of hidden units.
        start : {"pursuit", "noise"}
            Start of gradient ascent: the last and the first line of the paper's first table. "noise" is for up to 20
            units.
        max_iter : int
            Epochs of gradient ascent; 0 returns the start, as do more than 20 units.
        random_state : int, RandomState or None
            Seed of the start.

        Examples
        --------
        >>> from hiddenbits import CombinationMachine
        >>> model = CombinationMachine.paper(10)
        >>> model.start, model.bias, model.ridge
        (Pursuit(n_candidates=1, n_steps=4), False, 0.0)
        """
        start_option = Pursuit(n_candidates=1, n_steps=4) if start == "pursuit" else start
        return _PaperMachine(n_components, start=start_option, max_iter=max_iter, random_state=random_state)

    def _with_extra_restarts(self, settings: Settings, _size: float) -> Settings:
        return replace(settings, n_init=3) if self._repeats_growth else settings

    @property
    def _repeats_growth(self) -> bool:
        """Whether a small table is worth further restarts."""
        return self.n_init == "auto" and self._start_name == "grow" and not self._by_chains and self.max_iter > 0

    def _subsample_rows(self) -> int | None:
        chains, online = self._by_chains and 'method="chains"', self.online_passes and "online_passes"
        if setting := chains or (not self.max_iter and "max_iter=0") or online:
            if self.start_rows not in ("auto", None):
                raise ValueError(
                    f"start_rows={self.start_rows} does not apply to {setting}, which starts with all rows. Remove "
                    "start_rows."
                )
            return None
        return subsample_rows(self.n_components) if self.start_rows == "auto" else self.start_rows

    def _options(self) -> dict[str, Any]:
        by_name = {"grow": Growth(), "pursuit": Pursuit()}
        return {"start": by_name.get(str(self.start), self.start), "chains": self.chains or Chains()}

    def _model(self) -> Combination:
        options = self._options()
        start = options["start"]
        effort = (getattr(start, "n_candidates", 4), getattr(start, "n_steps", 20))  # a start from noise ignores both
        machine = (self.n_components, self.ridge, self.bias, self._start_name, *effort)
        again = 1 if self._repeats_growth else None
        if self.visible == "reals":
            if self.threshold is not None:
                raise ValueError('threshold= is for binary data: remove it, or use visible="bits".')
            if self.method == "chains":
                raise ValueError('visible="reals" needs method="exact".')
            return CombinationReal(*machine, candidates_again=again)
        if not self._by_chains:
            return Combination(*machine, candidates_again=again)
        chains = options["chains"]
        return CombinationChains(
            *machine,
            chains.learning_rate,
            chains.batch_rows,
            chains.n_chains,
            chains.n_temperatures,
            seed=self._sampling_seed,
        )

    @property
    def _loop(self) -> Callable[..., Outcome]:
        return fit_persistent if self._by_chains else fit_machine

    @property
    def _start_name(self) -> Literal["grow", "noise", "pursuit"]:
        """The start of a fit, as a string."""
        if isinstance(self.start, str):
            return self.start
        return "grow" if isinstance(self.start, Growth) else "pursuit"

    @property
    def _by_chains(self) -> bool:
        if self.method == "auto":
            return self.n_components > EXACT_UNITS and self.visible == "bits"
        return self.method == "chains"

    @property
    def _takes_reals(self) -> bool:
        return self.visible == "reals"

    def _height(self, model: RowModel[CombinationParams, CombinationStats], table: Table) -> int:
        height = super()._height(model, table)
        return min(height, model.batch_rows) if isinstance(model, CombinationChains) else height

    def _ordered_table(self, model: RowModel[CombinationParams, CombinationStats], table: Table) -> Table:
        return shuffled(table, seed_of(self.random_state)) if isinstance(model, CombinationChains) else table

    def _canonical_params(self, params: CombinationParams) -> CombinationParams:
        """Return the units in order of decreasing weights: their order is arbitrary."""
        return params.ordered()

    @property
    def _objective_name(self) -> str | None:
        return None if self._by_chains else LIKELIHOOD

    def _tables(self) -> dict[str, SummaryTable]:
        names, causes, W = column_names(self), self._latent_names(), self.weights_
        strongest = strongest_each_way(W, names, "switches on", "switches off")
        weights = {**dict(zip(causes, W, strict=True)), "bias": self.bias_}
        return {
            "causes": SummaryTable("Causes", {"cause": causes, "threshold": self.thresholds_, **strongest}, "causes"),
            "weights": table_by_column(
                self,
                "Weights: half of what each cause adds to the log-odds",
                weights,
                np.abs(W).max(axis=0, initial=0.0),
            ),
        }

    @property
    def _likelihood_kind(self) -> str:
        """What `score_samples` returns: "exact", or "estimate" if ln Z had to be estimated."""
        check_is_fitted(self, "_params")
        return "exact" if partition_error(self._params) == 0.0 else "estimate"

    @property
    def log_partition_(self) -> float:
        """Return ln Z: exact, or an estimate with the standard error `log_partition_error_`."""
        check_is_fitted(self, "_params")
        self._require_partition()
        return float(self._params.log_partition)

    @property
    def log_partition_error_(self) -> float:
        """Standard error of ln Z, the same for the log-likelihoods of all rows: 0 where it is exact."""
        check_is_fitted(self, "_params")
        self._require_partition()
        return partition_error(self._params)

    def _likelihood(self) -> Any:
        rows = super()._likelihood()
        self._require_partition()
        return rows

    def estimate_partition(self, *, n_chains: int = 100, n_temperatures: int = 10_000) -> Partition:
        """Estimate ln Z of a model that was fitted by chains again, and keep the estimate if it is reliable.

        With up to 20 units the exact ln Z is computed after the fit, and kept.

        Parameters
        ----------
        n_chains : int, default=100
            Annealed chains from each base distribution.
        n_temperatures : int, default=10000
            Temperatures of each chain; more if the verdict recommends it.

        Returns
        -------
        partition : Partition
            The estimate with its standard error, the estimate from each base, and a verdict.
        """
        check_is_fitted(self, "_params")
        if not isinstance(self._params, ChainsParams):
            raise ValueError("This model was fitted by enumeration: its ln Z is exact.")
        seed = seed_of(self.random_state)
        self._params, self.partition_ = add_estimate(self._params, seed, n_chains, n_temperatures)
        return self.partition_

    def _require_partition(self) -> None:
        """Estimate ln Z if it is unknown, or raise an error."""
        if partition_error(self._params) < UNKNOWN:
            return
        partition = self.estimate_partition()
        if not partition.trustworthy:
            raise UntrustedLikelihoodError(
                f"The likelihood cannot be estimated reliably. {partition.why} Try `estimate_partition` with more "
                "temperatures or chains, fewer units, or a larger ridge."
            )

    def sample(self, n_samples: int = 1, *, return_latent: bool = False, random_state: Randomness = None) -> Any:
        """Sample new rows from the fitted model: exactly, or by tempered Markov chains with more than 20 hidden units.

        Parameters
        ----------
        n_samples : int
            Number of rows.
        return_latent : bool, default=False
            Return the states of the hidden units too.
        random_state : int, RandomState or None
            Seed of the sample; by default that of the estimator.

        Returns
        -------
        X : ndarray of shape (n_samples, columns) of uint8, or of float64 with ``visible="reals"``
        latent : ndarray of shape (n_samples, n_components)
            Only with `return_latent`.
        """
        check_is_fitted(self, "_params")
        model = self._model()
        if not isinstance(model, CombinationChains) or not isinstance(self._params, ChainsParams):
            return super().sample(n_samples, return_latent=return_latent, random_state=random_state)
        if n_samples < 1:
            raise ValueError(f"n_samples={n_samples}: sample at least one row.")
        key = Key(seed_of(self.random_state if random_state is None else random_state)).stream("sample")
        rows = sample_with_warning(model, self._params, n_samples, key)
        X = sampled_values(self, rows)
        return (X, model.units_given(self._params, rows, key.stream("units").rng())) if return_latent else X

    def partial_fit(self, X: object, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from some rows by online EM; can be called again and again with further rows.

        Parameters
        ----------
        X : array, sparse array or matrix, frame or Table of shape (rows, columns)
            As for `fit`.
        y : None
            Ignored.
        sample_weight : str or array of shape (rows,), optional
            Weight of each row, or the name of the column that has it.

        Returns
        -------
        self
        """
        if self._by_chains:
            raise ValueError(
                'partial_fit needs method="exact". With chains, use fit on the whole table, which may be larger than '
                "memory."
            )
        return super().partial_fit(X, y, sample_weight)

    @property
    def weights_(self) -> Floats:
        """Weight of each hidden unit on each column."""
        return self._params.weights.T

    @property
    def thresholds_(self) -> Floats:
        """Bias of each hidden unit."""
        return self._params.thresholds

    @property
    def bias_(self) -> Floats:
        """Half the log-odds of each column while no unit is active."""
        return self._params.bias

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters."""
        return self._model().n_parameters(self._params)


class _PaperMachine(CombinationMachine):
    """The model of `CombinationMachine.paper`, with the settings that the paper varies as parameters."""

    _saved_as = CombinationMachine
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "start": [StrOptions({"noise", "pursuit"}), Pursuit],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        start: Literal["noise", "pursuit"] | Pursuit = "pursuit",
        max_iter: int = 1000,
        random_state: Randomness = None,
    ) -> None:
        fixed: Any = {"ridge": 0.0, "bias": False, "start_rows": None, "tol": 0.0}
        super().__init__(n_components, **fixed, start=start, max_iter=max_iter, random_state=random_state)

    def _settings(self) -> Settings:
        settings = super()._settings()
        if not self._by_chains:
            return settings
        if self._start_name == "noise":
            raise ValueError(
                f'start="noise" needs the gradient of the likelihood, and {self.n_components} units have too many '
                f'states to enumerate. Use start="pursuit", or at most {EXACT_UNITS} units.'
            )
        return replace(settings, max_iter=0)

    @property
    def _loop(self) -> Callable[..., Outcome]:
        return super()._loop if self._by_chains else partial(fit_machine, loop=epochs)
