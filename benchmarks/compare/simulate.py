"""Tables from each of six families, simulated with NumPy alone: the truth is known, and is no fit of ours.

Truths are of a size that a few thousand rows can show: four to six hidden things behind sixteen columns.
"""

from collections.abc import Callable

import numpy as np

Truth = Callable[[int, int], np.ndarray]  # (rows, seed) -> bits
N_COLUMNS = 16


def _bits(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (rng.random(p.shape) < p).astype(np.uint8)


def _sigma(a: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-a))


def independent(n_rows: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng([seed, 1])
    return _bits(np.tile(rng.uniform(0.1, 0.9, N_COLUMNS), (n_rows, 1)), rng)


def mixture(n_rows: int, seed: int, n_classes: int = 5, n_columns: int = N_COLUMNS) -> np.ndarray:
    rng = np.random.default_rng([seed, 2])
    weights = rng.dirichlet(np.full(n_classes, 10.0))
    p = rng.beta(0.7, 0.9, (n_classes, n_columns))
    return _bits(p[rng.choice(n_classes, n_rows, p=weights)], rng)


def logistic(n_rows: int, seed: int, n_dimensions: int = 2, n_columns: int = N_COLUMNS) -> np.ndarray:
    """P(bit = 1 | x) = sigma(w.x + b), x ~ N(0, I)."""
    rng = np.random.default_rng([seed, 3])
    w = 1.6 * rng.standard_normal((n_dimensions, n_columns))
    return _bits(_sigma(rng.standard_normal((n_rows, n_dimensions)) @ w + rng.standard_normal(n_columns)), rng)


def clipped(n_rows: int, seed: int) -> np.ndarray:
    """A bit is on where w.y + noise is above a threshold; the whole has variance 1, of which w.y has .3 to .8."""
    rng = np.random.default_rng([seed, 4])
    w = rng.standard_normal((2, N_COLUMNS))
    share = rng.uniform(0.3, 0.8, N_COLUMNS)
    w *= np.sqrt(share) / np.sqrt((w**2).sum(axis=0))
    hidden = rng.standard_normal((n_rows, 2)) @ w + np.sqrt(1.0 - share) * rng.standard_normal((n_rows, N_COLUMNS))
    return (hidden > 0.6 * rng.standard_normal(N_COLUMNS)).astype(np.uint8)


def combination(n_rows: int, seed: int, n_units: int = 5) -> np.ndarray:
    """Units that are on together add up in the log-odds; P(h) from the sum over bits, by enumeration."""
    rng = np.random.default_rng([seed, 5])
    w = np.where(rng.random((n_units, N_COLUMNS)) < 0.5, 1.3 * rng.standard_normal((n_units, N_COLUMNS)), 0.0)
    bias = 0.5 * rng.standard_normal(N_COLUMNS)
    states = ((np.arange(1 << n_units)[:, None] >> np.arange(n_units)) & 1).astype(float)
    influence = bias + states @ w
    # thresholds that make every unit on in about half of the rows, if it were alone
    alone = np.logaddexp(bias, -bias).sum() - np.logaddexp(bias + w, -bias - w).sum(axis=1)
    log_p = states @ alone + np.logaddexp(influence, -influence).sum(axis=1)
    p = np.exp(log_p - log_p.max())
    return _bits(_sigma(2.0 * influence[rng.choice(len(p), n_rows, p=p / p.sum())]), rng)


def noisy_or(n_rows: int, seed: int, n_causes: int = 5) -> np.ndarray:
    """A bit stays off if no cause that is on, and no leak, switched it on."""
    rng = np.random.default_rng([seed, 6])
    strengths = np.where(rng.random((n_causes, N_COLUMNS)) < 0.35, rng.uniform(0.5, 0.95, (n_causes, N_COLUMNS)), 0.0)
    causes = rng.random((n_rows, n_causes)) < rng.uniform(0.2, 0.45, n_causes)
    off = np.exp(causes @ np.log1p(-strengths)) * (1.0 - rng.uniform(0.01, 0.08, N_COLUMNS))
    return _bits(1.0 - off, rng)


FAMILIES: dict[str, Truth] = {
    "IndependentColumns": independent,
    "LatentClassAnalysis": mixture,
    "LogisticPCA": logistic,
    "ClippedPCA": clipped,
    "CombinationMachine": combination,
    "NoisyOrNetwork": noisy_or,
}
