"""The search for trees: a fit looks for better trees in some of its passes.

A look counts all pairs of ones, and finds the best tree of every class; where these counts are too many, of a part of
the classes after the other. That costs many plain passes, so looks are 1, 2, 4, 8, ... plain passes apart. Which pass
is a look follows from how many there were. A fit that stands still looks once more and goes on: its second stage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hiddenbits.engine import StopReason
from hiddenbits.engine.loops.em import one_pass
from hiddenbits.engine.loops.fit_context import FitContext
from hiddenbits.engine.state import Position
from hiddenbits.families.tree_mixture.model import Trees
from hiddenbits.families.tree_mixture.params import TreeParams, TreeStats
from hiddenbits.model_api import Stage


@dataclass(frozen=True)
class TreeSearch(Trees):
    """A mixture whose trees are looked for.

    Parameters
    ----------
    first_passes : int
        Passes as a Bernoulli mixture before the first look, in every other restart.
    """

    first_passes: int = 10

    def plain(self) -> Trees:
        """Return the mixture that keeps its trees."""
        return Trees(self.n_components, self.smoothing, self.sharing, self.penalty)

    def stages(self) -> Sequence[Stage[TreeParams, TreeStats]]:
        """Return the mixture, and once more the mixture."""
        return (Stage(self, loop=look_and_iterate), Stage(self, loop=look_and_iterate))

    def first_look(self, restart: int, stage: int) -> int:
        """Return the passes of a stage before the first look.

        Classes that differ in their means are better found by a Bernoulli mixture first; it is misled by those that
        differ in their links alone. So every other restart begins as one.
        """
        as_mixture = stage == 0 and self.n_components > 1 and restart % 2 == 0
        return self.first_passes if as_mixture else 0


def look_and_iterate(model: TreeSearch, context: FitContext, position: Position) -> tuple[Position, StopReason]:
    """Make passes until there is a reason to stop; return where that is, and the reason."""
    first = model.first_look(position.restart, position.stage)
    n_parts, reason = model.n_parts(position.params.n_columns), None
    while reason is None:
        part = part_looked_at(position.n_passes - first, n_parts)
        position, reason = one_pass(replace(model, part=part), context, position)
        reason = context.after_pass(position, reason)
    return position, reason


def part_looked_at(n_passes: int, n_parts: int) -> int | None:
    """Return the part of the classes that is looked at after so many passes from the first look on; None: no look.

    Examples
    --------
    >>> [n for n in range(100) if part_looked_at(n, 1) is not None]
    [0, 2, 5, 10, 19, 36, 69]
    >>> [part_looked_at(n, 2) for n in range(8)]
    [0, 1, None, 0, 1, None, None, 0]
    """
    part, gap = n_passes, 1
    while part >= n_parts + gap:
        part, gap = part - n_parts - gap, 2 * gap
    return part if 0 <= part < n_parts else None
