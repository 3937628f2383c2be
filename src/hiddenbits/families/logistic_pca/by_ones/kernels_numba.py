"""The compiled twin of `expectations`, for whoever has numba (the extra `fast`)."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from hiddenbits.array_types import Floats, Rows
from hiddenbits.maths.exp_numba import compiled, exp_minus, log_one_plus

PAIRS = 512  # pairs that are worked on together


@compiled
def expectations(
    mean: Floats, variance: Floats, rule: Floats, rare: float, smallest: float, f: Floats, sigma: Floats, slope: Floats
) -> None:
    """Put E f (unless that is empty), E sigma and the slope of every pair into place; all arrays have one axis.

    `rule` has the nodes and their weights. The slope is that for rows where `f` is empty, and else that for columns.
    Pairs that are not rare are gathered, so that the compiler works on several of them at once.
    """
    by_row, which = len(f) == 0, np.empty(PAIRS, np.int64)
    m, s, total, one, two = np.empty(PAIRS), np.empty(PAIRS), np.empty(PAIRS), np.empty(PAIRS), np.empty(PAIRS)
    for start in range(0, len(mean), PAIRS):
        stop = min(start + PAIRS, len(mean))
        means, variances, first, second = mean[start:stop], variance[start:stop], sigma[start:stop], slope[start:stop]
        for i in range(len(means)):
            first[i] = exp_minus(max(-(means[i] + 0.5 * variances[i]), 0.0))
        second[:] = first
        if not by_row:
            f[start:stop] = first
        n = 0
        for i in range(len(means)):
            which[n], m[n], s[n] = i, means[i], variances[i]
            n += means[i] + 1.5 * variances[i] > rare
        for c in range(n):
            s[c] = math.sqrt(max(s[c], smallest))
            total[c] = one[c] = two[c] = 0.0
        for k in range(rule.shape[1]):
            node, weight = rule[0, k], rule[1, k]
            if by_row:
                for c in range(n):
                    A = m[c] + node * s[c]
                    u = exp_minus(abs(A))
                    share = 1.0 / (1.0 + u)
                    one[c] += weight * (share if A >= 0.0 else u * share)
                    two[c] += weight * (u * share * share)
            else:
                for c in range(n):
                    A = m[c] + node * s[c]
                    u = exp_minus(abs(A))
                    share = 1.0 / (1.0 + u)
                    at_node = share if A >= 0.0 else u * share
                    one[c] += weight * at_node
                    two[c] += (node * weight) * at_node
                    total[c] += weight * (max(A, 0.0) + log_one_plus(u))
        for c in range(n):
            first[which[c]] = one[c]
            second[which[c]] = two[c] if by_row else two[c] / s[c]
        if not by_row:
            for c in range(n):
                f[start + which[c]] = total[c]


# The compiled twin of the steps of rows through cells, for whoever has numba (the extra `fast`).


@njit(cache=True, nogil=True, error_model="numpy")
def settle(
    pull: Floats,
    mean: Floats,
    tree: tuple[Rows, Floats, Rows, Rows],
    matrices: Floats,
    offsets: Floats,
    n_steps: int,
    longest: float,
    cell: Rows,
) -> None:
    """Move each row's mean in place; put the cell in which its last step began into `cell`.

    `tree` is axis, threshold, child and leaf of each node; a step leads to C_a pull + offset_a, C_a of `matrices`.
    """
    axis, threshold, child, leaf = tree
    q = pull.shape[1]
    step = np.empty(q)
    for n in range(len(pull)):
        for _ in range(n_steps):
            node = 0
            while child[node] != node:
                node = child[node] + (1 if mean[n, axis[node]] > threshold[node] else 0)
            a = leaf[node]
            square = 0.0
            for i in range(q):
                to = offsets[a, i]
                for j in range(q):
                    to += matrices[a, i, j] * pull[n, j]
                step[i] = to - mean[n, i]
                square += step[i] * step[i]
            size = math.sqrt(square)
            share = 1.0 if size <= longest else longest / size
            for i in range(q):
                mean[n, i] += share * step[i]
            cell[n] = a
            if size == 0.0:
                break


# G of `verbs.py` and its slopes, for whoever has numba (the extra `fast`).

STEPS, NEAR = 40, 1e-4  # most steps to the top of a row, and the squared length of one that is the last


@njit(cache=True, nogil=True, error_model="numpy")
def _weights(u: float, out: Floats) -> None:
    """Put the four weights of a cubic B-spline, their slopes and their curvatures into the rows of `out`."""
    v = 1.0 - u
    out[0, 0], out[0, 3] = v * v * v / 6.0, u * u * u / 6.0
    out[0, 1], out[0, 2] = (4.0 - 3.0 * u * u * (1.0 + v)) / 6.0, (4.0 - 3.0 * v * v * (1.0 + u)) / 6.0
    out[1, 0], out[1, 3] = -0.5 * v * v, 0.5 * u * u
    out[1, 1], out[1, 2] = 0.5 * u * (3.0 * u - 4.0), 0.5 * v * (4.0 - 3.0 * v)
    out[2, 0], out[2, 1], out[2, 2], out[2, 3] = v, 1.0 - 3.0 * v, 1.0 - 3.0 * u, u


@njit(cache=True, nogil=True, error_model="numpy")
def _place(x: float, low: float, h: float, n: int) -> tuple[int, float]:
    """Return where on an axis of n nodes x lies: the first of its four nodes, and how far behind the second."""
    t = min(max((x - low) / h, 1.0), n - 2.000001)
    i = int(t)
    return i - 1, t - i


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def log_moments(pull: Floats, table: Floats, low: float, h: float, z: Floats, w: Floats, out: Floats) -> None:
    """Put G(p) = ln E exp(p.x - F(x)), x ~ N(0, I), of each pull p into `out`, with its two slopes and the mixed one.

    `table` has the coefficients of F as a cubic spline, with nodes h apart from `low` on. The integral is taken around
    the top of p.x - F(x) - x.x / 2, by Gauss-Hermite nodes z with weights w as wide as its curvature says. The slopes
    are the posterior's mean and covariance.
    """
    n, a, b = len(table), np.empty((3, 4)), np.empty((3, 4))
    for row in range(len(pull)):
        p0, p1, x0, x1 = pull[row, 0], pull[row, 1], 0.0, 0.0
        c00, c01, c11 = 1.0, 0.0, 1.0
        for _ in range(STEPS):
            i, u = _place(x0, low, h, n)
            j, v = _place(x1, low, h, n)
            _weights(u, a)
            _weights(v, b)
            g0, g1, h00, h01, h11 = 0.0, 0.0, 0.0, 0.0, 0.0
            for k in range(4):
                f, f1, f2 = 0.0, 0.0, 0.0
                for m in range(4):
                    c = table[i + k, j + m]
                    f += b[0, m] * c
                    f1 += b[1, m] * c
                    f2 += b[2, m] * c
                g0 += a[1, k] * f
                g1 += a[0, k] * f1
                h00 += a[2, k] * f
                h01 += a[1, k] * f1
                h11 += a[0, k] * f2
            c00, c01, c11 = 1.0 + max(h00 / h**2, 0.0), h01 / h**2, 1.0 + max(h11 / h**2, 0.0)
            determinant = c00 * c11 - c01 * c01
            if determinant < 1.0:  # F is convex; its spline is so but for rounding
                c01, determinant = 0.0, c00 * c11
            r0, r1 = p0 - g0 / h - x0, p1 - g1 / h - x1
            s0, s1 = (c11 * r0 - c01 * r1) / determinant, (c00 * r1 - c01 * r0) / determinant
            square = s0 * s0 + s1 * s1
            share = 1.0 if square <= 1.0 else 1.0 / math.sqrt(square)
            x0, x1 = x0 + share * s0, x1 + share * s1
            if square < NEAR:
                break
        # The covariance is the inverse of c; its root is lower triangular.
        determinant = c00 * c11 - c01 * c01
        l00 = math.sqrt(c11 / determinant)
        l10 = -c01 / (determinant * l00)
        l11 = 1.0 / math.sqrt(c11)
        total, top = 0.0, -1e300
        m0, m1, m01 = 0.0, 0.0, 0.0  # of the distances from the top
        for step in range(len(z)):
            first = (step + len(z) // 2) % len(z)  # from the middle on: heights are compared with that of the top
            y0 = x0 + l00 * z[first]
            i, u = _place(y0, low, h, n)
            _weights(u, a)
            for step_across in range(len(z)):
                second = (step_across + len(z) // 2) % len(z)
                y1 = x1 + l10 * z[first] + l11 * z[second]
                j, v = _place(y1, low, h, n)
                q = 1.0 - v
                b0, b3 = q * q * q / 6.0, v * v * v / 6.0
                b1, b2 = (4.0 - 3.0 * v * v * (1.0 + q)) / 6.0, (4.0 - 3.0 * q * q * (1.0 + v)) / 6.0
                f = 0.0
                for k in range(4):
                    f += a[0, k] * (
                        b0 * table[i + k, j]
                        + b1 * table[i + k, j + 1]
                        + b2 * table[i + k, j + 2]
                        + b3 * table[i + k, j + 3]
                    )
                height = p0 * y0 + p1 * y1 - f - 0.5 * (y0 * y0 + y1 * y1 - z[first] ** 2 - z[second] ** 2)
                if top == -1e300:
                    top = height
                weight = w[first] * w[second] * math.exp(min(height - top, 600.0))
                total += weight
                m0 += weight * (y0 - x0)
                m1 += weight * (y1 - x1)
                m01 += weight * (y0 - x0) * (y1 - x1)
        out[row, 0] = top + math.log(total) + math.log(l00 * l11)
        m0, m1, m01 = m0 / total, m1 / total, m01 / total
        out[row, 1], out[row, 2], out[row, 3] = x0 + m0, x1 + m1, m01 - m0 * m1
