"""Which picture fits: what the report compares, with settings that keep a report within a minute."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import hiddenbits
from hiddenbits import evaluate
from hiddenbits.evaluate import Comparison
from hiddenbits.report.sample import Sample

# What the report fits: sizes to choose from, and settings that keep a report within a minute.
FAMILIES: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "IndependentBits": ((), {}),
    "BernoulliMixture": ((2, 4, 8), {}),
    "LogisticPCA": ((1, 2), {"tol": 1e-4}),
    "CombinationMachine": ((2, 4), {"max_iter": 100}),
    "NoisyOrNetwork": ((2, 4), {"n_init": 1}),
}


def made(model: str, size: str, seed: int) -> Any:
    """Return a picture of a size, not fitted."""
    given: dict[str, Any] = dict(FAMILIES[model][1])
    given |= {"random_state": seed} if FAMILIES[model][0] else {}
    given |= {"n_components": int(size)} if size else {}
    return getattr(hiddenbits, model)(**given)


def command(model: str, size: str, seed: int) -> str:
    """Return the line of Python that makes the picture."""
    given = [size] if size else []
    given += [f"{name}={value!r}" for name, value in FAMILIES[model][1].items()]
    given += [f"random_state={seed}"] if size else []
    return f"hiddenbits.{model}({', '.join(given)})"


def fitted(estimator: Any, cells: Any) -> tuple[Any, str]:
    """Fit, and return the model with what is to be said about it, in words instead of warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(cells)
    return estimator, "" if estimator.converged_ else "stopped before it had converged"


def compared(sample: Sample, tell: Callable[[str, int, int], None]) -> Comparison:
    """Choose the size of every picture on held-out rows, and judge each on rows that nothing has seen; tell of each."""
    models = {model: made(model, "", sample.seed) for model in FAMILIES}
    sizes = {model: list(sizes) for model, (sizes, _) in FAMILIES.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is to be said about a fit is in its entry
        return evaluate.compare(sample.cells, models, sizes=sizes, measures=(), seed=sample.seed, progress=tell)
