"""Tetrachoric correlations: of latent normal variables whose signs are the binary columns, pair by pair.

    s_i = sgn(h_i + x_i),  h_i = Phi^-1(p_i),  P(s_i = s_j = 1) = Phi2(h_i, h_j; rho_ij)      Lee & Sompolinsky eq. 8-10

The thresholds are estimated from the margins of the pair's 2 x 2 table, then rho from the table: this is the maximum-
likelihood estimate. With an empty cell rho would be -1 or 1. Then `a` pseudo-rows are added in which the columns are
independent,

    cov' = cov n / (n + a),

which preserves the margins and keeps rho inside (-1, 1). Columns that do not vary, and pairs that were never observed
together, have no information: their correlation is 0 with an infinite standard error.

| letter | meaning |
|---|---|
| p, q, c | P(first = 1), P(second = 1), P(both = 1), after reversing columns with p or q above 1/2 |
| n | weight of the rows in which both were observed |
| a | pseudo-rows |
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, owens_t

from hiddenbits.array_types import Floats
from hiddenbits.data import Arrays
from hiddenbits.maths.pair_counts import ROUNDING_SHARE, PairCounts, TwoByTwoTables
from hiddenbits.maths.tempering import Run

Tile = tuple[slice, slice]

LARGEST_RHO = 1.0 - 2.0**-53  # rho of two equal columns in many millions of rows rounds to 1
SIDE = 128  # columns on each side of a tile: 16,384 pairs are solved together


@dataclass(frozen=True, eq=False)
class PairFit(Arrays):
    """Estimates of all pairs of columns.

    Attributes
    ----------
    correlation : ndarray of shape (columns, columns)
        rho; 1 on the diagonal.
    standard_error : ndarray of shape (columns, columns)
        Of rho; 0 on the diagonal, infinite for pairs without information.
    thresholds : ndarray of shape (columns,)
        -h: a cell is 1 if its latent variable is above the threshold.
    """

    correlation: Floats
    standard_error: Floats
    thresholds: Floats


@dataclass(frozen=True)
class Degenerate:
    """Counts of pairs without a maximum of the likelihood inside (-1, 1).

    Attributes
    ----------
    constant : ndarray
        Columns that do not vary.
    empty_cells : int
        Pairs of varying columns with an empty cell.
    unseen : int
        Pairs of varying columns that were never observed together, or of which one does not vary in their common rows.
    """

    constant: NDArray[np.int64]
    empty_cells: int
    unseen: int

    def __bool__(self) -> bool:
        return bool(len(self.constant) or self.empty_cells or self.unseen)


def fit_pairs(counts: PairCounts, pseudo_rows: float, everywhere: bool, run: Run) -> tuple[PairFit, Degenerate]:
    """Return the estimates for all pairs.

    Parameters
    ----------
    counts : PairCounts
        The 2 x 2 tables.
    pseudo_rows : float
        a, above 0.
    everywhere : bool
        Whether pseudo-rows are added to every pair, or only to pairs with an empty cell.
    run : callable
        Applies a function to several tiles, on any number of threads, and returns the results in order.
    """
    d = counts.n_columns
    constant = is_constant(counts)
    correlation, error = np.eye(d), np.zeros((d, d))
    n_empty = n_unseen = 0
    tiles = _tiles(d)
    results = run(partial(_solve_tile, counts, pseudo_rows, everywhere), tiles)
    for (rows, columns), (rho, standard_error, has_empty_cell, uninformative) in zip(tiles, results, strict=True):
        upper = _upper(rows, columns)
        varying = ~(constant[rows, None] | constant[columns])[upper]
        n_empty += int(np.count_nonzero(has_empty_cell & varying))
        n_unseen += int(np.count_nonzero(uninformative & varying))
        for matrix, values in ((correlation, rho), (error, standard_error)):
            matrix[rows, columns][upper] = values
            matrix[columns, rows].T[upper] = values
    fit = PairFit(correlation, error, thresholds(counts))
    return fit, Degenerate(np.flatnonzero(constant), n_empty, n_unseen)


def thresholds(counts: PairCounts) -> Floats:
    """Return -Phi^-1(P(x = 1)) of each column; with P = (ones + .5)/(observed + 1) if it is constant."""
    ones, observed, constant = counts.column_ones, counts.column_seen, is_constant(counts)
    p = np.where(constant, (ones + 0.5) / (observed + 1.0), ones / np.where(constant, 1.0, observed))
    return np.asarray(-ndtri(p))


def is_constant(counts: PairCounts) -> NDArray[np.bool_]:
    """Return which columns are all 0 or all 1, or were never observed."""
    ones, observed = counts.column_ones, counts.column_seen
    rounding = ROUNDING_SHARE * observed
    return np.asarray((ones <= rounding) | (observed - ones <= rounding))


def _tiles(d: int) -> list[Tile]:
    cuts = [slice(start, min(start + SIDE, d)) for start in range(0, d, SIDE)]
    return [(rows, columns) for i, rows in enumerate(cuts) for columns in cuts[i:]]


def _upper(rows: slice, columns: slice) -> NDArray[np.bool_]:
    """Return which cells of a tile are above the diagonal: each pair of columns once."""
    return np.arange(rows.start, rows.stop)[:, None] < np.arange(columns.start, columns.stop)


def _solve_tile(
    counts: PairCounts, pseudo_rows: float, everywhere: bool, tile: Tile
) -> tuple[Floats, Floats, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the results of `solve_tables` for the pairs of a tile."""
    upper = _upper(*tile)
    return solve_tables(TwoByTwoTables(*(cell[upper] for cell in counts.cells(*tile))), pseudo_rows, everywhere)


