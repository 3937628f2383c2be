"""The models: mathematics only, one family a file, equations beside the lines."""

from hiddenbits.models.base import Footprint, Promises
from hiddenbits.models.independent import Independent
from hiddenbits.models.logistic import Logistic
from hiddenbits.models.logistic_grid import LogisticGrid
from hiddenbits.models.mixed import Mixed
from hiddenbits.models.mixture import Mixture

__all__ = ["Footprint", "Independent", "Logistic", "LogisticGrid", "Mixed", "Mixture", "Promises"]
