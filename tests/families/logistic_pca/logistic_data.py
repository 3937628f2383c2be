"""The recipes of the reference figures: three prototypes with flipped bits, and a start of small random loadings."""

import numpy as np

from hiddenbits import open_table
from hiddenbits.engine import Local, Settings, block_height, fit_em
from hiddenbits.families.logistic_pca.model import Logistic
from hiddenbits.families.logistic_pca.params import LogisticParams
from hiddenbits.families.logistic_pca.refine import RefinedLogistic


def synth(seed, flip):
    rng = np.random.default_rng(seed)
    prototypes = rng.random((3, 16)) < 0.5
    return (np.repeat(prototypes, 200, axis=0) ^ (rng.random((600, 16)) < flip)).astype(np.uint8)


def small_start(seed, X, q=2):
    n, d = X.shape
    W = 0.1 * np.random.default_rng(10000 + seed).standard_normal((d, q))
    p = (X.sum(axis=0) + 0.5) / (n + 1)
    b = np.log(p) - np.log1p(-p)
    return LogisticParams(W, b, b.copy())


def fit(model, X, given=None, **settings):
    """Fit with the engine, from the given parameters if there are any; returns the outcome."""
    table = open_table(X)
    if given is not None:
        model = given_start(model, given)
    grid = table.grid(block_height(model.footprint(table.shape[1], table.source.row_cells)))
    return fit_em(model, grid, Local(), Settings(**settings), None, None)


def given_start(model, params):
    base = type(model)

    class Given(base):
        def start(self, summary, key, passes):
            return params

    return Given(**{name: getattr(model, name) for name in base.__dataclass_fields__})


def rows_of(model, function, params, X):
    """A row function over all rows of X."""
    table = open_table(X)
    grid = table.grid(256)
    shared = model.prepare(params)
    return np.concatenate([getattr(model, function)(params, shared, block) for block in grid.blocks])


__all__ = ["Logistic", "RefinedLogistic", "fit", "rows_of", "small_start", "synth"]
