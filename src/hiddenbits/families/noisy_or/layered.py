"""The parts that all noisy-OR models share: the definition, sampling, and the prior."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hiddenbits.array_types import Bytes, Floats
from hiddenbits.data.declared import Statistics
from hiddenbits.families.noisy_or.gibbs import Network
from hiddenbits.families.noisy_or.params import NoisyOrParams, log_prior
from hiddenbits.families.noisy_or.start import first_prior
from hiddenbits.maths.state_sums import states_of


@dataclass(frozen=True)
class Layered:
    """A layered network; hyperparameters only.

    Parameters
    ----------
    n_components : list of int
        Causes of each layer, the lowest first.
    alpha, beta : float
        Shape and rate of the gamma prior of every weight.
    prior : float or None
        P(cause on) while a layer is fitted; None: such that about three causes are on per row.
    leak : float
        Largest P(unit on without a cause) while a layer is fitted.
    """

    n_components: list[int] = field(default_factory=lambda: [2])
    alpha: float = 1.0
    beta: float = 1.5
    prior: float | None = None
    leak: float = 1e-3

    params_type = NoisyOrParams

    def center(self, params: NoisyOrParams) -> float:
        """Return the center of the beta prior of P(cause on) in the top layer."""
        return first_prior(self.prior, self.n_components[len(params.n_causes) - 1])

    def objective(self, params: NoisyOrParams, stats: Statistics) -> float:
        """Return the log-likelihood, or the log-joint of data and sampled states, plus the log prior."""
        return float(stats.bound) + log_prior(params, self.alpha, self.beta, self.center(params))

    def reconstruct(self, params: NoisyOrParams, codes: Floats) -> Floats:
        """Return 1 - (1 - f_0j) Prod_i (1 - p_i f_ij): P(cell = 1) if causes of the lowest layer are on with p_i."""
        f = params.layers[0]
        log_off = np.tile(np.log1p(-f[-1]), (len(codes), 1))
        for i in range(len(f) - 1):  # a loop over causes: an array (rows, causes, columns) would be too large
            log_off += np.log1p(-np.outer(np.clip(codes[:, i], 0.0, 1.0), f[i]))
        return np.asarray(-np.expm1(log_off))

    def sample(self, params: NoisyOrParams, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
        """Sample n rows and the states of all units, from the top down."""
        states = Network.of(params).sample_states(n, rng)
        w = params.w[0]
        x = rng.random((n, params.n_columns)) < -np.expm1(-(states[0] @ w[:-1] + w[-1]))
        return x.view(np.uint8), np.concatenate(states, axis=1).astype(np.float64)

    def hidden_states(self, params: NoisyOrParams) -> Floats:
        """Return every state of all units."""
        return states_of(sum(params.n_causes))

    def log_joint(self, params: NoisyOrParams, x: Floats, h: Floats) -> float:
        """Return ln P(x, h) of one complete row, h of all layers, the lowest first: the definition."""
        total, below, start = 0.0, x, 0
        for f in params.layers:
            s = h[start : start + len(f) - 1]
            p = 1.0 - (1.0 - f[-1]) * np.prod((1.0 - f[:-1]) ** s[:, None], axis=0)
            total += float(np.sum(np.where(below == 1, np.log(p), np.log1p(-p))))
            below, start = s, start + len(s)
        return total + float(np.sum(np.where(below == 1, np.log(params.priors), np.log1p(-params.priors))))

    def mismatch(self, params: NoisyOrParams) -> str | None:
        """Return how valid parameters disagree with the hyperparameters, or None."""
        if list(params.n_causes) == list(self.n_components):
            return None
        return f"it has layers of {list(params.n_causes)} causes where {list(self.n_components)} are declared"
