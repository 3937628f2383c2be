"""Expectations of a cell's terms under the Gaussian posterior of its row: for the polish."""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data.kernels import compiled_twin, kernels_pay
from hiddenbits.families.logistic_pca.smoothed_log_cosh import WIDEST, all_three, beyond, octaves_for, table
from hiddenbits.maths.missing_cells import Blanks

WORK = 8.0  # time for a cell, as `kernels_pay` has it
STEP_CELLS = 1 << 13  # cells that are worked on together


_compiled = compiled_twin("hiddenbits.families.logistic_pca.gaussian_cells_numba")


def gaussian_cells(mean: AnyArray, variance: AnyArray, blanks: Blanks) -> Floats:
    """Return E[ln 2cosh(A/2)], E[sigma(A)] and E[sigma'(A)], A ~ N(mean, variance); all 0 where a cell is missing."""
    found = np.empty((3, *mean.shape))
    mean = np.ascontiguousarray(mean, dtype=np.float64)
    heat = np.multiply(variance, 0.5, dtype=np.float64, order="C")
    widest = heat.max(initial=0.0)
    known = table(octaves_for(widest))
    if kernels_pay(WORK) and (compiled := _compiled()):
        compiled.all_three(mean, heat, *known, found)
    else:
        means, heats, flat = mean.ravel(), heat.ravel(), found.reshape(3, -1)
        for start in range(0, mean.size, STEP_CELLS):
            part = slice(start, start + STEP_CELLS)
            all_three(means[part], heats[part], *known, flat[:, part])
    if not widest < WIDEST:
        wide = ~(heat < WIDEST)
        found[:, wide] = beyond(mean[wide], heat[wide])
    for terms in found:
        blanks.fill(terms, 0.0)
    return found
