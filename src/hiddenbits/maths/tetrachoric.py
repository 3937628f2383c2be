"""Tetrachoric correlations: of hidden normal variables whose signs the bits are, one pair of columns at a time.

    s_i = sgn(h_i + x_i),  h_i = Phi^-1(p_i),  P(s_i = s_j = 1) = Phi2(h_i, h_j; rho_ij)      Lee & Sompolinsky eq. 8-10

The margins of the pair's 2 x 2 table first, then rho: that is the maximum-likelihood estimate. Where a cell is empty
it would be -1 or 1. There `a` pseudo-rows are added in which the two columns are independent,

    cov' = cov n / (n + a),

which keeps the margins and stays inside. Columns that do not vary, and pairs never observed together, say nothing:
their correlation is 0 and its standard error infinite.

| letter | meaning |
|---|---|
| p, q, c | P(first = 1), P(second = 1), P(both = 1), each column turned round where p or q is above 1/2 |
| n | rows in which both were observed, by weight |
| a | pseudo-rows |
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from hiddenbits.array_types import Floats
from hiddenbits.data import Arrays
from hiddenbits.maths.bivariate_normal import angle_of_table, unit_variance
from hiddenbits.maths.pair_counts import TRACE, Cells, PairCounts
from hiddenbits.maths.tempering import Run

Tile = tuple[slice, slice]

MOST_RHO = 1.0 - 2.0**-53  # copies of a column, in many millions of rows, have a rho that rounds to 1
SIDE = 128  # columns on either side of a tile: 16,384 pairs are solved together


@dataclass(frozen=True, eq=False)
class PairFit(Arrays):
    """Estimates of all pairs of columns.

    Attributes
    ----------
    correlation : ndarray of shape (columns, columns)
        rho; 1 on the diagonal.
    standard_error : ndarray of shape (columns, columns)
        Of rho; 0 on the diagonal, infinite where a pair says nothing.
    thresholds : ndarray of shape (columns,)
        -h: a bit is 1 where its hidden variable is above its threshold.
    """

    correlation: Floats
    standard_error: Floats
    thresholds: Floats


@dataclass(frozen=True)
class Degenerate:
    """How many pairs have no maximum of the likelihood inside (-1, 1).

    Attributes
    ----------
    constant : ndarray
        Columns that do not vary.
    empty_cells : int
        Pairs with an empty cell, of columns that vary.
    unseen : int
        Pairs never observed together, or in whose common rows one of them does not vary, of columns that vary.
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
        The tables.
    pseudo_rows : float
        a, above 0.
    everywhere : bool
        Whether every pair gets them, or only those with an empty cell.
    run : callable
        Applies a function to each of several tiles, on as many threads as it likes, in order.
    """
    d = counts.n_columns
    constant = varies_not(counts)
    correlation, error = np.eye(d), np.zeros((d, d))
    empty = unseen = 0
    tiles = _tiles(d)
    solved = run(partial(_solve_tile, counts, pseudo_rows, everywhere), tiles)
    for (rows, columns), (rho, deviation, hollow, silent) in zip(tiles, solved, strict=True):
        upper = _upper(rows, columns)
        varying = ~(constant[rows, None] | constant[columns])[upper]
        empty += int(np.count_nonzero(hollow & varying))
        unseen += int(np.count_nonzero(silent & varying))
        for matrix, values in ((correlation, rho), (error, deviation)):
            matrix[rows, columns][upper] = values
            matrix[columns, rows].T[upper] = values
    fit = PairFit(correlation, error, thresholds(counts))
    return fit, Degenerate(np.flatnonzero(constant), empty, unseen)


def thresholds(counts: PairCounts) -> Floats:
    """Return -Phi^-1(P(bit = 1)) of each column; a constant one is drawn in by half a row, (ones + .5)/(seen + 1)."""
    ones, seen, constant = counts.column_ones, counts.column_seen, varies_not(counts)
    return np.asarray(-ndtri(np.where(constant, (ones + 0.5) / (seen + 1.0), ones / np.where(constant, 1.0, seen))))


def varies_not(counts: PairCounts) -> NDArray[np.bool_]:
    """Return which columns are all 0 or all 1, or were never observed."""
    ones, seen = counts.column_ones, counts.column_seen
    trace = TRACE * seen
    return np.asarray((ones <= trace) | (seen - ones <= trace))


def _tiles(d: int) -> list[Tile]:
    cuts = [slice(start, min(start + SIDE, d)) for start in range(0, d, SIDE)]
    return [(rows, columns) for i, rows in enumerate(cuts) for columns in cuts[i:]]


def _upper(rows: slice, columns: slice) -> NDArray[np.bool_]:
    """Return which cells of a tile are pairs of two columns, each pair once: those above the diagonal."""
    return np.arange(rows.start, rows.stop)[:, None] < np.arange(columns.start, columns.stop)


def _solve_tile(
    counts: PairCounts, pseudo_rows: float, everywhere: bool, tile: Tile
) -> tuple[Floats, Floats, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return what `solve_tables` says of the pairs of a tile."""
    upper = _upper(*tile)
    return solve_tables(Cells(*(cell[upper] for cell in counts.cells(*tile))), pseudo_rows, everywhere)


