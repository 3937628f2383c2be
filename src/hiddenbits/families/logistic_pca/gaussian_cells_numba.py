"""The compiled twin of `smoothed_log_cosh.all_three`, for whoever has numba (the extra `fast`).

The same series to other orders, first to the cell's heat (d0 to d8), then to its mean.
"""

from __future__ import annotations

from hiddenbits.array_types import Floats
from hiddenbits.families.logistic_pca.smoothed_log_cosh import BASE, FIRST, POINTS, SHIFT, STEP
from hiddenbits.maths.exp_numba import as_integer, compiled

PER_STEP, LAST = 1.0 / STEP, POINTS - 1


@compiled
def all_three(mean: Floats, heat: Floats, heats: Floats, rows: Floats, found: Floats) -> None:
    """Put E[ln 2cosh(A/2)], E[sigma(A)] and E[sigma'(A)] of every cell, (rows, d), into `found`, (3, rows, d)."""
    for r in range(mean.shape[0]):
        for c in range(mean.shape[1]):
            a, h = abs(mean[r, c]), heat[r, c]
            i = int(a * PER_STEP + 0.5) if a < LAST * STEP else LAST
            j = (as_integer(h + FIRST) >> SHIFT) - BASE
            j = j if 0 <= j < len(heats) else 0  # wider than the table, or NaN
            of = rows[POINTS * j + i]
            y = h - heats[j]
            y2, y3, y4, y5 = y / 2.0, y / 3.0, y / 4.0, y / 5.0
            d8 = of[8] + y * of[10]
            d7 = of[7] + y * of[9]
            d6 = of[6] + y * (of[8] + y2 * of[10])
            d5 = of[5] + y * (of[7] + y2 * of[9])
            d4 = of[4] + y * (of[6] + y2 * (of[8] + y3 * of[10]))
            d3 = of[3] + y * (of[5] + y2 * (of[7] + y3 * of[9]))
            d2 = of[2] + y * (of[4] + y2 * (of[6] + y3 * (of[8] + y4 * of[10])))
            d1 = of[1] + y * (of[3] + y2 * (of[5] + y3 * (of[7] + y4 * of[9])))
            d0 = of[0] + y * (of[2] + y2 * (of[4] + y3 * (of[6] + y4 * (of[8] + y5 * of[10]))))
            x = a - i * STEP
            x2, x3, x4, x5, x6, x7 = x / 2.0, x / 3.0, x / 4.0, x / 5.0, x / 6.0, x / 7.0
            tilt = d1 + x * (d2 + x2 * (d3 + x3 * (d4 + x4 * (d5 + x5 * (d6 + x6 * (d7 + x7 * d8))))))
            found[0, r, c] = d0 + x * (d1 + x2 * (d2 + x3 * (d3 + x4 * (d4 + x5 * (d5 + x6 * (d6 + x7 * d7))))))
            found[1, r, c] = 0.5 + tilt if mean[r, c] >= 0.0 else 0.5 - tilt
            found[2, r, c] = d2 + x * (d3 + x2 * (d4 + x3 * (d5 + x4 * (d6 + x5 * (d7 + x6 * d8)))))
