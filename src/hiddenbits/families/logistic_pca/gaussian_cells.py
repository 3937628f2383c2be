"""Expectations of ln 2cosh, sigma and sigma' of cells under the Gaussian posteriors of rows: for the refinement."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.polynomial import Polynomial
from scipy.special import erf, zeta

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data.kernels import compiled_twin, kernels_pay
from hiddenbits.maths.missing_cells import MissingCells

TIME_PER_CELL = 8.0  # in the units of `kernels_pay`
CELLS_AT_ONCE = 1 << 13  # cells processed together


_compiled = compiled_twin("hiddenbits.families.logistic_pca.kernels_numba")


def gaussian_cells(mean: AnyArray, variance: AnyArray, missing: MissingCells) -> Floats:
    """Return E[ln 2cosh(A/2)], E[sigma(A)] and E[sigma'(A)], A ~ N(mean, variance); all 0 where a cell is missing."""
    terms = np.empty((3, *mean.shape))
    mean = np.ascontiguousarray(mean, dtype=np.float64)
    heat = np.multiply(variance, 0.5, dtype=np.float64, order="C")
    widest = heat.max(initial=0.0)
    taylor_table = table(octaves_up_to(widest))
    if kernels_pay(TIME_PER_CELL) and (compiled := _compiled()):
        compiled.cell_expectations(mean, heat, *taylor_table, terms)
    else:
        means, heats, flat = mean.ravel(), heat.ravel(), terms.reshape(3, -1)
        for start in range(0, mean.size, CELLS_AT_ONCE):
            part = slice(start, start + CELLS_AT_ONCE)
            cell_expectations(means[part], heats[part], *taylor_table, flat[:, part])
    if not widest < WIDEST:
        wide = ~(heat < WIDEST)
        terms[:, wide] = wide_cell_expectations(mean[wide], heat[wide])
    for term in terms:
        missing.fill(term, 0.0)
    return terms


# A table for Taylor series of L(mean, heat) = E[ln 2cosh(A/2)], A ~ N(mean, 2 heat), and its derivatives by the mean.
#
# The heat is half the variance: L obeys the heat equation, dL/dheat = d2L/dmean2. So derivatives by the mean suffice
# for series in both:
#
#     L(m + x, h + y) = Sum_kl x^k/k! y^l/l! L^(k + 2l)(m, h),      L' = E[sigma(A)] - 1/2,      L'' = E[sigma'(A)]
#
# Means of the table are 1/8 apart, up to 75. Heats are the middles of intervals: 16 from 0 to 1/4, 16 from there to
# 3/4, 16 more to 7/4 and so on (each 16 are an octave), because L is smoother for larger variances of A. With series of
# order 10 errors are below 1e-12 in L, 2e-11 in L' and 3e-10 in L'' up to a variance of 1, and below 1e-9 up to 63.
# Cells with a larger variance have another series (`wide_cell_expectations`).

MEAN_STEP, N_MEANS, ORDER = 0.125, 601, 10  # the grid of means; highest derivative in the table
FIRST_OCTAVE, HEATS_PER_OCTAVE, MAX_OCTAVES = 0.25, 16, 7  # heats: the first octave ends at 0.25
WIDEST = FIRST_OCTAVE * 2.0**MAX_OCTAVES - FIRST_OCTAVE  # the end of the table: a variance of 63.5
OCTAVE_SHIFT = 48  # bits of a float below those that identify octave and interval
BASE_BITS = int(np.float64(FIRST_OCTAVE).view(np.int64) >> OCTAVE_SHIFT)
GRID_DEVIATIONS = 9.0  # reach of the grid in standard deviations; the density beyond is negligible
WIDE_SERIES_TERMS = 15  # terms of the series for cells wider than the table


def log_cosh_derivatives(A: Floats) -> Floats:
    """Return ln 2cosh(A/2) and its derivatives, (ORDER + 1, *shape).

    They are polynomials in u = sigma(-|A|), with du/d|A| = -u(1 - u); odd derivatives have the sign of A.
    """
    u = np.exp(-np.abs(A))
    u /= 1.0 + u
    derivatives, sign = [0.5 * np.abs(A) - np.log1p(-u)], np.sign(A)
    derivative = Polynomial([0.5, -1.0])
    for k in range(1, ORDER + 1):
        derivatives.append(derivative(u) * sign if k % 2 else derivative(u))
        derivative = derivative.deriv() * Polynomial([0.0, -1.0, 1.0])
    return np.array(derivatives)


@lru_cache(maxsize=MAX_OCTAVES + 1)
def table(octaves: int) -> tuple[Floats, Floats]:
    """Return the heats of the first octaves, and L and its derivatives there, (heats * N_MEANS, ORDER + 1).

    Beyond the last mean L is linear.
    """
    if octaves == 0:
        return np.empty(0), np.empty((0, ORDER + 1))
    heats, rows = table(octaves - 1)
    start = FIRST_OCTAVE * 2.0 ** (octaves - 1)
    new_heats = start + start * (np.arange(HEATS_PER_OCTAVE) + 0.5) / HEATS_PER_OCTAVE - FIRST_OCTAVE
    return np.concatenate([heats, new_heats]), np.concatenate([rows, _derivatives_at(new_heats).reshape(-1, ORDER + 1)])


def _derivatives_at(heats: Floats) -> Floats:
    """Return L and its derivatives, (heats, N_MEANS, ORDER + 1), by an even grid whose error is below rounding."""
    spread = np.sqrt(2.0 * heats)
    points_per_step = 2 if spread[0] < 1.5 * MEAN_STEP else 1  # steps must be shorter than a standard deviation
    step = MEAN_STEP / points_per_step
    n = int(np.ceil(GRID_DEVIATIONS * spread[-1] / step))
    weights = np.exp(-0.5 * (np.arange(-n, n + 1)[:, None] * (step / spread)) ** 2)
    weights /= weights.sum(axis=0)
    means = step * np.arange(-n, points_per_step * (N_MEANS - 1) + n + 1, dtype=np.float64)
    nearby = sliding_window_view(log_cosh_derivatives(means), 2 * n + 1, axis=1)[:, ::points_per_step]
    derivatives = np.ascontiguousarray((np.ascontiguousarray(nearby) @ weights).transpose(2, 1, 0))
    derivatives[:, -1] = 0.0
    derivatives[:, -1, :2] = 0.5 * MEAN_STEP * (N_MEANS - 1), 0.5
    return derivatives


def octaves_up_to(heat: float) -> int:
    """Return how many octaves contain heats up to this one; all octaves if it is beyond them, or NaN."""
    if not heat < WIDEST:
        return MAX_OCTAVES
    return min(int(np.log2((heat + FIRST_OCTAVE) / FIRST_OCTAVE)) + 1, MAX_OCTAVES)


def cell_expectations(mean: Floats, heat: Floats, heats: Floats, rows: Floats, out: Floats) -> None:
    """Put E[ln 2cosh(A/2)], E[sigma(A)] and E[sigma'(A)] of some cells into `out`, (3, n); heats are 0 or more.

    Sum_kl x^k/k! y^l/l! L^(k + 2l) = Sum_n H_n L^(n), with H_0 = 1, H_1 = x and n H_n = x H_(n-1) + 2y H_(n-2).
    """
    a = np.abs(mean)
    i = np.fmin(a * (1.0 / MEAN_STEP) + 0.5, N_MEANS - 1.0).astype(np.int64)
    j = ((heat + FIRST_OCTAVE).view(np.int64) >> OCTAVE_SHIFT) - BASE_BITS
    x, twice_y = a - MEAN_STEP * i, 2.0 * (heat - heats.take(j, mode="clip"))
    derivatives = np.ascontiguousarray(rows.take(N_MEANS * j + i, axis=0, mode="clip").T)
    H = np.empty_like(derivatives)
    H[0], H[1] = 1.0, x
    for n in range(2, ORDER + 1):
        np.multiply(x, H[n - 1], out=H[n])
        H[n] += twice_y * H[n - 2]
        H[n] *= 1.0 / n
    for k in range(3):
        np.einsum("nc,nc->c", derivatives[k:], H[: ORDER + 1 - k], out=out[k])
    np.copysign(out[1], mean, out=out[1])
    out[1] += 0.5


def wide_cell_expectations(mean: Floats, heat: Floats) -> Floats:
    """Return the three expectations of cells whose variance is beyond the table, (3, cells).

    ln 2cosh(A/2) = |A|/2 + g(A), and g is so narrow that its moments suffice: with p the density of A at 0 and p^(k)
    its k-th derivative by the mean,

        E[g(A)] = Sum_k 2 eta(2k + 2) p^(2k),      eta(n) = (1 - 2^(1 - n)) zeta(n).

    The series is asymptotic. At the end of the table the first omitted term is below 1e-12.
    """
    spread = np.sqrt(2.0 * heat)
    p = [np.exp(-0.5 * (mean / spread) ** 2) / (np.sqrt(2.0 * np.pi) * spread)]
    p.append(-mean / spread**2 * p[0])
    for k in range(1, 2 * WIDE_SERIES_TERMS):
        p.append(-(mean * p[k] + k * p[k - 1]) / spread**2)
    even = 2.0 * np.arange(WIDE_SERIES_TERMS) + 2.0
    eta = (1.0 - 2.0 ** (1.0 - even)) * zeta(even)
    narrow = [sum(2.0 * eta[k] * p[2 * k + order] for k in range(WIDE_SERIES_TERMS)) for order in range(3)]
    tilt = 0.5 * erf(mean / (np.sqrt(2.0) * spread))
    return np.array([spread**2 * p[0] + mean * tilt + narrow[0], 0.5 + tilt + narrow[1], p[0] + narrow[2]])
