"""What clipped PCA says about rows: the probit link for `latent_gaussian_rows`, and expectation propagation.

Where there is a grid, answers are integrated on it. Elsewhere posteriors, missing cells and left-out bits come from
expectation propagation, and likelihoods are importance sampled with its Gaussian as the proposal.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import log_ndtr, ndtr

from hiddenbits.array_types import Bytes, Floats
from hiddenbits.data import Block
from hiddenbits.families.clipped_pca.expectation_propagation import Propagated, mills, propagate
from hiddenbits.families.clipped_pca.params import ClippedParams
from hiddenbits.maths.gauss_hermite import Rule, newton_tops
from hiddenbits.maths.gaussian_posterior import Posterior
from hiddenbits.maths.latent_gaussian_rows import NODE_NUMBERS, LatentRows
from hiddenbits.maths.missing_cells import Blanks
from hiddenbits.maths.packed_symmetric import pack_outer, packed_size

FURTHEST = 37.0  # beyond it Phi(-A) is no longer a number above 0
CELLS = 1 << 16  # cells that are worked on together: they stay in a core's cache
LEAST_ROWS = 32  # matrix products of fewer rows cost more than they make


def signs(block: Block) -> Floats:
    """Return the bits as -1 and 1, and 0 where a cell was not observed: (rows, d)."""
    s = 2.0 * block.x.to_dense() - 1.0
    Blanks.of(block.observed).fill(s, 0.0)
    return np.asarray(s)


class ClippedRows(LatentRows[ClippedParams]):
    """The row functions of clipped PCA."""

    def rule(self, params: ClippedParams) -> Rule | None:
        """Return the grid to integrate on; None where expectation propagation and importance sampling have to do."""
        return params.grid

    def activations(self, params: ClippedParams, nodes: Floats) -> Floats:
        """Return (h + W y)/sqrt(psi) for every node; without noise it is infinite, and 0 on the very edge."""
        A = nodes @ params.loadings.T
        A += params.biases
        with np.errstate(divide="ignore", invalid="ignore"):
            A /= np.sqrt(params.noise)
        np.nan_to_num(A, copy=False, nan=0.0, posinf=FURTHEST, neginf=-FURTHEST)
        return np.clip(A, -FURTHEST, FURTHEST, out=A)

    def probabilities(self, A: Floats) -> Floats:
        """Return Phi(A)."""
        return np.asarray(ndtr(A))

    def log_odds(self, A: Floats) -> Floats:
        """Return ln Phi(A) - ln Phi(-A)."""
        return np.asarray(log_ndtr(A) - log_ndtr(-A))

    def log_zero(self, A: Floats) -> Floats:
        """Return ln Phi(-A)."""
        return np.asarray(log_ndtr(-A))

    def propagated(self, params: ClippedParams, block: Block) -> Iterator[tuple[slice, Propagated]]:
        """Yield some rows at a time, with what expectation propagation finds."""
        a, b = params.probit
        step = max(LEAST_ROWS, CELLS // max(params.n_columns, 1))
        s = signs(block)
        for start in range(0, block.n_rows, step):
            rows = slice(start, min(start + step, block.n_rows))
            yield rows, propagate(a, b, np.ascontiguousarray(s[rows].T))

    def proposal(self, params: ClippedParams, block: Block) -> Posterior:
        """Return the Gaussian posterior of each row, by expectation propagation."""
        q = params.n_components
        found = Posterior(np.empty((block.n_rows, q)), np.empty((block.n_rows, packed_size(q))))
        for rows, some in self.propagated(params, block):
            found.mean[rows], found.covariance[rows] = some.posterior.mean, some.posterior.covariance
        return found

    def drawn_scores(
        self, params: ClippedParams, block: Block, nodes: Floats
    ) -> Iterator[tuple[slice, Floats, Floats]]:
        """Yield some rows at a time, with A (rows, draws, d) and ln P(t | x) (rows, draws) at nodes of their own."""
        q, n_draws, d = params.n_components, nodes.shape[1], params.n_columns
        s = signs(block)
        step = max(1, NODE_NUMBERS // max(n_draws * d, 1))
        for start in range(0, block.n_rows, step):
            rows = slice(start, min(start + step, block.n_rows))
            A = self.activations(params, nodes[rows].reshape(-1, q)).reshape(-1, n_draws, d)
            logs = log_ndtr(A * s[rows, None, :])
            Blanks.of(block.observed.rows(rows.start, rows.stop)).fill_drawn(logs, 0.0)
            yield rows, A, logs.sum(axis=2)

    def posterior_moments(self, params: ClippedParams, shared: object, block: Block) -> Floats:
        """Return the mean and the packed covariance of each row's posterior, side by side; exact on a grid."""
        if (rule := self.rule(params)) is not None:
            return self.moments_on_grid(params, rule, block)
        posterior = self.proposal(params, block)
        return np.concatenate([posterior.mean, posterior.covariance], axis=1)

    def fill(self, params: ClippedParams, shared: object, block: Block) -> Floats:
        """Return P(bit = 1 | observed bits) for every cell, as if that cell had to be drawn again."""
        if self.rule(params) is not None:
            return super().fill(params, shared, block)
        return self._with_all(params, block)

    def leave_one_out(self, params: ClippedParams, shared: object, block: Block) -> Floats:
        """Return P(t_i = 1 | the other observed bits) for every cell."""
        if self.rule(params) is not None:
            return super().leave_one_out(params, shared, block)
        _, b = params.probit
        return np.concatenate([found.left_out(b) for _, found in self.propagated(params, block)])

    def _with_all(self, params: ClippedParams, block: Block) -> Floats:
        """Return E[Phi(A)] over each row's Gaussian posterior: Phi of a mean over a root, with all observed bits."""
        (a, b), parts = params.probit, []
        squares = pack_outer(a).T
        for _, found in self.propagated(params, block):
            mean, variance = found.posterior.mean @ a.T, found.posterior.covariance @ squares
            parts.append(ndtr((mean + b) / np.sqrt(1.0 + variance)))
        return np.concatenate(parts)

    def code(self, params: ClippedParams, shared: object, block: Block) -> Floats:
        """Return the most probable y of each row: the top of ln P(t | y) p(y), by Newton steps from the mean.

        ln Phi is concave, so that a step that falls need only be halved.
        """
        (a, b), s = params.probit, signs(block)
        one = np.eye(params.n_components)

        def height(at: Floats) -> tuple[Floats, Floats]:
            A = (at @ a.T + b) * s
            return np.where(s == 0.0, 0.0, log_ndtr(A)).sum(axis=1) - 0.5 * (at * at).sum(axis=1), A

        def slopes(at: Floats, A: Floats) -> tuple[Floats, Floats]:
            r = mills(A)
            curve = np.einsum("ni,ia,ib->nab", r * (A + r) * (s != 0.0), a, a, optimize=True)
            return (r * s) @ a - at, one + curve

        return newton_tops(self.posterior(params, shared, block), height, slopes, n_steps=20, n_halvings=10)[0]

    def draw(self, params: ClippedParams, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
        """Draw n rows and their y: sgn(h + W y + noise), whose margins are exactly Phi(h)."""
        codes = rng.standard_normal((n, params.n_components))
        z = rng.standard_normal((n, params.n_columns))
        z *= np.sqrt(params.noise)
        z += codes @ params.loadings.T
        z += params.biases
        return (z > 0.0).view(np.uint8), codes

    def log_joint(self, params: ClippedParams, x: Floats, h: Floats) -> float:
        """Return ln P(t | y) + ln p(y) of one complete row t and its hidden y: the definition."""
        A = (params.loadings @ h + params.biases) / np.sqrt(params.noise)
        prior = -0.5 * float(h @ h) - 0.5 * len(h) * float(np.log(2.0 * np.pi))
        return prior + float(np.sum(log_ndtr(np.where(x == 1, A, -A))))
