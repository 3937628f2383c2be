"""The models: mathematics only, one family a file, equations beside the lines."""

from hiddenbits.models.base import Footprint, Promises
from hiddenbits.models.clipped import Clipped
from hiddenbits.models.combination import Combination
from hiddenbits.models.independent import Independent
from hiddenbits.models.logistic import Logistic
from hiddenbits.models.logistic_grid import LogisticGrid
from hiddenbits.models.logistic_mixture import LogisticMixture
from hiddenbits.models.mixed import Mixed
from hiddenbits.models.mixture import Mixture
from hiddenbits.models.noisy_or import NoisyOr
from hiddenbits.models.noisy_or_blocks import NoisyOrBlocks
from hiddenbits.models.noisy_or_sampled import NoisyOrGibbs
from hiddenbits.models.noisy_or_truncated import NoisyOrTruncated

__all__ = [
    "Clipped",
    "Combination",
    "Footprint",
    "Independent",
    "Logistic",
    "LogisticGrid",
    "LogisticMixture",
    "Mixed",
    "Mixture",
    "NoisyOr",
    "NoisyOrBlocks",
    "NoisyOrGibbs",
    "NoisyOrTruncated",
    "Promises",
]
