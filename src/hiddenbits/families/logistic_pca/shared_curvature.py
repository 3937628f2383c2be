"""Logistic PCA with one curvature for each column: passes whose cost follows the ones, not the cells.

Jaakkola and Jordan's bound holds for any xi. Where all the rows of a column share one, kappa_i belongs to the column:

    F = Sum_n Sum_i o_ni [ r_ni <A_ni> - ln 2cosh(xi_i/2) - (kappa_i/2)(<A_ni^2> - xi_i^2) ] - Sum_n KL_n

with o = 1 where a cell was observed. dF/dxi_i = 0 gives xi_i^2 = Sum_n o_ni <A_ni^2> / Sum_n o_ni, a mean where eq 8
has each cell's own, so that F is below the bound of `logistic`. P_n = I + Sum_i o_ni kappa_i w_i w_i' is the same for
all complete rows, and for others the whole less the missing columns. h_n = Sum_i r_ni w_i - Sum_i o_ni kappa_i b_i w_i
needs the ones of the row alone. No array of rows x columns is made.

The columns' statistics are T_i = Sum_n o_ni <x^ x^'> (one for all columns where nothing is missing) and Sum r <x^>.
From these w^ (given kappa) and xi (given w^) follow in turns. Posterior, w^ and xi each raise F, so that it never
falls. xi is a parameter; rows remember nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.data.operands import OnesOperand, product_with_totals
from hiddenbits.families.logistic_pca.params import VARIATIONAL, LogisticParams, LogisticStats, effective_ridge
from hiddenbits.maths.gaussian_posterior import Posterior
from hiddenbits.maths.packed_symmetric import (
    ROOT2,
    edge_places,
    identity,
    inner_places,
    invert,
    pack,
    pack_outer,
    packed_size,
    row_dot,
    times,
    unpack,
)

LEAST_XI = 1e-6
TURNS = 5  # of w^ and xi in one update: they cost next to nothing next to a pass


def curvature(xi: Floats) -> Floats:
    """Return kappa = tanh(xi/2)/(2 xi)."""
    xi = np.maximum(xi, LEAST_XI)
    return np.asarray(np.tanh(0.5 * xi) / (2.0 * xi))


def first_xi(params: LogisticParams) -> Floats:
    """Return the xi of the parameters; where there are none yet, those of rows just as the prior has them."""
    if len(params.xi):
        return params.xi
    return np.asarray(np.sqrt((params.joint * params.joint).sum(axis=1)))


@dataclass(frozen=True, eq=False)
class Columns:
    """What every block of a pass needs: w^, kappa, and the sums over all columns of what an observed cell adds."""

    joint: Floats
    kappa: Floats
    heights: Floats
    totals: Floats

    @classmethod
    def of(cls, params: LogisticParams) -> Columns:
        """Prepare a pass."""
        xi, joint = first_xi(params), params.joint
        kappa = curvature(xi)
        heights = 0.5 * kappa * xi * xi - 0.5 * xi - np.log1p(np.exp(-xi))
        whole = pack(joint.T @ (kappa[:, None] * joint))
        return cls(joint, kappa, heights, np.concatenate([whole, 0.5 * joint.sum(axis=0), [heights.sum()]])[None])

    @cached_property
    def table(self) -> Floats:
        """Return what each column adds where it was observed, (d, p + q + 2): only needed where cells are missing."""
        return np.column_stack([self.kappa[:, None] * pack_outer(self.joint), 0.5 * self.joint, self.heights])


def expect_shared(columns: Columns, block: Block) -> tuple[LogisticStats, Posterior]:
    """E-step: the posterior of each row, and with it the two sums of each column."""
    x, o = block.operands()
    complete = isinstance(o, OnesOperand)
    q = columns.joint.shape[1] - 1
    p, k = packed_size(q + 1), q + 1
    sums = columns.totals if complete else product_with_totals(o, columns.table, columns.totals)
    G, linear = sums[:, :p], np.asarray(x @ columns.joint) - sums[:, p : p + k]
    covariance, log_det = invert(identity(q) + G[:, inner_places(k)], q)  # one, or one for each row
    h = linear[:, :q] - G[:, edge_places(k)] / ROOT2
    mean = h @ unpack(covariance, q)[0] if complete else times(covariance, h)
    bound = linear[:, q] + sums[:, -1] + 0.5 * (row_dot(h, mean) - log_det - G[:, p - 1])
    extended = np.column_stack([mean, np.ones(len(mean))])
    weighted = block.weights[:, None] * extended
    if complete:
        moments = pack(extended.T @ weighted)[None]
        moments[:, inner_places(k)] += block.weights.sum() * covariance
    else:
        S = pack_outer(extended)
        S[:, inner_places(k)] += covariance
        moments = np.asarray(o.T @ (block.weights[:, None] * S))
    stats = LogisticStats(
        bound=np.asarray(block.weights @ bound),
        weight=np.asarray(block.weights.sum()),
        moments=moments,
        linear=np.asarray(x.T @ weighted) - 0.5 * np.asarray(o.T @ weighted),
        softplus=np.zeros((block.n_columns, 0)),
    )
    return stats, Posterior(np.zeros((0, q)), np.zeros((0, packed_size(q))))


def update_shared(params: LogisticParams, stats: LogisticStats, ridge: float) -> LogisticParams:
    """M-step: w^ given xi and xi given w^, in turns."""
    ridge, k = effective_ridge(ridge), params.n_components + 1
    right = stats.linear.copy()
    right[:, -1] += ridge * params.centre
    T, xi = unpack(stats.moments, k), first_xi(params)
    seen = np.maximum(stats.moments[:, -1], np.finfo(float).tiny)
    if len(T) == 1:  # the same for all columns: in its axes every column's system is diagonal
        sizes, axes = np.linalg.eigh(T[0])
        turned = right @ axes
    for _ in range(TURNS):
        kappa = curvature(xi)[:, None]
        if len(T) == 1:
            along = turned / (kappa * np.maximum(sizes, 0.0) + ridge)
            joint, squares = along @ axes.T, (along * along) @ np.maximum(sizes, 0.0)
        else:
            joint = np.linalg.solve(kappa[:, :, None] * T + ridge * np.eye(k), right[..., None])[..., 0]
            squares = row_dot(joint, np.matmul(T, joint[..., None])[..., 0])
        xi = np.sqrt(np.maximum(squares / seen, LEAST_XI**2))
    return params.with_joint(np.asarray(joint), VARIATIONAL, xi)


def expected_shared(params: LogisticParams, weight: float, ridge: float) -> LogisticStats:
    """Return the statistics of rows that are just as the parameters say: T = weight I, and xi^2 = |w|^2 + b^2."""
    joint, k = params.joint, params.n_components + 1
    kappa = curvature(np.sqrt((joint * joint).sum(axis=1)))[:, None]
    away = joint.copy()
    away[:, -1] -= params.centre
    linear = weight * kappa * joint + effective_ridge(ridge) * away
    return LogisticStats(
        np.zeros(()), np.asarray(weight), weight * identity(k)[None], linear, np.zeros((len(joint), 0))
    )
