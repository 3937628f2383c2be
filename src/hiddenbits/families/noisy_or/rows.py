"""Row functions of sampled noisy-OR networks: by enumeration where that is possible, otherwise by chains."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hiddenbits.array_types import Bytes, Floats
from hiddenbits.data import Block
from hiddenbits.families.noisy_or.annealed_likelihood import log_likelihoods, trusted
from hiddenbits.families.noisy_or.attributions import Reasons, sampled_reasons
from hiddenbits.families.noisy_or.gibbs import Network
from hiddenbits.families.noisy_or.model import NoisyOr, draw, log_joint, mismatch, reconstruct
from hiddenbits.families.noisy_or.params import NoisyOrParams
from hiddenbits.families.noisy_or.posterior_draws import filled, left_out, marginals, most_probable

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
