"""Which model fits: `evaluate.compare` on the sampled rows, and the models it chose."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator

from hiddenbits import CopiedRowsWarning, evaluate
from hiddenbits.evaluate import Comparison
from hiddenbits.reporting.sample import Sample

MODELS: list[str] | None = None  # the models to compare; None: the default of `compare`


def made(model: str, size: str, seed: int) -> Any:
    """Return an unfitted model of a size, with the settings of the comparison."""
    estimator = evaluate.known_families()[model].estimator(seed)
    return estimator.set_params(n_components=int(size)) if size else estimator


def fitted(estimator: BaseEstimator, cells: Any) -> tuple[Any, str]:
    """Fit, and return the model with a note in place of its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(cells)
    return estimator, "" if estimator.converged_ else "stopped before it had converged"


def compared(sample: Sample, tell: Callable[[str, int, int], None]) -> tuple[Comparison, list[str]]:
    """Return the comparison and its warnings; notes about single fits are in their entries."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = evaluate.compare(
            sample.cells, MODELS, measures=(), seed=sample.seed, groups=sample.groups, progress=tell
        )
    return found, [str(one.message) for one in said if issubclass(one.category, CopiedRowsWarning)]
