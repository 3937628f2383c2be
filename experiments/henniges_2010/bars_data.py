"""The linear bars test: ten bars of a 5 x 5 image, half of them negative, two on in an image, and noise (section 3)."""

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from hiddenbits.datasets import simulate_bars

N_BARS, SHAPE = 10, (5, 5)
NEAR = 0.5  # a field is a bar if it is at most this far from it, as a part of the bar's length


def images(seed: int, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return images and the bars they are made of."""
    made = simulate_bars(n_rows, seed=seed)
    return made.X, made.fields


def max_images(seed: int, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return images in which the strongest bar shows, and the bars: all of 10, no addition where two cross."""
    made, rng = simulate_bars(n_rows, seed=seed), np.random.default_rng([seed, 2])
    fields = np.abs(made.fields)
    return (made.states @ fields > 0.0) * 10.0 + rng.normal(0.0, 2.0, made.X.shape), fields


def drawn(seed: int, n_rows: int) -> float:
    """Return how many bars are on in an image of this set, on average: what chance made of two."""
    return float(simulate_bars(n_rows, seed=seed).states.sum(axis=1).mean())


def errors(found: np.ndarray, fields: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest bar of each field, and how far it is from it, as a part of the bar's length."""
    apart = np.linalg.norm(found[:, None, :] - fields[None, :, :], axis=2) / np.linalg.norm(fields, axis=1)
    return apart.argmin(axis=1), apart.min(axis=1)


def recovered(found: np.ndarray, fields: np.ndarray) -> bool:
    """Whether every bar is the nearest of exactly one field, which is near it."""
    nearest, apart = errors(found, fields)
    return len(set(nearest.tolist())) == len(fields) == len(found) and bool((apart < NEAR).all())


def in_one_order(fields: list[np.ndarray]) -> list[np.ndarray]:
    """Return the fields of all passes in the order of the last: estimators sort theirs anew after each pass."""
    ordered = [fields[-1]]
    for before in reversed(fields[:-1]):
        ordered.append(before[linear_sum_assignment(cdist(ordered[-1], before, "sqeuclidean"))[1]])
    return ordered[::-1]
