"""What a fitted model leaves unexplained, and how sure it is of what it says."""

from hiddenbits.diagnostics.causes import cause_usage
from hiddenbits.diagnostics.classification import classification_table, entropy
from hiddenbits.diagnostics.item_fit import item_fit, person_fit
from hiddenbits.diagnostics.likelihood_ratio import BootstrapLRT, bootstrap_lrt
from hiddenbits.diagnostics.limited_information import M2, m2
from hiddenbits.diagnostics.overall_fit import Overall, overall
from hiddenbits.diagnostics.pairs import residual_pairs
from hiddenbits.diagnostics.precision import Reliability, item_information, reliability, test_information

__all__ = [
    "M2",
    "BootstrapLRT",
    "Overall",
    "Reliability",
    "bootstrap_lrt",
    "cause_usage",
    "classification_table",
    "entropy",
    "item_fit",
    "item_information",
    "m2",
    "overall",
    "person_fit",
    "reliability",
    "residual_pairs",
    "test_information",
]
