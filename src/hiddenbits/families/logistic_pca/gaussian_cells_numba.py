"""Compiled twins of the sums of `gaussian_cells.py`, for whoever has numba (the extra `fast`).

One exponential gives all three numbers of a cell at a node: with u = exp(-|A|), sigma(|A|) = 1/(1 + u),
sigma' = u/(1 + u)^2 and ln 2cosh(A/2) = |A|/2 + ln(1 + u). Exponential and logarithm are polynomials, so that the
compiler works on several cells at once; their errors are below 1e-14.
"""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.maths.exp_numba import compiled, exp_minus, log_one_plus

CELLS = 1024  # cells that are worked on together


@compiled
def _gather(cells: AnyArray, columns: Rows, first: int, last: int, out: AnyArray) -> int:
    """Put these columns of some rows side by side; return how many cells they are."""
    k, at = len(columns), 0
    for r in range(first, last):
        row, to = cells[r], out[at : at + k]
        for c in range(k):
            to[c] = row[columns[c]]
        at += k
    return at


@compiled
def _scatter(values: AnyArray, columns: Rows, first: int, last: int, cells: AnyArray) -> None:
    """Put values that are side by side back where they belong."""
    k, at = len(columns), 0
    for r in range(first, last):
        row, of = cells[r], values[at : at + k]
        for c in range(k):
            row[columns[c]] = of[c]
        at += k


@compiled
def log_cosh(
    mean: AnyArray, spread: AnyArray, order: Rows, stops: Rows, rules: tuple[tuple[Floats, Floats], ...], out: AnyArray
) -> None:
    """Put E[ln 2cosh(A/2)] of every cell into `out`; columns in this order take one rule up to each stop."""
    rows = max(1, CELLS // max(len(order), 1))
    m, s, total = np.empty((3, rows * len(order)))
    for first in range(0, len(mean), rows):
        last, begun = min(first + rows, len(mean)), 0
        for level in range(len(stops)):
            columns, (nodes, weights) = order[begun : stops[level]], rules[level]
            begun = stops[level]
            n = _gather(mean, columns, first, last, m)
            _gather(spread, columns, first, last, s)
            total[:n] = 0.0
            for j in range(len(nodes)):
                node, weight = nodes[j], weights[j]
                for c in range(n):
                    a = abs(m[c] + s[c] * node)
                    total[c] += weight * (0.5 * a + log_one_plus(exp_minus(a)))
            _scatter(total, columns, first, last, out)


@compiled
def all_three(
    mean: AnyArray,
    spread: AnyArray,
    order: Rows,
    stops: Rows,
    rules: tuple[tuple[Floats, Floats], ...],
    logs: AnyArray,
    sigma: AnyArray,
    slope: AnyArray,
) -> None:
    """Put E[ln 2cosh(A/2)], E[sigma(A)] and E[sigma'(A)] of every cell into the last three."""
    rows = max(1, CELLS // max(len(order), 1))
    m, s, of_logs, of_sigma, of_slope = np.empty((5, rows * len(order)))
    for first in range(0, len(mean), rows):
        last, begun = min(first + rows, len(mean)), 0
        for level in range(len(stops)):
            columns, (nodes, weights) = order[begun : stops[level]], rules[level]
            begun = stops[level]
            n = _gather(mean, columns, first, last, m)
            _gather(spread, columns, first, last, s)
            of_logs[:n] = 0.0
            of_sigma[:n] = 0.0
            of_slope[:n] = 0.0
            for j in range(len(nodes)):
                node, weight = nodes[j], weights[j]
                for c in range(n):
                    height = m[c] + s[c] * node
                    a = abs(height)
                    u = exp_minus(a)
                    share = 1.0 / (1.0 + u)
                    of_logs[c] += weight * (0.5 * a + log_one_plus(u))
                    of_sigma[c] += weight * (share if height >= 0.0 else u * share)
                    of_slope[c] += weight * (u * share * share)
            _scatter(of_logs, columns, first, last, logs)
            _scatter(of_sigma, columns, first, last, sigma)
            _scatter(of_slope, columns, first, last, slope)
