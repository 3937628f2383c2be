"""What all estimators share: the verbs, the loop's results, and nothing of any model."""

from __future__ import annotations

import logging
import warnings
from abc import abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Generic, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import AnyArray, Floats, Randomness
from hiddenbits.data import Block, Grid, Table
from hiddenbits.data.coding.coded_columns import Coding
from hiddenbits.data.collapse import collapsed
from hiddenbits.data.layout import layout_of
from hiddenbits.engine import (
    Checkpoint,
    Key,
    Outcome,
    Position,
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
from hiddenbits.families._base.callbacks import CallbackSupportMixin, watching, with_callbacks
from hiddenbits.families._base.file_verbs import FileVerbs
from hiddenbits.families._base.inputs import (
    TakesTables,
    as_table,
    rows_of,
    seed_of,
    warn_of_small_weights,
)
from hiddenbits.families._base.outputs import drawn_values, in_own_values, like
from hiddenbits.families._base.parameters import column_sizes
from hiddenbits.families._base.partial_fit import OnlineVerbs, RefitVerb
from hiddenbits.families._base.showing import ShowsItself
from hiddenbits.families._base.sizes import (
    HiddenParts,
    check_n_samples,
    few_distinct_rows,
    few_enough,
    refuse_unsupported,
    rows_to_begin_on,
)
from hiddenbits.model_api import BeginsOnFew, P, Planned, RowModel, S
from hiddenbits.store.validation import require

LOG = logging.getLogger(__name__)
RowFunction = Callable[[P, Any, Block], Floats]  # of the parameters, what was prepared of them, and a block
SMALL = 2_000_000  # arithmetic of a pass, by weight, columns and model, up to which a table is small
DRAW_ROWS = 65536  # rows drawn at a time, each run with a key of its own


class BitsEstimator(
    TakesTables,
    OnlineVerbs,
    RefitVerb,
    FileVerbs,
    ShowsItself,
    CallbackSupportMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
    Generic[P, S],
):
    """Base of all estimators: fit, score, sample, complete; partial_fit and files have their own files.

    Subclasses give the model with `_model` and list their hyperparameters in `__init__`.
    """

    _hidden_parts: ClassVar[tuple[HiddenParts, ...]] = ()  # what a fit's table must be able to support

    # Hyperparameters that every subclass has.
    n_init: int | Literal["auto"]
    max_iter: int
    tol: float
    online_passes: int
    accelerate: bool
    threshold: float | None
    random_state: Randomness

    # Set by fit.
    params_: P
    n_iter_: int
    weight_seen_: float
    running_: Running | None
    n_features_in_: int
    coding_: Coding | None
    table_version_: int | None  # of the Delta table of the fit

    @abstractmethod
    def _model(self) -> RowModel[P, S]:
        """Return the model with these hyperparameters."""

    def _options(self) -> dict[str, Any]:
        """Return the options of parameters that hold several, also where a word or None stands for them."""
        return {}

    def _validate_params(self) -> None:
        super()._validate_params()
        for value in self.get_params(deep=False).values():
            if isinstance(value, BaseEstimator):
                value._validate_params()

    def _fit_model(self, model: RowModel[P, S], table: Table) -> Any:
        """Return the model that a fit to this table goes by; `_finished` makes its parameters those of `_model`."""
        return model

    @property
    def _loop(self) -> Callable[..., Outcome]:
        """The engine's loop that fits go by."""
        model = self._model()
        passes = fit_planned if isinstance(model, Planned) else fit_em
        return fit_closed_form if model.promises.closed_form else passes

    def _rows_to_begin_on(self) -> int | None:
        """Return how many rows fits to large tables begin on; None where they begin with all."""
        can = self.max_iter and not self.online_passes and isinstance(self._model(), BeginsOnFew)
        return rows_to_begin_on(self._n_hidden) if can else None

    @property
    def _n_hidden(self) -> int:
        """The number of classes, dimensions or other hidden parts."""
        return int(np.sum(getattr(self, "n_components", 1)))  # layers have several

    def _arranged(self, model: RowModel[P, S], table: Table) -> Table:
        """Return the table in the order in which a fit walks it."""
        return table

    def _finished(self, params: P) -> P:
        """Return parameters as a fit hands them over; a model with many equal forms chooses one here."""
        return params

    def _more_meta(self) -> dict[str, object]:
        """Return what a model file says beyond what all of them say."""
        return {}

    def _take_meta(self, more: dict[str, object], n_columns: object, names: object) -> None:
        """Take what `_more_meta` returned from a file; refuse what it could not have returned."""
        require(not more, "its description is not complete")

    def _n_columns_of(self, params: P) -> int:
        """Return the number of columns of the table that parameters belong to."""
        return params.n_columns

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
        table = as_table(self, X, reset=True, sample_weight=sample_weight)
        given = table
        refuse_unsupported(self, table)
        warn_of_small_weights(table)
        model = self._model()
        settings = replace(self._settings(), start_rows=few_enough(self._rows_to_begin_on(), table.shape[0]))
        table = self._arranged(model, table)
        model = self._fit_model(model, table)
        grid = self._pass_grid(model, table, settings)
        if grid.table.shape[0] < few_distinct_rows(settings.start_rows, table.shape[1]):
            settings = replace(settings, start_rows=None)
        weight = float(table.shape[0] if table.weights is None else table.weights.sum())
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
        return self

    def _more_starts(self, settings: Settings, _size: float) -> Settings:
        """Return the settings with the further starts that n_init="auto" has on a table with so small a pass."""
        return settings

    def _starts_on_few(self, settings: Settings) -> Settings:
        """Return the settings with the short runs that n_init="auto" has on the rows that a fit begins on."""
        return settings

    def _settings_for(self, settings: Settings, model: Any, weight: float, n_columns: int) -> Settings:
        """Return the settings for a table of this weight and width.

        Neither the rows nor the cells that are walked decide: they depend on how a table is stored.
        """
        if self.n_init != "auto" or settings.online_passes:
            return settings
        size = weight * model.footprint(n_columns, n_columns).flops
        if size <= SMALL:
            return replace(self._more_starts(settings, size), start_rows=None)
        return settings if settings.start_rows is None else self._starts_on_few(settings)

    def _settings(self) -> Settings:
        return Settings(
            n_init=self._n_restarts,
            max_iter=self.max_iter,
            tol=self.tol,
            online_passes=self.online_passes,
            accelerate=self.accelerate,
            seed=seed_of(self.random_state),
        )

    def _keep(self, outcome: Outcome, weight: float) -> None:
        """Set the fitted attributes; warn where the fit did not converge."""
        best = outcome.restarts[outcome.best]
        self.params_, self.trace_ = self._finished(outcome.params), outcome.trace
        self.n_iter_ = best.n_iter
        self.stop_reason_ = str(best.reason)
        self.converged_ = best.reason is StopReason.CONVERGED
        self.restarts_ = outcome.restarts
        self.weight_seen_ = weight
        self.running_ = None
        self._independent = outcome.independent
        for said in self._cautions():
            warnings.warn(said, ConvergenceWarning, stacklevel=3)

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

    def _attributes_at(self, weight: float, position: Position) -> dict[str, object]:
        """Return the fitted attributes as they would be if the fit stopped here."""
        return {
            "params_": self._finished(position.safe),
            "n_features_in_": self.n_features_in_,
            "trace_": np.array(position.trace),
            "n_iter_": len(position.trace),
            "stop_reason_": str(StopReason.CALLBACK),
            "converged_": False,
            "restarts_": (),
            "weight_seen_": weight,
            "running_": None,
        }

    # ------------------------------------------------------------------------------------------------ verbs over rows

    def _map(self, X: object, row_function: RowFunction[P]) -> Floats:
        """Return row_function(params, shared, block) for all rows of X."""
        check_is_fitted(self, "params_")
        table = as_table(self, X, reset=False)
        with one_blas_thread():
            results = current().executor.map_rows(*self._walk(table, row_function))
            return rows_of(results, table.shape[0])

    def _walk(self, table: Table, row_function: RowFunction[P]) -> tuple[Callable[[Block], Floats], Grid]:
        """Return a function of the rows of a block, at the fitted parameters, and the blocks of a table."""
        model = self._model()
        shared = model.prepare(self.params_)
        return partial(row_function, self.params_, shared), table.grid(self._height(model, table))

    def _likelihood(self) -> RowFunction[P]:
        """Return the row function behind `score_samples` and `score`, and make what it rests on."""
        check_is_fitted(self, "params_")
        return self._model().log_likelihood

    @property
    def likelihood_(self) -> str:
        """What `score_samples` returns: "exact", "bound" or "estimate"."""
        check_is_fitted(self, "params_")
        return self._model().promises.likelihood

    def score_samples(self, X: object) -> Floats:
        """Return the log-likelihood of each row's observed bits, in nats; `likelihood_` says of which kind.

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
        check_is_fitted(self, "params_")
        table = as_table(self, X, reset=False, sample_weight=sample_weight)
        with one_blas_thread():  # sums alone: the answers of a billion rows would not fit in memory
            rows, grid = self._walk(table, self._likelihood())
            total, weight = current().executor.reduce(partial(_total, rows), grid)
        return float(total / weight)

    def complete(self, X: object) -> Any:
        """Fill in the missing cells with P(bit = 1 | the row's observed bits); observed cells stay as they are.

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

    def _like(self, X: object, row_function: RowFunction[P], *, own_values: bool = False) -> Any:
        """Return row_function of all rows as X is: an array, or a frame, if asked in the user's own values."""
        check_is_fitted(self, "params_")
        if getattr(self, "coding_", None) is None or isinstance(X, Table):
            return like(X, self._map(X, row_function))
        table = as_table(self, X, reset=False)
        found = self._map(table, row_function)
        return in_own_values(X, table, found) if own_values else like(X, found, table.names)

    def bit_probabilities(self, X: object) -> Any:
        """Return P(bit = 1 | the other observed bits of the row) for every cell, observed or not.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        probabilities : ndarray of shape (rows, columns), or a frame where X is one
        """
        return self._like(X, self._model().leave_one_out)

    def sample(self, n_samples: int = 1, *, random_state: Randomness = None) -> Any:
        """Draw new rows from the fitted model.

        Parameters
        ----------
        n_samples : int
            Number of rows. More than fit in memory are an error before any row is drawn.
        random_state : int, RandomState or None
            Seed of the draw; by default that of the estimator.

        Returns
        -------
        X : ndarray of shape (n_samples, columns) of uint8, or what `set_output` asks for
            Where the fit made bits of other values (`coding_`), these values: a frame like that of the fit, or a dict
            of columns where the fit was to a file; after a fit to an array with nominal or ordinal columns an array.
        """
        check_is_fitted(self, "params_")
        return self._drawn(partial(self._model().draw, self.params_), n_samples, random_state)

    def _drawn(
        self,
        draw: Callable[[int, np.random.Generator], tuple[AnyArray, Floats]],
        n_samples: int,
        random_state: Randomness,
        dtype: DTypeLike = np.uint8,
    ) -> Any:
        """Return what draw(n, rng) makes, some rows at a time, each run of rows with a key of its own."""
        check_n_samples(self, n_samples, dtype)
        key = Key(seed_of(self.random_state if random_state is None else random_state)).stream("sample")
        tell = current().tell
        out: AnyArray = np.empty((n_samples, self._n_columns_of(self.params_)), dtype)
        for number, start in enumerate(range(0, n_samples, DRAW_ROWS)):
            stop = min(start + DRAW_ROWS, n_samples)
            out[start:stop] = draw(stop - start, key.at(block=number).rng())[0]
            if tell is not None:
                tell(stop - start)
        return drawn_values(self, out)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _total(rows: Callable[[Block], Floats], block: Block) -> Floats:
    """Return the weighed sum over the rows of a block, and their weight."""
    return np.array([block.weights @ rows(block), block.weights.sum()])
