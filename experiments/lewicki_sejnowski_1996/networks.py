"""Two variants of how layers are learned, to see what the library's parts are worth: only experiments have them."""

import numpy as np

from hiddenbits import NoisyOrNetwork
from hiddenbits.families.noisy_or.model_gibbs import NoisyOrGibbs
from hiddenbits.families.noisy_or.params import JOINT, LEARN, SETTLE, NoisyOrParams, clip_strengths
from hiddenbits.families.noisy_or.start import FREE_LEAK


class FreedGibbs(NoisyOrGibbs):
    """Leaks of upper layers begin at half of what is on once they are freed, as the library does for the columns."""

    def _next(self, params: NoisyOrParams) -> NoisyOrParams:
        new = super()._next(params)
        if params.clock[1] != LEARN or new.clock[1] != SETTLE or len(new.layers) == 1:
            return new
        f = new.layers[-1].copy()
        on = 1.0 - (1.0 - f[-1]) * np.prod(1.0 - new.priors[:, None] * f[:-1], axis=0)
        f[-1] = np.maximum(f[-1], FREE_LEAK * on)
        return NoisyOrParams.of([*new.layers[:-1], clip_strengths(f)], new.priors, new.clock, new.names)


class GreedyGibbs(FreedGibbs):
    """The same, but the fit ends before all layers learn together."""

    def _done(self, params: NoisyOrParams) -> bool:
        return bool(params.clock[1] == JOINT) or super()._done(params)


class Freed(NoisyOrNetwork):
    """`NoisyOrNetwork` with freed upper leaks."""

    _sampled = FreedGibbs


class Greedy(NoisyOrNetwork):
    """The same without joint sweeps at the end."""

    _sampled = GreedyGibbs
