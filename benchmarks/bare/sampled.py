"""A noisy-OR network learned by Gibbs sampling: three sweeps over the causes of every row, and counts.

Bare, for each block, sweep and cause: e^-w of every one (looked up), its product with e^-u, one logarithm of every (one, cause), and the
sums of these by row; once a block the sparse product that counts. It draws nothing, and keeps no state up to date. The
compiled kernel of a pass takes one logarithm of products where the bare arithmetic takes one of each.
"""

from typing import Any

import numpy as np

from hiddenbits.data import Grid
from hiddenbits.families.noisy_or.model_gibbs import NoisyOrGibbs
from hiddenbits.families.noisy_or.params import NoisyOrParams

from .tables import FLOAT, described, grid_of
from .turns import SEED, Job, pass_of


def logs_of_ones(grid: Grid, keep: Any, n_sweeps: int) -> Any:
    """Return the bare pass; `keep` is e^-w, (causes, columns)."""
    rng, K = np.random.default_rng(SEED), len(keep)
    most = max(len(block.ones()[1]) for block in grid.blocks)
    off, q, sums = 0.1 + 0.8 * rng.random(most), np.empty(most), np.empty(grid.height)
    on = rng.random((grid.height, K + 1))

    def bare() -> None:
        for block in grid.blocks:
            indptr, indices = block.ones()
            e, product, total = off[: len(indices)], q[: len(indices)], sums[: block.n_rows]
            starts = np.minimum(indptr[:-1], len(indices) - 1)
            for _ in range(n_sweeps):
                for i in range(K):
                    np.take(keep[i], indices, out=product, mode="clip")
                    np.multiply(product, e, out=product)
                    np.log(product, out=product)
                    np.add.reduceat(product, starts, out=total)
            block.x.operand().T @ on[: block.n_rows]

    return bare


def noisy_or_sampled(size: str, X: Any, K: int) -> Job:
    rng = np.random.default_rng(SEED)
    d = X.shape[1]
    strengths = np.vstack([rng.uniform(0.01, 0.5, (K, d)), np.full((1, d), 1e-3)])
    params = NoisyOrParams.of([strengths], np.full(K, 3.0 / K))
    model = NoisyOrGibbs([K], spare=0.0)
    grid = grid_of(model, X)
    bare = logs_of_ones(grid, 1.0 - strengths[:-1], model.n_sweeps)
    ours = pass_of(model, params, grid)
    return Job(
        "NoisyOrNetwork", size, hidden=f"{K} causes", dtype=FLOAT, ours=ours, bare=bare, what="Gibbs", **described(X)
    )
