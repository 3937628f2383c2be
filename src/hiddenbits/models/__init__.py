"""The models: mathematics only, one family a file, equations beside the lines."""

from hiddenbits.models.base import Footprint, Promises
from hiddenbits.models.independent import Independent
from hiddenbits.models.mixture import Mixture

__all__ = ["Footprint", "Independent", "Mixture", "Promises"]
