"""The models of a report, fitted once to the sampled rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator

from hiddenbits import evaluate
from hiddenbits.array_types import Floats
from hiddenbits.diagnostics import cell_probabilities
from hiddenbits.evaluate import Comparison
from hiddenbits.exceptions import DuplicateRowsWarning
from hiddenbits.reporting.sample import Sample

CAUSES = ("CombinationMachine", "NoisyOrNetwork")


@dataclass(frozen=True)
class Fit:
    """A fitted model, the Python expression that fits it, and a note if it did not converge."""

    model: BaseEstimator
    line: str
    note: str

    @property
    def name(self) -> str:
        """Name of the estimator."""
        return type(self.model).__name__


class Fits:
    """The models of the sections, each fitted on first use; the comparison calls `on_progress`."""

    def __init__(self, sample: Sample, on_progress: Callable[[str, int, int], None], *, curved: bool = False) -> None:
        self.sample, self._on_progress, self.curved = sample, on_progress, curved
        self._made: dict[tuple[str, str], Fit] = {}

    def of(self, model: str, size: str) -> Fit:
        """Return a model of a size, fitted to all sampled rows."""
        if (model, size) not in self._made:
            self._made[model, size] = self._fit(unfitted_model(model, size, self.sample.seed))
        return self._made[model, size]

    def _fit(self, estimator: BaseEstimator) -> Fit:
        line = f"hiddenbits.{estimator!r}.fit(table)"
        model, note = fitted(estimator, self.sample.cells)
        return Fit(model, line, note)

    @cached_property
    def _comparison(self) -> tuple[Comparison, list[str]]:
        return compared(self.sample, self._on_progress)

    @property
    def compared(self) -> Comparison:
        """The comparison."""
        return self._comparison[0]

    @property
    def warned(self) -> list[str]:
        """The warnings of the comparison."""
        return self._comparison[1]

    def _chosen(self, *models: str) -> Fit:
        """Return the one of these models with the highest likelihood in the comparison, at the size chosen there."""
        line = next((e for e in self.compared.entries if e.model in models), None)
        return self.of(line.model, line.size) if line is not None else self.of(models[-1], "2")

    @cached_property
    def best(self) -> Fit:
        """The model that the comparison chose, at the chosen size."""
        return self._chosen(self.compared.best)

    @property
    def no_structure(self) -> bool:
        """Whether no model is clearly better than independent columns."""
        return self.compared.best == "IndependentColumns"

    @cached_property
    def map(self) -> Fit:
        """The model of two dimensions for the map."""
        return self.of("TopographicMap" if self.curved else "LogisticPCA", "2")

    @cached_property
    def classes(self) -> Fit:
        """The model of latent classes."""
        return self._chosen("LatentClassAnalysis")

    @cached_property
    def causes(self) -> Fit:
        """The model of causes or of hidden units, whichever has the higher likelihood."""
        return self._chosen(*CAUSES)

    @cached_property
    def scores(self) -> Floats:
        """Log-likelihood of every row, by `outlier_model`."""
        return np.asarray(self.outlier_model.score_samples(self.sample.cells), np.float64)

    @cached_property
    def outlier_model(self) -> Any:
        """The model that scores outliers: the chosen one, without its smallest classes if it has latent classes."""
        model = self.best.model
        return LargeClasses(model, len(self.sample.cells)) if self.best.name == "LatentClassAnalysis" else model

    @cached_property
    def probabilities(self) -> Floats:
        """P(cell = 1 | the rest of its row) of every cell, by the chosen model."""
        return np.asarray(cell_probabilities(self.best.model, self.sample.cells), np.float64)


# A mixture without its smallest classes, under which outliers are improbable.
#
# A mixture may have a class of one or two outliers, which makes them probable. So rows are scored under the classes of
# at least 5 rows: P(x) = Sum_k w_k Prod_j p_kj^x_j (1 - p_kj)^(1 - x_j)
# over the observed cells, with weights w that add up to 1 again.

MIN_CLASS_ROWS = 5


class LargeClasses:
    """A fitted mixture without its classes of fewer than 5 rows."""

    def __init__(self, model: Any, n_rows: int) -> None:
        weights = np.asarray(model.weights_, np.float64)
        large = weights * n_rows >= min(MIN_CLASS_ROWS, weights.max() * n_rows)
        self.weights = weights[large] / weights[large].sum()
        self.shares = np.clip(np.asarray(model.probabilities_, np.float64)[large], 1e-12, 1.0 - 1e-12)

    def score_samples(self, cells: Floats) -> Floats:
        """Return the log-likelihood of the observed cells of each row."""
        zeros = np.where(np.isnan(cells), 0.0, 1.0 - np.nan_to_num(cells))
        logs = np.nan_to_num(cells) @ np.log(self.shares).T + zeros @ np.log1p(-self.shares).T
        return np.asarray(logsumexp(logs + np.log(self.weights), axis=1))

    def sample(self, n_samples: int, *, random_state: int) -> Floats:
        """Return rows sampled from these classes."""
        rng = np.random.default_rng([random_state, 6])
        classes = rng.choice(len(self.weights), n_samples, p=self.weights)
        return np.asarray(rng.random((n_samples, self.shares.shape[1])) < self.shares[classes], np.float64)


# The comparison of models on the sampled rows.

MODELS: list[str] | None = None  # the models to compare; None: the default of `compare`


def unfitted_model(model: str, size: str, seed: int) -> Any:
    """Return an unfitted model of a size, with the settings of the comparison."""
    estimator = evaluate.known_families()[model].estimator(seed)
    return estimator.set_params(n_components=int(size)) if size else estimator


def fitted(estimator: BaseEstimator, cells: Any) -> tuple[Any, str]:
    """Fit a model; return it with a note in place of its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(cells)
    return estimator, "" if estimator.converged_ else "stopped before it had converged"


def compared(sample: Sample, on_progress: Callable[[str, int, int], None]) -> tuple[Comparison, list[str]]:
    """Return the comparison and its warnings; notes on single fits are in its entries."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        comparison = evaluate.compare(
            sample.cells, MODELS, measures=(), random_state=sample.seed, groups=sample.groups, progress=on_progress
        )
    return comparison, [str(each.message) for each in caught if issubclass(each.category, DuplicateRowsWarning)]
