"""The base of all estimators: what one can ask of them, and how a fit goes. It knows nothing of any model."""

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
from hiddenbits.families._base.callbacks import CallbackSupportMixin, watching, with_callbacks
from hiddenbits.families._base.columns import column_sizes
from hiddenbits.families._base.inputs import as_table, rows_of, seed_of, total_weight, warn_of_small_weights
from hiddenbits.families._base.outputs import drawn_values, in_own_values, like
from hiddenbits.families._base.parameters import ColumnTypes, HiddenParts
from hiddenbits.families._base.record import fit_record
from hiddenbits.families._base.sizes import (
    few_distinct_rows,
    few_enough,
    refuse_unsupported,
    rows_to_begin_on,
)
from hiddenbits.families._base.story import LIKELIHOOD, maximum_likelihood, not_converged, story
from hiddenbits.maths.free_parameters import FreeParameters
from hiddenbits.maths.numerics import bic
from hiddenbits.model_api import P, Planned, RowModel, S, StartsOnSubsample
from hiddenbits.store.validation import require

LOG = logging.getLogger(__name__)
A = TypeVar("A", bound=AnyArray)
RowFunction = Callable[[P, Any, Block], A]  # of the parameters, what was prepared of them, and a block
SMALL = 2_000_000  # arithmetic of a pass, by weight, columns and model, up to which a table is small
DRAW_ROWS = 65536  # rows drawn at a time, each run with a key of its own
FIRST_RESTARTS = 4  # times as many restarts as a fit has: few rows have more poor maxima, and restarts cost little


def _has_criteria(estimator: BitsEstimator[Any, Any]) -> bool:
    return estimator._prior_settings is not None


def _has_row_scores(estimator: BitsEstimator[Any, Any]) -> bool:
    return type(estimator)._row_scores is not BitsEstimator._row_scores


