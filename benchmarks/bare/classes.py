"""Models that weigh every row against K classes, states or units: two products and one exponential.

Bare, for each block: the bits as floats (or a CSR view), x @ A of (columns, K), exp of every (row, class), x.T @ R.
Neither the normalization of rows, nor the log-likelihood, nor the sums over blocks. `NoisyOr`, which enumerates the states of its causes, has
a class for every state; in a combination machine's pass over rows the classes are its units.
"""

from typing import Any

import numpy as np

from hiddenbits.data import Grid
from hiddenbits.data.layout import binary_columns
from hiddenbits.families.combination_machine.model import Combination
from hiddenbits.families.combination_machine.params import CombinationParams
from hiddenbits.families.nodes.classes import Classes
from hiddenbits.families.nodes.params import NodeParams
from hiddenbits.families.noisy_or.model import NoisyOr
from hiddenbits.families.noisy_or.params import NoisyOrParams

from .tables import FLOAT, described, grid_of, times
from .turns import SEED, Job, pass_of


def two_products(grid: Grid, K: int) -> Any:
    """Return the bare pass: x @ A, exp, x.T @ R."""
    rng = np.random.default_rng(SEED)
    d = grid.table.shape[1]
    A = 0.1 * rng.standard_normal((d, K))
    scores, sums = np.empty((grid.height, K)), np.empty((d, K))

    def bare() -> None:
        for block in grid.blocks:
            x, _ = block.operands()
            r = times(x, A, scores[: block.n_rows])
            np.exp(r, out=r)
            times(x.T, r, sums)

    return bare


def _job(model: Any, params: Any, name: str, size: str, X: Any, hidden: str, K: int, what: str = "pass") -> Job:
    grid = grid_of(model, X)
    ours, bare = pass_of(model, params, grid), two_products(grid, K)
    return Job(name, size, hidden=hidden, dtype=FLOAT, ours=ours, bare=bare, what=what, **described(X))


def mixture(size: str, X: Any, K: int) -> Job:
    rng = np.random.default_rng(SEED)
    d = X.shape[1]
    means = np.asarray(X.mean(axis=0)).ravel()[:, None]
    theta = np.clip(means * rng.uniform(0.5, 1.5, (d, K)), 1e-4, 0.99)
    params = NodeParams.of(rng.dirichlet(np.full(K, 2.0)), theta, np.full(d, 0.5), binary_columns(d))
    return _job(Classes(K), params, "LatentClassAnalysis", size, X, f"{K} classes", K)


def machine_rows(size: str, X: Any, m: int) -> Job:
    rng = np.random.default_rng(SEED)
    d = X.shape[1]
    params = CombinationParams(0.1 * rng.standard_normal((d, m)), np.zeros(m), np.zeros(d), np.zeros(()))
    return _job(Combination(m), params, "CombinationMachine", size, X, f"{m} units", m, "pass over rows")


def noisy_or_exact(size: str, X: Any, K: int) -> Job:
    rng = np.random.default_rng(SEED)
    means = np.asarray(X.mean(axis=0)).ravel()
    strengths = np.clip(np.vstack([rng.uniform(0.2, 1.0, (K, 1)) * means, 0.1 * means]), 1e-6, 0.99)
    params = NoisyOrParams.of([strengths], np.full(K, 0.2))
    states = 1 << K
    return _job(NoisyOr([K]), params, "NoisyOrNetwork", size, X, f"{K} causes", states, "enumeration")
