"""From the call of a fit to its result: restarts, at once or one after the other, and the stages of each restart.

One fit goes through the following functions; a `Position` (`engine/state.py`) is handed from each to the next.

1. A family calls `fit_em`, or the `fit_...` of another loop, which calls `all_restarts` with its loop.
2. `all_restarts` sums up the columns, makes the `FitContext` (table, executor, settings, checkpoints, callbacks), and
   loads the position of a checkpoint if there is one.
3. On a long table `SubsampleStart` runs the restarts on a subsample; the best of them continues here on all rows.
   Without checkpoint, callbacks and time limit restarts are tasks that run at once (`executors/whole_fits.py`).
4. `restart` runs one restart: `started` makes the first parameters, then each stage goes through its loop.
5. The loop makes passes over the table until there is a `StopReason`. In EM (`em.py`) a pass is `evaluate` (statistics
   of all blocks, added by the executor), `judge` (a verdict), `advance` (the next position).
6. After each pass `FitContext.after_pass` calls the callbacks and saves the checkpoint.
7. `_finished` records the restart, and keeps its parameters if it is the best so far. The best restart is the result,
   an `Outcome`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from hiddenbits.data import Grid
from hiddenbits.data.summary import ColumnSums, summarize
from hiddenbits.engine.executors.local import Executor, Local, one_blas_thread
from hiddenbits.engine.executors.whole_fits import at_once, map_tasks
from hiddenbits.engine.loops.fit_context import LOG, FitContext, Loop, RestartLoop
from hiddenbits.engine.loops.online_em import FORGETTING, online_pass
from hiddenbits.engine.loops.subsample_start import RESTART_FACTOR, SubsampleStart
from hiddenbits.engine.outcome import Outcome, Restart, StopReason
from hiddenbits.engine.recorded_cells import check_recorded_cells
from hiddenbits.engine.state import Best, CheckpointStore, Online, Position, Settings, Watch
from hiddenbits.model_api import Key, Model, P, Passes, S, Stage, stages_of

QUICK_ITERATIONS = 400  # passes of a quick strategy, if time is limited


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
    """Run all restarts, or after a resume the remaining ones; return the best.

    `loop` runs the stages that have no loop themselves. `alternative_starts` are further strategies for a
    restart: they are tried on the subsample or, without a subsample, before the restarts if time is limited.
    """
    default_strategy = partial(restart, model, loop)
    strategies: tuple[RestartLoop, ...] = (default_strategy, *alternative_starts)
    with one_blas_thread():
        context = FitContext(grid, executor, settings, executor.reduce(summarize, grid), checkpoints, watch)
        check_recorded_cells(grid.table, context.summary)
        subsample = SubsampleStart(model, strategies, context)
        if subsample.n_rows and settings.n_init > 1:
            context = replace(context, settings=replace(settings, n_init=RESTART_FACTOR * settings.n_init))
            subsample = replace(subsample, context=context)
    ends = _ends_at_once(default_strategy, subsample)
    with one_blas_thread():
        position = _loaded_position(context)
        if subsample.n_rows:
            subsample = replace(subsample, ends=tuple(ends))
        elif ends:
            position = _joined(ends)
        resumed = position.params is not None or position.finished
        limited = settings.max_time is not None and not subsample.n_rows
        quick_ends = _quick_fits(alternative_starts, context) if limited and not resumed else []
        n_init = context.settings.n_init
        while position.restart < n_init and not ((position.finished or quick_ends) and context.out_of_time()):
            position = _first_position(context, subsample, position)
            if position.restart < n_init:  # it has not ended on the subsample
                position = default_strategy(context, position)
            context.log_stop("Restart %d of %d", position)
    position = _best_in_time(position, quick_ends)
    best = position.best
    independent = context.summary.independent(grid.table.layout) if grid.table.only_bits else None
    return Outcome(best.params, np.array(best.trace), best.stages, best.restart, position.finished, independent)


def _ends_at_once(strategy: RestartLoop, subsample: SubsampleStart) -> list[Position]:
    """Return where all restarts end, those on the subsample if there is one; none if they run one after the other."""
    context = subsample.context
    settings, tables = context.settings, (context.grid.as_given.table, context.grid.table)
    one_by_one = context.checkpoints or context.watch or settings.max_time is not None
    if one_by_one or not at_once(context.executor, settings.n_init, tables):
        return []
    alone = replace(context, executor=Local(), progress_log=None)  # what is sent to a process or worker
    if subsample.n_rows:
        end_of: Callable[[Executor, int], Position] = replace(subsample, context=alone).end_of
    else:
        end_of = partial(_end_of, strategy, alone)
    ends = []
    for end in map_tasks(context.executor, end_of, range(settings.n_init)):
        if not subsample.n_rows:  # those on a subsample are logged there
            context.log_stop("Restart %d of %d", end)
        ends.append(end)
    return ends


def _end_of(strategy: RestartLoop, context: FitContext, executor: Executor, number: int) -> Position:
    """Return where a restart ends that is run alone."""
    with one_blas_thread():
        return strategy(replace(context, executor=executor), Position(restart=number))


def _joined(ends: Sequence[Position]) -> Position:
    """Return the position after restarts that were run alone, as if they had been run one after the other."""
    finished = tuple(end.finished[0] for end in ends)
    best = 0
    for number, record in enumerate(finished):
        if record.objective > finished[best].objective:
            best = number
    return Position(restart=len(ends), finished=finished, best=ends[best].best)


def _quick_fits(strategies: Sequence[RestartLoop], context: FitContext) -> list[Position]:
    """Return where quick strategies end after some passes: the result if there is no time for a better fit.

    They have no checkpoints and no callbacks.
    """
    settings = replace(context.settings, n_init=1, max_iter=min(QUICK_ITERATIONS, context.settings.max_iter))
    quick_context = replace(context, settings=settings, checkpoints=None, watch=None)
    return [strategy(quick_context, Position()) for strategy in strategies]


def _best_in_time(position: Position, quick_ends: Sequence[Position]) -> Position:
    """Return the end of a fit: a quick strategy's if it is better than what the restarts reached in time.

    A fit that was not stopped by the time limit is the same as without a limit.
    """
    best, finished = position.best, position.finished
    if finished and finished[best.restart].reason is not StopReason.TIME:
        return position
    highest = finished[best.restart].objective if finished else -np.inf
    for quick_end in quick_ends:
        record = quick_end.finished[0]
        if record.objective > highest or not position.finished:
            highest = record.objective
            position = replace(quick_end, finished=(replace(record, reason=StopReason.TIME),))
    return position


def _loaded_position(context: FitContext) -> Position:
    """Return where to continue: the position in the checkpoint, or the very beginning."""
    saved = context.checkpoints.load(context.summary) if context.checkpoints else None
    if saved is not None and saved.params is not None:
        LOG.info("Continuing from the checkpoint: restart %d, pass %d.", saved.restart + 1, len(saved.trace))
        if context.progress_log:
            context.progress_log.update(saved)
    return saved or Position()


def _first_position(context: FitContext, subsample: SubsampleStart, position: Position) -> Position:
    """Return where a restart begins: with parameters if they come from a subsample or a checkpoint."""
    new = position.params is None
    if new:
        LOG.info("Restart %d of %d begins.", position.restart + 1, context.settings.n_init)
    if subsample.n_rows:
        if new:
            position = context.save_checkpoint(subsample.best_start())
        subsample.drop_checkpoints()
    return position


# ------------------------------------------------------------------------------------------------------- one restart


def restart(model: Model[P, S], loop: Loop, context: FitContext, position: Position) -> Position:
    """Run one restart, or after a resume the rest of it: its stages in turn, each by its loop."""
    position, stages = started(model, context, position), stages_of(model)
    while True:
        stage = stages[position.stage]
        settings = replace(context.settings, tol=stage.tolerance * context.settings.tol)
        position, reason = (stage.loop or loop)(stage.model, replace(context, settings=settings), position)
        next_position = _next_stage(stages, context, position, reason)
        if next_position is None:
            break
        position = context.save_checkpoint(next_position)
    end = context.save_checkpoint(_finished(model, context.settings, position, reason))
    if context.watch:
        context.watch(position, True)
    return end


def _next_stage(
    stages: Sequence[Stage[P, S]], context: FitContext, position: Position, reason: StopReason
) -> Position | None:
    """Return where the next stage begins; None if there is none, or if the fit has to stop."""
    number = position.stage + 1
    if reason not in (StopReason.CONVERGED, StopReason.MAX_ITER) or context.clock.stop or number == len(stages):
        return None
    params = _params_of_stage(stages, number, position.safe, Key(context.settings.seed, position.restart))
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


def _params_of_stage(stages: Sequence[Stage[P, S]], number: int, params: P, key: Key) -> P | None:
    """Return the first parameters of a stage, where the stage before ended with `params`; None to skip the stage."""
    begin = stages[number].begin
    return params if begin is None else begin(params, key.stream("stage", number - 1))


# ------------------------------------------------------------------------------------------- how a restart begins


def started(model: Model[P, S], context: FitContext, position: Position) -> Position:
    """Return the position after the start of a restart and its online passes, which use the model of the last stage."""
    settings = context.settings
    if position.params is None:
        passes = (model.promises.start_sees_all and context.sum_over_all_rows) or context.passes
        position = start_restart(model, settings, context.summary, passes, position)
        if settings.online_passes:
            position = _at_last_stage(model, settings, position)
        position = context.save_checkpoint(position)
    while position.online.passes < settings.online_passes:
        position = context.save_checkpoint(_one_online_pass(stages_of(model)[-1].model, context, position))
    return position


def start_restart(
    model: Model[P, S], settings: Settings, summary: ColumnSums, passes: Passes, position: Position
) -> Position:
    """Return a position with the first parameters of a restart."""
    key = Key(settings.seed, position.restart)
    start = model.start(summary, key, passes)
    return replace(position, params=start, safe=start)


def _at_last_stage(model: Model[P, S], settings: Settings, position: Position) -> Position:
    """Return the position at the last stage, after the `begin` of all others: online EM has no stages."""
    params = _begin_stages(model, position.params, 1, Key(settings.seed, position.restart))
    return replace(position, params=params, safe=params, stage=len(stages_of(model)) - 1)


def _begin_stages(model: Model[P, S], params: P, first: int, key: Key, *, until_complete: bool = False) -> P:
    """Return the parameters after the `begin` of each stage, from stage `first` on.

    With `until_complete`, stop as soon as the parameters have the sizes that the model declares.
    """
    stages = stages_of(model)
    for number in range(first, len(stages)):
        if until_complete and not model.mismatch(params):
            break
        stage_params = _params_of_stage(stages, number, params, key)
        params = params if stage_params is None else stage_params
    return params


def _one_online_pass(model: Model[P, S], context: FitContext, now: Position) -> Position:
    """Make one pass of online EM."""
    key = Key(context.settings.seed, now.restart).stream("online", now.online.passes)
    params, running = online_pass(
        model, now.params, now.online.running, context.executor, context.grid, key, context.weight, FORGETTING
    )
    return replace(now, params=params, safe=params, online=Online(now.online.passes + 1, running))


# --------------------------------------------------------------------------------------------- how a restart ends


def _finished(model: Model[P, S], settings: Settings, position: Position, reason: StopReason) -> Position:
    """Record a restart that has ended; keep its parameters, with all classes or layers, if it is the best so far.

    Return the position before the next restart.
    """
    finished = (*position.finished, Restart(position.objective, len(position.trace), reason))
    best, restart = position.best, position.restart
    if best.restart < 0 or position.objective > finished[best.restart].objective:
        # A fit that was stopped early lacks the classes or layers that later stages would have added.
        key = Key(settings.seed, restart)
        params = _begin_stages(model, position.safe, position.stage + 1, key, until_complete=True)
        best = Best(restart, params, position.trace, position.stages, position.stage)
    return Position(restart=restart + 1, finished=finished, best=best)
