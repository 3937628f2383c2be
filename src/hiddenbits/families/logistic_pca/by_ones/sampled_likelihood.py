"""ln P(t) of rows without blanks in more than two dimensions: importance sampling whose draws visit groups of columns.

A row's draws lie around one place m. There F(x) = Sum_j ln(1 + exp(w_j.x + b_j)) and its first two derivatives are
those of all columns, and groups of columns (`grouped_columns.py`), F_c, say how F goes on from there:

    F(x) ~ F_c(x) + D(m) + D'(m).(x - m) + (x - m).D''(m)(x - m) / 2,      D = F - F_c

So a row visits all columns a few times, not at each of its draws. Third derivatives of F_c differ from those of F, and
likelihoods come out a little too high. Therefore CHECKED draws, chosen by their weights, visit all columns, too:
ln P(t) is corrected by ln E exp(F~ - F) over these, F~ the approximation.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.families.logistic_pca.by_ones.grouped_columns import GroupedColumns
from hiddenbits.families.logistic_pca.model import Logistic
from hiddenbits.families.logistic_pca.params import LogisticParams
from hiddenbits.maths.gaussian_posterior import Posterior
from hiddenbits.maths.latent_gaussian_rows import NODE_NUMBERS
from hiddenbits.maths.numerics import softmax_rows, softplus_and_sigmoid
from hiddenbits.maths.packed_symmetric import identity, pack_outer, packed_size

GROUPED_STEPS, EXACT_STEPS = 10, 3  # of a row's posterior: with groups of columns, then with all of them
LONGEST_STEP = 1.0
CHECKED = 16


@lru_cache(maxsize=2)  # by identity
def _columns(params: LogisticParams) -> tuple[GroupedColumns, GroupedColumns]:
    """Return the groups of columns, and every column as a group of its own."""
    ones, q = np.ones(params.n_columns), params.n_components
    return GroupedColumns.of(params.joint, ones), GroupedColumns(params.joint, ones, np.zeros(packed_size(q)))


def _derivatives(columns: GroupedColumns, at: Floats) -> tuple[Floats, Floats, Floats]:
    """Return F, its gradient and its packed Hessian at each place, without the rest R of groups."""
    W = np.ascontiguousarray(columns.joint[:, :-1])
    value, sigma = softplus_and_sigmoid(at @ W.T + columns.joint[:, -1])
    slope = sigma * (1.0 - sigma)
    counted = columns.copies[:, None]
    return value @ columns.copies, sigma @ (counted * W), slope @ (counted * pack_outer(W))


class SampledByGroups(Logistic):
    """The model as its likelihood is sampled."""

    def gaussian_posterior(self, params: LogisticParams, block: Block, *, polished: bool) -> Posterior:
        """Return the best Gaussian posterior of each row, nearly."""
        x, _ = block.operands()
        pull, q = np.asarray(x @ params.loadings), params.n_components
        mean, covariance = np.zeros_like(pull), np.tile(identity(q), (block.n_rows, 1))
        for columns, n_steps in zip(_columns(params), (GROUPED_STEPS, EXACT_STEPS), strict=True):
            for _ in range(n_steps):
                mean, covariance, _ = columns.step(pull, mean, covariance, LONGEST_STEP)
        return Posterior(mean, covariance)

    def drawn_scores(
        self, params: LogisticParams, block: Block, nodes: Floats
    ) -> Iterator[tuple[slice, Floats, Floats]]:
        """Yield some rows at a time, with (x, F~) in place of activations, and ln P(t | x) at nodes of their own."""
        x, _ = block.operands()
        sums, (groups, columns) = np.asarray(x @ params.joint), _columns(params)
        W, b = np.ascontiguousarray(groups.joint[:, :-1]), groups.joint[:, -1]
        n, n_draws, q = nodes.shape
        step = max(1, NODE_NUMBERS // max(params.n_columns, n_draws * len(b)))
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            centre = nodes[rows].mean(axis=1)
            value, gradient, hessian = (
                exact - grouped
                for exact, grouped in zip(_derivatives(columns, centre), _derivatives(groups, centre), strict=True)
            )
            away = (nodes[rows] - centre[:, None]).reshape(-1, q)
            F = (softplus_and_sigmoid(nodes[rows].reshape(-1, q) @ W.T + b)[0] @ groups.copies).reshape(-1, n_draws)
            F += value[:, None] + np.einsum("nsa,na->ns", away.reshape(-1, n_draws, q), gradient)
            F += 0.5 * np.einsum("nsp,np->ns", pack_outer(away).reshape(len(F), n_draws, -1), hessian)
            linear = np.einsum("nsa,na->ns", nodes[rows], sums[rows, :q]) + sums[rows, q:]
            yield rows, np.concatenate([nodes[rows], F[..., None]], axis=2), linear - F

    def likelihood_and_error(self, params: LogisticParams, shared: object, block: Block) -> Floats:
        """Return ln P(t) of each row and its standard error."""
        out, columns = np.zeros((block.n_rows, 2)), _columns(params)[1]
        quantiles = (np.arange(CHECKED) + 0.5) / CHECKED
        for rows, draws, weights in self.drawn(params, block):
            log_p = softmax_rows(weights) - np.log(self.n_draws)
            spread = self.n_draws * weights.var(axis=1, ddof=1)
            chosen = (np.cumsum(weights, axis=1)[:, None] < quantiles[:, None]).sum(axis=2)
            checked = np.take_along_axis(draws, np.minimum(chosen, self.n_draws - 1)[..., None], axis=1)
            F = [_derivatives(columns, places)[0] for places in checked[..., :-1]]
            ratio = np.exp(checked[..., -1] - F)
            out[rows, 0] = log_p + np.log(ratio.mean(axis=1))
            out[rows, 1] = np.sqrt(spread + ratio.var(axis=1, ddof=1) / CHECKED)
        return out
