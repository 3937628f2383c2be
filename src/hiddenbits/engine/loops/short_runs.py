"""Short runs: several starts of a restart, of which the one that comes furthest continues."""

from __future__ import annotations

from dataclasses import replace

from hiddenbits.engine.loops.fit_context import LOG, FitContext, RestartLoop
from hiddenbits.engine.state import Position


def best_short_run(one: RestartLoop, context: FitContext, position: Position) -> Position:
    """Return the beginning of a restart: of some short runs the one that came furthest, where it stands.

    They are for few rows: they are not saved, and a fit that was interrupted meanwhile makes them again.
    """
    settings = context.settings
    # Restarts from n_init on are repairs: with a larger n_init none of the short runs is.
    beyond = replace(settings, n_init=settings.n_init * settings.n_short)

    def run(restart: int) -> Position:
        at = Position(restart=restart)

        def far_enough(there: Position, _: bool) -> bool:
            nonlocal at
            at = there
            return len(there.trace) >= settings.short_passes

        one(replace(context, settings=beyond, checkpoints=None, watch=far_enough, logged=None), at)
        return at

    # Models choose the kind of start by the number of the restart: in steps of n_init all runs have the same kind.
    runs = [run(position.restart)]
    while len(runs) < settings.n_short and not context.late():
        runs.append(run(position.restart + len(runs) * settings.n_init))
    furthest = max(runs, key=lambda at: at.objective)
    LOG.info(
        "Restart %d of %d continues with the best of %d starts.", position.restart + 1, context.n_restarts, len(runs)
    )
    return replace(furthest, restart=position.restart, finished=position.finished, best=position.best)
