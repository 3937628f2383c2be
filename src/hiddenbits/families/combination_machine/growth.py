"""A fit by the gradient, in which a machine may grow: one unit after the other, until there are as many as declared.

Several candidates for a further unit are each drawn towards a row of the table, and each climbs a short segment; the
best is kept and climbs another one, with all units. These segments go in the plain coordinates, of reals about the
column means: they are slower, and a unit that is not there yet has time to find its place (measured: targets A and B of
the literature end a third nearer to the truth). Where growth stands between two passes is in the parameters: it goes on
while they have too few units.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from hiddenbits.data import Grid
from hiddenbits.data.rows_by_content import choose_rows
from hiddenbits.engine import Executor, Outcome, Settings, StopReason
from hiddenbits.engine.loops.fit_context import FitContext, Loop
from hiddenbits.engine.loops.gradient import Climb
from hiddenbits.engine.loops.restarts import all_restarts, restart
from hiddenbits.engine.state import CheckpointStore, Position, Watch
from hiddenbits.families.combination_machine.model import Combination
from hiddenbits.families.combination_machine.params import Centerd, CombinationParams, CombinationStats
from hiddenbits.model_api import Key

CANDIDATE = 0.3  # weights of a candidate for a further unit, towards a row of the table
TRIAL = 25  # iterations that a candidate for a further unit climbs
TOGETHER = 50  # iterations that all units climb after each that is added


def fit_machine(
    model: Combination,
    grid: Grid,
    executor: Executor,
    settings: Settings,
    checkpoints: CheckpointStore | None,
    watch: Watch | None,
    *,
    loop: Loop | None = None,
) -> Outcome:
    """Fit a machine to a table by its gradient; return the best of `n_init` restarts, by another loop if given.

    Where it grows, a climb of all units at once is the alternative: it takes less time.
    """
    loop = loop or climb_machine
    at_once = replace(model, start_from="noise")
    if settings.online_passes and model.start_from == "grow":  # they are for all units
        model = at_once
    others = [partial(restart, at_once, loop)] if model.start_from == "grow" else []
    return all_restarts(model, loop, grid, executor, settings, checkpoints, watch, alternative_starts=others)


def climb_machine(model: Combination, context: FitContext, position: Position) -> tuple[Position, StopReason]:
    """Let a machine grow to its size, and climb until there is a reason to stop; return where that is, and why."""
    climb = Climb(model, context)
    while position.params.n_units < model.n_components:
        position = context.save_checkpoint(_with_a_further_unit(climb, model, position))
    return climb.run(position)


def _with_a_further_unit(
    climb: Climb[CombinationParams, CombinationStats], model: Combination, now: Position
) -> Position:
    """Return the position after the best candidate for a further unit."""
    key = Key(climb.context.settings.seed, now.restart, now.params.n_units)
    n_candidates = (model.candidates_again if now.restart else None) or model.n_candidates
    rows = choose_rows(n_candidates, key, climb.context.passes)
    center = np.zeros_like(now.params.bias) if model.bits else model.bias_alone(climb.context.summary)
    candidates = [model.with_units(now.params, CANDIDATE * np.nan_to_num(row - center)[:, None]) for row in rows]
    n_units = now.params.n_units + 1
    plain = Centerd(center, np.zeros(n_units), np.ones(len(model.to_vector(candidates[0]))))
    fresh = replace(now, objective=-np.inf, stages=(*now.stages, len(now.trace)))
    tried = [climb.segment(replace(fresh, params=params, safe=params), TRIAL, plain)[0] for params in candidates]
    best = max(tried, key=lambda position: position.objective)
    return climb.segment(best, TOGETHER, plain)[0]
