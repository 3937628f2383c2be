"""Tables in which something was planted, and their findings."""

import numpy as np

from hiddenbits import evaluate, open_table

# Quick to fit, at the sizes that a planted table may call for.
CLASSES = {"IndependentColumns": [], "LatentClassAnalysis": [2, 3, 4, 5]}
EASY = CLASSES | {"ClippedPCA": [1, 2]}
CAUSES = CLASSES | {"NoisyOrNetwork": [2, 3, 4]}


def context_of(X, models=EASY, *, beside=None, by=None, rows=True, names=None):
    """Return what `find` receives, with a comparison of these models at these sizes."""
    from hiddenbits.reporting.context import Context
    from hiddenbits.reporting.fits import Fits
    from hiddenbits.reporting.sample import drawn

    table = open_table(X, names=names or [f"item{j}" for j in range(X.shape[1])])
    sample = drawn(table, beside or {}, 0)
    fits = Fits(sample, lambda *_: None)
    compared = evaluate.compare(sample.cells, list(models), sizes=models, measures=(), random_state=0, progress=False)
    fits.__dict__["_comparison"] = (compared, [])
    return Context(sample, fits, rows, None, table, by)


def kinds(seed, n=400):
    """Four kinds of rows; each has three columns of its own, with 85% ones against 10%."""
    rng = np.random.default_rng([seed, 1])
    kind = rng.choice(4, n, p=[0.4, 0.25, 0.2, 0.15])
    own = np.arange(12)[None, :] // 3 == kind[:, None]
    return (rng.random((n, 12)) < np.where(own, 0.85, 0.1)).astype(float), kind


def scale(seed, n=500):
    """One scale, on which 12 columns depend in the same way, from easy to hard."""
    rng = np.random.default_rng([seed, 2])
    place = rng.standard_normal(n)
    logits = 1.6 * place[:, None] + np.linspace(-1.5, 1.5, 12)
    return (rng.random((n, 12)) < 1.0 / (1.0 + np.exp(-logits))).astype(float), place


def causes(seed, n=500):
    """Three causes, each in a third of the rows, that switch three columns on."""
    rng = np.random.default_rng([seed, 3])
    on = rng.random((n, 3)) < 0.33
    chance = np.where(np.repeat(on, 3, axis=1), 0.85, 0.03)
    return (rng.random((n, 9)) < chance).astype(float), on


def nothing(seed, n=300):
    """Columns that have nothing to do with each other."""
    rng = np.random.default_rng([seed, 4])
    return (rng.random((n, 10)) < rng.uniform(0.1, 0.7, 10)).astype(float)


def odd(seed):
    """Two kinds of rows with a few exceptions, and two rows that are half of one kind and half of the other."""
    rng = np.random.default_rng([seed, 5])
    kind = rng.random(300) < 0.5
    X = (kind[:, None] ^ (rng.random((300, 14)) < 0.04)).astype(float)
    X[[40, 170]] = [[1, 0] * 7, [0, 1] * 7]
    return X


def mistakes(seed):
    """Two kinds of rows without exceptions, but for four cells that were recorded wrongly."""
    rng = np.random.default_rng([seed, 6])
    X = np.repeat((rng.random(700) < 0.5)[:, None], 12, axis=1).astype(float)
    X[rng.random(X.shape) < 0.0005] = np.nan
    wrong = [(int(i), int(j)) for i, j in zip(rng.choice(700, 4, replace=False), rng.choice(12, 4), strict=True)]
    for i, j in wrong:
        X[i] = kind = X[i, (j + 1) % 12]
        X[i, j] = 1.0 - kind
    return X, wrong
