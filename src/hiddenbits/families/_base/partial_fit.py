"""Learning from some rows after the other, by online EM, and from where a fit ended: `partial_fit` and `refit`."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from numpy.typing import ArrayLike

from hiddenbits.data import Grid
from hiddenbits.data.summary import ColumnSums
from hiddenbits.engine import (
    Executor,
    Key,
    Local,
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
from hiddenbits.families._base.inputs import as_table, seed_of, total_weight
from hiddenbits.families._base.protocol import Estimator
from hiddenbits.families._base.record import fit_record
from hiddenbits.families._base.sizes import refuse_unsupported
from hiddenbits.model_api import Averages, stages_of

E = TypeVar("E", bound=Estimator)


def learn(estimator: Estimator, X: object, sample_weight: ArrayLike | None) -> None:
    """Learn from some rows; the first ones are fitted, or a fit continues."""
    estimator._validate_params()
    begun = hasattr(estimator, "_params")
    table = as_table(estimator, X, reset=not begun, sample_weight=sample_weight)
    refuse_unsupported(estimator, table, more_rows=True)
    model, executor = estimator._model(), current().executor
    form = online_form(model)
    if not isinstance(form, Averages):
        raise ValueError(
            'partial_fit needs a model that can be enumerated (method="exact"). Otherwise fit the whole table at once: '
            "it may be larger than memory."
        )
    grid = table.grid(estimator._pass_height(model, table))
    with one_blas_thread():
        running = estimator._running if begun else Running()
        if running is None or not begun:
            estimator._online_seed = seed_of(estimator.random_state)
        params = estimator._params if begun else _first_fit(estimator, grid, executor)
        if running is None:  # continue from a fit: its rows count as if they were what the fit expects
            stats = form.pseudo_statistics(params, estimator._fit_weight)
            running = Running(stats.scaled(1.0 / estimator._fit_weight), estimator.n_iter_, estimator._fit_weight)
        key = Key(estimator._online_seed, 0, running.steps)
        params, running = online_pass(model, params, running, executor, grid, key)
    estimator.__dict__.update(fit_record(params, running.weight, "online", n_iter=running.steps, running=running))


def _first_fit(estimator: Estimator, grid: Grid, executor: Executor) -> Any:
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
    return estimator._finished(estimator._loop(estimator._model(), grid, executor, settings, None, None).params)


@dataclass(frozen=True, eq=False)
class _BeginsAt:
    """Stands for a checkpoint: the fit continues from given parameters, and nothing is kept."""

    position: Position

    def load(self, summary: ColumnSums) -> Position:
        return self.position

    def save(self, position: Position, summary: ColumnSums) -> None:
        return

    def beside(self, name: str) -> _BeginsAt:
        return self

    def drop(self) -> None:
        return


def refit(estimator: E, X: object, sample_weight: ArrayLike | None, tol: float | None) -> E:
    """Return a copy that is fitted to X, beginning at the fitted parameters."""
    made, model = copy(estimator), estimator._model()
    if made._loop not in (fit_em, fit_closed_form):
        raise ValueError(
            f"refit is for EM until it stands still; {made} learns by a schedule or random steps. Use fit."
        )
    table = made._arranged(model, as_table(made, X, reset=False, sample_weight=sample_weight))
    settings = replace(made._settings(), n_init=1, online_passes=0, start_rows=None)
    settings = settings if tol is None else replace(settings, tol=tol)
    grid = made._pass_grid(model, table, settings)
    last = len(stages_of(model)) - 1  # the fit is behind it: only the last stage is repeated
    begin = _BeginsAt(Position(params=made._params, safe=made._params, stage=last))
    made._keep(made._loop(model, grid, current().executor, settings, begin, None), total_weight(table))
    return made
