"""The models of a report, fitted once to the sampled rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits.array_types import Floats
from hiddenbits.evaluate import Comparison
from hiddenbits.reporting.common_kinds import CommonKinds
from hiddenbits.reporting.model_choice import compared, fitted, made
from hiddenbits.reporting.sample import Sample

CAUSES = ("CombinationMachine", "NoisyOrNetwork")


@dataclass(frozen=True)
class Fit:
    """A fitted model, the line of Python that makes it, and a note such as that it did not converge."""

    model: BaseEstimator
    line: str
    note: str

    @property
    def name(self) -> str:
        """Name of the estimator."""
        return type(self.model).__name__


class Fits:
    """The models that sections need, each fitted on first use; `tell` reports progress of the comparison."""

    def __init__(self, sample: Sample, tell: Callable[[str, int, int], None], *, curved: bool = False) -> None:
        self.sample, self._tell, self.curved = sample, tell, curved
        self._made: dict[tuple[str, str], Fit] = {}

    def of(self, model: str, size: str) -> Fit:
        """Return a model of a size, fitted to all sampled rows."""
        if (model, size) not in self._made:
            self._made[model, size] = self._fit(made(model, size, self.sample.seed))
        return self._made[model, size]

    def _fit(self, estimator: BaseEstimator) -> Fit:
        line = f"hiddenbits.{estimator!r}.fit(table)"
        model, note = fitted(estimator, self.sample.cells)
        return Fit(model, line, note)

    @cached_property
    def _comparison(self) -> tuple[Comparison, list[str]]:
        return compared(self.sample, self._tell)

    @property
    def compared(self) -> Comparison:
        """The comparison."""
        return self._comparison[0]

    @property
    def warned(self) -> list[str]:
        """The warnings of the comparison."""
        return self._comparison[1]

    def _chosen(self, *models: str) -> Fit:
        """Return the highest of these models in the comparison, at the size that was chosen there."""
        line = next((e for e in self.compared.entries if e.model in models), None)
        return self.of(line.model, line.size) if line is not None else self.of(models[-1], "2")

    @cached_property
    def best(self) -> Fit:
        """The model that the comparison chose, at the chosen size."""
        return self._chosen(self.compared.best)

    @property
    def doubtful(self) -> bool:
        """Whether no model is clearly better than independent columns, so that hidden structure may be chance."""
        return self.compared.best == "IndependentColumns"

    @cached_property
    def map(self) -> Fit:
        """The map: two scales."""
        return self.of("TopographicMap" if self.curved else "LogisticPCA", "2")

    @cached_property
    def classes(self) -> Fit:
        """Classes."""
        return self._chosen("LatentClassAnalysis")

    @cached_property
    def causes(self) -> Fit:
        """Several causes at once: of the two models of that kind, the one with the higher likelihood."""
        return self._chosen(*CAUSES)

    @cached_property
    def scores(self) -> Floats:
        """Log-likelihood of every row, by `judge`."""
        return np.asarray(self.judge.score_samples(self.sample.cells), np.float64)

    @cached_property
    def judge(self) -> Any:
        """What says how odd rows are: the chosen model, of classes without those that hold hardly any rows."""
        model = self.best.model
        return CommonKinds(model, len(self.sample.cells)) if self.best.name == "LatentClassAnalysis" else model

    @cached_property
    def probabilities(self) -> Floats:
        """P(bit = 1 | the rest of its row) of every cell, by the chosen model."""
        return np.asarray(self.best.model.bit_probabilities(self.sample.cells), np.float64)
