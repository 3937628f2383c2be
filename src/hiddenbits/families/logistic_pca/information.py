"""Scores of rows under logistic PCA, integrated on a grid, for standard errors.

Coordinates: the loadings as in `components_`, dimension by dimension, then the intercepts. At a node x of the grid a
row has the score o_i (t_i - p_i(x)) x^ for column i, with x^ = (x, 1). The score of the row is its posterior mean
(Fisher), and its information E[-S'] - Var[S] (Louis). A rotation does not change the likelihood, so
the information has no inverse until a condition fixes the orientation: here that columns of W are orthogonal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hiddenbits.array_types import Floats, Rows
from hiddenbits.data import Block
from hiddenbits.families.logistic_pca.params import LogisticParams
from hiddenbits.families.logistic_pca.rows import LogisticRows, activations, safe_sigmoid
from hiddenbits.maths.free_parameters import FreeParameters, Quantity
from hiddenbits.maths.gauss_hermite import Rule

Nodes = tuple[Floats, Floats]  # x^, (L, q + 1), and p, (L, d), at some nodes


@dataclass(frozen=True, eq=False)
class LogisticScores:
    """The scores at given parameters, integrated by a rule."""

    model: LogisticRows
    params: LogisticParams
    rule: Rule
    ridge: float

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates."""
        return self.params.joint.size

    def free_parameters(self, weight: float) -> FreeParameters:
        """Return the coordinates; none of them has a bound."""
        W, b = self.params.loadings.T, self.params.intercepts
        q, d = W.shape
        p = (q + 1) * d
        vector = np.concatenate([W.ravel(), b])
        centered = np.concatenate([W.ravel(), b - self.params.center])
        pairs = [(a, c) for a in range(q) for c in range(a + 1, q)]
        ties = np.zeros((len(pairs), p))
        for tie, (a, c) in zip(ties, pairs, strict=True):  # Sum_i w_ia w_ic = 0
            tie[a * d : (a + 1) * d], tie[c * d : (c + 1) * d] = W[c], W[a]
        unit = np.eye(p)
        quantities = [
            Quantity("components", W, unit[: q * d], ("dimension", "column")),
            Quantity("intercepts", b, unit[q * d :], ("column",)),
        ]
        if q == 1 and (W != 0.0).all():
            slopes = np.zeros((d, p))
            slopes[:, :d], slopes[:, d:] = np.diag(b / W[0] ** 2), np.diag(-1.0 / W[0])
            quantities.append(Quantity("difficulties", -b / W[0], slopes, ("column",)))
        return FreeParameters(
            vector=vector,
            prior_gradient=-self.ridge * centered,
            prior_curvature=self.ridge * np.eye(p),
            border=np.zeros(p, bool),
            ties=ties,
            quantities=tuple(quantities),
        )

    def params_at(self, vector: Floats) -> LogisticParams:
        """Return the parameters at a vector of coordinates."""
        joint = vector.reshape(-1, self.params.n_columns).T
        return self.params.with_joint(np.ascontiguousarray(joint))

    def _gradients(self, block: Block) -> Iterator[tuple[Rows, Nodes, Floats, Floats, Floats, Floats]]:
        """Yield for some rows at a time: rows, nodes, posterior weights, cells, observed cells, and gradients."""
        ones, observed = (bits.to_dense().astype(np.float64) for bits in (block.x, block.observed))
        for rows, nodes, r, _ in self.model.on_grid(self.params, self.rule, block):
            extended, p = np.column_stack([nodes, np.ones(len(nodes))]), safe_sigmoid(activations(self.params, nodes))
            x, o, mean = ones[rows], observed[rows], r @ extended
            parts = [x * mean[:, a : a + 1] - o * (r @ (p * extended[:, a : a + 1])) for a in range(extended.shape[1])]
            yield rows, (extended, p), r, x, o, np.concatenate(parts, axis=1)

    def gradients(self, block: Block) -> Floats:
        """Return the gradient of ln P(row) of each row."""
        out = np.empty((block.n_rows, self.n_coordinates))
        for rows, *_, g in self._gradients(block):
            out[rows] = g
        return out

    def information(self, block: Block) -> Floats:
        """Return minus the second derivatives of the weighted log-likelihood of a block."""
        k, d = self.params.n_components + 1, self.params.n_columns
        total = np.zeros((k * d, k * d))
        for rows, (extended, p), r, x, o, g in self._gradients(block):
            w = block.weights[rows]
            total += (g * w[:, None]).T @ g
            wr = r * w[:, None]
            observed_weight = wr.T @ o  # (L, d)
            incomplete_rows = np.flatnonzero(~o.all(axis=1))
            complete_weight = np.delete(wr, incomplete_rows, axis=0).sum(axis=0)
            for a in range(k):
                for c in range(a, k):
                    square = extended[:, a] * extended[:, c]
                    # E[S S'] = Sum_l r x^ x^' (x - o p)(x - o p)', summed over rows
                    ones = x.T @ (x * (wr @ square)[:, None])
                    mixed = x.T @ (o * (wr @ (p * square[:, None])))
                    pairs = (p * (complete_weight * square)[:, None]).T @ p + _observed_pairs(
                        wr[incomplete_rows], o[incomplete_rows], p, square
                    )
                    part = np.diag(square @ (observed_weight * p * (1.0 - p))) - (ones - mixed - mixed.T + pairs)
                    total[a * d : (a + 1) * d, c * d : (c + 1) * d] += part
                    if c > a:
                        total[c * d : (c + 1) * d, a * d : (a + 1) * d] += part.T
        return total


def _observed_pairs(wr: Floats, o: Floats, p: Floats, square: Floats) -> Floats:
    """Return Sum_nl wr_nl square_l (o_n p_l)(o_n p_l)' over rows with missing cells; node by node, which is slow."""
    total = np.zeros((p.shape[1], p.shape[1]))
    if len(o):
        for node in np.flatnonzero(wr.sum(axis=0) * np.abs(square) > 0.0):
            total += np.outer(p[node], p[node]) * (o.T @ (o * (wr[:, node] * square[node])[:, None]))
    return total
