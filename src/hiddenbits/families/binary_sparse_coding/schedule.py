"""A planned course of a fit: what falls, and what widens, from pass to pass."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """How a fit that counts its steps goes.

    Parameters
    ----------
    n_steps : int
        Length; afterwards everything stays as it is at the end.
    temperature : float
        Temperature of the first step; it falls evenly to 1.
    cooled_at : float
        Share of the steps after which it is 1.
    cut_from, cut_to : float
        Shares of the steps between which the data cut sets in.
    wide_at : float
        Share of the steps after which more states are looked at.
    """

    n_steps: int = 60
    temperature: float = 1.0
    cooled_at: float = 0.8
    cut_from: float = 1 / 3
    cut_to: float = 2 / 3
    wide_at: float = 0.75

    def __post_init__(self) -> None:
        if self.cut_from > self.cut_to:
            raise ValueError(f"cut_from={self.cut_from} is after cut_to={self.cut_to}: swap them.")

    def heat(self, step: float) -> float:
        """Return the temperature of a step.

        Examples
        --------
        >>> [Schedule(10, temperature=5.0).heat(step) for step in (0, 4, 8, 20)]
        [5.0, 3.0, 1.0, 1.0]
        """
        return self.temperature + (1.0 - self.temperature) * self.cooled(step)

    def cooled(self, step: float) -> float:
        """Return how far the temperature has fallen: 0 is not at all, 1 is all the way."""
        return self._way(step, 0.0, self.cooled_at)

    def cut(self, step: float) -> float:
        """Return how far the data cut has set in: 0 is not at all, 1 is to its full size."""
        return self._way(step, self.cut_from, self.cut_to)

    def is_wide(self, step: float) -> bool:
        """Whether more states are looked at."""
        return step >= self.wide_at * self.n_steps

    def is_over(self, step: float) -> bool:
        """Whether all steps have been made."""
        return step >= self.n_steps

    def _way(self, step: float, begin: float, end: float) -> float:
        """Return the share of the way from `begin` to `end` that has been gone."""
        first, last = begin * self.n_steps, end * self.n_steps
        if step >= last:
            return 1.0
        return max(0.0, (step - first) / (last - first))
