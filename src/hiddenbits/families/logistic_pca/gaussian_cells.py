"""Expectations of a cell's terms under the Gaussian posterior of its row, by Gauss-Hermite quadrature: for the polish.

Columns take as many nodes as their widest cell needs: a few where loadings are small or posteriors narrow. There are
compiled twins (`gaussian_cells_numba.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.data.kernels import compiled_twin, kernels_pay
from hiddenbits.data.operands import scratch
from hiddenbits.families.logistic_pca.cell_kernels import STEP_CELLS
from hiddenbits.maths.gauss_hermite import hermite
from hiddenbits.maths.missing_cells import Blanks

# With so many nodes the error is below 1e-9 up to the spread next to it: far below what the polish gains. 15 nodes are
# for all that is wider; theirs grows to 1e-4 at a spread of 2.
WIDTHS, RULES = (0.26, 0.43, 0.57, 0.69), tuple(hermite(n) for n in (5, 7, 9, 11, 15))
WORK = 8.0  # time for a cell, as `kernels_pay` has it


_compiled = compiled_twin("hiddenbits.families.logistic_pca.gaussian_cells_numba")


def gaussian_log_cosh(mean: AnyArray, spread: AnyArray, blanks: Blanks) -> AnyArray:
    """Return E[ln 2cosh(A/2)], A ~ N(mean, spread^2), for every cell; 0 where a cell is missing."""
    out, (order, stops) = np.empty(mean.shape), _levels(spread)
    if kernels_pay(WORK) and (compiled := _compiled()):
        compiled.log_cosh(mean, spread, order, stops, RULES, out)
    else:
        for some, rule in _columns(order, stops):
            out[:, some] = _log_cosh(mean.take(some, axis=1), spread.take(some, axis=1), *rule)
    blanks.fill(out, 0.0)
    return out


def gaussian_cells(mean: AnyArray, spread: AnyArray, blanks: Blanks) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return E[ln 2cosh(A/2)], E[sigma(A)] and E[sigma'(A)], A ~ N(mean, spread^2); all 0 where a cell is missing."""
    three, (order, stops) = [np.empty(mean.shape) for _ in range(3)], _levels(spread)
    if kernels_pay(WORK) and (compiled := _compiled()):
        compiled.all_three(mean, spread, order, stops, RULES, *three)
    else:
        for some, rule in _columns(order, stops):
            found = _all_three(mean.take(some, axis=1), spread.take(some, axis=1), *rule)
            for cells, values in zip(three, found, strict=True):
                cells[:, some] = values
    for cells in three:
        blanks.fill(cells, 0.0)
    return three[0], three[1], three[2]


def _levels(spread: AnyArray) -> tuple[Rows, Rows]:
    """Return the columns, those that need few nodes first, and where each rule's columns end; unsigned, for numba."""
    levels = np.searchsorted(WIDTHS, spread.max(axis=0, initial=0.0))
    stops = np.cumsum(np.bincount(levels, minlength=len(RULES)))
    return np.argsort(levels, kind="stable").astype(np.uint64), stops.astype(np.uint64)


def _columns(order: Rows, stops: Rows) -> Iterator[tuple[Rows, tuple[Floats, Floats]]]:
    """Yield the columns of each rule that has some."""
    for rule, some in zip(RULES, np.split(order.astype(np.intp), stops[:-1].astype(np.intp)), strict=True):
        if some.size:
            yield some, rule


def _row_steps(shape: tuple[int, ...]) -> Iterator[slice]:
    """Yield some rows at a time of an array of cells: the nodes go round within a core's cache."""
    step = max(1, STEP_CELLS // max(shape[1], 1))
    for start in range(0, shape[0], step):
        yield slice(start, min(start + step, shape[0]))


def _log_cosh(mean: AnyArray, spread: AnyArray, nodes: Floats, weights: Floats) -> AnyArray:
    out = np.zeros(mean.shape)
    for rows in _row_steps(mean.shape):
        m, s, total = mean[rows], spread[rows], out[rows]
        A, u = (scratch(name, m.shape, m.dtype) for name in ("xi", "plus"))
        for z, weight in zip(nodes, weights, strict=True):
            np.multiply(s, z, out=A)
            A += m
            np.abs(A, out=A)
            np.negative(A, out=u)
            np.exp(u, out=u)
            u += 1.0
            np.log(u, out=u)
            A *= 0.5
            A += u
            A *= weight
            total += A
    return out


def _all_three(mean: AnyArray, spread: AnyArray, nodes: Floats, weights: Floats) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return the three expectations.

    With e = A/2 and t = tanh(e): ln 2cosh(e) = |e| + ln 2 - ln(1 + |t|), sigma = (1 + t)/2, sigma' = (1 - t^2)/4.
    """
    log_cosh, sigma, slope = np.full(mean.shape, np.log(2.0)), np.zeros(mean.shape), np.zeros(mean.shape)
    for rows in _row_steps(mean.shape):
        m, s = 0.5 * mean[rows], 0.5 * spread[rows]
        logs, first, second = log_cosh[rows], sigma[rows], slope[rows]
        e, t, u = (scratch(name, m.shape, m.dtype) for name in ("xi", "kappa", "plus"))
        for z, weight in zip(nodes, weights, strict=True):
            np.multiply(s, z, out=e)
            e += m
            np.tanh(e, out=t)
            np.multiply(t, weight, out=u)
            first += u
            u *= t
            second += u
            np.abs(t, out=t)
            t += 1.0
            np.log(t, out=t)
            np.abs(e, out=e)
            e -= t
            e *= weight
            logs += e
    sigma += 1.0
    sigma *= 0.5
    np.subtract(1.0, slope, out=slope)
    slope *= 0.25
    return log_cosh, sigma, slope
