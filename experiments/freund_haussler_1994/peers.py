"""Table 3, two more lines: a mixture with hardly any prior, and principal components (sections 2.4, 4)."""

from typing import Any

import numpy as np
import synthetic
from common import Run, have_data
from digits import SEEDS as DIGITS
from digits import UNITS

import data
from hiddenbits import LatentClassAnalysis

SEEDS = {"rows": DIGITS["rows"]}
PLAIN, PCA = "mixture, .001 pseudo-rows", "principal components, cut at one half"


def plain(seed: int) -> dict[str, Any]:
    rows = data.digits(seed)
    model = LatentClassAnalysis(UNITS, prior_strength=0.001, n_init=1, max_iter=100, random_state=seed).fit(rows.train)
    return {part: data.measures(model, X, likelihood=False) for part, X in (("train", rows.train), ("test", rows.test))}


def precision(X: np.ndarray, n_components: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and inverse covariance of probabilistic PCA."""
    values, vectors = np.linalg.eigh(np.cov(X.T, bias=True))
    noise = values[:-n_components].mean()
    kept = vectors[:, -n_components:]
    return X.mean(axis=0), (kept / values[-n_components:]) @ kept.T + (np.eye(len(values)) - kept @ kept.T) / noise


def single_bit(X: np.ndarray, mean: np.ndarray, inverse: np.ndarray) -> float:
    """Share of bits on the wrong side of one half, guessed from the rest of their row: the conditional mean."""
    guess = X - (X - mean) @ inverse / np.diag(inverse)
    return float(((guess > 0.5) != X).mean())


def components(seed: int, target: str | None = None) -> dict[str, Any]:
    rows: Any = data.digits(seed) if target is None else synthetic.rows(target, seed)
    found = precision(rows.train.astype(float), UNITS if target is None else synthetic.UNITS)
    return {
        part: {"bit": single_bit(X.astype(float), *found)} for part, X in (("train", rows.train), ("test", rows.test))
    }


def measure(run: Run) -> dict[str, Any] | None:
    """Both on the digits, and components on the targets: several influences at once, what the claim is about."""
    if not have_data("principal components"):
        return None
    seeds, drawn = (seeds["rows"][: None if run.full else 1] for seeds in (DIGITS, synthetic.SEEDS))
    found = {name: [way(seed) for seed in seeds] for name, way in ((PLAIN, plain), (PCA, components))}
    return found | {f"{PCA}, target {target}": [components(seed, target) for seed in drawn] for target in ("A", "B")}
