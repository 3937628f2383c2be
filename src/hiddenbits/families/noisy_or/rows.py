"""Row functions of sampled noisy-OR networks: by enumeration where that is possible, otherwise by chains."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from hiddenbits.array_types import Bytes, Floats
from hiddenbits.data import Block
from hiddenbits.families.noisy_or.gibbs import Network, Ones
from hiddenbits.families.noisy_or.model import NoisyOr, Reasons, draw, log_joint, mismatch, reconstruct, sampled_reasons
from hiddenbits.families.noisy_or.params import NoisyOrParams
from hiddenbits.families.noisy_or.posterior_draws import (
    filled,
    left_out,
    marginals,
    most_probable,
    near_path,
    prior_path,
    quick_marginals,
    tiled,
)
from hiddenbits.maths.annealed_importance import WIDEST, anneal

MOST_EXACT = 12  # causes of a layer up to which verbs enumerate


@dataclass(frozen=True, eq=False)
class Shared:
    """What a pass or a verb makes once: the network for the sampler, and tables of states for those who ask."""

    enumerated: NoisyOr
    params: NoisyOrParams

    @cached_property
    def network(self) -> Network:
        """The network as the sampler knows it."""
        return Network.of(self.params)

    @cached_property
    def exact(self) -> Any:
        """What `NoisyOr` prepares; None where there are too many states."""
        return self.enumerated.prepare(self.params) if max(self.params.n_causes) <= MOST_EXACT else None


class SampledRows:
    """The row functions; models add the pass."""

    n_components: list[int]
    seed: int

    @property
    def enumerated(self) -> NoisyOr:
        """The same network for enumeration."""
        return NoisyOr(self.n_components)

    def prepare(self, params: NoisyOrParams) -> Shared:
        """Return the network as the sampler knows it."""
        return Shared(self.enumerated, params)

    def _rng(self, block: Block) -> np.random.Generator:
        return np.random.default_rng((self.seed, block.start))

    def log_likelihood(self, params: NoisyOrParams, shared: Shared, block: Block) -> Floats:
        """Return ln P(observed bits) of each row; annealed estimates are refused where they do not agree."""
        if shared.exact is not None:
            return self.enumerated.log_likelihood(params, shared.exact, block)
        return trusted(log_likelihoods(shared.network, block, self._rng(block)), block.start)

    def log_likelihood_and_error(self, params: NoisyOrParams, shared: Shared, block: Block) -> Floats:
        """Return ln P(observed bits) of each row and its standard error, in two columns."""
        if shared.exact is not None:
            return self.enumerated.log_likelihood_and_error(params, shared.exact, block)
        found = log_likelihoods(shared.network, block, self._rng(block))
        return np.column_stack([trusted(found, block.start), found.errors])

    def posterior(self, params: NoisyOrParams, shared: Shared, block: Block) -> Floats:
        """Return P(unit on | observed bits), of all units, the lowest layer first."""
        if shared.exact is not None:
            return self.enumerated.posterior(params, shared.exact, block)
        return marginals(shared.network, block, self._rng(block)).probabilities

    def posterior_and_error(self, params: NoisyOrParams, shared: Shared, block: Block) -> Floats:
        """Return the posterior and its Monte-Carlo standard error, side by side."""
        if shared.exact is not None:
            return self.enumerated.posterior_and_error(params, shared.exact, block)
        return np.concatenate(marginals(shared.network, block, self._rng(block)), axis=1)

    def code(self, params: NoisyOrParams, shared: Shared, block: Block) -> Floats:
        """Return the most probable state of all units together that was found."""
        if shared.exact is not None:
            return self.enumerated.code(params, shared.exact, block)
        return most_probable(shared.network, block, self._rng(block))[0]

    def reasons(self, params: NoisyOrParams, shared: Shared, block: Block) -> Reasons:
        """Return row and column of every one, and the share of each cause in it."""
        if shared.exact is not None:
            return self.enumerated.reasons(params, shared.exact, block)
        return sampled_reasons(shared.network, block, self._rng(block))

    def reconstruct(self, params: NoisyOrParams, codes: Floats) -> Floats:
        """Return P(bit = 1) given the causes of the lowest layer, on with the given probabilities, independently."""
        return reconstruct(params, codes)

    def fill(self, params: NoisyOrParams, shared: Shared, block: Block) -> Floats:
        """Return P(bit = 1 | observed bits) for every cell, as if that cell had to be drawn again."""
        if shared.exact is not None:
            return self.enumerated.fill(params, shared.exact, block)
        return filled(shared.network, block, self._rng(block))

    def leave_one_out(self, params: NoisyOrParams, shared: Shared, block: Block) -> Floats:
        """Return P(x_j = 1 | the other observed bits) for every cell."""
        if shared.exact is not None:
            return self.enumerated.leave_one_out(params, shared.exact, block)
        return left_out(shared.network, block, self._rng(block))

    def draw(self, params: NoisyOrParams, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
        """Draw n rows and the states of all units."""
        return draw(params, n, rng)

    def hidden_states(self, params: NoisyOrParams) -> Floats:
        """Return every state of all units."""
        return self.enumerated.hidden_states(params)

    def log_joint(self, params: NoisyOrParams, x: Floats, h: Floats) -> float:
        """Return ln P(x, h) of one complete row: the definition."""
        return log_joint(params, x, h)

    def mismatch(self, params: NoisyOrParams) -> str | None:
        """Return how valid parameters disagree with the hyperparameters, or None."""
        return mismatch(self.n_components, params)


# ln P(observed bits) of rows in a noisy-OR network that is too large to enumerate: annealed, with a second opinion.
#
# Every row is climbed to from two bases, and a figure is given only where they agree:
#
#     prior:  P(S) P(x | S)^beta                      from states drawn without the data
#     near:   q(S)^(1 - beta) [ P(S) P(x | S) ]^beta   from units drawn by their posterior probabilities, independently
#
# Rows on which the two differ by more than three standard errors, or that rest on too few chains, climb again on a
# ladder four times as long. If some still differ, the likelihood is refused (`UntrustedRowsError`), not guessed.

CHAINS = 32  # of each row, from each base
LADDERS = (24, 96, 384)  # temperatures, tried one after the other
FEWEST = 4.0  # an estimate that rests on fewer chains has no error to speak of
MOST_UNSURE = 0.02  # of the rows of a block may differ at the end, after three tries
ROWS_AT_ONCE = 256


class UntrustedRowsError(ValueError):
    """The likelihood of rows was looked for, and the two estimates do not agree."""


class RowLikelihoods(NamedTuple):
    """ln P(observed bits) of each row, its standard error, and whether both bases agreed on it."""

    values: Floats
    errors: Floats
    agree: NDArray[np.bool_]


def log_likelihoods(network: Network, block: Block, rng: np.random.Generator) -> RowLikelihoods:
    """Return the likelihood of each row of a block with its standard error."""
    near = quick_marginals(network, block, rng)
    data = Ones.of_block(network.layers[0], block)
    n = block.n_rows
    values, errors, agree = np.zeros(n), np.zeros(n), np.zeros(n, bool)
    for n_steps in LADDERS:
        open_rows = np.flatnonzero(~agree)
        for start in range(0, len(open_rows), ROWS_AT_ONCE):
            rows = open_rows[start : start + ROWS_AT_ONCE]
            found = _both(network, data.take(rows), near[rows], n_steps, rng)
            values[rows], errors[rows], agree[rows] = found
    return RowLikelihoods(values, errors, agree)


def _both(network: Network, data: Ones, near: Floats, n_steps: int, rng: np.random.Generator) -> RowLikelihoods:
    """Estimate from both bases, and judge."""
    n = len(near)
    many = tiled(data, CHAINS)
    ladder = np.linspace(0.0, 1.0, n_steps + 1)
    # Much of a likelihood is decided by its first shares: small steps there.
    paths = [(prior_path(network, many), ladder**3), (near_path(network, many, np.tile(near, (CHAINS, 1))), ladder)]
    found = []
    for path, betas in paths:
        log_w = anneal(path, path.start(n * CHAINS, rng), betas.tolist(), rng).reshape(CHAINS, n)
        mean = logsumexp(log_w, axis=0) - np.log(CHAINS)
        ess = np.exp(2.0 * logsumexp(log_w, axis=0) - logsumexp(2.0 * log_w, axis=0))
        found.append((mean, np.sqrt(np.maximum(CHAINS / ess - 1.0, 1e-12) / (CHAINS - 1)), ess))
    (a, error_a, ess_a), (b, error_b, ess_b) = found
    agree = np.abs(a - b) <= WIDEST * np.hypot(error_a, error_b)
    agree &= (ess_a >= FEWEST) & (ess_b >= FEWEST)
    precision = 1.0 / error_a**2, 1.0 / error_b**2
    total = precision[0] + precision[1]
    return RowLikelihoods((a * precision[0] + b * precision[1]) / total, np.sqrt(1.0 / total), agree)


def trusted(found: RowLikelihoods, first_row: int) -> Floats:
    """Return the values, or refuse where the bases disagree on too many rows."""
    unsure = np.flatnonzero(~found.agree)
    if len(unsure) > MOST_UNSURE * len(found.agree):
        raise UntrustedRowsError(
            f"The likelihood cannot be estimated reliably: for {len(unsure)} of {len(found.agree)} rows (the first is "
            f"row {first_row + int(unsure[0])}) two annealed estimates disagree or depend on too few chains. Fit "
            "fewer causes, or compare models by hidden cells (hiddenbits.evaluate.hidden_cells)."
        )
    return found.values
