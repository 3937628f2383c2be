"""The tables: drawn from known models with a fixed seed, so that any number of rows can be had and the truth is known."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiddenbits.datasets import simulate_influences, simulate_mixture

Bits = NDArray[np.uint8]
SEED = 0
HELD_OUT = 3_000  # rows to judge by, and as many to choose by where a program is stopped early


class Drawn(NamedTuple):
    train: Bits
    valid: Bits
    test: Bits
    truth: dict[str, NDArray[Any]]


def split(X: Bits, rows: int, **truth: NDArray[Any]) -> Drawn:
    """Rows to fit, to choose by and to judge by, from one table; every row is drawn on its own."""
    return Drawn(X[2 * HELD_OUT :][:rows], X[:HELD_OUT], X[HELD_OUT : 2 * HELD_OUT], truth)


def mixture(rows: int) -> Drawn:
    """10 classes, 50 columns."""
    found = simulate_mixture(rows + 2 * HELD_OUT, 50, 10, random_state=SEED)
    labels = found.classes[2 * HELD_OUT :]
    return split(found.X, rows, weights=found.weights, probabilities=found.probabilities, classes=labels)


def clear_classes(rows: int) -> Drawn:
    """4 classes that lie apart, 50 columns: each has .15 or .85 in a class, at random."""
    rng, n = np.random.default_rng([SEED, 7]), rows + 2 * HELD_OUT
    weights, probabilities = np.full(4, 0.25), np.where(rng.random((4, 50)) < 0.5, 0.15, 0.85)
    bits = rng.random((n, 50)) < probabilities[rng.choice(4, n, p=weights)]
    return split(bits.view(np.uint8), rows, weights=weights, probabilities=probabilities)


def influences(rows: int) -> Drawn:
    """Ten hidden units, 64 columns (overlapping stripes)."""
    found = simulate_influences("B", n_rows=rows + 2 * HELD_OUT, random_state=SEED)
    return split(found.train, rows, weights=found.weights.T, thresholds=found.thresholds)


def plane(rows: int) -> Drawn:
    """Two dimensions, 50 columns."""
    rng = np.random.default_rng([SEED, 2])
    W, b = rng.standard_normal((50, 2)), rng.normal(-0.5, 1.0, 50)
    return logistic(rows, W, b)


def ability(rows: int) -> Drawn:
    """One dimension, 40 questions, which all have slopes above 0, as the two-parameter model of tests wants it."""
    rng = np.random.default_rng([SEED, 3])
    W, b = rng.lognormal(0.2, 0.3, (40, 1)), rng.normal(0.0, 1.2, 40)
    return logistic(rows, W, b)


def logistic(rows: int, W: NDArray[np.float64], b: NDArray[np.float64]) -> Drawn:
    rng, n = np.random.default_rng([SEED, 4]), rows + 2 * HELD_OUT
    chance = 1.0 / (1.0 + np.exp(-(rng.standard_normal((n, W.shape[1])) @ W.T + b)))
    return split((rng.random(chance.shape) < chance).view(np.uint8), rows, loadings=W, intercepts=b)


def thresholded(rows: int) -> Drawn:
    """60 columns: Gaussian, from four dimensions and noise, cut at thresholds."""
    rng = np.random.default_rng([SEED, 5])
    A, cuts = 0.6 * rng.standard_normal((60, 4)), rng.uniform(-1.0, 1.0, 60)
    spread = np.sqrt((A**2).sum(axis=1) + 1.0)
    n, rng = rows + 2 * HELD_OUT, np.random.default_rng([SEED, 6])
    hidden = rng.standard_normal((n, 4)) @ A.T + rng.standard_normal((n, 60))
    R = (A @ A.T + np.eye(60)) / np.outer(spread, spread)
    return split((hidden > cuts * spread).view(np.uint8), rows, correlations=R)
