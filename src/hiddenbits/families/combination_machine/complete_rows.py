"""The E-step of complete binary rows by compiled kernels (`complete_rows_numba.py`), twin of `Combination.expect`.

With x = 2t - 1, t in {0, 1}: a = (th - W'1) + 2 W't, and Sum x h' = 2 Sum t h' - Sum h', so that rows need no
recoding. The sum of v.x over rows is v.Sum x.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data import Block
from hiddenbits.data.kernels import compiled_twin
from hiddenbits.data.operands import product, scratch
from hiddenbits.families.combination_machine.params import LANES, CombinationParams, CombinationStats, in_whole_runs

fast_kernels = compiled_twin("hiddenbits.families.combination_machine.complete_rows_numba")


def complete_rows(kernels: Any, params: CombinationParams, block: Block) -> CombinationStats:
    """Return the statistics of a block of rows without missing values."""
    t, m = block.operands()[0], params.n_units
    sums_of: Any = _sum_dense if isinstance(t, np.ndarray) else _sum_sparse
    bound, hidden, sums = sums_of(kernels, t, params, block.weights)
    joint, visible, weight = 2.0 * sums[:, :m] - hidden[:m], 2.0 * sums[:, -1] - hidden[-1], hidden[-1]
    bound += float(params.bias @ visible) - weight * float(params.log_partition)
    return CombinationStats(np.asarray(bound), np.asarray(weight), hidden[:m], joint, visible)


def _sum_dense(kernels: Any, t: AnyArray, params: CombinationParams, weights: Floats) -> tuple[float, Floats, AnyArray]:
    """Return Sum softplus(a), and Sum h and Sum t h' with the weights in the last column; h't is faster than t'h."""
    W, offset = params.effects_of_ones
    h, hidden = scratch("units", (params.n_units + 1, len(t))), np.zeros(params.n_units + 1)
    bound = kernels.add_units(product(t, W, "messages"), offset, weights, h, hidden)
    return bound, hidden, (h @ t).T


def _sum_sparse(kernels: Any, t: Any, params: CombinationParams, weights: Floats) -> tuple[float, Floats, AnyArray]:
    """Return the same sums from the 1s of sparse rows; columns between the units and the last column are 0."""
    W, offset = params.padded_effects_of_ones
    sums = in_whole_runs(scratch("units of columns", (W.size + LANES, 1)), (W.shape[0], W.shape[1]))
    sums[:], hidden = 0.0, np.zeros(W.shape[1])
    return kernels.add_ones(t.indptr, t.indices, W, offset, weights, sums, hidden), hidden, sums
