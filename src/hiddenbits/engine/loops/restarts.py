"""Restarts, one after the other, and the stages of each: how they begin and end, whatever loop is in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from hiddenbits.data import Grid
from hiddenbits.data.summary import ColumnSums, summarize
from hiddenbits.engine.executors.local import Executor, one_blas_thread
from hiddenbits.engine.loops.fit_context import LOG, FitContext, Loop, RestartLoop
from hiddenbits.engine.loops.online_em import FORGETTING, online_pass
from hiddenbits.engine.loops.subsample_start import MORE, SubsampleStart
from hiddenbits.engine.outcome import Outcome, Restart, StopReason
from hiddenbits.engine.recorded_cells import check_recorded_cells
from hiddenbits.engine.state import Best, CheckpointStore, Online, Position, Settings, Watch
from hiddenbits.model_api import Key, Model, P, Passes, S, Stage, stages_of

QUICK_ITERATIONS = 400  # of a quick way, where time is limited


def all_restarts(
    model: Model[P, S],
    loop: Loop,
    grid: Grid,
    executor: Executor,
    settings: Settings,
    checkpoints: CheckpointStore | None,
    watch: Watch | None,
    alternative_starts: Sequence[RestartLoop] = (),
) -> Outcome:
    """Run all restarts, or those that are left; return the best.

    `loop` is the one that the stages of a restart go by. `alternative_starts` are tried on the subsample; without one,
    before all else where time is limited.
    """
    one = partial(restart, model, loop)
    with one_blas_thread():
        context = FitContext(grid, executor, settings, executor.reduce(summarize, grid), checkpoints, watch)
        check_recorded_cells(grid.table, context.summary)
        subsample = SubsampleStart(model, (one, *alternative_starts), context)
        if subsample.n_rows and settings.n_init > 1:
            context = replace(context, settings=replace(settings, n_init=MORE * settings.n_init))
            subsample = replace(subsample, context=context)
        position = _loaded(context)
        fresh = position.params is None and not position.finished
        limited = settings.max_time is not None and not subsample.n_rows
        quick = _quick_fits(alternative_starts, context) if limited and fresh else []
        while position.restart < context.settings.n_init and not ((position.finished or quick) and context.late()):
            position = _first_position(context, subsample, position)
            if position.restart < context.settings.n_init:  # it has not ended on the subsample
                position = one(context, position)
            context.log_stop("Restart %d of %d", position)
    position = _in_time(position, quick)
    best = position.best
    independent = context.summary.independent(grid.table.layout) if grid.table.only_bits else None
    return Outcome(best.params, np.array(best.trace), best.stages, best.restart, position.finished, independent)


def _quick_fits(ways: Sequence[RestartLoop], context: FitContext) -> list[Position]:
    """Return what quick ways come to in some iterations: the fit where there is no time for a better one.

    They are not saved, and callbacks do not hear of them.
    """
    settings = replace(context.settings, n_init=1, max_iter=min(QUICK_ITERATIONS, context.settings.max_iter))
    aside = replace(context, settings=settings, checkpoints=None, watch=None)
    return [way(aside, Position()) for way in ways]


def _in_time(position: Position, quick: Sequence[Position]) -> Position:
    """Return the end of a fit: that of a quick way where time was over before the others came further.

    A fit that had the time it needs is the one without a limit.
    """
    best, ended = position.best, position.finished
    if ended and ended[best.restart].reason is not StopReason.TIME:
        return position
    reached = ended[best.restart].objective if ended else -np.inf
    for there in quick:
        only = there.finished[0]
        if only.objective > reached or not position.finished:
            reached = only.objective
            position = replace(there, finished=(replace(only, reason=StopReason.TIME),))
    return position


def _loaded(context: FitContext) -> Position:
    """Return where to continue: the position in the checkpoint, or the very beginning."""
    kept = context.checkpoints.load(context.summary) if context.checkpoints else None
    if kept is not None and kept.params is not None:
        LOG.info("Continuing from the checkpoint: restart %d, pass %d.", kept.restart + 1, len(kept.trace))
        if context.logged:
            context.logged.moved(kept)
    return kept or Position()


def _first_position(context: FitContext, subsample: SubsampleStart, position: Position) -> Position:
    """Return where the loop of a restart begins: with parameters, if a subsample gave them."""
    fresh = position.params is None
    if fresh:
        LOG.info("Restart %d of %d begins.", position.restart + 1, context.settings.n_init)
    if subsample.n_rows:
        if fresh:
            position = context.keep(subsample.best_start())
        subsample.drop_checkpoints()
    return position


# ------------------------------------------------------------------------------------------------------- one restart


def restart(model: Model[P, S], loop: Loop, context: FitContext, position: Position) -> Position:
    """Go through one restart, or what is left of it: one stage after the other, each by its loop."""
    position, stages = started(model, context, position), stages_of(model)
    while True:
        stage = stages[position.stage]
        settings = replace(context.settings, tol=stage.tolerance * context.settings.tol)
        position, reason = (stage.loop or loop)(stage.model, replace(context, settings=settings), position)
        following = _next_stage(stages, context, position, reason)
        if following is None:
            break
        position = context.keep(following)
    ended = context.keep(_finished(model, context.settings, position, reason))
    if context.watch:
        context.watch(position, True)
    return ended


def _next_stage(
    stages: Sequence[Stage[P, S]], context: FitContext, position: Position, reason: StopReason
) -> Position | None:
    """Return where the next stage begins; None where the fit is over, or was asked to stop."""
    number = position.stage + 1
    if reason not in (StopReason.CONVERGED, StopReason.MAX_ITER) or context.pace.stop or number == len(stages):
        return None
    params = _begun(stages, number, position.safe, Key(context.settings.seed, position.restart))
    if params is None:
        return None
    return Position(
        restart=position.restart,
        params=params,
        safe=params,
        trace=position.trace,
        stage=number,
        stages=(*position.stages, len(position.trace)),
        online=position.online,
        finished=position.finished,
        best=position.best,
    )


def _begun(stages: Sequence[Stage[P, S]], number: int, params: P, key: Key) -> P | None:
    """Return the parameters that a stage begins with; None where there is nothing left for it to do."""
    begin = stages[number].begin
    return params if begin is None else begin(params, key.stream("stage", number - 1))


# ---------------------------------------------------------------------------------------- what every loop begins with


def started(model: Model[P, S], context: FitContext, position: Position) -> Position:
    """Return the position after the start of a restart and its online passes, which the last stage makes."""
    settings = context.settings
    if position.params is None:
        passes = (model.promises.start_sees_all and context.over_all) or context.passes
        position = start_restart(model, settings, context.summary, passes, position)
        if settings.online_passes:
            position = _at_last_stage(model, settings, position)
        position = context.keep(position)
    while position.online.passes < settings.online_passes:
        position = context.keep(_one_online_pass(stages_of(model)[-1].model, context, position))
    return position


def start_restart(
    model: Model[P, S], settings: Settings, summary: ColumnSums, passes: Passes, position: Position
) -> Position:
    """Make the start of a restart."""
    key = Key(settings.seed, position.restart)
    start = model.start(summary, key, passes)
    return replace(position, params=start, safe=start)


def _at_last_stage(model: Model[P, S], settings: Settings, position: Position) -> Position:
    """Return a start where all stages have begun, one after the other: online EM has no stages."""
    params = _through_stages(model, position.params, 1, Key(settings.seed, position.restart))
    return replace(position, params=params, safe=params, stage=len(stages_of(model)) - 1)


def _through_stages(model: Model[P, S], params: P, first: int, key: Key, *, to_size: bool = False) -> P:
    """Return parameters after all stages from the first of these on have begun; or, of the declared size, fewer."""
    stages = stages_of(model)
    for number in range(first, len(stages)):
        if to_size and not model.mismatch(params):
            break
        begun = _begun(stages, number, params, key)
        params = params if begun is None else begun
    return params


def _one_online_pass(model: Model[P, S], context: FitContext, now: Position) -> Position:
    """Walk the table once by online EM."""
    key = Key(context.settings.seed, now.restart).stream("online", now.online.passes)
    params, running = online_pass(
        model, now.params, now.online.running, context.executor, context.grid, key, context.weight, FORGETTING
    )
    return replace(now, params=params, safe=params, online=Online(now.online.passes + 1, running))


# ------------------------------------------------------------------------------------------ what every loop ends with


def _finished(model: Model[P, S], settings: Settings, position: Position, reason: StopReason) -> Position:
    """Put a restart on record, and its parameters, completed to the declared size, if it is the best so far."""
    finished = (*position.finished, Restart(position.objective, len(position.trace), reason))
    best, restart = position.best, position.restart
    if best.restart < 0 or position.objective > finished[best.restart].objective:
        # A fit that was stopped may have classes or layers still to come.
        key = Key(settings.seed, restart)
        params = _through_stages(model, position.safe, position.stage + 1, key, to_size=True)
        best = Best(restart, params, position.trace, position.stages, position.stage)
    return Position(restart=restart + 1, finished=finished, best=best)
