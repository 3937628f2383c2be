"""Freund and Haussler's own way: gradient ascent with momentum, for a number of epochs.

velocity = momentum velocity + rate (gradient a row). It needs many more passes than the library's loop and promises
nothing: the objective may fall. The paper does not give its rate; this one reaches what it reports, .2 is too much.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hiddenbits.engine import StopReason
from hiddenbits.engine.loops.fit_context import FitContext
from hiddenbits.engine.loops.gradient import Climb, passed
from hiddenbits.engine.state import Position
from hiddenbits.families.combination_machine.model import Combination

RATE, MOMENTUM = 0.05, 0.9


def epochs(model: Combination, context: FitContext, there: Position) -> tuple[Position, StopReason]:
    """Go through the epochs. They are not kept: a fit that was broken off makes them again."""
    n_epochs = context.settings.max_iter
    climb, vector = Climb(model, context), model.to_vector(there.params)
    params, objective, gradient = climb.evaluate(there.params)
    there = replace(there, params=params, safe=params, objective=objective)
    reason, velocity = StopReason.MAX_ITER if n_epochs else StopReason.SCHEDULE, np.zeros_like(vector)
    for _ in range(n_epochs):
        velocity = MOMENTUM * velocity + RATE / context.weight * gradient
        vector = vector + velocity
        params, objective, gradient = climb.evaluate(model.at_vector(vector, there.params))
        if not np.isfinite(objective):
            reason = StopReason.NOT_FINITE  # where it went is not kept
            break
        there = passed(there, params, objective)
        if asked := context.after_pass(there, None, save=False):
            reason = asked
            break
    return there, reason
