"""Randomness keyed by what it is for, never by who draws it or when."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

DRIVER = 2**63  # stands for "no block": draws made once a pass, such as a start


@dataclass(frozen=True)
class Key:
    """The address of a stream of random numbers: (seed, restart, pass, block).

    Examples
    --------
    >>> Key(0).at(pass_number=3, block=7).rng().random() == Key(0).at(pass_number=3, block=7).rng().random()
    True
    """

    seed: int
    restart: int = 0
    pass_number: int = 0
    block: int = DRIVER

    def at(self, *, restart: int | None = None, pass_number: int | None = None, block: int | None = None) -> Key:
        """Return the key of another restart, pass or block."""
        return replace(
            self,
            restart=self.restart if restart is None else restart,
            pass_number=self.pass_number if pass_number is None else pass_number,
            block=self.block if block is None else block,
        )

    def rng(self) -> np.random.Generator:
        """Return a generator that starts at this address."""
        words = [self.seed, self.restart, self.pass_number, self.block]
        return np.random.Generator(np.random.Philox(np.random.SeedSequence(words)))
