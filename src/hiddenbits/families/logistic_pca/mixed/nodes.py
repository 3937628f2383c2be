"""Nodes to integrate over x for the rows of mixed tables.

ln P(row | x) = u'A - o'phi(A) + something that does not depend on x, with u = (bit, z/s^2, one-hot category) and
phi = (softplus, A^2/(2 s^2), log-sum-exp of the column) for each unit. Three kinds of nodes:

- without real columns, a grid that all rows share: matrix products;
- with real columns, a grid for each row around what its reals say, which is a Gaussian;
- with more than three dimensions, or loadings too steep for a grid, draws for each row from a Student distribution
  around the top of its posterior. Its tails are longer than any posterior's, so that no draw can outweigh the others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.families.logistic_pca.mixed.params import MixedParams, Places
from hiddenbits.families.logistic_pca.rows import FURTHEST
from hiddenbits.maths.gauss_hermite import (
    Rule,
    ball_grid,
    ball_size,
    newton_tops,
    resolving_grid,
    row_draws,
    spacing_for,
)
from hiddenbits.maths.gaussian_posterior import Posterior
from hiddenbits.maths.latent_gaussian_rows import NODE_NUMBERS
from hiddenbits.maths.missing_cells import Blanks
from hiddenbits.maths.numerics import sigmoid, softplus
from hiddenbits.maths.packed_symmetric import row_dot

TAILS = 7  # degrees of freedom of the Student distribution
TOP_STEPS = 30
GRID_NUMBERS = 1 << 24  # activations on a shared grid that are kept; with more, draws have to do
MOST_ROW_NODES = 1 << 15  # of a grid that each row has for itself


@dataclass(frozen=True, eq=False)
class Numbers:
    """The numbers of a block, reals standardised; which units were observed; what bits are blank."""

    X: Floats
    o: Floats
    blanks: Blanks


@dataclass(frozen=True, eq=False)
class Weighted:
    """Some rows with nodes, (nodes, q) or (rows, nodes, q); activations there; log weights, (rows, nodes).

    The weights add up to P(row). `sampled` says that they are draws.
    """

    rows: Any
    nodes: Floats
    A: Floats
    scores: Floats
    sampled: bool = False


def _along_axes(curved: Floats, steep: Floats, L: Floats) -> tuple[Floats, Floats]:
    """Return each L turned so that the loadings W L curve along the axes of y, and a spacing for each of these.

    Spacings are rounded to a ladder, so that rows share few grids.
    """
    inside = np.swapaxes(L, 1, 2) @ (curved.T @ curved) @ L
    curvature, turn = np.linalg.eigh(inside)
    L = L @ turn
    s = 1.0 / np.sqrt(1.0 + np.maximum(curvature, 0.0) / 4.0)
    steepest = np.abs(steep @ L).max(axis=1, initial=1e-12)
    return L, 2.0 ** (np.floor(4.0 * np.log2(spacing_for(s, 2.2 / steepest))) / 4.0)


def softmax_groups(A: Floats, groups: tuple[slice, ...]) -> Floats:
    """Return the softmax of each group of the last axis."""
    out = np.empty_like(A)
    for group in groups:
        part = np.exp(A[..., group] - A[..., group].max(axis=-1, keepdims=True))
        out[..., group] = part / part.sum(axis=-1, keepdims=True)
    return out


class MixedNodes(ABC):
    """Nodes with posterior weights for the rows of a block."""

    n_draws: int
    seed: int
    n_components: int

    @property
    @abstractmethod
    def places(self) -> Places:
        """Where the numbers are."""

    @abstractmethod
    def numbers(self, params: MixedParams, block: Block) -> Numbers:
        """Return the numbers of a block."""

    @abstractmethod
    def real_heights(self, params: MixedParams, data: Numbers) -> Floats:
        """Return what the densities of the reals have that does not depend on x."""

    @abstractmethod
    def gaussian_posterior(self, params: MixedParams, block: Block) -> tuple[Posterior, Floats]:
        """Return the Gaussian posterior of the bound, and the bound, of each row."""

    def activations(self, params: MixedParams, nodes: Floats) -> Floats:
        """Return A = W x + b, (..., D)."""
        A = nodes @ params.loadings.T
        A += params.intercepts
        discrete = A[..., self.places.bits], A[..., self.places.nominal]
        for part in discrete:
            np.clip(part, -FURTHEST, FURTHEST, out=part)
        return A

    def _phi(self, params: MixedParams, A: Floats) -> Floats:
        """Return phi of each unit, (..., U)."""
        places = self.places
        nominal = A[..., places.nominal]
        parts = [softplus(A[..., places.bits]), A[..., places.reals] ** 2 * (0.5 / params.noise)]
        parts += [np.asarray(logsumexp(nominal[..., group], axis=-1, keepdims=True)) for group in places.groups]
        return np.concatenate(parts, axis=-1)

    def _u(self, params: MixedParams, data: Numbers) -> Floats:
        u = data.X.copy()
        u[:, self.places.reals] /= params.noise
        return u

    def _discrete(self, params: MixedParams) -> tuple[Floats, Floats]:
        """Return loadings of bits that curve as much as the discrete columns do, and loadings that are as steep.

        ln P curves along v by at most (w.v)^2/4 for a bit and |V v|^2/2 for a category, V around its mean.
        """
        places = self.places
        bits, nominal = params.loadings[places.bits], params.loadings[places.nominal]
        away = [nominal[group] - nominal[group].mean(axis=0) for group in places.groups]
        return (
            np.concatenate([bits, *(np.sqrt(2.0) * v for v in away)]),
            np.concatenate([bits, *(2.0 * v for v in away)]),
        )

    def rule(self, params: MixedParams) -> Rule | None:
        """Return the grid for rows without real columns; None where it would have too many nodes.

        It decides whether likelihoods are exact: what reals say of x only makes integrals easier.
        """
        places = self.places
        if params.n_components > 3:
            return None
        curved, steep = self._discrete(params)
        if places.n_real:
            rungs = _along_axes(curved, steep, np.eye(params.n_components)[None])[1][0]
            return ball_grid(tuple(rungs)) if ball_size(tuple(rungs)) <= MOST_ROW_NODES else None
        found = resolving_grid(curved, steep)
        return None if found is None or len(found.nodes) * places.n_numbers > GRID_NUMBERS else found

    def exact(self, params: MixedParams) -> bool:
        """Whether integrals are exact."""
        return self.places.gaussian or self.rule(params) is not None

    def weighted_nodes(self, params: MixedParams, shared: Any, block: Block) -> Iterator[Weighted]:
        """Yield some rows at a time, with nodes, activations there and log weights."""
        if "rule" not in shared.cache:  # two threads may both make one: either serves
            shared.cache["rule"] = self.rule(params)
        rule = shared.cache["rule"]
        data = self.numbers(params, block)
        if rule is None:
            return self._drawn(params, data, block.start)
        return self._by_row(params, data) if self.places.n_real else self._on_grid(params, shared, rule, data)

    def _on_grid(self, params: MixedParams, shared: Any, rule: Rule, data: Numbers) -> Iterator[Weighted]:
        """Yield rows with the nodes that they all share."""
        if "grid" not in shared.cache:
            A = self.activations(params, rule.nodes)
            shared.cache["grid"] = A, self._phi(params, A)
        A, phi = shared.cache["grid"]
        u = self._u(params, data)
        step = max(1, 2 * NODE_NUMBERS // len(rule.nodes))
        for start in range(0, len(u), step):
            rows = slice(start, min(start + step, len(u)))
            yield Weighted(rows, rule.nodes, A, u[rows] @ A.T - data.o[rows] @ phi.T + rule.log_weights)

    def _by_row(self, params: MixedParams, data: Numbers) -> Iterator[Weighted]:
        """Yield rows with nodes of their own: a grid around what the row's reals say of x.

        Prior and reals make a Gaussian N(m, L L') with a known integral Z. In y = L^-1 (x - m) what is left is
        Z E[P(discrete cells | m + L y)], y ~ N(0, I): the integral of a table of bits with loadings W L.
        """
        places, q = self.places, params.n_components
        W, b = params.loadings[places.reals], params.intercepts[places.reals]
        z, seen = data.X[:, places.reals], data.o[:, places.reals] / params.noise
        P = np.eye(q) + np.einsum("nj,ja,jb->nab", seen, W, W, optimize=True)
        L = np.linalg.cholesky(np.linalg.inv(P))
        half = np.einsum("nab,na->nb", L, (z / params.noise - seen * b) @ W)  # L'h
        m = np.einsum("nab,nb->na", L, half)
        log_Z = (z * (b / params.noise)).sum(axis=1) - 0.5 * seen @ (b * b) + 0.5 * row_dot(half, half)
        log_Z += self.real_heights(params, data) + np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1)
        curved, steep = self._discrete(params)
        L, rungs = _along_axes(curved, steep, L)
        found, which = np.unique(rungs, axis=0, return_inverse=True)
        for number, spacings in enumerate(found):
            rule = ball_grid(tuple(spacings))
            these = np.flatnonzero(which.ravel() == number)
            step = max(1, NODE_NUMBERS // (len(rule.nodes) * places.n_numbers))
            for start in range(0, len(these), step):
                rows = these[start : start + step]
                nodes = m[rows, None, :] + rule.nodes @ np.swapaxes(L[rows], 1, 2)
                A = self._standing(params, nodes)
                scores = self._discrete_scores(A, data.X[rows], data.o[rows])
                scores += rule.log_weights
                yield Weighted(rows, nodes, np.moveaxis(A, 0, -1), scores + log_Z[rows, None])

    def _standing(self, params: MixedParams, nodes: Floats) -> Floats:
        """Return A of nodes (rows, nodes, q), a table for each number: (D, rows, nodes)."""
        A = params.loadings @ nodes.reshape(-1, nodes.shape[-1]).T
        A += params.intercepts[:, None]
        for part in (A[self.places.bits], A[self.places.nominal]):
            np.clip(part, -FURTHEST, FURTHEST, out=part)
        return A.reshape(len(A), *nodes.shape[:2])

    def _discrete_scores(self, A: Floats, u: Floats, o: Floats) -> Floats:
        """Return Sum [ u'A - o phi(A) ] over bits and nominal columns, (rows, nodes), for A as `_standing` has it.

        softplus(A) = A/2 + |A|/2 + ln(1 + exp(-|A|)); the logarithms of many bits are one, that of their product. The
        exponentials of categories need no care: activations are within FURTHEST of 0.
        """
        scores, product = np.zeros(A.shape[1:]), np.ones(A.shape[1:])
        for i in range(self.places.n_bits):
            half = 0.5 * o[:, i, None]
            size = np.abs(A[i])
            scores += (u[:, i, None] - half) * A[i] - half * size
            np.exp(np.negative(size, out=size), out=size)
            size *= o[:, i, None]
            size += 1.0
            product *= size
            if i % 512 == 511:  # 2^512 is still far from the largest number
                scores -= np.log(product)
                product.fill(1.0)
        scores -= np.log(product)
        first = self.places.nominal.start
        for c, group in enumerate(self.places.groups):
            total = np.zeros(A.shape[1:])
            for i in range(first + group.start, first + group.stop):
                total += np.exp(A[i])
                scores += u[:, i, None] * A[i]
            scores -= o[:, first + c, None] * np.log(total)
        return scores

    def _drawn(self, params: MixedParams, data: Numbers, first_row: int) -> Iterator[Weighted]:
        """Yield rows with draws from a Student distribution around the top of each row's posterior."""
        q, n_draws, reals = params.n_components, self.n_draws, self.places.reals
        u, heights = self._u(params, data), self.real_heights(params, data)
        top, precision = self._top(params, data, u)
        roots = np.linalg.cholesky(np.linalg.inv(precision))
        z = row_draws(self.seed, first_row, (len(u), n_draws, q + TAILS))
        z = z[..., :q] * np.sqrt(TAILS / (z[..., q:] ** 2).sum(axis=2))[..., None]
        nodes = top[:, None, :] + z @ np.swapaxes(roots, 1, 2)
        log_det = np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
        # ln p(x) - ln q(x), q the Student density
        ratio = -0.5 * (nodes * nodes).sum(axis=2) - 0.5 * q * np.log(2.0 * np.pi) - np.log(n_draws)
        ratio += 0.5 * (TAILS + q) * np.log1p((z * z).sum(axis=2) / TAILS) + log_det[:, None]
        ratio += gammaln(TAILS / 2) - gammaln((TAILS + q) / 2) + 0.5 * q * np.log(TAILS * np.pi)
        step = max(1, NODE_NUMBERS // (n_draws * self.places.n_numbers))
        for start in range(0, len(u), step):
            rows = slice(start, min(start + step, len(u)))
            A = self._standing(params, nodes[rows])
            scores = self._discrete_scores(A, u[rows], data.o[rows])
            for j, i in enumerate(range(reals.start, reals.stop)):
                scores += A[i] * (u[rows, i, None] - (0.5 / params.noise[j]) * data.o[rows, i, None] * A[i])
            scores += ratio[rows] + heights[rows, None]
            yield Weighted(rows, nodes[rows], np.moveaxis(A, 0, -1), scores, sampled=True)

    def _top(self, params: MixedParams, data: Numbers, u: Floats) -> tuple[Floats, Floats]:
        """Return the most probable x of each row and the curvature there, by Newton steps that are halved if they fall.

        The function is concave: every kind of column is.
        """
        W, one = params.loadings, np.eye(params.n_components)

        def height(at: Floats) -> tuple[Floats, Floats]:
            A = self.activations(params, at)
            return row_dot(u, A) - row_dot(data.o, self._phi(params, A)) - 0.5 * row_dot(at, at), A

        def slopes(at: Floats, A: Floats) -> tuple[Floats, Floats]:
            pull, curve = self._slopes(params, A, data.o)
            return (u - pull) @ W - at, one + curve

        start = np.zeros((len(u), params.n_components))
        top, A = newton_tops(start, height, slopes, n_steps=TOP_STEPS, n_halvings=12, near=1e-10)
        return top, slopes(top, A)[1]

    def _slopes(self, params: MixedParams, A: Floats, o: Floats) -> tuple[Floats, Floats]:
        """Return the slopes of o'phi in A, (rows, D), and its curvature in x, (rows, q, q)."""
        places, W = self.places, params.loadings
        p = sigmoid(A[:, places.bits])
        g = softmax_groups(A[:, places.nominal], places.groups)
        flat = np.broadcast_to(1.0 / params.noise, (len(A), places.n_real))
        first = places.n_bits + places.n_real
        seen = np.concatenate([o[:, :first], np.repeat(o[:, first:], places.levels, axis=1)], axis=1)
        pull = np.concatenate([p, A[:, places.reals] / params.noise, g], axis=1) * seen
        weight = np.concatenate([p * (1.0 - p), flat, g], axis=1) * seen
        curve = np.einsum("ni,ia,ib->nab", weight, W, W, optimize=True)
        for c, group in enumerate(places.groups):
            mean = g[:, group] @ W[places.nominal][group]
            curve -= (o[:, first + c, None] * mean)[:, :, None] * mean[:, None, :]
        return pull, curve
