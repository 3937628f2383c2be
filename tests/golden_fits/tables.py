"""Fixed small tables. They come from `Generator.random` alone, whose stream NumPy keeps."""

import numpy as np

ROWS, COLUMNS = 240, 9


def uniform(*shape, seed):
    return np.random.default_rng([20, seed]).random(shape)


def bits(seed=0):
    """Rows of three classes, with a gradient within each: something for every family to find."""
    which = (uniform(ROWS, seed=seed) * 3).astype(int)
    rates = 0.15 + 0.7 * uniform(3, COLUMNS, seed=seed + 1)
    tilt = 0.3 * (uniform(ROWS, 1, seed=seed + 2) - 0.5) * np.linspace(-1, 1, COLUMNS)
    return (uniform(ROWS, COLUMNS, seed=seed + 3) < rates[which] + tilt).astype(np.uint8)


def blanked(rows, share=0.15):
    return np.where(uniform(*rows.shape, seed=40) < share, np.nan, rows.astype(float))


def reals(seed=50):
    """Two factors and noise, roughly normal."""
    noise = uniform(ROWS, COLUMNS, 6, seed=seed).sum(axis=2) - 3
    factors = 4 * uniform(ROWS, 2, seed=seed + 1) - 2
    return factors @ (2 * uniform(2, COLUMNS, seed=seed + 2) - 1) + 0.5 * noise


def superposed():
    """Rows to be coded: few of six patterns in each, added, with noise."""
    active = uniform(ROWS, 6, seed=60) < 0.25
    patterns = 10.0 * (uniform(6, COLUMNS, seed=61) < 0.35)
    return active @ patterns + uniform(ROWS, COLUMNS, 6, seed=62).sum(axis=2) - 3
