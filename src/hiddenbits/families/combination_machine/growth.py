"""A fit by the gradient that may add units one after the other, until there are as many as declared.

Several candidates for the next unit each start towards a row of the table and are optimized for a short segment; the
best is kept, and a longer segment follows for all units. These segments use plain coordinates (for reals,
centered at the column means). They make slower progress, which gives a new unit time to find its optimum (measured:
targets A and B of the literature end a third closer to the true distribution). Growth continues while the parameters
have too few units, so it needs no other state.
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
from hiddenbits.families.combination_machine.params import Centered, CombinationParams, CombinationStats
from hiddenbits.model_api import Key

CANDIDATE_WEIGHT = 0.3  # of a row of the table, minus the center: first weights of a candidate for the next unit
TRIAL = 25  # iterations for a candidate for the next unit
TOGETHER = 50  # iterations for all units after each added unit


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
    """Fit a machine to a table by its gradient, or by `loop`; return the best of `n_init` restarts.

    Where units are added one by one, a fit of all units at once is an alternative start, as it takes less time.
    """
    loop = loop or climb_machine
    at_once = replace(model, start_from="noise")
    if settings.online_passes and model.start_from == "grow":  # online passes need all units
        model = at_once
    alternatives = [partial(restart, at_once, loop)] if model.start_from == "grow" else []
    return all_restarts(model, loop, grid, executor, settings, checkpoints, watch, alternative_starts=alternatives)


def climb_machine(model: Combination, context: FitContext, position: Position) -> tuple[Position, StopReason]:
    """Add units up to the declared number, and optimize; return the position and the reason to stop."""
    climb = Climb(model, context)
    while position.params.n_units < model.n_components:
        position = context.save_checkpoint(_add_unit(climb, model, position))
    return climb.run(position)


def _add_unit(climb: Climb[CombinationParams, CombinationStats], model: Combination, position: Position) -> Position:
    """Return the position with the best candidate for the next unit."""
    key = Key(climb.context.settings.seed, position.restart, position.params.n_units)
    n_candidates = (model.candidates_again if position.restart else None) or model.n_candidates
    rows = choose_rows(n_candidates, key, climb.context.passes)
    center = np.zeros_like(position.params.bias) if model.bits else model.independent_bias(climb.context.summary)
    first_weights = [CANDIDATE_WEIGHT * np.nan_to_num(row - center)[:, None] for row in rows]
    candidates = [model.with_units(position.params, weights) for weights in first_weights]
    plain = Centered(center, np.zeros(position.params.n_units + 1), np.ones(len(model.to_vector(candidates[0]))))
    start = replace(position, objective=-np.inf, stages=(*position.stages, len(position.trace)))
    outcomes = [climb.segment(replace(start, params=params, safe=params), TRIAL, plain)[0] for params in candidates]
    best = max(outcomes, key=lambda position: position.objective)
    return climb.segment(best, TOGETHER, plain)[0]
