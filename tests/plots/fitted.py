"""Small fitted maps that the tests of pictures draw."""

from functools import cache

import numpy as np

from hiddenbits import LogisticPCA
from hiddenbits.datasets import simulate_prototypes


@cache
def clusters(seed=0, q=2, refine=True):
    """Rows with many repeats, the prototype of each, and a fitted model."""
    X, prototype = simulate_prototypes(n_copies=40, n_columns=8, flip=0.08, random_state=seed)
    return X, prototype, LogisticPCA(q, refine=refine, random_state=0).fit(X)


@cache
def with_blanks(seed=0):
    X = clusters(seed)[0].astype(float)
    X[np.random.default_rng(seed).random(X.shape) < 0.2] = np.nan
    return X, LogisticPCA(2, random_state=0).fit(X)
