"""What clipped PCA says about rows: the probit link for `latent_gaussian_rows`, and expectation propagation.

Where there is a grid, answers are integrated on it. Elsewhere posteriors, missing cells and left-out bits come from
expectation propagation, and likelihoods are importance sampled with its Gaussian as the proposal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from hiddenbits.array_types import Bytes, Floats
from hiddenbits.data import Block
from hiddenbits.families.clipped_pca.params import ClippedParams
from hiddenbits.maths.gauss_hermite import Rule, newton_tops
from hiddenbits.maths.latent_gaussian_rows import NODE_NUMBERS, LatentRows
from hiddenbits.maths.missing_cells import MissingCells
from hiddenbits.maths.packed_symmetric import Posterior, column_dot, identity, pack_outer, packed_size, solve_standing

FURTHEST = 37.0  # beyond it Phi(-A) is no longer a number above 0
CELLS = 1 << 16  # cells that are worked on together: they stay in a core's cache
LEAST_ROWS = 32  # matrix products of fewer rows cost more than they make


def signs(block: Block) -> Floats:
    """Return the bits as -1 and 1, and 0 where a cell was not observed: (rows, d)."""
    s = 2.0 * block.x.to_dense() - 1.0
    MissingCells.of(block.observed).fill(s, 0.0)
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
            MissingCells.of(block.observed.rows(rows.start, rows.stop)).fill_drawn(logs, 0.0)
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

    def posterior_mode(self, params: ClippedParams, shared: object, block: Block) -> Floats:
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

    def sample(self, params: ClippedParams, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
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


# Expectation propagation for probit bits: the Gaussian posterior of a row's hidden y, for many rows at once.
#
#     y ~ N(0, I),   P(s_i | y) = Phi(s_i (a_i.y + b_i)),   s_i = -1 or 1, 0 where the cell was not observed
#
# Each observed bit is stood in for by a Gaussian factor exp(-tau u^2/2 + nu u) of u = a_i.y. With all factors but its
# own (the cavity, u ~ N(m, v)) a bit has, z = s (m + b)/sqrt(1 + v) and r = phi(z)/Phi(z),
#
#     Z = Phi(z),   alpha = s r/sqrt(1 + v),   beta = r (z + r)/(1 + v)
#     tau <- beta/(1 - v beta),   nu <- (alpha + m beta)/(1 - v beta)
#
# so that mean and variance of u come out right. All factors of a row are renewed together and only a part of the way
# (DAMPING), until no mean moves. The approximation of ln P(s) at the end is
#
#     Sum [ ln Z + ln(1 + tau v)/2 - (nu^2 v + 2 nu m - tau m^2) / (2 (1 + tau v)) ] - ln|P|/2 + h'mean/2,
#
# P = I + Sum tau a a' and h = Sum nu a the precision of y and the precision times its mean. The likelihood is
# log-concave, so that no tau is negative.
#
# Arrays of cells stand: columns first, rows last (see `packed`).

DAMPING = 0.8  # how far a factor goes towards its new value
STILL = 1e-8  # no mean moves by more: standard deviations of the prior
ROUND, ROUNDS = 50, 6  # after a round of steps in which something still moves, factors go only half as far
ROOT_HALF, ROOT_2_PI = float(np.sqrt(0.5)), float(np.sqrt(2.0 / np.pi))


@dataclass(frozen=True, eq=False)
class Propagated:
    """What has been found about some rows.

    Attributes
    ----------
    posterior : Posterior
        The Gaussian posterior of each row's y.
    mean, variance : ndarray of shape (d, rows)
        Of u = a.y given the row's other bits: the cavity. Given all of them where the bit itself was not observed.
    log_likelihood : ndarray of shape (rows,)
        The approximation of ln P(s).
    """

    posterior: Posterior
    mean: Floats
    variance: Floats
    log_likelihood: Floats

    def left_out(self, b: Floats) -> Floats:
        """Return P(bit = 1 | the row's other bits), (rows, d)."""
        return np.asarray(ndtr((self.mean + b[:, None]) / np.sqrt(1.0 + self.variance)).T)


def mills(z: Floats) -> Floats:
    """Return phi(z)/Phi(z), for any z."""
    with np.errstate(over="ignore"):  # where erfcx is infinite the ratio is 0
        return ROOT_2_PI / np.asarray(erfcx(-ROOT_HALF * z))


def propagate(a: Floats, b: Floats, s: Floats) -> Propagated:
    """Return the Gaussian posteriors of rows.

    Parameters
    ----------
    a, b : ndarray of shape (d, q), (d,)
        Slopes and offsets.
    s : ndarray of shape (d, rows)
        The bits as -1 and 1; 0 where a cell was not observed.

    Examples
    --------
    >>> found = propagate(np.array([[1.0]]), np.zeros(1), np.ones((1, 1)))
    >>> round(float(found.posterior.mean[0, 0]), 6)                                # one bit is exact: 1/sqrt(pi)
    0.56419
    >>> round(float(np.exp(found.log_likelihood[0])), 12)
    0.5
    """
    V, one, observed = pack_outer(a), identity(a.shape[1])[:, None], s != 0.0
    tau, nu = np.zeros_like(s), np.zeros_like(s)
    mean, damping = np.zeros((a.shape[1], s.shape[1])), DAMPING
    for step in range(ROUNDS * ROUND):
        h, before = a.T @ nu, mean
        covariance, log_det, mean = solve_standing(one + V.T @ tau, h)
        variance, center = V @ covariance, a @ mean
        # The cavity: without its own factor, which holds less than all of the precision of u.
        rest = 1.0 / (1.0 - tau * variance)
        v = variance * rest
        m = (center - variance * nu) * rest
        if step and np.abs(mean - before).max(initial=0.0) < STILL:
            break
        scale = 1.0 / (1.0 + v)
        z = s * (m + b[:, None]) * np.sqrt(scale)
        r = mills(z)
        beta = r * (z + r) * scale * observed
        alpha = s * r * np.sqrt(scale)
        share = 1.0 / (1.0 - v * beta)
        tau += damping * (beta * share - tau)
        nu += damping * ((alpha + m * beta) * share - nu)
        if step % ROUND == ROUND - 1:
            damping *= 0.5
    logs = np.where(observed, log_ndtr(s * (m + b[:, None]) / np.sqrt(1.0 + v)), 0.0)
    inside = 1.0 + tau * v
    logs += 0.5 * (np.log(inside) - (nu * nu * v + 2.0 * nu * m - tau * m * m) / inside)
    log_likelihood = logs.sum(axis=0) + 0.5 * (column_dot(h, mean) - log_det)
    return Propagated(Posterior(mean.T, covariance.T), m, v, log_likelihood)
