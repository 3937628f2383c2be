"""The sums over all states of a combination machine: ln Z and its gradient.

Bare, for each state of the high half of the units: the products u z of all columns and all states of the low half (columns x states numbers), the
reciprocal of each, one matrix product that sums them, and one exponential and one logarithm a state. Not the sums 1 + u z, not the
products over columns whose logarithm is taken, not the search for the largest score. It does not know the compiled kernel.
"""

from functools import partial
from typing import Any

import numpy as np

from hiddenbits.engine import Local
from hiddenbits.maths.state_sums import Halves

from .turns import SEED, Job


def split_states(halves: Halves) -> Any:
    """Return the bare pass over all states."""
    d, m = halves.weights.shape
    m_low = halves.n_low
    L = 1 << m_low
    rng = np.random.default_rng(SEED)
    z, factors = 0.5 + rng.random((d, L)), 0.5 + rng.random((1 << (m - m_low), d, 1))
    cells, weighted, scores = np.empty((d, L)), rng.random((m_low + 1, L)), rng.random(L)
    sums, exps, logs = np.empty((m_low + 1, d)), np.empty(L), np.empty(L)

    def bare() -> None:
        for u in factors:
            np.multiply(z, u, out=cells)
            np.log(cells[0], out=logs)
            np.reciprocal(cells, out=cells)
            np.exp(scores, out=exps)
            np.matmul(weighted, cells.T, out=sums)

    return bare


def machine_states(size: str, d: int, m: int) -> Job:
    rng = np.random.default_rng(SEED)
    halves = Halves(0.3 * rng.standard_normal((d, m)), rng.standard_normal(m), rng.standard_normal(d))
    grid, local = halves.table().grid(64), Local()
    return Job(
        "CombinationMachine",
        size,
        table=f"{1 << m:,} states x {d} columns",
        hidden=f"{m} units",
        dtype="float64",
        storage="",
        ours=partial(local.reduce, halves.add_block, grid),
        bare=split_states(halves),
        what="enumeration",
    )
