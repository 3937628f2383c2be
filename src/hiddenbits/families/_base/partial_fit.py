"""`partial_fit`: learning from some rows after the other, by online EM."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from hiddenbits.data import Grid
from hiddenbits.data.summary import Summary
from hiddenbits.engine import (
    Executor,
    Key,
    Local,
    Outcome,
    Position,
    Running,
    current,
    first_rows,
    fit_closed_form,
    fit_em,
    one_blas_thread,
    online_form,
    online_pass,
)
from hiddenbits.engine.executors.progress import without_progress
from hiddenbits.families._base.inputs import as_table, seed_of
from hiddenbits.families._base.sizes import refuse_unsupported
from hiddenbits.model_api import Averages

FIRST_RESTARTS = 4  # times as many restarts as a fit has: few rows have more poor maxima, and restarts cost little


class OnlineVerbs:
    """The verb that learns from further rows, for all estimators."""

    n_init: int | Literal["auto"]
    _usual_restarts: ClassVar[int] = 1  # what n_init="auto" stands for, where it may be said
    _online_seed: int
    running_: Running | None

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
        _learn(self, X, sample_weight)
        return self

    @property
    def _n_restarts(self) -> int:
        """The number that `n_init` stands for."""
        return self._usual_restarts if self.n_init == "auto" else self.n_init

    def _first_restarts(self) -> int:
        """Return the restarts of the fit that online EM begins with; a family with one start needs no more of them."""
        return self._n_restarts if self._n_restarts == 1 else FIRST_RESTARTS * self._n_restarts


def _learn(estimator: Any, X: object, sample_weight: ArrayLike | None) -> None:
    estimator._validate_params()
    begun = hasattr(estimator, "params_")
    table = as_table(estimator, X, reset=not begun, sample_weight=sample_weight)
    refuse_unsupported(estimator, table, more_rows=True)
    model, executor = estimator._model(), current().executor
    grid = table.grid(estimator._pass_height(model, table))
    with one_blas_thread():
        running = estimator.running_ if begun else Running()
        if running is None or not begun:
            estimator._online_seed = seed_of(estimator.random_state)
        params = estimator.params_ if begun else _first_fit(estimator, model, grid, executor)
        if running is None:  # continue from a fit: its rows count as if they were what the fit expects
            form = online_form(model)
            assert isinstance(form, Averages)  # noqa: S101  (a model without it has refused)
            stats = form.pseudo_statistics(params, estimator.weight_seen_)
            running = Running(stats.scaled(1.0 / estimator.weight_seen_), estimator.n_iter_, estimator.weight_seen_)
        key = Key(estimator._online_seed, 0, running.steps)
        estimator.params_, running = online_pass(model, params, running, executor, grid, key)
    estimator.running_ = running
    estimator.weight_seen_ = running.weight
    estimator.n_iter_ = running.steps
    estimator.stop_reason_ = "online"
    estimator.converged_ = False
    estimator.trace_ = np.zeros(0)
    estimator.restarts_ = ()


def _first_fit(estimator: Any, model: Any, grid: Grid, executor: Executor) -> Any:
    """Return the parameters that online EM begins with: a fit to the first rows, restarts, stages and all."""
    settings = replace(
        estimator._settings(),
        n_init=estimator._first_restarts(),
        seed=estimator._online_seed,
        online_passes=0,
        start_rows=None,
    )
    grid = first_rows(grid, executor, estimator._online_seed)
    if grid.table.source.resident and not isinstance(without_progress(executor), Local):
        executor = Local()  # the rows are here, and few
    return estimator._finished(estimator._loop(model, grid, executor, settings, None, None).params)


# `refit`: fit again from where the parameters are, for bootstrap replicates and tables that have changed a little.


@dataclass(frozen=True, eq=False)
class _BeginsAt:
    """Stands for a checkpoint: the fit continues from given parameters, and nothing is kept."""

    position: Position

    def load(self, summary: Summary) -> Position:
        return self.position

    def save(self, position: Position, summary: Summary) -> None:
        return

    def beside(self, name: str) -> _BeginsAt:
        return self

    def drop(self) -> None:
        return


class RefitVerb:
    """Adds `refit` to all estimators."""

    params_: Any

    @property
    @abstractmethod
    def _loop(self) -> Callable[..., Outcome]:
        """The engine's loop that fits go by."""

    def refit(self, X: object, sample_weight: ArrayLike | None = None, *, tol: float | None = None) -> Self:
        """Return a copy that is fitted to X, or to other weights, beginning at the fitted parameters.

        There is one restart and no start: far fewer passes than `fit` needs, but no other maximum is looked for. A
        prior stays centred where it was.

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
        check_is_fitted(self, "params_")
        made: Any = copy(self)
        if self._loop not in (fit_em, fit_closed_form) or made._model().promises.scheduled:
            raise ValueError(
                f"refit is for EM until it stands still; {self} learns by a schedule or random steps. Use fit."
            )
        table = as_table(made, X, reset=False, sample_weight=sample_weight)
        model = made._model()
        table = made._arranged(model, table)
        weight = float(table.shape[0] if table.weights is None else table.weights.sum())
        settings = replace(made._settings(), n_init=1, online_passes=0, start_rows=None)
        settings = settings if tol is None else replace(settings, tol=tol)
        grid = made._pass_grid(model, table, settings)
        # A model that polishes begins there: its first stage is behind it.
        stages = (0,) if model.promises.speculative else ()
        begin = _BeginsAt(Position(params=self.params_, safe=self.params_, stages=stages))
        made._keep(self._loop(model, grid, current().executor, settings, begin, None), weight)
        return made  # type: ignore[no-any-return]
