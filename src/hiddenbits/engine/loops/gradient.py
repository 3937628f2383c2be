"""Gradient ascent by L-BFGS: each evaluation of the objective and its gradient is a pass over the table.

For models whose statistics give the gradient of the likelihood. The ascent is divided into segments of some iterations,
each of which starts L-BFGS again from a Position, so that a fit resumed from a checkpoint equals the uninterrupted one.
Each segment uses the coordinates that the model returns at its beginning, or coordinates passed by the caller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from hiddenbits.array_types import Floats
from hiddenbits.data import Block, Grid, Table
from hiddenbits.engine.block_statistics import block_statistics
from hiddenbits.engine.executors.progress import without_progress
from hiddenbits.engine.loops.fit_context import FitContext
from hiddenbits.engine.outcome import StopReason
from hiddenbits.engine.state import Position
from hiddenbits.model_api import Climbs, Coordinates, Key, P, S, T

SEGMENT = 50  # iterations after which L-BFGS starts again
HISTORY = 20  # pairs of steps and gradients that L-BFGS stores
STATE_ROWS = 64  # rows of a block of hidden states
SMALL_GAINS = 5  # gains in a row below the tolerance that mean convergence; the first two of a segment are often small


@dataclass
class Climb(Generic[P, S]):
    """The gradient ascent of one restart."""

    model: Climbs[P, S]
    context: FitContext
    state_grids: dict[Table, Grid] = field(default_factory=dict)  # a cluster recognizes a grid by its identity

    def evaluate(self, params: P) -> tuple[P, float, Floats]:
        """Return the parameters with the results of `model_expectations`, the objective and its gradient."""
        params, phase = self.model.model_expectations(params, self._over_states)
        key = Key(self.context.settings.seed)
        stats = self.context.passes(
            partial(block_statistics, self.model, params, self.model.prepare(params), key, None)
        )
        return params, self.model.objective(params, stats), self.model.gradient(params, stats, phase)

    def _over_states(self, function: Callable[[Block], T], states: Table) -> T:
        """Return the sum of a function over a table of states: in this process, or on the executor if it is large."""
        grid = self.state_grids.setdefault(states, states.grid(STATE_ROWS))
        if grid.n_blocks == 1:
            return function(grid.blocks[0])
        return without_progress(self.context.executor).reduce(function, grid)

    def run(self, now: Position) -> tuple[Position, StopReason]:
        """Run segment after segment, with a checkpoint after each; return the position and the reason to stop."""
        reason = None
        while reason is None:
            now, reason = self.segment(now, SEGMENT, to_callbacks=True)
            self.context.save_checkpoint(now)
        return now, reason

    def segment(
        self, now: Position, n_iter: int, coordinates: Coordinates | None = None, *, to_callbacks: bool = False
    ) -> tuple[Position, StopReason | None]:
        """Run some iterations; return the position, and the reason to stop or None."""
        n_iter = min(n_iter, self.context.settings.max_iter - now.n_passes)
        if n_iter <= 0:
            params, objective, _ = self.evaluate(now.params)
            reason = StopReason.MAX_ITER if self.context.settings.max_iter else StopReason.SCHEDULE
            return replace(now, params=params, safe=params, objective=objective), reason
        if coordinates is None:
            coordinates = self.model.coordinates(*self.model.model_expectations(now.params, self._over_states))
        return self._quasi_newton(now, n_iter, coordinates, to_callbacks=to_callbacks)

    def _quasi_newton(
        self, now: Position, n_iter: int, coordinates: Coordinates, *, to_callbacks: bool
    ) -> tuple[Position, StopReason | None]:
        position, reason, settings = now, None, self.context.settings
        evaluations: dict[bytes, tuple[P, float]] = {}
        n_small_gains, scale = 0, self.model.rows_or_prior(self.context.weight)

        def negative_objective(point: Floats) -> tuple[float, Floats]:
            params, objective, gradient = self.evaluate(self.model.at_vector(coordinates.outwards(point), now.params))
            evaluations[point.tobytes()] = params, objective
            return -objective / scale, -coordinates.slope(gradient) / scale

        def after_iteration(intermediate_result: OptimizeResult) -> None:
            nonlocal position, reason, n_small_gains
            params, objective = evaluations[intermediate_result.x.tobytes()]
            evaluations.clear()
            evaluations[intermediate_result.x.tobytes()] = params, objective
            n_small_gains = n_small_gains + 1 if objective - position.objective <= settings.tol * scale else 0
            position = passed(position, params, objective)
            out_of_passes = StopReason.MAX_ITER if position.n_passes >= settings.max_iter else None
            reason = StopReason.CONVERGED if n_small_gains >= SMALL_GAINS else out_of_passes
            reason = self.context.after_pass(position, reason, to_callbacks=to_callbacks, save=False)
            if reason is not None:
                raise StopIteration

        options = {"maxiter": n_iter, "maxcor": HISTORY, "ftol": 0.0, "gtol": 1e-12, "maxls": 40}
        start = coordinates.inwards(self.model.to_vector(now.params))
        minimize(negative_objective, start, jac=True, method="L-BFGS-B", callback=after_iteration, options=options)
        if reason is None and len(position.trace) < len(now.trace) + n_iter:  # L-BFGS found no better point
            if position.objective == -np.inf:  # the start is a maximum
                position = passed(now, *self.evaluate(now.params)[:2])
            reason = StopReason.CONVERGED if np.isfinite(position.objective) else StopReason.NOT_FINITE
            self.context.after_pass(position, reason, to_callbacks=to_callbacks)
        return position, reason


def passed(now: Position, params: Any, objective: float) -> Position:
    """Return the position after a pass that ended with these parameters and this objective."""
    return replace(now, params=params, safe=params, objective=objective, trace=(*now.trace, objective))
