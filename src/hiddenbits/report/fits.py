"""The models of a report, fitted once to the drawn rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hiddenbits import ClippedPCA
from hiddenbits.evaluate import Comparison
from hiddenbits.report.picture import command, compared, fitted, made
from hiddenbits.report.sample import Floats, Sample

CAUSES = ("CombinationMachine", "NoisyOrNetwork")


@dataclass(frozen=True)
class Fit:
    """A fitted model, the line of Python that makes it, and what is to be said about it."""

    model: Any
    line: str
    note: str

    @property
    def name(self) -> str:
        """Name of the estimator."""
        return type(self.model).__name__


class Fits:
    """What sections ask for, each fitted when first asked for and at most once; `tell` hears of the comparison."""

    def __init__(self, sample: Sample, tell: Callable[[str, int, int], None]) -> None:
        self.sample, self._tell = sample, tell
        self._made: dict[tuple[str, str], Fit] = {}

    def of(self, model: str, size: str) -> Fit:
        """Return a model of a size, fitted to all drawn rows."""
        if (model, size) not in self._made:
            estimator, line = made(model, size, self.sample.seed), command(model, size, self.sample.seed)
            self._made[model, size] = self._fit(estimator, line)
        return self._made[model, size]

    def _fit(self, estimator: Any, line: str) -> Fit:
        model, note = fitted(estimator, self.sample.cells)
        return Fit(model, f"{line}.fit(table)", note)

    @cached_property
    def compared(self) -> Comparison:
        """The comparison."""
        return compared(self.sample, self._tell)

    def _chosen(self, *models: str) -> Fit:
        """Return the one of these models that did best in the comparison, at the size that was chosen there."""
        line = next((e for e in self.compared.entries if e.model in models), None)
        return self.of(line.model, line.size) if line is not None else self.of(models[-1], "2")

    @cached_property
    def best(self) -> Fit:
        """The picture that fits best."""
        return self._chosen(self.compared.best)

    @property
    def doubtful(self) -> bool:
        """Whether no picture is clearly better than nothing hidden, so that what the others show may be chance."""
        return "IndependentBits" in self.compared.ties()

    @cached_property
    def map(self) -> Fit:
        """The map: two scales."""
        return self.of("LogisticPCA", "2")

    @cached_property
    def classes(self) -> Fit:
        """Classes."""
        return self._chosen("BernoulliMixture")

    @cached_property
    def causes(self) -> Fit:
        """Several causes at once: of the two models of that kind the one that fits better."""
        return self._chosen(*CAUSES)

    @cached_property
    def scales(self) -> Fit:
        """The spectrum, with what chance reaches."""
        seed = self.sample.seed
        line = f'hiddenbits.ClippedPCA("parallel", random_state={seed})'
        return self._fit(ClippedPCA("parallel", random_state=seed), line)

    @cached_property
    def probabilities(self) -> Floats:
        """P(bit = 1 | the rest of its row) of every cell, by the picture that fits best."""
        return np.asarray(self.best.model.bit_probabilities(self.sample.cells), np.float64)
