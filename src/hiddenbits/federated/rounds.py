"""One round of a federated fit: the engine's own loop, with sums that come from elsewhere.

The loop continues from its last position with an executor that has one answer, and stops when it asks for the next. So
starts, stages, restarts, extrapolations and reasons to stop are those of `fit`, and there is no second loop to keep in
step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hiddenbits.data import Arrays
from hiddenbits.data.summary import Summary, summarise
from hiddenbits.engine import Outcome, Position, Settings, fit_closed_form, fit_em
from hiddenbits.engine.block_statistics import block_statistics
from hiddenbits.engine.row_memory import LocalRowMemory, RowMemory
from hiddenbits.federated.statistics import StatisticsError


@dataclass(frozen=True, eq=False)
class Federation:
    """Where a federated fit stands between two rounds.

    Attributes
    ----------
    position : Position
        Where the engine's loop stands.
    summary : Summary
        The counts of all sites that it started from.
    sites : tuple of str
        The sites that take part.
    n_init : int
        Restarts; 1 for a fit that continues from fitted parameters.
    """

    position: Position
    summary: Summary
    sites: tuple[str, ...]
    n_init: int


def one_round(
    model: Any, settings: Settings, federation: Federation, sums: Arrays | None
) -> tuple[Position, Outcome | None]:
    """Let the loop go on until it asks for the next sums; return its position, and the outcome if it has ended.

    `sums` are the statistics of all sites at the position's parameters; None makes the start.
    """
    kept, received = _Kept(federation.position), _Received(federation.summary, sums)
    try:
        loop: Callable[..., Outcome] = fit_closed_form if model.promises.closed_form else fit_em
        outcome = loop(model, None, received, settings, kept, None)  # there is no grid
    except _Waiting:
        return kept.position, None
    return kept.position, outcome


class _Waiting(Exception):  # noqa: N818
    """The loop asks for sums that have not come yet."""


class _Received:
    """An executor that walks no table: it answers with the counts of all sites and, once, with their statistics."""

    def __init__(self, summary: Summary, sums: Arrays | None) -> None:
        self._summary, self._sums = summary, sums

    def reduce(self, function: Callable[..., Any], grid: Any) -> Any:
        """Return the sums that were received for this question."""
        if function is summarise:
            return self._summary
        if getattr(function, "func", None) is not block_statistics:
            raise StatisticsError(
                "The start of this model needs further passes over the rows, which federated fits do not support. "
                "Choose another start or another model."
            )
        if self._sums is None:
            raise _Waiting
        sums, self._sums = self._sums, None
        return sums

    def row_memory(self, last: RowMemory | None) -> LocalRowMemory:
        """Return an empty memory: that of the rows is made again at the sites."""
        return LocalRowMemory()

    def map_rows(self, function: Any, grid: Any) -> Any:
        """There are no rows."""
        raise NotImplementedError("A federated fit has only the sums of its sites, not their rows.")

    stream = map_rows


class _Kept:
    """Keeps the position of the fit in memory."""

    def __init__(self, position: Position) -> None:
        self.position = position

    def load(self, summary: Summary) -> Position:
        """Return the position to continue from."""
        return self.position

    def save(self, position: Position, summary: Summary) -> None:
        """Keep a position."""
        self.position = position