class BitsEstimator(CallbackSupportMixin, BaseEstimator, Generic[P, S]):  # type: ignore[misc]
    """Base of all estimators.

    A family gives its model with `_model`, lists its hyperparameters in `__init__`, and has a method of its own where
    one of those below does not fit it: first what it says of itself, then how its fits go.
    """

    _hidden_parts: ClassVar[tuple[HiddenParts, ...]] = ()  # what a fit's table must be able to support
    _usual_restarts: ClassVar[int] = 1  # what n_init="auto" stands for, where it may be said
    # Settings of the prior: where all are 0 a fit is one of maximum likelihood. None: there are no `aic` and `bic`.
    _prior_settings: ClassVar[tuple[str, ...] | None] = None

    # Hyperparameters that the engine asks of every estimator; where users may set them, `__init__` has them.
    n_init: int | Literal["auto"] = 1
    max_iter: int = 100
    tol: float = 1e-6
    online_passes: int = 0
    threshold: float | None = None
    column_types: ColumnTypes | None = None  # None: columns are neither nominal nor ordinal
    random_state: Randomness = None

    # Set by fit.
    _params: P
    trace_: Floats
    n_iter_: int
    stop_reason_: str
    converged_: bool
    restarts_: tuple[Restart, ...]
    _fit_weight: float
    _running: Running | None  # where online EM stands
    n_features_in_: int
    feature_names_in_: AnyArray  # only where columns have names
    coding_: Coding | None  # how columns were read
    _table_version: int | None  # of the Delta table of the fit
    _online_seed: int
    _independent: float | None = None  # mean log-likelihood of a row of the fit under independent columns, where known

    @abstractmethod
    def _model(self) -> RowModel[P, S]:
        """Return the model with these hyperparameters."""

    @property
    def _coding(self) -> Coding | None:
        """How columns were read; None where they were bits or numbers, and before a fit."""
        return getattr(self, "coding_", None)

    @property
    def _takes_reals(self) -> bool:
        """Whether all columns are real numbers; otherwise they are bits."""
        return False

    @property
    def _score_is(self) -> str | None:
        """What the trace says of all rows, where it can stand next to independent columns; else None."""
        return LIKELIHOOD

    def _options(self) -> dict[str, Any]:
        """Return the options of parameters that hold several, also where a word or None stands for them."""
        return {}

    def _tables(self) -> dict[str, SummaryTable]:
        """Return the tables of the summary by name."""
        return {}

    def _cautions(self) -> list[str]:
        """Return what a fit warns of, as sentences."""
        return not_converged(self)

    def _story(self) -> dict[str, str]:
        """Return how the fit went, in words."""
        return story(self)

    def _row_scores(self) -> information.RowScores:
        """Return the scores at the fitted parameters, where a family has them; refuse where rows have none."""
        raise NotImplementedError

    def _finished(self, params: P) -> P:
        """Return parameters as a fit hands them over; a model with many equal forms chooses one here."""
        return params

    def _in_order(self, params: P) -> P:
        """Return the parameters of a whole fit in the order in which they are published: classes by size."""
        return params

    def _more_meta(self) -> dict[str, object]:
        """Return what a model file says beyond what all of them say."""
        return {}

    def _take_meta(self, more: dict[str, Any]) -> None:
        """Take what `_more_meta` returned from a file; refuse what it could not have returned."""
        require(not more, "its description is not complete")

    def _validate_params(self) -> None:
        super()._validate_params()
        for value in self.get_params(deep=False).values():
            if isinstance(value, BaseEstimator):
                value._validate_params()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._takes_reals
        tags.estimator_type = (
            "density_estimator"  # as GaussianMixture: a clusterer would have labels_, one for each row
        )
        tags.input_tags.allow_nan = True
        tags.input_tags.string = tags.input_tags.categorical = not self._takes_reals
        return tags

    # ------------------------------------------------------------------------------------------------ how fits go

    @property
    def _loop(self) -> Callable[..., Outcome]:
        """The engine's loop that fits go by."""
        model = self._model()
        passes = fit_planned if isinstance(model, Planned) else fit_em
        return fit_closed_form if model.promises.closed_form else passes

    def _fit_model(self, model: RowModel[P, S], table: Table) -> Any:
        """Return the model that a fit to this table goes by; `_finished` makes its parameters those of `_model`."""
        return model

    def _arranged(self, model: RowModel[P, S], table: Table) -> Table:
        """Return the table in the order in which a fit walks it."""
        return table

    def _settings(self) -> Settings:
        """Return what the hyperparameters say of a fit, whatever its table."""
        return Settings(
            n_init=self._n_restarts,
            max_iter=self.max_iter,
            tol=self.tol,
            online_passes=self.online_passes,
            seed=seed_of(self.random_state),
        )

    def _more_starts(self, settings: Settings, size: float) -> Settings:
        """Return the settings with the further starts that n_init="auto" has on a table with so small a pass."""
        return settings

    def _settings_for(self, settings: Settings, model: RowModel[P, S], weight: float, n_columns: int) -> Settings:
        """Return the settings for a table of this weight and width.

        Neither the rows nor the cells that are walked decide: they depend on how a table is stored.
        """
        size = weight * model.footprint(n_columns, n_columns).flops
        if self.n_init != "auto" or settings.online_passes or size > SMALL:
            return settings
        return replace(self._more_starts(settings, size), start_rows=None)

    @property
    def _draw_seed(self) -> int:
        """Seed of draws that a verb repeats: a generator is none, or they would depend on when they are made."""
        return int(self.random_state) if isinstance(self.random_state, (int, np.integer)) else 0

    @property
    def _n_restarts(self) -> int:
        """The number that `n_init` stands for."""
        return self._usual_restarts if self.n_init == "auto" else self.n_init

    def _first_restarts(self) -> int:
        """Return the restarts of the fit that online EM begins with; a family with one start needs no more of them."""
        return self._n_restarts if self._n_restarts == 1 else FIRST_RESTARTS * self._n_restarts

    def _rows_to_begin_on(self) -> int | None:
        """Return how many rows fits to large tables begin on; None where they begin with all."""
        if self.online_passes or not isinstance(self._model(), StartsOnSubsample):
            return None
        return rows_to_begin_on(int(np.sum(getattr(self, "n_components", 1))))  # layers have several

    def _height(self, model: RowModel[P, S], table: Table) -> int:
        """Return how many rows make a block of the verbs, and of passes unless they need another height."""
        return block_height(model.footprint(table.shape[1], table.source.row_cells))

    def _pass_height(self, model: RowModel[P, S], table: Table) -> int:
        """Return how many rows make a block of a fit's passes."""
        return self._height(model, table)

    def _pass_grid(self, model: RowModel[P, S], table: Table, settings: Settings) -> Grid:
        """Return the blocks of a fit's passes: of distinct rows where many are equal, which then have equal memory."""
        grid = table.grid(self._pass_height(model, table))
        if not model.promises.deterministic or settings.online_passes:
            return grid
        return collapsed(grid, few_distinct_rows(settings.start_rows, table.shape[1]), current().executor.reduce)

    def _keep(self, outcome: Outcome, weight: float) -> None:
        """Set the fitted attributes; warn where the fit did not converge."""
        best = outcome.restarts[outcome.best]
        params, trace, restarts = self._finished(outcome.params), outcome.trace, outcome.restarts
        self.__dict__.update(
            fit_record(params, weight, best.reason, trace=trace, n_iter=best.n_iter, restarts=restarts)
        )
        self._independent = outcome.independent
        for caution in self._cautions():
            warnings.warn(caution, ConvergenceWarning, stacklevel=3)

    def _attributes_at(self, weight: float, position: Position) -> dict[str, object]:
        """Return the fitted attributes as they would be if the fit stopped here."""
        return fit_record(self._finished(position.safe), weight, StopReason.CALLBACK, trace=position.trace)

    # ------------------------------------------------------------------------------------------------ fitting

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: object, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to a table of bits.

        Parameters
        ----------
        X : array, sparse array or matrix, frame, path or Table of shape (rows, columns)
            Anything that `open_table` opens: 0, 1, and blanks (NaN, None, masked) for cells that were not observed.
            Columns of two values in frames and CSV files are read too; `coding_` says how.
        y : None
            Ignored; scikit-learn's convention.
        sample_weight : str or array of shape (rows,), optional
            Weight of each row; a weight of 2 counts as two equal rows. A text is the name of the column of a frame or
            file that has the weights, such as the counts of equal rows; it does not enter the model.

        Returns
        -------
        self
        """
        self._validate_params()
        engine = current()
        if engine.checkpoint is not None and not isinstance(self.random_state, (int, np.integer)):
            raise ValueError("A fit with a checkpoint needs random_state= an integer, or it could not be repeated.")
        given = as_table(self, X, reset=True, sample_weight=sample_weight)
        refuse_unsupported(self, given)
        warn_of_small_weights(given)
        model = self._model()
        settings = replace(self._settings(), start_rows=few_enough(self._rows_to_begin_on(), given.shape[0]))
        table = self._arranged(model, given)
        model = self._fit_model(model, table)
        grid = self._pass_grid(model, table, settings)
        if grid.table.shape[0] < few_distinct_rows(settings.start_rows, table.shape[1]):
            settings = replace(settings, start_rows=None)
        weight = total_weight(table)
        settings = replace(self._settings_for(settings, model, weight, table.shape[1]), max_time=engine.max_time)
        checkpoints: Checkpoint | None = None
        held: AbstractContextManager[None] = nullcontext()
        if engine.checkpoint is not None:
            checkpoints = Checkpoint(
                engine.checkpoint, model, settings, given.shape, grid.height, names=given.names, version=given.version
            )
            held = checkpoints.held()
        LOG.info("%s: fit to %d x %d cells, rows of weight %.10g.", type(self).__name__, *grid.table.shape, weight)
        with held, watching(self, settings, partial(self._attributes_at, weight)) as watch:
            loop = fit_planned if isinstance(model, Planned) else self._loop
            outcome = loop(model, grid, engine.executor, settings, checkpoints, watch)
        self._keep(outcome, weight)
        self._params = self._in_order(self._params)
        return self

    def partial_fit(self, X: object, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from some rows by online EM; can be called again and again with further rows.

        The first call fits the model to its rows (to some of them, where they are many), with restarts and stages, or
        continues from a `fit`; hundreds of rows are a good beginning, a handful is not. Then each call is one pass over
        its rows. The statistics of earlier rows are kept as a running average, in which old rows fade slowly; the
        rows themselves are not kept. `docs/partial_fit.md` says how near to a `fit` that comes.

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
        partial_fit.learn(self, X, sample_weight)
        return self

    def _refit(self, X: object, sample_weight: ArrayLike | None = None, *, tol: float | None = None) -> Self:
        """Return a copy that is fitted to X, or to other weights, beginning at the fitted parameters.

        There is one restart and no start: far fewer passes than `fit` needs, but no other maximum is looked for. A
        prior stays centerd where it was.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`; the same columns.
        sample_weight : str or array of shape (rows,), optional
            Weight of each row, or the name of the column that has it.
        tol : float, optional
            By default that of the estimator; a fit that begins close to its end needs a smaller one to arrive there.

        Returns
        -------
        refitted : estimator
        """
        return partial_fit.refit(self, X, sample_weight, tol)

    # ------------------------------------------------------------------------------------------------ verbs over rows

    def _map(self, X: object, row_function: RowFunction[P, A]) -> A:
        """Return row_function(params, shared, block) for all rows of X."""
        table = as_table(self, X, reset=False)
        with one_blas_thread():
            results = current().executor.map_rows(*self._walk(table, row_function))
            return rows_of(results, table.shape[0])

    def _walk(self, table: Table, row_function: RowFunction[P, A]) -> tuple[Callable[[Block], A], Grid]:
        """Return a function of the rows of a block, at the fitted parameters, and the blocks of a table."""
        model = self._model()
        shared = model.prepare(self._params)
        return partial(row_function, self._params, shared), table.grid(self._height(model, table))

    def _likelihood(self) -> RowFunction[P, Floats]:
        """Return the row function behind `score_samples` and `score`, and make what it rests on."""
        check_is_fitted(self, "_params")
        return self._model().log_likelihood

    @property
    def _likelihood_kind(self) -> str:
        """What `score_samples` returns: "exact", "bound" or "estimate"."""
        check_is_fitted(self, "_params")
        return self._model().promises.likelihood

    def score_samples(self, X: object) -> Floats:
        """Return the log-likelihood of each row's observed bits, in nats: exact, a bound or an estimate, as `summary` says.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        log_likelihood : ndarray of shape (rows,)
        """
        return self._map(X, self._likelihood())

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
        with one_blas_thread():  # sums alone: the answers of a billion rows would not fit in memory
            rows, grid = self._walk(table, self._likelihood())
            total, weight = current().executor.reduce(partial(_total, rows), grid)
        return float(total / weight)

    def complete(self, X: object) -> Any:
        """Fill in the missing cells with P(bit = 1 | the row's observed bits); observed cells stay as they are.

        Missing real numbers are filled in with their means given the observed ones.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        completed : ndarray of shape (rows, columns), or a frame where X is one
            A frame has all columns of X; where these hold other values than bits (`coding_`), blanks are filled with
            the more probable of them. Of a file with such columns a dict of all columns, in its order; of an array
            with nominal or ordinal columns an array of values.
        """
        model, sizes = self._model(), column_sizes(self)

        def fill(params: P, shared: object, block: Block) -> Floats:
            recorded = layout_of(sizes, block.n_columns).recorded(block.x, block.observed)
            values = block.x.to_dense().astype(np.float64)
            return np.where(recorded == 1, values, model.fill(params, shared, block))

        return self._like(X, fill, own_values=True)

    def _like(self, X: object, row_function: RowFunction[P, Floats], *, own_values: bool = False) -> Any:
        """Return row_function of all rows as X is: an array, or a frame, if asked in the user's own values."""
        table = as_table(self, X, reset=False)
        values = self._map(table, row_function)
        if self._coding is None or isinstance(X, Table):
            return like(X, values)
        return in_own_values(X, table, values) if own_values else like(X, values, table.names)

    def _cell_probabilities(self, X: object) -> Any:
        """Return P(cell = 1 | the other observed cells of the row) for every cell (`diagnostics.cell_probabilities`)."""
        return self._like(X, self._model().leave_one_out)

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
            Of uint8, or of float64 where columns are real numbers. Where the fit made bits of other values
            (`coding_`), these values: a frame like that of the fit, or a dict of columns where the fit was to a file;
            after a fit to an array with nominal or ordinal columns an array.
        latent : ndarray
            Only with `return_latent`: the classes, (n_samples,), or the latent variables as `transform` has them,
            (n_samples, n_components).
        """
        check_is_fitted(self, "_params")
        return self._sample(partial(self._model().sample, self._params), n_samples, random_state, return_latent)

    def _sample(
        self,
        draw: Callable[[int, np.random.Generator], tuple[AnyArray, Floats]],
        n: int,
        random_state: Randomness,
        return_latent: bool,
    ) -> Any:
        """Return what draw(n, rng) makes, some rows at a time, each run of rows with a key of its own."""
        if n < 1:
            raise ValueError(f"n_samples={n}: sample at least one row.")
        key = Key(seed_of(self.random_state if random_state is None else random_state)).stream("sample")
        on_progress, latent = current().on_progress, list[Floats]()
        # More than there is memory for is an error here, before any row is drawn.
        out: AnyArray = np.empty((n, self._params.n_columns), np.float64 if self._takes_reals else np.uint8)
        for number, start in enumerate(range(0, n, DRAW_ROWS)):
            stop = min(start + DRAW_ROWS, n)
            out[start:stop], drawn = draw(stop - start, key.derive(block=number).rng())
            if return_latent:
                latent.append(drawn)
            if on_progress is not None:
                on_progress(stop - start)
        X = drawn_values(self, out)
        return (X, self._latent(np.concatenate(latent))) if return_latent else X

    def _latent(self, codes: Floats) -> AnyArray:
        """Return values of the latent variables as `sample` returns them."""
        return codes

    # ---------------------------------------------------------------------------- criteria, and what errors are made of

    @available_if(_has_criteria)  # type: ignore[untyped-decorator]
    def _without_prior(self) -> Self:
        """Return a copy, not fitted, whose fit is one of maximum likelihood, as `aic` and `bic` need it."""
        plain: Self = clone(self).set_params(**dict.fromkeys(self._prior_settings or (), 0.0))
        return plain

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

    @available_if(_has_row_scores)  # type: ignore[untyped-decorator]
    def _free_parameters(self) -> FreeParameters:
        """Return the coordinates in which `row_gradients` and `observed_information` are, and what depends on them.

        Returns
        -------
        free : FreeParameters
            `vector` (the coordinates of the fit), `border` (those without an error), `quantities` (what people publish,
            with derivatives) and more; `hiddenbits.inference` uses it.
        """
        check_is_fitted(self, "_params")
        return self._row_scores().free(self._fit_weight)

    @available_if(_has_row_scores)  # type: ignore[untyped-decorator]
    def _at_vector(self, vector: ArrayLike) -> Self:
        """Return a copy of the fitted estimator with its parameters at other coordinates.

        Parameters
        ----------
        vector : array of shape (coordinates,)
            As `free_parameters().vector`.
        """
        check_is_fitted(self, "_params")
        moved = copy(self)
        moved._params = self._row_scores().at(np.asarray(vector, np.float64))
        return moved

    @available_if(_has_row_scores)  # type: ignore[untyped-decorator]
    def _row_gradients(self, X: object) -> Floats:
        """Return the gradient of each row's log-likelihood by the coordinates of `free_parameters` (the row's score).

        By Fisher's identity it is the posterior mean of the gradient that one would have if hidden codes were known.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        gradients : ndarray of shape (rows, coordinates)
        """
        table = as_table(self, X, reset=False)
        return information.row_gradients(self._row_scores(), table)

    @available_if(_has_row_scores)  # type: ignore[untyped-decorator]
    def _observed_information(self, X: object, sample_weight: ArrayLike | None = None) -> Floats:
        """Return minus the second derivatives of the log-likelihood of X by the coordinates of `free_parameters`.

        By Louis' formula: the expected curvature if hidden codes were known, less what not knowing them costs. The
        prior of a fit is not part of it.

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
        return information.observed_information(self._row_scores(), table)

    # ------------------------------------------------------------------------------------------- files and summaries

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file that holds no code; see `hiddenbits.load`.

        Parameters
        ----------
        path : path
            The file.
        """
        persistence.save(self, path)

    def summary(self) -> Summary:
        """Return how the fit went and what was found, as named tables that print themselves.

        Returns
        -------
        summary : Summary
            `tables` has the tables as frames, by name; print it, or show it in a notebook.
        """
        check_is_fitted(self, "_params")
        return Summary(repr(self), self._story(), self._tables())

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._story_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        return {kind: text + self._story_html() if kind == "text/html" else text for kind, text in bundle.items()}

    def _story_html(self) -> str:
        return story_html(self._story()) if hasattr(self, "converged_") else ""


def _total(rows: Callable[[Block], Floats], block: Block) -> Floats:
    """Return the weighed sum over the rows of a block, and their weight."""
    return np.array([block.weights @ rows(block), block.weights.sum()])
