"""Expectation propagation for probit bits: the Gaussian posterior of a row's hidden y, for many rows at once.

    y ~ N(0, I),   P(s_i | y) = Phi(s_i (a_i.y + b_i)),   s_i = -1 or 1, 0 where the cell was not observed

Each observed bit is stood in for by a Gaussian factor exp(-tau u^2/2 + nu u) of u = a_i.y. With all factors but its own
(the cavity, u ~ N(m, v)) a bit has, z = s (m + b)/sqrt(1 + v) and r = phi(z)/Phi(z),

    Z = Phi(z),   alpha = s r/sqrt(1 + v),   beta = r (z + r)/(1 + v)
    tau <- beta/(1 - v beta),   nu <- (alpha + m beta)/(1 - v beta)

so that mean and variance of u come out right. All factors of a row are renewed together and only a part of the way
(DAMPING), until no mean moves. The approximation of ln P(s) at the end is

    Sum [ ln Z + ln(1 + tau v)/2 - (nu^2 v + 2 nu m - tau m^2) / (2 (1 + tau v)) ] - ln|P|/2 + h'mean/2,

P = I + Sum tau a a' and h = Sum nu a the precision of y and the precision times its mean. The likelihood is
log-concave, so that no tau is negative.

Arrays of cells stand: columns first, rows last (see `packed`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from hiddenbits.array_types import Floats
from hiddenbits.maths.gaussian_posterior import Posterior
from hiddenbits.maths.packed_symmetric import column_dot, identity, pack_outer, solve_standing

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
        variance, centre = V @ covariance, a @ mean
        # The cavity: without its own factor, which holds less than all of the precision of u.
        rest = 1.0 / (1.0 - tau * variance)
        v = variance * rest
        m = (centre - variance * nu) * rest
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
