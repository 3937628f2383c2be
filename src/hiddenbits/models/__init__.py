"""The models: mathematics only, one family a file, equations beside the lines.

Names resolve when they are first used: whoever touches one family need not wait for the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Clipped": "clipped",
    "Combination": "combination",
    "Footprint": "base",
    "Independent": "independent",
    "Logistic": "logistic",
    "LogisticGrid": "logistic_grid",
    "LogisticMixture": "logistic_mixture",
    "Mixed": "mixed",
    "Mixture": "mixture",
    "NoisyOr": "noisy_or",
    "NoisyOrBlocks": "noisy_or_blocks",
    "NoisyOrGibbs": "noisy_or_sampled",
    "NoisyOrTruncated": "noisy_or_truncated",
    "Promises": "base",
    "Trees": "trees",
}

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
    "Trees",
]

if TYPE_CHECKING:
    from hiddenbits.models.base import Footprint as Footprint
    from hiddenbits.models.base import Promises as Promises
    from hiddenbits.models.clipped import Clipped as Clipped
    from hiddenbits.models.combination import Combination as Combination
    from hiddenbits.models.independent import Independent as Independent
    from hiddenbits.models.logistic import Logistic as Logistic
    from hiddenbits.models.logistic_grid import LogisticGrid as LogisticGrid
    from hiddenbits.models.logistic_mixture import LogisticMixture as LogisticMixture
    from hiddenbits.models.mixed import Mixed as Mixed
    from hiddenbits.models.mixture import Mixture as Mixture
    from hiddenbits.models.noisy_or import NoisyOr as NoisyOr
    from hiddenbits.models.noisy_or_blocks import NoisyOrBlocks as NoisyOrBlocks
    from hiddenbits.models.noisy_or_sampled import NoisyOrGibbs as NoisyOrGibbs
    from hiddenbits.models.noisy_or_truncated import NoisyOrTruncated as NoisyOrTruncated
    from hiddenbits.models.trees import Trees as Trees


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'hiddenbits.models' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"hiddenbits.models.{_HOMES[name]}"), name)
    return value
