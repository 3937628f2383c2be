"""Row functions of clipped PCA: the probit link for `latent_gaussian_rows`, and expectation propagation.

If there is a grid, all results are integrals on it. Otherwise posteriors, missing values and leave-one-out predictions
are computed by expectation propagation, and likelihoods by importance sampling with its Gaussians as proposals.
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

LARGEST_ACTIVATION = 37.0  # beyond it Phi(-A) underflows to 0
BATCH_CELLS = 1 << 16  # cells in a batch of rows, so that they stay in a core's cache
MIN_BATCH_ROWS = 32  # products of smaller matrices are inefficient


def signs(block: Block) -> Floats:
    """Return s: the cells as -1 and 1, and 0 if missing, (rows, d)."""
    s = 2.0 * block.x.to_dense() - 1.0
    MissingCells.of(block.observed).fill(s, 0.0)
    return np.asarray(s)


class ClippedRows(LatentRows[ClippedParams]):
    """The row functions of clipped PCA."""

    def rule(self, params: ClippedParams) -> Rule | None:
        """Return the grid to integrate on; None: expectation propagation and importance sampling are used."""
        return params.grid

    def activations(self, params: ClippedParams, nodes: Floats) -> Floats:
        """Return A = (h + W y)/sqrt(psi) at every node y, clipped; without noise, 0 if h + W y = 0."""
        A = nodes @ params.loadings.T
        A += params.biases
        with np.errstate(divide="ignore", invalid="ignore"):
            A /= np.sqrt(params.noise)
        np.nan_to_num(A, copy=False, nan=0.0, posinf=LARGEST_ACTIVATION, neginf=-LARGEST_ACTIVATION)
        return np.clip(A, -LARGEST_ACTIVATION, LARGEST_ACTIVATION, out=A)

    def probabilities(self, A: Floats) -> Floats:
        """Return Phi(A)."""
        return np.asarray(ndtr(A))

    def log_odds(self, A: Floats) -> Floats:
        """Return ln Phi(A) - ln Phi(-A)."""
        return np.asarray(log_ndtr(A) - log_ndtr(-A))

    def log_zero(self, A: Floats) -> Floats:
        """Return ln Phi(-A)."""
        return np.asarray(log_ndtr(-A))

    def propagated_batches(self, params: ClippedParams, block: Block) -> Iterator[tuple[slice, Propagated]]:
        """Yield batches of rows with their expectation propagation."""
        a, b = params.probit
        step = max(MIN_BATCH_ROWS, BATCH_CELLS // max(params.n_columns, 1))
        s = signs(block)
        for start in range(0, block.n_rows, step):
            rows = slice(start, min(start + step, block.n_rows))
            yield rows, propagate(a, b, np.ascontiguousarray(s[rows].T))

    def proposal(self, params: ClippedParams, block: Block) -> Posterior:
        """Return the Gaussian posterior of each row, by expectation propagation."""
        q = params.n_components
        posterior = Posterior(np.empty((block.n_rows, q)), np.empty((block.n_rows, packed_size(q))))
        for rows, batch in self.propagated_batches(params, block):
            posterior.mean[rows], posterior.covariance[rows] = batch.posterior.mean, batch.posterior.covariance
        return posterior

    def drawn_scores(
        self, params: ClippedParams, block: Block, nodes: Floats
    ) -> Iterator[tuple[slice, Floats, Floats]]:
        """Yield batches of rows with A (rows, draws, d) and ln P(s | y) (rows, draws) at their own nodes y."""
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
        """Return P(s = 1 | observed cells) of every cell, as if it were observed anew."""
        if self.rule(params) is not None:
            return super().fill(params, shared, block)
        return self._fill_propagated(params, block)

    def leave_one_out(self, params: ClippedParams, shared: object, block: Block) -> Floats:
        """Return P(s_i = 1 | the other observed cells) for every cell."""
        if self.rule(params) is not None:
            return super().leave_one_out(params, shared, block)
        _, b = params.probit
        return np.concatenate([batch.leave_one_out(b) for _, batch in self.propagated_batches(params, block)])

    def _fill_propagated(self, params: ClippedParams, block: Block) -> Floats:
        """Return E[Phi(A)] over each row's Gaussian posterior: Phi(mean of A / sqrt(1 + variance of A))."""
        (a, b), batches = params.probit, []
        squares = pack_outer(a).T
        for _, batch in self.propagated_batches(params, block):
            mean, variance = batch.posterior.mean @ a.T, batch.posterior.covariance @ squares
            batches.append(ndtr((mean + b) / np.sqrt(1.0 + variance)))
        return np.concatenate(batches)

    def posterior_mode(self, params: ClippedParams, shared: object, block: Block) -> Floats:
        """Return the most probable y of each row: the maximum of ln P(s | y) p(y), by Newton steps from the mean.

        ln Phi is concave, so that halving is enough if a step decreases the objective.
        """
        (a, b), s = params.probit, signs(block)
        identity_matrix = np.eye(params.n_components)

        def log_posterior(y: Floats) -> tuple[Floats, Floats]:
            A = (y @ a.T + b) * s
            return np.where(s == 0.0, 0.0, log_ndtr(A)).sum(axis=1) - 0.5 * (y * y).sum(axis=1), A

        def derivatives(y: Floats, A: Floats) -> tuple[Floats, Floats]:
            r = mills(A)
            curvature = np.einsum("ni,ia,ib->nab", r * (A + r) * (s != 0.0), a, a, optimize=True)
            return (r * s) @ a - y, identity_matrix + curvature

        start = self.posterior(params, shared, block)
        return newton_tops(start, log_posterior, derivatives, n_steps=20, n_halvings=10)[0]

    def sample(self, params: ClippedParams, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
        """Sample n rows and their y: sgn(h + W y + noise), whose margins are exactly Phi(h)."""
        y = rng.standard_normal((n, params.n_components))
        z = rng.standard_normal((n, params.n_columns))
        z *= np.sqrt(params.noise)
        z += y @ params.loadings.T
        z += params.biases
        return (z > 0.0).view(np.uint8), y

    def log_joint(self, params: ClippedParams, x: Floats, h: Floats) -> float:
        """Return ln P(s | y) + ln p(y) of one complete row and its latent y: the definition."""
        A = (params.loadings @ h + params.biases) / np.sqrt(params.noise)
        prior = -0.5 * float(h @ h) - 0.5 * len(h) * float(np.log(2.0 * np.pi))
        return prior + float(np.sum(log_ndtr(np.where(x == 1, A, -A))))


# Expectation propagation for the probit model: the Gaussian posterior of a row's latent y, for many rows at once.
#
#     y ~ N(0, I),   P(s_i | y) = Phi(s_i (a_i.y + b_i)),   s_i = -1 or 1, and 0 for a missing cell
#
# The likelihood of each observed cell is approximated by a Gaussian factor exp(-tau u^2/2 + nu u) of u = a_i.y. Without
# the cell's factor, u ~ N(m, v) (the cavity), and with z = s (m + b)/sqrt(1 + v) and r = phi(z)/Phi(z),
#
#     Z = Phi(z),   alpha = s r/sqrt(1 + v),   beta = r (z + r)/(1 + v)
#     tau <- beta/(1 - v beta),   nu <- (alpha + m beta)/(1 - v beta)
#
# so that u has the mean and variance of cavity times likelihood. All factors of a row are updated together with
# damping, until no mean changes. The approximation of ln P(s) at the end is
#
#     Sum [ ln Z + ln(1 + tau v)/2 - (nu^2 v + 2 nu m - tau m^2) / (2 (1 + tau v)) ] - ln|P|/2 + h'mean/2,
#
# P = I + Sum tau a a' and h = Sum nu a the precision of y and the precision times its mean. The likelihood is
# log-concave, so that no tau is negative.
#
# Arrays of cells have columns first, rows last (see `packed_symmetric`).

DAMPING = 0.8  # share of the new value in an update
TOLERANCE = 1e-8  # largest change of a mean, in standard deviations of the prior
STEPS_PER_ROUND, MAX_ROUNDS = 50, 6  # the damping share is halved after each round
ROOT_HALF, ROOT_2_PI = float(np.sqrt(0.5)), float(np.sqrt(2.0 / np.pi))


@dataclass(frozen=True, eq=False)
class Propagated:
    """The result of expectation propagation for some rows.

    Attributes
    ----------
    posterior : Posterior
        The Gaussian posterior of each row's y.
    mean, variance : ndarray of shape (d, rows)
        Mean and variance of u = a.y given the row's other observed cells: the cavity.
    log_likelihood : ndarray of shape (rows,)
        The approximation of ln P(s).
    """

    posterior: Posterior
    mean: Floats
    variance: Floats
    log_likelihood: Floats

    def leave_one_out(self, b: Floats) -> Floats:
        """Return P(s = 1 | the row's other observed cells), (rows, d)."""
        return np.asarray(ndtr((self.mean + b[:, None]) / np.sqrt(1.0 + self.variance)).T)


def mills(z: Floats) -> Floats:
    """Return phi(z)/Phi(z), for any z."""
    with np.errstate(over="ignore"):  # the ratio is 0 if erfcx overflows
        return ROOT_2_PI / np.asarray(erfcx(-ROOT_HALF * z))


def propagate(a: Floats, b: Floats, s: Floats) -> Propagated:
    """Return the Gaussian posteriors of rows.

    Parameters
    ----------
    a, b : ndarray of shape (d, q), (d,)
        Slopes and offsets.
    s : ndarray of shape (d, rows)
        The cells as -1 and 1, and 0 if missing.

    Examples
    --------
    >>> result = propagate(np.array([[1.0]]), np.zeros(1), np.ones((1, 1)))
    >>> round(float(result.posterior.mean[0, 0]), 6)                       # exact for one cell: 1/sqrt(pi)
    0.56419
    >>> round(float(np.exp(result.log_likelihood[0])), 12)
    0.5
    """
    V, one, observed = pack_outer(a), identity(a.shape[1])[:, None], s != 0.0
    tau, nu = np.zeros_like(s), np.zeros_like(s)
    mean, damping = np.zeros((a.shape[1], s.shape[1])), DAMPING
    for step in range(MAX_ROUNDS * STEPS_PER_ROUND):
        h, last_mean = a.T @ nu, mean
        covariance, log_det, mean = solve_standing(one + V.T @ tau, h)
        variance, center = V @ covariance, a @ mean
        # The cavity, without the cell's own factor; tau is less than the precision of u.
        inflation = 1.0 / (1.0 - tau * variance)
        v = variance * inflation
        m = (center - variance * nu) * inflation
        if step and np.abs(mean - last_mean).max(initial=0.0) < TOLERANCE:
            break
        scale = 1.0 / (1.0 + v)
        z = s * (m + b[:, None]) * np.sqrt(scale)
        r = mills(z)
        beta = r * (z + r) * scale * observed
        alpha = s * r * np.sqrt(scale)
        ratio = 1.0 / (1.0 - v * beta)
        tau += damping * (beta * ratio - tau)
        nu += damping * ((alpha + m * beta) * ratio - nu)
        if step % STEPS_PER_ROUND == STEPS_PER_ROUND - 1:
            damping *= 0.5
    logs = np.where(observed, log_ndtr(s * (m + b[:, None]) / np.sqrt(1.0 + v)), 0.0)
    gain = 1.0 + tau * v
    logs += 0.5 * (np.log(gain) - (nu * nu * v + 2.0 * nu * m - tau * m * m) / gain)
    log_likelihood = logs.sum(axis=0) + 0.5 * (column_dot(h, mean) - log_det)
    return Propagated(Posterior(mean.T, covariance.T), m, v, log_likelihood)
