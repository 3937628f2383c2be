"""`partial_fit` (online EM, batch by batch) and refits that start from fitted parameters."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, TypeVar

from numpy.typing import ArrayLike

from hiddenbits.data import Grid
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


def update_online(estimator: Estimator, X: object, sample_weight: ArrayLike | None) -> None:
    """Update the estimator with a batch of rows; an unfitted estimator is first fitted to the batch."""
    estimator._validate_params()
    fitted = hasattr(estimator, "_params")
    table = as_table(estimator, X, reset=not fitted, sample_weight=sample_weight)
    refuse_unsupported(estimator, table, more_rows=True)
    if not fitted:
        estimator._begin_fit(table, None)
    model, executor = estimator._model(), current().executor
    online_model = online_form(model)
    if not isinstance(online_model, Averages):
        raise ValueError(
            'partial_fit needs a model that can be enumerated (method="exact"). Otherwise use fit on the whole table, '
            "which may be larger than memory."
        )
    grid = table.grid(estimator._pass_height(model, table))
    with one_blas_thread():
        running = estimator._running if fitted else Running()
        if running is None or not fitted:
            estimator._online_seed = seed_of(estimator.random_state)
        params = estimator._params if fitted else _first_fit(estimator, grid, executor)
        if running is None:  # after a `fit`, the statistics of its rows are those that the fitted model expects
            stats = online_model.pseudo_statistics(params, estimator._fit_weight)
            running = Running(stats.scaled(1.0 / estimator._fit_weight), estimator.n_iter_, estimator._fit_weight)
        key = Key(estimator._online_seed, 0, running.steps)
        params, running = online_pass(model, params, running, executor, grid, key)
    estimator.__dict__.update(fit_record(params, running.weight, "online", n_iter=running.steps, running=running))


def _first_fit(estimator: Estimator, grid: Grid, executor: Executor) -> Any:
    """Return the initial parameters of online EM: those of a fit to the first rows, with restarts and stages."""
    settings = replace(
        estimator._settings(),
        n_init=estimator._online_restarts(),
        seed=estimator._online_seed,
        online_passes=0,
        start_rows=None,
    )
    grid = first_rows(grid, executor, estimator._online_seed)
    if grid.table.source.resident and not isinstance(without_progress(executor), Local):
        executor = Local()  # these are few rows
    return estimator._canonical_params(estimator._loop(estimator._model(), grid, executor, settings, None, None).params)


def refit(estimator: E, X: object, sample_weight: ArrayLike | None, tol: float | None) -> E:
    """Return a copy that is fitted to X, starting from the fitted parameters."""
    refitted, model = copy(estimator), estimator._model()
    if refitted._loop not in (fit_em, fit_closed_form):
        raise ValueError(
            f"refit needs EM to convergence, but {refitted} is fitted by a schedule or by random steps. Use fit."
        )
    table = refitted._ordered_table(model, as_table(refitted, X, reset=False, sample_weight=sample_weight))
    settings = replace(refitted._settings(), n_init=1, online_passes=0, start_rows=None)
    settings = settings if tol is None else replace(settings, tol=tol)
    grid = refitted._pass_grid(model, table, settings)
    last_stage = len(stages_of(model)) - 1
    position = Position(params=refitted._params, safe=refitted._params, stage=last_stage)
    start = SimpleNamespace(load=lambda _: position, save=lambda *_: None)  # a checkpoint that is not in a file
    refitted._set_fitted(refitted._loop(model, grid, current().executor, settings, start, None), total_weight(table))
    return refitted
