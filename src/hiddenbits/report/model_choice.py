"""Which picture fits: the comparison of `evaluate.compare` on the drawn rows, and the models it chose."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from hiddenbits import CopiedRowsWarning, evaluate
from hiddenbits.evaluate import Comparison
from hiddenbits.report.sample import Sample

MODELS: list[str] | None = None  # what is compared: by default what `compare` compares


def made(model: str, size: str, seed: int) -> Any:
    """Return a picture of a size, not fitted, with the settings of the comparison."""
    estimator = evaluate.known_families()[model].estimator(seed)
    return estimator.set_params(n_components=int(size)) if size else estimator


def fitted(estimator: Any, cells: Any) -> tuple[Any, str]:
    """Fit, and return the model with what is to be said about it, in words instead of warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(cells)
    return estimator, "" if estimator.converged_ else "stopped before it had converged"


def compared(sample: Sample, tell: Callable[[str, int, int], None]) -> tuple[Comparison, list[str]]:
    """Return the comparison, and what it warned of; what is to be said about a single fit is in its entry."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = evaluate.compare(
            sample.cells, MODELS, measures=(), seed=sample.seed, groups=sample.groups, progress=tell
        )
    return found, [str(one.message) for one in said if issubclass(one.category, CopiedRowsWarning)]