def solve_tables(
    cells: TwoByTwoTables, pseudo_rows: float, everywhere: bool
) -> tuple[Floats, Floats, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return rho, its standard error, which tables have an empty cell, and which have no information.

    Examples
    --------
    >>> table = TwoByTwoTables(*(np.array([count]) for count in (40.0, 10.0, 10.0, 40.0)))
    >>> rho, error, *_ = solve_tables(table, 1.0, False)
    >>> round(float(rho[0]), 6), round(float(error[0]), 6)          # sin(pi/2 (.8 - .2)), by the arcsine law
    (0.809017, 0.073863)
    """
    n = cells.total
    first, second = cells.one_one + cells.one_zero, cells.one_one + cells.zero_one
    uninformative = (first == 0.0) | (second == 0.0) | (first == n) | (second == n)
    has_empty_cell = ~uninformative & (np.minimum.reduce(cells) == 0.0)
    rho, error = np.zeros(n.shape), np.full(n.shape, np.inf)
    informative = ~uninformative
    if not informative.any():
        return rho, error, has_empty_cell, uninformative
    # From here on one number per informative pair. The corner is the cell with the rarer value of both columns.
    n, first, second = n[informative], first[informative], second[informative]
    reverse_first, reverse_second = first > 0.5 * n, second > 0.5 * n
    corner = np.select(
        [reverse_first & reverse_second, reverse_first, reverse_second],
        [cells.zero_zero[informative], cells.zero_one[informative], cells.one_zero[informative]],
        cells.one_one[informative],
    )
    p = np.where(reverse_first, n - first, first) / n
    q = np.where(reverse_second, n - second, second) / n
    added = np.where(everywhere | has_empty_cell[informative], pseudo_rows, 0.0)
    c = np.where(added > 0.0, p * q + (corner / n - p * q) * (n / (n + added)), corner / n)
    t = angle_of_table(p, q, c)
    rho[informative] = np.where(reverse_first != reverse_second, -np.sin(t), np.sin(t))
    error[informative] = np.sqrt(unit_variance(p, q, c, t) / n)
    return rho, error, has_empty_cell, uninformative


def interval(rho: Floats, error: Floats, level: float) -> tuple[Floats, Floats]:
    """Return both ends of intervals for rho, by Fisher's z: the distribution of atanh(rho) hardly depends on rho.

    Examples
    --------
    >>> low, high = interval(np.array([0.5, 0.0, 1.0]), np.array([0.1, np.inf, 0.0]), 0.95)
    >>> low.round(4), high.round(4)
    (array([ 0.2803, -1.    ,  1.    ]), array([0.6699, 1.    , 1.    ]))
    """
    exact = error == 0.0  # a column with itself
    inner_rho = np.where(exact, 0.0, np.clip(rho, -LARGEST_RHO, LARGEST_RHO))
    z, half_width = np.arctanh(inner_rho), -ndtri(0.5 * (1.0 - level)) * error / (1.0 - inner_rho * inner_rho)
    low, high = np.minimum(np.tanh(z - half_width), rho), np.maximum(np.tanh(z + half_width), rho)
    return np.where(exact, rho, low), np.where(exact, rho, high)


def independence(counts: PairCounts) -> Floats:
    """Return the p-value of independence (rho = 0) for each pair: Pearson's chi-square of its table.

    The score test, without continuity correction; 1 for pairs without information.
    """
    d = counts.n_columns
    p_value = np.empty((d, d))
    for rows, columns in _tiles(d):
        cells = counts.cells(rows, columns)
        n = cells.total
        first, second = cells.one_one + cells.one_zero, cells.one_one + cells.zero_one
        variance = first * (n - first) * second * (n - second)
        with np.errstate(divide="ignore", invalid="ignore"):
            cross = cells.one_one * cells.zero_zero - cells.one_zero * cells.zero_one
            root = np.where(variance > 0.0, np.abs(cross) * np.sqrt(n / variance), 0.0)
        p_value[rows, columns] = 2.0 * ndtr(-root)
        p_value[columns, rows] = p_value[rows, columns].T
    return p_value


# Two standard normal variables with correlation rho: orthant probabilities, and rho from a 2 x 2 table.
#
#     Phi2(h, k; rho) = P(Z_1 <= h, Z_2 <= k)
#                     = (Phi(h) + Phi(k))/2 - T(h, (k/h - rho)/r) - T(k, (h/k - rho)/r) - d          Owen 1956
#
# with r = sqrt(1 - rho^2), and d = 1/2 if hk < 0, or hk = 0 and h + k < 0, else 0. In the angle t = arcsin(rho)
# its slope is the exponential of the integral that Lee & Sompolinsky's eq. 10 is made of, which has no pole at |rho|
# = 1:
#
#     dPhi2/dt = g(t) = exp{ -(h^2 + k^2 - 2 h k sin t) / (2 cos^2 t) } / 2 pi,
#     (ln g)'  = [ h k (1 + sin^2 t) - (h^2 + k^2) sin t ] / cos^3 t.
#
# Near |rho| = 1 these are small differences of large numbers. With s = sin t, r = cos t, e = 1 + |s|, and, for s >=
# 0, u = h - k and z = 1, otherwise u = h + k and z = -1, so that 1 - |s| = r^2 / e, all of them are sums:
#
#     (h^2 + k^2 - 2 h k s) / r^2 = u^2 / r^2 + 2 z h k / e,      (ln g)' = h k r / e^2 - s u^2 / r^3,
#     (k/h - s) / r = z (r / e - u / (h r)),                      (h/k - s) / r = z r / e + u / (k r).
#
# | letter | meaning | shape |
# |---|---|---|
# | p, q | P(first = 1), P(second = 1) of a pair | (pairs,) |
# | c | P(both = 1) | (pairs,) |
# | h, k | Phi^-1(p), Phi^-1(q) | (pairs,) |
# | t | arcsin(rho) | (pairs,) |

CONVERGED_STEP = 1e-7  # as a share of r; Halley's method converges cubically, so that the next step is only rounding
NARROWEST_BRACKET = 1e-14  # its width is at the limit of double precision
MOST_HALLEY_STEPS = 100


def orthant_probability(h: Floats, k: Floats, rho: Floats) -> Floats:
    """Return P(Z_1 <= h, Z_2 <= k) of two standard normal variables with correlation rho, |rho| < 1.

    Examples
    --------
    >>> round(float(orthant_probability(np.zeros(1), np.zeros(1), np.array([0.5]))[0]), 12)      # 1/4 + asin(.5)/2 pi
    0.333333333333
    """
    return _orthant(h, k, _Angle(h, k, rho, np.sqrt((1.0 - rho) * (1.0 + rho))))


class _Angle:
    """s, r, e, u and z of an angle, for given thresholds."""

    def __init__(self, h: Floats, k: Floats, s: Floats, r: Floats) -> None:
        self.s, self.r, self.e = s, r, 1.0 + np.abs(s)
        self.z = np.where(s >= 0.0, 1.0, -1.0)
        self.u = h - self.z * k
        self.product = h * k

    @property
    def exponent(self) -> Floats:
        """Return (h^2 + k^2 - 2 h k s) / (2 r^2)."""
        return np.asarray(0.5 * (self.u / self.r) ** 2 + self.z * self.product / self.e)

    @property
    def log_slope(self) -> Floats:
        """Return (ln g)'."""
        return np.asarray(self.product * self.r / self.e**2 - self.s * self.u**2 / self.r**3)

    def conditional_limits(self, h: Floats, k: Floats) -> tuple[Floats, Floats]:
        """Return (k - s h) / r and (h - s k) / r."""
        return self.z * (h * self.r / self.e - self.u / self.r), self.z * k * self.r / self.e + self.u / self.r


def _orthant(h: Floats, k: Floats, angle: _Angle) -> Floats:
    """Return Phi2(h, k; s)."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        along_h = np.where(h == 0.0, np.copysign(np.inf, k), angle.z * (angle.r / angle.e - angle.u / (h * angle.r)))
        along_k = np.where(k == 0.0, np.copysign(np.inf, h), angle.z * angle.r / angle.e + angle.u / (k * angle.r))
    opposite = (angle.product < 0.0) | ((angle.product == 0.0) & (h + k < 0.0))
    probability = 0.5 * (ndtr(h) + ndtr(k)) - owens_t(h, along_h) - owens_t(k, along_k) - 0.5 * opposite
    centered = (h == 0.0) & (k == 0.0)
    return np.where(centered, 0.25 + np.arctan2(angle.s, angle.r) / (2.0 * np.pi), probability)


def angle_of_table(p: Floats, q: Floats, c: Floats) -> Floats:
    """Return t = arcsin(rho) with Phi2(h, k; rho) = c, for margins p, q <= 1/2 and 0 < c < min(p, q).

    Halley's steps in t, F/g / (1 - F/g (ln g)'/2) with F = Phi2 - c, within a bracket that every step narrows; a step
    that would leave the bracket is replaced by a bisection. With both margins at most 1/2, c is the smallest cell and
    keeps its relative accuracy; for other margins, reverse a column, which changes the sign of t.

    Examples
    --------
    >>> t = angle_of_table(np.array([0.3]), np.array([0.2]), np.array([0.1]))
    >>> round(float(np.sin(t)[0]), 12)
    0.375537029314
    """
    h, k, t = ndtri(p), ndtri(q), _first_angle(p, q, c)
    low, high = np.full(t.shape, -0.5 * np.pi), np.full(t.shape, 0.5 * np.pi)
    active = np.arange(t.size)
    for _ in range(MOST_HALLEY_STEPS):
        old, x, y = t[active], h[active], k[active]
        angle = _Angle(x, y, np.sin(old), np.cos(old))
        error = _orthant(x, y, angle) - c[active]
        low[active] = np.where(error <= 0.0, old, low[active])
        high[active] = np.where(error >= 0.0, old, high[active])
        below, above = low[active], high[active]
        with np.errstate(invalid="ignore", over="ignore"):
            newton = error * (2.0 * np.pi) * np.exp(angle.exponent)
            step = newton / np.clip(1.0 - 0.5 * newton * angle.log_slope, 0.4, 4.0)
            new = old - step
        inside = (new >= below) & (new <= above)  # False also for NaN
        t[active] = np.where(inside, new, 0.5 * (below + above))
        active = active[~((inside & (np.abs(step) < CONVERGED_STEP * angle.r)) | (above - below < NARROWEST_BRACKET))]
        if active.size == 0:
            break
    return t


def _first_angle(p: Floats, q: Floats, c: Floats) -> Floats:
    """Return Bonett & Price's (2005) approximation from the odds ratio w, rho = cos(pi / (1 + w^e)), within .05."""
    odds = c * (1.0 - p - q + c) / ((p - c) * (q - c))
    exponent = 0.5 * (1.0 - np.abs(p - q) / 5.0 - (0.5 - np.minimum(p, q)) ** 2)
    return np.asarray(np.pi * (0.5 - 1.0 / (1.0 + odds**exponent)))


def unit_variance(p: Floats, q: Floats, c: Floats, t: Floats) -> Floats:
    """Return n Var(rho) of the estimate from a 2 x 2 table of n rows: its standard error is sqrt(this / n).

    The margins are estimated too, so that d rho = (dc - a dp - b dq) / phi2, where a = dPhi2/dp = P(Z_2 <= k | Z_1 = h)
    and b with h and k exchanged: Var(x y - a x - b y) of a row, over phi2^2. It is the inverse of Fisher's information.
    """
    h, k = ndtri(p), ndtri(q)
    angle = _Angle(h, k, np.sin(t), np.cos(t))
    density = np.exp(-angle.exponent) / (2.0 * np.pi * angle.r)
    a, b = (ndtr(limit) for limit in angle.conditional_limits(h, k))
    mean = c - a * p - b * q
    square = c * (1.0 - a - b) ** 2 + (p - c) * a * a + (q - c) * b * b
    return np.asarray(np.maximum(square - mean * mean, 0.0) / density**2)
