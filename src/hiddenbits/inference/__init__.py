"""Standard errors and confidence intervals of the parameters of a fitted model, and of functions of them.

`standard_errors` computes them from the curvature of the likelihood, `bootstrap` from refits to resampled rows.
"""

from hiddenbits.inference.bootstrapping import bootstrap
from hiddenbits.inference.information_matrix import standard_errors
from hiddenbits.inference.uncertainty import Uncertainty

__all__ = ["Uncertainty", "bootstrap", "standard_errors"]
