"""The base class of all estimators: `fit`, the methods over rows, files and summaries. It knows no specific model."""

from __future__ import annotations

import logging
import os
import warnings
from abc import abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import replace
from functools import partial
from importlib.metadata import metadata
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import AnyArray, Floats, Randomness
from hiddenbits.data import Block, Grid, Table
from hiddenbits.data.coding.coded_columns import Coding
from hiddenbits.data.collapse import collapsed
from hiddenbits.data.layout import layout_of
from hiddenbits.data.request import HandleUnknown
from hiddenbits.display import Summary, SummaryTable, story_html
from hiddenbits.engine import (
    Checkpoint,
    Key,
    Outcome,
    Position,
    Restart,
    Running,
    Settings,
    StopReason,
    block_height,
    current,
    fit_closed_form,
    fit_em,
    fit_planned,
    one_blas_thread,
)
from hiddenbits.families._base import information, partial_fit, persistence
from hiddenbits.families._base.callbacks import CallbackSupportMixin, report_to_callbacks, with_callbacks
from hiddenbits.families._base.columns import column_sizes
from hiddenbits.families._base.fit_info import LIKELIHOOD, convergence_warnings, fit_info, maximum_likelihood, prior_of
from hiddenbits.families._base.inputs import as_table, rows_of, seed_of, total_weight, warn_of_small_weights
from hiddenbits.families._base.outputs import in_original_values, like_input, sampled_values
from hiddenbits.families._base.parameters import ColumnTypes, HiddenParts
from hiddenbits.families._base.record import fit_record
from hiddenbits.families._base.sizes import (
    collapse_limit,
    refuse_unsupported,
    subsample_if_long,
    subsample_rows,
)
from hiddenbits.maths.free_parameters import FreeParameters
from hiddenbits.maths.numerics import bic
from hiddenbits.model_api import P, Planned, RowModel, S, StartsOnSubsample
from hiddenbits.store.validation import require

LOG = logging.getLogger(__name__)
A = TypeVar("A", bound=AnyArray)
RowFunction = Callable[[P, Any, Block], A]  # of the parameters, the result of `prepare`, and a block
SMALL_TABLE_FLOPS = 2_000_000  # largest number of floating-point operations in an iteration over a small table
SAMPLE_ROWS = 65536  # rows sampled at a time; each batch has its own key
ONLINE_RESTART_FACTOR = 4  # times n_init, in the first fit of online EM: its few rows have more poor maxima


def _has_criteria(estimator: ModelEstimator[Any, Any]) -> bool:
    return estimator._prior_settings is not None


def _has_score_function(estimator: ModelEstimator[Any, Any]) -> bool:
    return type(estimator)._score_function is not ModelEstimator._score_function


