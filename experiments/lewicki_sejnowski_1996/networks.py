"""Two variants of how layers are learned, to see what the library's parts are worth: only experiments have them."""

from dataclasses import replace

from hiddenbits import NoisyOrNetwork
from hiddenbits.families.noisy_or.model_gibbs import NoisyOrGibbs
from hiddenbits.families.noisy_or.params import JOINT, LEARN, SETTLE, NoisyOrParams


class LowGibbs(NoisyOrGibbs):
    """Leaks of upper layers begin where they were held once they are freed, not at half of P(on) as in the library."""

    def _next(self, params: NoisyOrParams) -> NoisyOrParams:
        new = super()._next(params)
        freed = params.clock[1] == LEARN and new.clock[1] == SETTLE
        return replace(new, strengths=params.strengths) if freed and len(new.layers) > 1 else new


class GreedyGibbs(NoisyOrGibbs):
    """The same as the library's, but the fit ends before all layers learn together."""

    def _done(self, params: NoisyOrParams) -> bool:
        return bool(params.clock[1] == JOINT) or super()._done(params)


class Low(NoisyOrNetwork):
    """`NoisyOrNetwork` whose upper leaks begin low."""

    _sampled = LowGibbs


class Greedy(NoisyOrNetwork):
    """`NoisyOrNetwork` without joint sweeps at the end."""

    _sampled = GreedyGibbs
