"""Closed-form fits: if the statistics do not depend on the parameters, one pass over the table is enough."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from hiddenbits.data import Grid
from hiddenbits.engine.block_statistics import block_statistics
from hiddenbits.engine.executors.local import Executor
from hiddenbits.engine.loops.fit_context import FitContext
from hiddenbits.engine.loops.restarts import all_restarts
from hiddenbits.engine.outcome import Outcome, StopReason
from hiddenbits.engine.state import CheckpointStore, Position, Settings, Watch
from hiddenbits.model_api import Key, Model, P, S


def fit_closed_form(
    model: Model[P, S],
    grid: Grid,
    executor: Executor,
    settings: Settings,
    checkpoints: CheckpointStore | None,
    watch: Watch | None,
) -> Outcome:
    """Fit a model in one pass; the objective is computed at the updated parameters."""
    return all_restarts(model, one_pass, grid, executor, settings, checkpoints, watch)


def one_pass(model: Model[P, S], context: FitContext, position: Position) -> tuple[Position, StopReason]:
    """Make the one pass over the table."""
    key = Key(context.settings.seed, position.restart)
    shared = model.prepare(position.params)
    stats = context.passes(partial(block_statistics, model, position.params, shared, key, None))
    params = model.update(position.params, stats)
    objective = model.objective(params, stats)
    position = replace(position, params=params, safe=params, objective=objective, trace=(*position.trace, objective))
    reason = StopReason.CONVERGED if np.isfinite(objective) else StopReason.NOT_FINITE
    context.after_pass(position, reason)
    return position, reason
