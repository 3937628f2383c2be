"""What a fitted model leaves unexplained, and how sure it is of what it says."""

from hiddenbits.diagnostics.classification import average_posteriors, classification_table, entropy
from hiddenbits.diagnostics.item_fit import item_fit, person_fit
from hiddenbits.diagnostics.likelihood_ratio import BootstrapLRT, bootstrap_lrt
from hiddenbits.diagnostics.limited_information import M2, m2
from hiddenbits.diagnostics.overall_fit import Overall, overall
from hiddenbits.diagnostics.pairs import residual_pairs

__all__ = [
    "M2",
    "BootstrapLRT",
    "Overall",
    "average_posteriors",
    "bootstrap_lrt",
    "classification_table",
    "entropy",
    "item_fit",
    "m2",
    "overall",
    "person_fit",
    "residual_pairs",
]
