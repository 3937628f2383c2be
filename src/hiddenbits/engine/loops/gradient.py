"""Climbing by the gradient: scipy's quasi-Newton method with passes over the table as its oracle.

For models whose statistics give the gradient of the likelihood. The climb goes in segments of some iterations that each
begin afresh from a Position, so that a fit resumed from a checkpoint is the uninterrupted one. Each segment goes in the
coordinates that the model names at its beginning, or in given ones.
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

SEGMENT = 50  # iterations after which the climb begins afresh
MEMORY = 20  # pairs of steps and gradients that the quasi-Newton method keeps
STATE_ROWS = 64  # rows of a block of hidden states
STILL = 5  # iterations in a row that must gain next to nothing before it has converged; a segment's first two often do


@dataclass
class Climb(Generic[P, S]):
    """One restart's climb."""

    model: Climbs[P, S]
    context: FitContext
    state_grids: dict[Table, Grid] = field(default_factory=dict)  # a cluster knows a grid by itself: one a table

    def look(self, params: P) -> tuple[P, float, Floats]:
        """Return the parameters with what the free phase tells about them, the objective there and its gradient."""
        params, phase = self.model.model_expectations(params, self._over_states)
        key = Key(self.context.settings.seed)
        stats = self.context.passes(
            partial(block_statistics, self.model, params, self.model.prepare(params), key, None)
        )
        return params, self.model.objective(params, stats), self.model.gradient(params, stats, phase)

    def _over_states(self, function: Callable[[Block], T], states: Table) -> T:
        """Add over the rows of a small table of states: here, or where the data are if that is worth it."""
        grid = self.state_grids.setdefault(states, states.grid(STATE_ROWS))
        if grid.n_blocks == 1:
            return function(grid.blocks[0])
        return without_progress(self.context.executor).reduce(function, grid)

    def to_its_end(self, now: Position) -> tuple[Position, StopReason]:
        """Climb segment after segment, each of which is kept; return the position, and why the climb stopped."""
        reason = None
        while reason is None:
            now, reason = self.segment(now, SEGMENT, to_callbacks=True)
            self.context.save_checkpoint(now)
        return now, reason

    def segment(
        self, now: Position, n_iter: int, view: Coordinates | None = None, *, to_callbacks: bool = False
    ) -> tuple[Position, StopReason | None]:
        """Climb some iterations; return the position, and why to stop if it is time."""
        n_iter = min(n_iter, self.context.settings.max_iter - now.n_passes)
        if n_iter <= 0:
            params, objective, _ = self.look(now.params)
            there = replace(now, params=params, safe=params, objective=objective)
            return there, StopReason.MAX_ITER if self.context.settings.max_iter else StopReason.SCHEDULE
        if view is None:
            view = self.model.coordinates(*self.model.model_expectations(now.params, self._over_states))
        return self._quasi_newton(now, n_iter, view, to_callbacks=to_callbacks)

    def _quasi_newton(
        self, now: Position, n_iter: int, view: Coordinates, *, to_callbacks: bool
    ) -> tuple[Position, StopReason | None]:
        there, reason, settings = now, None, self.context.settings
        seen: dict[bytes, tuple[P, float]] = {}
        still, scale = 0, self.model.rows_or_prior(self.context.weight)

        def fall(point: Floats) -> tuple[float, Floats]:
            params, objective, gradient = self.look(self.model.at_vector(view.outwards(point), now.params))
            seen[point.tobytes()] = params, objective
            return -objective / scale, -view.slope(gradient) / scale

        def step(intermediate_result: OptimizeResult) -> None:
            nonlocal there, reason, still
            params, objective = seen[intermediate_result.x.tobytes()]
            seen.clear()
            seen[intermediate_result.x.tobytes()] = params, objective
            still = still + 1 if objective - there.objective <= settings.tol * scale else 0
            there = passed(there, params, objective)
            out_of_passes = StopReason.MAX_ITER if there.n_passes >= settings.max_iter else None
            reason = StopReason.CONVERGED if still >= STILL else out_of_passes
            reason = self.context.after_pass(there, reason, to_callbacks=to_callbacks, save=False)
            if reason is not None:
                raise StopIteration

        options = {"maxiter": n_iter, "maxcor": MEMORY, "ftol": 0.0, "gtol": 1e-12, "maxls": 40}
        start = view.inwards(self.model.to_vector(now.params))
        minimize(fall, start, jac=True, method="L-BFGS-B", callback=step, options=options)
        if reason is None and len(there.trace) < len(now.trace) + n_iter:  # nowhere further to go
            if there.objective == -np.inf:  # it began at the top
                there = passed(now, *self.look(now.params)[:2])
            reason = StopReason.CONVERGED if np.isfinite(there.objective) else StopReason.NOT_FINITE
            self.context.after_pass(there, reason, to_callbacks=to_callbacks)
        return there, reason


def passed(now: Position, params: Any, objective: float) -> Position:
    """Return the position after a pass that ended with these parameters, at this objective."""
    return replace(now, params=params, safe=params, objective=objective, trace=(*now.trace, objective))