def solve_tables(
    cells: Cells, pseudo_rows: float, everywhere: bool
) -> tuple[Floats, Floats, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return rho, its standard error, which tables have an empty cell, and which say nothing.

    Examples
    --------
    >>> table = Cells(*(np.array([count]) for count in (40.0, 10.0, 10.0, 40.0)))
    >>> rho, error, *_ = solve_tables(table, 1.0, False)
    >>> round(float(rho[0]), 6), round(float(error[0]), 6)          # sin(pi/2 (.8 - .2)), by the arcsine law
    (0.809017, 0.073863)
    """
    n = cells.total
    first, second = cells.one_one + cells.one_zero, cells.one_one + cells.zero_one
    silent = (first == 0.0) | (second == 0.0) | (first == n) | (second == n)
    hollow = ~silent & (np.minimum.reduce(cells) == 0.0)
    rho, error = np.zeros(n.shape), np.full(n.shape, np.inf)
    told = ~silent
    if not told.any():
        return rho, error, hollow, silent
    # From here on one number a pair. Turned round, the corner of a table is the cell in which both are rare.
    n, first, second = n[told], first[told], second[told]
    turn_first, turn_second = first > 0.5 * n, second > 0.5 * n
    corner = np.select(
        [turn_first & turn_second, turn_first, turn_second],
        [cells.zero_zero[told], cells.zero_one[told], cells.one_zero[told]],
        cells.one_one[told],
    )
    p = np.where(turn_first, n - first, first) / n
    q = np.where(turn_second, n - second, second) / n
    added = np.where(everywhere | hollow[told], pseudo_rows, 0.0)
    c = np.where(added > 0.0, p * q + (corner / n - p * q) * (n / (n + added)), corner / n)
    t = angle_of_table(p, q, c)
    rho[told] = np.where(turn_first != turn_second, -np.sin(t), np.sin(t))
    error[told] = np.sqrt(unit_variance(p, q, c, t) / n)
    return rho, error, hollow, silent


def interval(rho: Floats, error: Floats, level: float) -> tuple[Floats, Floats]:
    """Return both ends of intervals for rho, by Fisher's z: atanh(rho) has nearly the same law whatever rho is.

    Examples
    --------
    >>> low, high = interval(np.array([0.5, 0.0, 1.0]), np.array([0.1, np.inf, 0.0]), 0.95)
    >>> low.round(4), high.round(4)
    (array([ 0.2803, -1.    ,  1.    ]), array([0.6699, 1.    , 1.    ]))
    """
    known = error == 0.0  # a column with itself
    inside = np.where(known, 0.0, np.clip(rho, -MOST_RHO, MOST_RHO))
    z, reach = np.arctanh(inside), -ndtri(0.5 * (1.0 - level)) * error / (1.0 - inside * inside)
    low, high = np.minimum(np.tanh(z - reach), rho), np.maximum(np.tanh(z + reach), rho)
    return np.where(known, rho, low), np.where(known, rho, high)


def independence(counts: PairCounts) -> Floats:
    """Return the p-value of independence (rho = 0) for each pair: Pearson's chi-square of its table.

    The score test, without a correction for continuity; 1 where a pair says nothing.
    """
    d = counts.n_columns
    p_value = np.empty((d, d))
    for rows, columns in _tiles(d):
        cells = counts.cells(rows, columns)
        n = cells.total
        first, second = cells.one_one + cells.one_zero, cells.one_one + cells.zero_one
        spread = first * (n - first) * second * (n - second)
        with np.errstate(divide="ignore", invalid="ignore"):
            cross = cells.one_one * cells.zero_zero - cells.one_zero * cells.zero_one
            root = np.where(spread > 0.0, np.abs(cross) * np.sqrt(n / spread), 0.0)
        p_value[rows, columns] = 2.0 * ndtr(-root)
        p_value[columns, rows] = p_value[rows, columns].T
    return p_value
