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
    "Promises",
]