class ModelEstimator(CallbackSupportMixin, BaseEstimator, Generic[P, S]):  # type: ignore[misc]
    """Base of all estimators.

    A family returns its model in `_model`, has its hyperparameters in `__init__`, and overrides other methods if
    needed: first come the methods that describe the estimator, then those that control a fit.
    """

    _hidden_parts: ClassVar[tuple[HiddenParts, ...]] = ()  # numbers of classes and the like that a table limits
    _usual_restarts: ClassVar[int] = 1  # value of n_init="auto", where it is allowed
    # Hyperparameters of the prior: if all are 0, the fit is maximum likelihood. None: there are no `aic` and `bic`.
    _prior_settings: ClassVar[tuple[str, ...] | None] = None
    _not_saved: ClassVar[tuple[str, ...]] = ()  # hyperparameters that are None in a file: the fit has their effect

    # Hyperparameters that the engine needs from every estimator; those that users can set are also in `__init__`.
    n_init: int | Literal["auto"] = 1
    max_iter: int = 100
    tol: float = 1e-6
    online_passes: int = 0
    threshold: float | None = None
    column_types: ColumnTypes | None = None  # None: columns are neither nominal nor ordinal
    handle_unknown: HandleUnknown = "error"
    random_state: Randomness = None

    # Set by fit.
    _params: P
    trace_: Floats
    n_iter_: int
    stop_reason_: str
    converged_: bool
    restarts_: tuple[Restart, ...]
    _fit_weight: float
    _running: Running | None  # state of online EM
    n_features_in_: int
    feature_names_in_: AnyArray  # only if columns have names
    coding_: Coding | None  # how columns were read
    _table_version: int | None  # version of the Delta table of the fit
    _online_seed: int
    _independent_score: float | None = (
        None  # mean log-likelihood per row of the fit under independent columns, if known
    )

    @abstractmethod
    def _model(self) -> RowModel[P, S]:
        """Return the model with these hyperparameters."""

    @property
    def _coding(self) -> Coding | None:
        """How columns were read; None if they were 0/1 or numbers, and before a fit."""
        return getattr(self, "coding_", None)

    @property
    def _takes_reals(self) -> bool:
        """Whether all columns are real numbers; otherwise they are binary (or coded as binary)."""
        return False

    @property
    def _objective_name(self) -> str | None:
        """The name of the objective in `trace_`; None if it cannot be compared with that of independent columns."""
        return LIKELIHOOD

    def _options(self) -> dict[str, Any]:
        """Return the option object of each hyperparameter that has one, even if its value is a string or None."""
        return {}

    def _tables(self) -> dict[str, SummaryTable]:
        """Return the tables of the summary by name."""
        return {}

    def _fit_warnings(self) -> list[str]:
        """Return the warnings of the fit, as sentences."""
        return convergence_warnings(self)

    def _fit_info(self) -> dict[str, str]:
        """Return a description of the fit, by topic."""
        return fit_info(self)

    def _score_function(self) -> information.ScoreFunction:
        """Return the score function at the fitted parameters; only some families have one."""
        raise NotImplementedError

    def _canonical_params(self, params: P) -> P:
        """Return the form of the fitted parameters that users see, if several parameters are the same model."""
        return params

    def _order_classes(self, params: P) -> P:
        """Return the parameters with the largest class first."""
        return params

    def _extra_meta(self) -> dict[str, object]:
        """Return the entries of a model file that only this family has."""
        return {}

    def _restore_extra_meta(self, extra: dict[str, Any]) -> None:
        """Restore what `_extra_meta` returned from a file; refuse what it could not have returned."""
        require(not extra, "its description is not complete")

    def _validate_params(self) -> None:
        super()._validate_params()
        for value in self.get_params(deep=False).values():
            if isinstance(value, BaseEstimator):
                value._validate_params()

    _doc_link_module = "hiddenbits"

    @property
    def _doc_link_template(self) -> str:
        """Address of the page of an estimator, for scikit-learn's HTML; "" if the package has no documentation URL."""
        urls = dict(url.split(", ", 1) for url in metadata("hiddenbits").get_all("Project-URL") or ())
        site = urls.get("Documentation", "").rstrip("/")
        return f"{site}/api/generated/hiddenbits.{{estimator_name}}.html" if site else ""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._takes_reals and self.column_types in (None, "auto")  # types need columns
        tags.estimator_type = (
            "density_estimator"  # as GaussianMixture: a clusterer would have labels_, one for each row
        )
        tags.input_tags.allow_nan = True
        tags.input_tags.string = tags.input_tags.categorical = not self._takes_reals
        return tags

    # ------------------------------------------------------------------------------------------ control of a fit

    @property
    def _loop(self) -> Callable[..., Outcome]:
        """The engine's loop that fits the model."""
        model = self._model()
        iterative = fit_planned if isinstance(model, Planned) else fit_em
        return fit_closed_form if model.promises.closed_form else iterative

    def _begin_fit(self, table: Table, y: object) -> Table:
        """Read hyperparameters that name columns; return the table with what `y` says of its rows, usually nothing."""
        return table

    def _model_for_fit(self, model: RowModel[P, S], table: Table) -> Any:
        """Return the model to fit to this table; `_canonical_params` turns its parameters into those of `_model`."""
        return model

    def _ordered_table(self, model: RowModel[P, S], table: Table) -> Table:
        """Return the table with its rows in the order in which a fit reads them."""
        return table

    def _settings(self) -> Settings:
        """Return the settings of a fit that follow from the hyperparameters alone."""
        return Settings(
            n_init=self._n_restarts,
            max_iter=self.max_iter,
            tol=self.tol,
            online_passes=self.online_passes,
            seed=seed_of(self.random_state),
        )

    def _with_extra_restarts(self, settings: Settings, flops: float) -> Settings:
        """Return the settings with the restarts that n_init="auto" adds on a small table of `flops` operations."""
        return settings

    def _settings_for(self, settings: Settings, model: RowModel[P, S], weight: float, n_columns: int) -> Settings:
        """Return the settings for a table with rows of this total weight, however the table is stored."""
        flops = weight * model.footprint(n_columns, n_columns).flops
        if self.n_init != "auto" or settings.online_passes or flops > SMALL_TABLE_FLOPS:
            return settings
        return replace(self._with_extra_restarts(settings, flops), start_rows=None)

    @property
    def _sampling_seed(self) -> int:
        """Seed of methods that draw samples: the same in every call, unlike the state of a generator."""
        return int(self.random_state) if isinstance(self.random_state, (int, np.integer)) else 0

    @property
    def _n_restarts(self) -> int:
        """The number of restarts: `n_init`, or the value that "auto" stands for."""
        return self._usual_restarts if self.n_init == "auto" else self.n_init

    def _online_restarts(self) -> int:
        """Return the number of restarts in the first fit of online EM; one if a fit has one."""
        return self._n_restarts if self._n_restarts == 1 else ONLINE_RESTART_FACTOR * self._n_restarts

    def _subsample_rows(self) -> int | None:
        """Return the rows of the subsample on which a fit to a long table begins; None if it begins on all rows."""
        if self.online_passes or not isinstance(self._model(), StartsOnSubsample):
            return None
        return subsample_rows(
            int(np.sum(getattr(self, "n_components", 1)))
        )  # one number per layer, if there are layers

    def _height(self, model: RowModel[P, S], table: Table) -> int:
        """Return the rows per block, for methods over rows and by default for the iterations of a fit."""
        return block_height(model.footprint(table.shape[1], table.source.row_cells))

    def _pass_height(self, model: RowModel[P, S], table: Table) -> int:
        """Return the rows per block in the iterations of a fit."""
        return self._height(model, table)

    def _pass_grid(self, model: RowModel[P, S], table: Table, settings: Settings) -> Grid:
        """Return the blocks of a fit; if many rows are equal, those of the distinct rows with weights."""
        grid = table.grid(self._pass_height(model, table))
        if not model.promises.deterministic or settings.online_passes:
            return grid
        return collapsed(grid, collapse_limit(settings.start_rows, table.row_size), current().executor.reduce)

    def _set_fitted(self, outcome: Outcome, weight: float) -> None:
        """Set the fitted attributes; warn if the fit did not converge."""
        best = outcome.restarts[outcome.best]
        params, trace, restarts = self._canonical_params(outcome.params), outcome.trace, outcome.restarts
        self.__dict__.update(
            fit_record(params, weight, best.reason, trace=trace, n_iter=best.n_iter, restarts=restarts)
        )
        self._independent_score = outcome.independent
        for message in self._fit_warnings():
            warnings.warn(message, ConvergenceWarning, stacklevel=3)

    def _attributes_at(self, weight: float, position: Position) -> dict[str, object]:
        """Return the fitted attributes that a fit would set if it stopped at this position."""
        return fit_record(self._canonical_params(position.safe), weight, StopReason.CALLBACK, trace=position.trace)

    # ------------------------------------------------------------------------------------------------ fitting

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: object, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to binary data.

        Parameters
        ----------
        X : array, sparse array or matrix, frame, path or Table of shape (rows, columns)
            Anything that `open_table` opens: 0, 1, and missing values (NaN, None, masked).
            Two-valued columns of frames and files are recoded; `coding_` shows how.
        y : None
            Ignored; scikit-learn's convention.
        sample_weight : str or array of shape (rows,), optional
            Weight of each row; a weight of 2 counts as two equal rows. A string is the name of the column of a frame or
            file that has the weights, such as counts of equal rows; it does not enter the model.

        Returns
        -------
        self
        """
        self._validate_params()
        engine = current()
        if engine.checkpoint is not None and not isinstance(self.random_state, (int, np.integer)):
            raise ValueError("A fit with a checkpoint needs an integer random_state, or it could not be resumed.")
        table = as_table(self, X, reset=True, sample_weight=sample_weight)
        refuse_unsupported(self, table)
        warn_of_small_weights(table)
        table = self._begin_fit(table, y)
        model = self._model()
        settings = replace(self._settings(), start_rows=subsample_if_long(self._subsample_rows(), table.shape[0]))
        ordered = self._ordered_table(model, table)
        model = self._model_for_fit(model, ordered)
        grid = self._pass_grid(model, ordered, settings)
        if grid.table.shape[0] < collapse_limit(settings.start_rows, ordered.row_size):
            settings = replace(settings, start_rows=None)
        weight = total_weight(ordered)
        settings = replace(self._settings_for(settings, model, weight, ordered.shape[1]), max_time=engine.max_time)
        checkpoint: Checkpoint | None = None
        lock: AbstractContextManager[None] = nullcontext()
        if engine.checkpoint is not None:
            checkpoint = Checkpoint(
                engine.checkpoint, model, settings, table.shape, grid.height, names=table.names, version=table.version
            )
            lock = checkpoint.held()
        LOG.info("%s: fit to %d x %d cells, rows of weight %.10g.", type(self).__name__, *grid.table.shape, weight)
        with lock, report_to_callbacks(self, settings, partial(self._attributes_at, weight)) as watch:
            loop = fit_planned if isinstance(model, Planned) else self._loop
            outcome = loop(model, grid, engine.executor, settings, checkpoint, watch)
        self._set_fitted(outcome, weight)
        self._params = self._order_classes(self._params)
        return self

    def partial_fit(self, X: object, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Update the model with a batch of rows by online EM; call it once per batch.

        The first call fits the model to its rows (to a subsample of very many), with restarts and stages, or
        continues from a `fit`; it needs hundreds of rows rather than a handful. Each later call is one pass over
        its rows. The expected counts of earlier rows are kept as a running average, in which old rows fade slowly; the
        rows themselves are not kept. `docs/partial_fit.md` shows how close the result is to that of `fit`.

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
        partial_fit.update_online(self, X, sample_weight)
        return self

    def _refit(self, X: object, sample_weight: ArrayLike | None = None, *, tol: float | None = None) -> Self:
        """Return a copy that is fitted to X, or to other weights, starting from the fitted parameters.

        There is a single start: far fewer iterations than in `fit`, but no search for other maxima. The prior keeps
        its center.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`; the same columns.
        sample_weight : str or array of shape (rows,), optional
            Weight of each row, or the name of the column that has it.
        tol : float, optional
            Convergence tolerance, by default that of the estimator. A fit that starts close to its maximum needs a
            smaller one to reach it.

        Returns
        -------
        refitted : estimator
        """
        return partial_fit.refit(self, X, sample_weight, tol)

    # ---------------------------------------------------------------------------------------------- methods over rows

    def _map_rows(self, X: object, row_function: RowFunction[P, A]) -> A:
        """Return row_function(params, shared, block) for all rows of X."""
        table = as_table(self, X, reset=False)
        with one_blas_thread():
            results = current().executor.map_rows(*self._block_function(table, row_function))
            return rows_of(results, table.shape[0])

    def _block_function(self, table: Table, row_function: RowFunction[P, A]) -> tuple[Callable[[Block], A], Grid]:
        """Return row_function at the fitted parameters, as a function of a block, and the blocks of a table."""
        model = self._model()
        shared = model.prepare(self._params)
        return partial(row_function, self._params, shared), table.grid(self._height(model, table))

    def _likelihood(self) -> RowFunction[P, Floats]:
        """Return the row function of `score_samples` and `score`."""
        check_is_fitted(self, "_params")
        return self._model().log_likelihood

    @property
    def _likelihood_kind(self) -> str:
        """What `score_samples` returns: "exact", "bound" or "estimate"."""
        check_is_fitted(self, "_params")
        return self._model().promises.likelihood

    def score_samples(self, X: object) -> Floats:
        """Return the log-likelihood of each row's observed cells, in nats: exact, a bound or an estimate (`summary`).

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        log_likelihood : ndarray of shape (rows,)
        """
        return self._map_rows(X, self._likelihood())

    def score(self, X: object, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean log-likelihood of the rows, in nats.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.
        y : None
            Ignored.
        sample_weight : str or array of shape (rows,), optional
            Weight of each row, or the name of the column that has it.
        """
        table = as_table(self, X, reset=False, sample_weight=sample_weight)
        with one_blas_thread():  # only sums: the values of a billion rows would not fit in memory
            log_likelihood, grid = self._block_function(table, self._likelihood())
            total, weight = current().executor.reduce(partial(_weighted_sum, log_likelihood), grid)
        return float(total / weight)

    def complete(self, X: object) -> Any:
        """Impute missing values with P(x = 1 | the row's observed cells); observed cells stay as they are.

        Missing real numbers are replaced by their means given the observed ones.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        completed : ndarray of shape (rows, columns), or a frame where X is one
            A frame has all columns of X; missing values of recoded columns (`coding_`) are replaced by the most
            probable original value. For a file with recoded columns, a dict of all its columns in order; for an array
            with nominal or ordinal columns, an array of values.
        """
        model, sizes = self._model(), column_sizes(self)

        def fill(params: P, shared: object, block: Block) -> Floats:
            recorded = layout_of(sizes, block.n_columns).recorded(block.x, block.observed) == 1
            values = block.x.to_dense().astype(np.float64)
            if block.numbers is not None:
                recorded = np.concatenate([recorded, ~np.isnan(block.numbers)], axis=1)
                values = np.concatenate([values, block.numbers], axis=1)
            return np.where(recorded, values, model.fill(params, shared, block))

        return self._map_rows_like(X, fill, original_values=True)

    def _map_rows_like(self, X: object, row_function: RowFunction[P, Floats], *, original_values: bool = False) -> Any:
        """Return row_function of all rows as an array or frame like X, optionally in the user's original values."""
        table = as_table(self, X, reset=False)
        values = self._map_rows(table, row_function)
        if self._coding is None or isinstance(X, Table):
            return like_input(X, values)
        if original_values:
            return in_original_values(X, table, values)
        of_numbers = [column.name for column in self._coding.number_columns]
        return like_input(X, values, None if table.names is None else (*table.names, *of_numbers))

    def _cell_probabilities(self, X: object) -> Any:
        """Return P(cell = 1 | the other observed cells of the row) for every cell: `diagnostics.cell_probabilities`."""
        return self._map_rows_like(X, self._model().leave_one_out)

    def sample(self, n_samples: int = 1, *, return_latent: bool = False, random_state: Randomness = None) -> Any:
        """Sample new rows from the fitted model.

        Parameters
        ----------
        n_samples : int
            Number of rows.
        return_latent : bool, default=False
            Return the values of the latent variables too.
        random_state : int, RandomState or None
            Seed of the sample; by default that of the estimator.

        Returns
        -------
        X : ndarray of shape (n_samples, columns), or what `set_output` asks for
            Of uint8, or of float64 where columns are real numbers. Recoded columns (`coding_`) have the original
            values: a frame like that of the fit, or a dict of columns if the fit was to a file;
            after a fit to an array with nominal or ordinal columns, an array.
        latent : ndarray
            Only with `return_latent`: the classes, (n_samples,), or the latent variables in the columns of
            `transform`, (n_samples, n_components).
        """
        check_is_fitted(self, "_params")
        return self._sample(partial(self._model().sample, self._params), n_samples, random_state, return_latent)

    def _sample(
        self,
        sampler: Callable[[int, np.random.Generator], tuple[AnyArray, Floats]],
        n: int,
        random_state: Randomness,
        return_latent: bool,
    ) -> Any:
        """Return what sampler(n, rng) returns, in batches of rows, each with its own key."""
        if n < 1:
            raise ValueError(f"n_samples={n}: sample at least one row.")
        key = Key(seed_of(self.random_state if random_state is None else random_state)).stream("sample")
        report_progress, latent = current().on_progress, list[Floats]()
        # Allocated first, so that a lack of memory is an error before any row is sampled.
        n_numbers = getattr(self._params, "n_numbers", 0)
        is_real = self._takes_reals or n_numbers
        out: AnyArray = np.empty((n, self._params.n_columns + n_numbers), np.float64 if is_real else np.uint8)
        for number, start in enumerate(range(0, n, SAMPLE_ROWS)):
            stop = min(start + SAMPLE_ROWS, n)
            out[start:stop], latent_values = sampler(stop - start, key.derive(block=number).rng())
            if return_latent:
                latent.append(latent_values)
            if report_progress is not None:
                report_progress(stop - start)
        X = sampled_values(self, out)
        return (X, self._latent(np.concatenate(latent))) if return_latent else X

    def _latent(self, latent: Floats) -> AnyArray:
        """Return values of the latent variables in the form that `sample` returns."""
        return latent

    # --------------------------------------------------- information criteria, and row scores for standard errors

    @available_if(_has_criteria)  # type: ignore[untyped-decorator]
    def _without_prior(self) -> Self:
        """Return an unfitted copy without a prior, whose fit is maximum likelihood, as `aic` and `bic` need."""
        unpenalized: Self = clone(self).set_params(**dict.fromkeys(prior_of(self), 0.0))
        return unpenalized

    @available_if(_has_criteria)  # type: ignore[untyped-decorator]
    def aic(self, X: object) -> float:
        """Return Akaike's information criterion on X, -2 ln L + 2 p: lower is better.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.
        """
        log_likelihood, _ = maximum_likelihood(self, X, "AIC")
        return -2.0 * log_likelihood + 2.0 * float(self.n_parameters_)

    @available_if(_has_criteria)  # type: ignore[untyped-decorator]
    def bic(self, X: object) -> float:
        """Return the Bayesian information criterion on X, -2 ln L + p ln N: lower is better.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.
        """
        log_likelihood, weight = maximum_likelihood(self, X, "BIC")
        return bic(log_likelihood, self.n_parameters_, weight)

    @available_if(_has_score_function)  # type: ignore[untyped-decorator]
    def _free_parameters(self) -> FreeParameters:
        """Return the free parameters: the coordinates of `_row_gradients` and `_observed_information`.

        Returns
        -------
        free : FreeParameters
            `vector` (the coordinates of the fit), `border` (those on the boundary, without a standard error),
            `quantities` (what is reported, with derivatives) and more; `hiddenbits.inference` uses it.
        """
        check_is_fitted(self, "_params")
        return self._score_function().free_parameters(self._fit_weight)

    @available_if(_has_score_function)  # type: ignore[untyped-decorator]
    def _with_vector(self, vector: ArrayLike) -> Self:
        """Return a copy of the fitted estimator with its parameters at other coordinates.

        Parameters
        ----------
        vector : array of shape (coordinates,)
            As `_free_parameters().vector`.
        """
        check_is_fitted(self, "_params")
        copied = copy(self)
        copied._params = self._score_function().params_at(np.asarray(vector, np.float64))
        return copied

    @available_if(_has_score_function)  # type: ignore[untyped-decorator]
    def _row_gradients(self, X: object) -> Floats:
        """Return the score of each row: the gradient of its log-likelihood by the free parameters.

        By Fisher's identity it is the posterior mean of the complete-data gradient.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        gradients : ndarray of shape (rows, coordinates)
        """
        table = as_table(self, X, reset=False)
        return information.row_gradients(self._score_function(), table)

    @available_if(_has_score_function)  # type: ignore[untyped-decorator]
    def _observed_information(self, X: object, sample_weight: ArrayLike | None = None) -> Floats:
        """Return the observed information of X: minus the second derivatives of its log-likelihood, without the prior.

        By Louis' formula it is the complete-data information minus the missing information.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.
        sample_weight : str or array of shape (rows,), optional
            Weight of each row; a weight of 2 counts as two equal rows.

        Returns
        -------
        information : ndarray of shape (coordinates, coordinates)
        """
        table = as_table(self, X, reset=False, sample_weight=sample_weight)
        return information.observed_information(self._score_function(), table)

    # ------------------------------------------------------------------------------------------- files and summaries

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fitted model to a file that contains no code; see `hiddenbits.load`.

        Parameters
        ----------
        path : path
            The file.
        """
        persistence.save(self, path)

    def summary(self) -> Summary:
        """Return a summary of the fit and its parameters, as named tables that print themselves.

        Returns
        -------
        summary : Summary
            Print it, or show it in a notebook; `tables` has the complete tables as frames, by name.
        """
        check_is_fitted(self, "_params")
        return Summary(repr(self), self._fit_info(), self._tables())

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._fit_info_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        return {kind: text + self._fit_info_html() if kind == "text/html" else text for kind, text in bundle.items()}

    def _fit_info_html(self) -> str:
        return story_html(self._fit_info()) if hasattr(self, "converged_") else ""


def _weighted_sum(row_values: Callable[[Block], Floats], block: Block) -> Floats:
    """Return the weighted sum of the values of a block's rows, and their weight."""
    return np.array([block.weights @ row_values(block), block.weights.sum()])
