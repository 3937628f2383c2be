"""The linear bars test: ten bars of a 5 x 5 image, half of them negative, two on in an image, and noise (section 3)."""

import numpy as np

from hiddenbits.datasets import simulate_bars

N_BARS = 10
NEAR = 0.5  # a field is a bar if it is at most this far from it, as a part of the bar's length


def images(seed: int, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return images and the bars they are made of."""
    made = simulate_bars(n_rows, random_state=seed)
    return made.X, made.fields


def drawn(seed: int, n_rows: int) -> float:
    """Return how many bars are on in an image of this set, on average: what chance made of two."""
    return float(simulate_bars(n_rows, random_state=seed).states.sum(axis=1).mean())


def errors(found: np.ndarray, fields: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest bar of each field, and how far it is from it, as a part of the bar's length."""
    apart = np.linalg.norm(found[:, None, :] - fields[None, :, :], axis=2) / np.linalg.norm(fields, axis=1)
    return apart.argmin(axis=1), apart.min(axis=1)


def recovered(found: np.ndarray, fields: np.ndarray) -> bool:
    """Whether every bar is the nearest of exactly one field, which is near it."""
    nearest, apart = errors(found, fields)
    return len(set(nearest.tolist())) == len(fields) == len(found) and bool((apart < NEAR).all())
