"""Numbers people publish: standard errors and intervals of the parameters of a fitted model, and of functions of them.

`standard_errors` takes them from the likelihood around the estimates, `bootstrap` from refits to resampled rows.
"""

from hiddenbits.inference.bootstrapping import bootstrap
from hiddenbits.inference.information_matrix import standard_errors
from hiddenbits.inference.uncertainty import Uncertainty

__all__ = ["Uncertainty", "bootstrap", "standard_errors"]
