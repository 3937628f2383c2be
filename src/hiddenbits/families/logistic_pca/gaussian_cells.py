"""Expectations of a cell's terms under the Gaussian posterior of its row, by Gauss-Hermite quadrature: for the polish.

Rows take as many nodes as their widest cell needs. With many columns posteriors are narrow, and a few will do. The sums
have a compiled twin (`gaussian_cells_numba.py`), where narrow cells have a series instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.data.kernels import compiled_twin, kernels_pay
from hiddenbits.data.operands import scratch
from hiddenbits.families.logistic_pca.cell_kernels import STEP_CELLS
from hiddenbits.maths.gauss_hermite import hermite
from hiddenbits.maths.missing_cells import Blanks

# With so many nodes the error is below 1e-12 up to the spread next to it: far below what the polish gains. 15 nodes are
# for all that is wider; theirs grows to 1e-4 at a spread of 2.
WIDTHS, NODES = (0.11, 0.22, 0.31, 0.4), (5, 7, 9, 11, 15)
WORK = 8.0  # time for a cell, as `kernels_pay` has it


_compiled = compiled_twin("hiddenbits.families.logistic_pca.gaussian_cells_numba")


def gaussian_log_cosh(mean: AnyArray, spread: AnyArray, blanks: Blanks) -> AnyArray:
    """Return E[ln 2cosh(A/2)], A ~ N(mean, spread^2), for every cell; 0 where a cell is missing."""
    out = np.empty(mean.shape)
    if kernels_pay(WORK) and (compiled := _compiled()):
        compiled.log_cosh(mean, spread, *_rules(WIDTHS, NODES), out)
    else:
        for rows, rule in _rows_and_nodes(spread):
            out[rows] = _log_cosh(mean[rows], spread[rows], *rule)
    blanks.fill(out, 0.0)
    return out


def gaussian_cells(mean: AnyArray, spread: AnyArray, blanks: Blanks) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return E[ln 2cosh(A/2)], E[sigma(A)] and E[sigma'(A)], A ~ N(mean, spread^2); all 0 where a cell is missing."""
    log_cosh, sigma, slope = found = [np.empty(mean.shape) for _ in range(3)]
    if kernels_pay(WORK) and (compiled := _compiled()):
        compiled.all_three(mean, spread, *_rules(WIDTHS, NODES), *found)
    else:
        for rows, rule in _rows_and_nodes(spread):
            log_cosh[rows], sigma[rows], slope[rows] = _all_three(mean[rows], spread[rows], *rule)
    for cells in found:
        blanks.fill(cells, 0.0)
    return log_cosh, sigma, slope


@lru_cache(maxsize=2)
def _rules(widths: tuple[float, ...], counts: tuple[int, ...]) -> tuple[Floats, Rows, Floats, Floats]:
    """Return widths and counts as arrays, with the nodes and their weights for each count, a row for each."""
    nodes, weights = np.zeros((2, len(counts), max(counts)))
    for row, n in enumerate(counts):
        nodes[row, :n], weights[row, :n] = hermite(n)
    return np.array(widths), np.array(counts), nodes, weights


def _rows_and_nodes(spread: AnyArray) -> Iterator[tuple[Any, tuple[Floats, Floats]]]:
    """Yield the rows that need the same number of nodes, with these and their weights."""
    levels = np.searchsorted(WIDTHS, spread.max(axis=1, initial=0.0))
    for level in np.unique(levels):
        among = levels == level
        yield slice(None) if among.all() else np.flatnonzero(among), hermite(NODES[level])


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
