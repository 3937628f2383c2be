"""The optimizer of Freund and Haussler: gradient ascent with momentum, for a number of epochs.

velocity = momentum velocity + rate (gradient per row). It needs many more iterations than the default optimizer, and
the objective may decrease. The paper does not give the rate; this one reproduces its results, 0.2 is too large.
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


def epochs(model: Combination, context: FitContext, position: Position) -> tuple[Position, StopReason]:
    """Run the epochs. There are no checkpoints: an interrupted fit starts again."""
    n_epochs = context.settings.max_iter
    climb, vector = Climb(model, context), model.to_vector(position.params)
    params, objective, gradient = climb.evaluate(position.params)
    position = replace(position, params=params, safe=params, objective=objective)
    reason, velocity = StopReason.MAX_ITER if n_epochs else StopReason.SCHEDULE, np.zeros_like(vector)
    for _ in range(n_epochs):
        velocity = MOMENTUM * velocity + RATE / context.weight * gradient
        vector = vector + velocity
        params, objective, gradient = climb.evaluate(model.at_vector(vector, position.params))
        if not np.isfinite(objective):
            reason = StopReason.NOT_FINITE  # this position is discarded
            break
        position = passed(position, params, objective)
        if stop := context.after_pass(position, None, save=False):
            reason = stop
            break
    return position, reason
