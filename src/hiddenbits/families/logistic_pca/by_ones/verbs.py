"""Which way `LogisticPCA` takes its passes: by the cells of a table, or by its ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np
from scipy.ndimage import spline_filter

from hiddenbits.array_types import Floats, Rows
from hiddenbits.data import AllOnes, Arrays, Block, Table
from hiddenbits.data.kernels import compiled_twin
from hiddenbits.engine import block_height, current
from hiddenbits.families.logistic_pca.by_ones.model import LogisticByOnes
from hiddenbits.families.logistic_pca.by_ones.params import AnchoredParams
from hiddenbits.families.logistic_pca.model import Logistic
from hiddenbits.families.logistic_pca.params import LogisticParams
from hiddenbits.maths.gauss_hermite import REACH, hermite
from hiddenbits.maths.numerics import softplus

AUTO, CELLS, ONES = "auto", "cells", "ones"
N_CELLS = {1: 64, 2: 256, 3: 512}  # of the map, by its dimensions
TALLEST = 4096  # rows of a block of the verbs
LARGE, SPARSE = 5e7, 0.05  # cells of a table, and its share of ones, from and up to which "auto" takes the ones


@dataclass(frozen=True, eq=False)
class Blanks(Arrays):
    """Number of blanks of a table."""

    blanks: Floats


def _blanks(block: Block) -> Blanks:
    _, o = block.operands()
    observed = np.broadcast_to(o.T @ np.ones((block.n_rows, 1)), (block.n_columns, 1)).sum()
    return Blanks(np.asarray(block.n_rows * block.n_columns - observed))


def model_of_ones(model: Logistic, cost: str, table: Table) -> LogisticByOnes | None:
    """Return the model of a fit whose passes go by the ones of a table; None where they go by its cells."""
    n, d = table.shape
    row_cells = table.source.row_cells
    if cost == CELLS or (cost == AUTO and (n * d < LARGE or row_cells > SPARSE * d)):
        return None
    q = model.n_components
    by_ones = LogisticByOnes(q, model.ridge, model.start_from, N_CELLS.get(q, 0))
    refusal = _refusal(model, by_ones, table)
    if refusal and cost == ONES:
        raise ValueError(f"cost='ones' is {refusal}. Use cost='cells'.")
    return None if refusal else by_ones


def _refusal(model: Logistic, by_ones: LogisticByOnes, table: Table) -> str | None:
    """Return what passes by the ones are for, where this fit is something else."""
    if not model.polish:
        return "for polish=True"
    if model.n_components not in N_CELLS:
        return f"for one to three dimensions, not {model.n_components}"
    if getattr(table.source, "complete", False):
        return None
    grid = table.grid(block_height(by_ones.footprint(table.shape[1], table.source.row_cells)))
    blanks = float(current().executor.reduce(_blanks, grid).blanks)
    return f"for tables without blanks; this one has {blanks:,.0f}" if blanks else None


def plain_params(params: Any) -> Any:
    """Return the parameters of a map, without the cells of passes by the ones."""
    return params.plain() if isinstance(params, AnchoredParams) else params


# ln P(t) of rows without blanks, at a cost that follows their ones.
#
#     ln P(t | x) = p.x + Sum_ones b - F(x),      p = Sum_ones w,  F(x) = Sum_j ln(1 + exp(w_j.x + b_j))
#     ln P(t)     = G(p) + Sum_ones b,            G(p) = ln E exp(p.x - F(x)),  x ~ N(0, I)
#
# F and G are the same functions for all rows. A map of two dimensions has a table of F, computed once from all
# columns, and a cubic spline through it. G is integrated around the top of p.x - F(x) - x.x / 2, at the corners of
# the squares that the p of some row lies in, and a cubic goes through G and its slopes there: the posterior's mean
# and covariance. Its error is about SIDE^4 / 384 times the fourth cumulants of posteriors, whose standard deviation
# is below 1. The nodes of the integral err more: on held-out rows of kdd, news100 and 500 columns of retail.dat 15 x
# 15 of them by up to 0.0001 nats a row, 7 x 7 by up to 0.003; a finer table of F changed nothing.

SPACING = 0.125
N_NODES = 15  # along each axis of a posterior
SIDE = 0.5  # of the squares of G
FURTHEST, PLACES = 1 << 30, 32  # squares are counted up to this, each way: two numbers in the bits of one
CUBIC = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [-3.0, 3.0, -2.0, -1.0], [2.0, -2.0, 1.0, 1.0]])
FEW_NODES = 1024  # a grid of up to so many is as quick, and exact
STEP_CELLS = 1 << 16  # nodes x columns that are worked on together, in a core's cache


_compiled = compiled_twin("hiddenbits.families.logistic_pca.by_ones.kernels_numba", "log_moments")


@lru_cache(maxsize=2)  # by identity
def _spline(params: LogisticParams) -> Floats:
    """Return the coefficients of F as a cubic spline on a square that REACH fits into."""
    half = int(np.ceil(REACH / SPACING)) + 4
    axis = SPACING * np.arange(-half, half + 1.0)
    nodes = np.stack([a.ravel() for a in np.meshgrid(axis, axis, indexing="ij")], axis=1)
    F = np.zeros(len(nodes))
    columns = max(1, STEP_CELLS // 512)
    for rows in (slice(start, start + 512) for start in range(0, len(nodes), 512)):
        for start in range(0, params.n_columns, columns):
            some = slice(start, start + columns)
            F[rows] += softplus(nodes[rows] @ params.loadings[some].T + params.intercepts[some]).sum(axis=1)
    return np.ascontiguousarray(spline_filter(F.reshape(len(axis), len(axis)), order=3, mode="mirror"))


class LogMoments:
    """G in squares of pulls p, (rows, 2): a cubic in each, made when a row lies in it for the first time."""

    def __init__(self, params: LogisticParams) -> None:
        self._spline = _spline(params)
        self._lock = Lock()
        self._numbers: dict[int, int] = {}  # of the squares that are known
        self._cubics = np.empty((1024, 4, 4))

    def at(self, pull: Floats) -> Floats:
        """Return G of each pull."""
        corner = np.clip(np.floor(pull / SIDE), -FURTHEST, FURTHEST).astype(np.int64)
        squares, which = np.unique((corner[:, 0] << PLACES) + corner[:, 1], return_inverse=True)
        cubics = self._known(squares)[which]
        u, v = (pull / SIDE - corner).T
        across = ((cubics[:, 3].T * u + cubics[:, 2].T) * u + cubics[:, 1].T) * u + cubics[:, 0].T
        return np.asarray(((across[3] * v + across[2]) * v + across[1]) * v + across[0])

    def _known(self, squares: Rows) -> Floats:
        """Return the cubics of squares, by their numbers."""
        with self._lock:
            new = [square for square in squares.tolist() if square not in self._numbers]
            if new:
                first = len(self._numbers)
                if first + len(new) > len(self._cubics):
                    self._cubics = np.concatenate([self._cubics[:first], np.empty((first + 2 * len(new), 4, 4))])
                self._cubics[first : first + len(new)] = self._made(np.array(new))
                self._numbers.update(zip(new, range(first, first + len(new)), strict=True))
            return self._cubics[[self._numbers[square] for square in squares.tolist()]]

    def _made(self, squares: Rows) -> Floats:
        """Return the cubics of squares: G and its slopes, times the side, at the corners determine them."""
        first = (squares + (1 << (PLACES - 1))) >> PLACES
        corners = np.stack([first, squares - (first << PLACES)], axis=1)
        corners = corners[:, None] + np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        places, which = np.unique(corners.reshape(-1, 2), axis=0, return_inverse=True)
        found, low = np.empty((len(places), 4)), -SPACING * (len(self._spline) // 2)
        _compiled()(np.ascontiguousarray(SIDE * places), self._spline, low, SPACING, *hermite(N_NODES), found)
        found *= [1.0, SIDE, SIDE, SIDE * SIDE]
        given = found[which.ravel()].reshape(-1, 2, 2, 2, 2)  # corner along each axis, slope along each, swapped:
        given = given.transpose(0, 4, 1, 3, 2).reshape(-1, 4, 4)  # a number has its slope along the first axis last
        return np.asarray(CUBIC @ given @ CUBIC.T)


@lru_cache(maxsize=2)  # by identity
def _log_moments(params: LogisticParams) -> LogMoments:
    return LogMoments(params)


class LogisticOfOnes(Logistic):
    """The model as a map that was fitted by the ones has it: the likelihood of complete rows follows the ones too."""

    def tabulates(self, params: LogisticParams) -> bool:
        """Return whether rows without blanks are integrated by the table of F: with numba, where a grid is large."""
        grid = params.grid
        small = grid is not None and len(grid.nodes) <= FEW_NODES
        return params.n_components == 2 and not small and _compiled() is not None

    def likelihood_and_error(self, params: LogisticParams, shared: object, block: Block) -> Floats:
        """Return ln P(observed bits) of each row and its standard error: 0 where it is integrated."""
        if not isinstance(block.observed, AllOnes) or not self.tabulates(params):
            return super().likelihood_and_error(params, shared, block)
        x, _ = block.operands()
        sums = np.asarray(x @ params.joint)
        out = np.zeros((block.n_rows, 2))
        out[:, 0] = sums[:, 2] + _log_moments(params).at(np.ascontiguousarray(sums[:, :2]))
        return out
