"""Table 3, two more lines: a mixture with hardly any pseudo-counts, and principal components (sections 2.4, 4)."""

from typing import Any

import numpy as np
import synthetic
from cells import Cells
from common import NO_DATA, have_data
from digits import SEEDS as DIGITS
from digits import UNITS

import data
from hiddenbits import BernoulliMixture

SEEDS = {"rows": DIGITS["rows"]}
PLAIN, PCA = "mixture, pseudo-count .0005", "principal components, cut at one half"


def plain(seed: int) -> dict[str, Any]:
    rows = data.digits(seed)
    model = BernoulliMixture(
        UNITS, start="split", prior_strength=0.001, prior_mean=0.5, n_init=1, max_iter=100, random_state=seed
    ).fit(rows.train)
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


def measure(cells: Cells, *, full: bool) -> Any:
    if not have_data("Table 3, two more programs"):
        return NO_DATA
    seeds = SEEDS["rows"] if full else SEEDS["rows"][:1]
    found = {
        name: [cells.get(f"{name}, rows {seed}", lambda w=way, s=seed: w(s)) for seed in seeds]  # type: ignore[misc]
        for name, way in ((PLAIN, plain), (PCA, components))
    }
    drawn = synthetic.SEEDS["rows"] if full else synthetic.SEEDS["rows"][:1]
    for target in ("A", "B"):  # several influences at once: what the claim is about
        name = f"{PCA}, target {target}"
        found[name] = [
            cells.get(f"{name}, rows {seed}", lambda s=seed, t=target: components(s, t))  # type: ignore[misc]
            for seed in drawn
        ]
    return found
