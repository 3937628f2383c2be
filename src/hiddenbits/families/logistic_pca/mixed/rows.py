"""What logistic PCA of mixed tables says about rows: likelihoods, posteriors, missing cells, integrated over x.

Where all columns are real the posterior is Gaussian, and nothing need be integrated; elsewhere `nodes` has nodes
with posterior weights for each row, and the answers are weighted means.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.families.logistic_pca.mixed.nodes import MixedNodes, Weighted, softmax_groups
from hiddenbits.families.logistic_pca.mixed.params import MixedParams, Places
from hiddenbits.maths.numerics import sigmoid, softmax_rows
from hiddenbits.maths.packed_symmetric import pack, pack_outer


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows drawn from the model: the category of each column that bits stand for, the reals, the nominal codes."""

    sticks: NDArray[np.int64]
    real: Floats
    codes: NDArray[np.int32]


def _mean(found: Weighted, values: Floats) -> Floats:
    """Return the posterior means of values at the nodes; the weights must have been normalised."""
    if values.ndim == 2:
        return found.scores @ values
    return np.asarray(np.matmul(found.scores[:, None, :], values)[:, 0])


class MixedRows(MixedNodes):
    """The row functions of logistic PCA of mixed tables."""

    def likelihood_and_error(self, params: MixedParams, shared: object, block: Block) -> Floats:
        """Return ln P(observed cells) of each row, a density for the reals, and its standard error: 0 where exact."""
        out = np.zeros((block.n_rows, 2))
        if self.places.gaussian:
            out[:, 0] = self.gaussian_posterior(params, block)[1]
            return out
        for found in self.weighted_nodes(params, shared, block):
            log_p = logsumexp(found.scores, axis=1)
            out[found.rows, 0] = log_p
            if found.sampled:
                ratio = np.exp(found.scores - log_p[:, None] + np.log(self.n_draws))
                out[found.rows, 1] = ratio.std(axis=1, ddof=1) / np.sqrt(self.n_draws)
        return out

    def log_likelihood(self, params: MixedParams, shared: object, block: Block) -> Floats:
        """Return ln P(observed cells) of each row."""
        return np.ascontiguousarray(self.likelihood_and_error(params, shared, block)[:, 0])

    def bound_rows(self, params: MixedParams, shared: object, block: Block) -> Floats:
        """Return the lower bound of ln P(observed cells) of each row."""
        return self.gaussian_posterior(params, block)[1]

    def posterior_moments(self, params: MixedParams, shared: object, block: Block) -> Floats:
        """Return the mean and the packed covariance of each row's posterior, side by side; not those of the bound."""
        if self.places.gaussian:
            posterior, _ = self.gaussian_posterior(params, block)
            return np.concatenate([posterior.mean, posterior.covariance], axis=1)
        q = params.n_components
        out = np.empty((block.n_rows, q + q * (q + 1) // 2))
        for found in self.weighted_nodes(params, shared, block):
            softmax_rows(found.scores)
            mean = _mean(found, found.nodes)
            if found.nodes.ndim == 2:
                square = _mean(found, pack_outer(found.nodes)) - pack_outer(mean)
            else:
                away = found.nodes - mean[:, None, :]
                square = pack(np.einsum("nl,nla,nlb->nab", found.scores, away, away, optimize=True))
            out[found.rows] = np.concatenate([mean, square], axis=1)
        return out

    def posterior(self, params: MixedParams, shared: object, block: Block) -> Floats:
        """Return the posterior mean of each row's x."""
        return np.ascontiguousarray(self.posterior_moments(params, shared, block)[:, : params.n_components])

    def code(self, params: MixedParams, shared: object, block: Block) -> Floats:
        """Return the most probable x of each row."""
        data = self.numbers(params, block)
        return self._top(params, data, self._u(params, data))[0]

    def answers(self, params: MixedParams, A: Floats) -> Floats:
        """Return what the model says about each column given A, side by side, (..., answers).

        For a column that m bits stand for the m + 1 probabilities of its categories, then the means of the reals, then
        the probabilities of the nominal columns' categories.
        """
        places = self.places
        p = sigmoid(A[..., places.bits])
        parts = []
        for group in places.stick_groups:
            on = np.cumprod(p[..., group], axis=-1)  # P(beyond k)
            effective_ridge = np.concatenate([np.ones_like(on[..., :1]), on], axis=-1)
            stop = np.concatenate([1.0 - p[..., group], np.ones_like(on[..., :1])], axis=-1)
            parts.append(effective_ridge * stop)
        parts.append(params.shift + params.scale * A[..., places.reals])
        parts.append(softmax_groups(A[..., places.nominal], places.groups))
        return np.concatenate(parts, axis=-1)

    def reconstruct(self, params: MixedParams, codes: Floats) -> Floats:
        """Return the answers given x."""
        return self.answers(params, self.activations(params, codes))

    def leave_one_out(self, params: MixedParams, shared: object, block: Block) -> Floats:
        """Refuse: a cell that is not a bit has no such probability."""
        raise ValueError(
            "bit_probabilities needs a table of bits, but this model has other columns. Use complete or "
            "category_probabilities on a copy in which these cells are blank."
        )

    def fill(self, params: MixedParams, shared: object, block: Block) -> Floats:
        """Return the posterior means of the answers, given each row's observed cells."""
        if self.places.gaussian:
            return self.reconstruct(params, self.gaussian_posterior(params, block)[0].mean)
        out = np.empty((block.n_rows, n_answers(self.places)))
        for found in self.weighted_nodes(params, shared, block):
            softmax_rows(found.scores)
            out[found.rows] = _mean(found, self.answers(params, found.A))
        return out

    def draw(self, params: MixedParams, n: int, rng: np.random.Generator) -> tuple[Drawn, Floats]:
        """Draw n rows and their x."""
        places = self.places
        codes = rng.standard_normal((n, params.n_components))
        A = self.activations(params, codes)
        on = rng.random((n, places.n_bits)) < sigmoid(A[:, places.bits])
        sticks = [np.cumprod(on[:, group], axis=1).sum(axis=1) for group in places.stick_groups]
        z = A[:, places.reals] + np.sqrt(params.noise) * rng.standard_normal((n, places.n_real))
        gumbel = A[:, places.nominal] + rng.gumbel(size=(n, places.n_numbers - places.nominal.start))
        nominal = [gumbel[:, group].argmax(axis=1) for group in places.groups]
        return Drawn(
            np.stack(sticks, axis=1) if sticks else np.zeros((n, 0), np.int64),
            params.shift + params.scale * z,
            np.stack(nominal, axis=1).astype(np.int32) if nominal else np.zeros((n, 0), np.int32),
        ), codes

    def log_joint(self, params: MixedParams, x: Floats, h: Floats) -> float:
        """Return ln P(row | x) + ln p(x) of one complete row, given as its D numbers (NaN: not observed), and x."""
        places, A = self.places, params.loadings @ h + params.intercepts
        total = -0.5 * float(h @ h) - 0.5 * len(h) * float(np.log(2.0 * np.pi))
        for i in range(places.n_bits):
            if not np.isnan(x[i]):
                total -= float(np.logaddexp(0.0, -A[i] if x[i] == 1 else A[i]))
        for j, i in enumerate(range(places.reals.start, places.reals.stop)):
            if not np.isnan(x[i]):
                mean, variance = params.shift[j] + params.scale[j] * A[i], params.scale[j] ** 2 * params.noise[j]
                total -= 0.5 * float((x[i] - mean) ** 2 / variance + np.log(2.0 * np.pi * variance))
        for group in places.groups:
            t, eta = x[places.nominal][group], A[places.nominal][group]
            if not np.isnan(t[0]):
                total += float(eta[t == 1][0] - logsumexp(eta))
        return total


def n_answers(places: Places) -> int:
    """Return the number of answers about a row."""
    return sum(m + 1 for m in places.sticks) + places.n_real + sum(places.levels)
