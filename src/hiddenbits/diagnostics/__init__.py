"""Diagnostics of a fitted model: fit statistics, residuals, and the certainty of classes, causes and scores."""

from hiddenbits.diagnostics.causes import cause_usage
from hiddenbits.diagnostics.cells import cell_probabilities
from hiddenbits.diagnostics.classification import classification_table, entropy
from hiddenbits.diagnostics.exclusive_groups import exclusive_groups
from hiddenbits.diagnostics.item_fit import item_fit, person_fit
from hiddenbits.diagnostics.likelihood_ratio import BootstrapLRT, bootstrap_lrt
from hiddenbits.diagnostics.limited_information import M2Test, m2_test
from hiddenbits.diagnostics.model_fit import FitStatistics, fit_statistics
from hiddenbits.diagnostics.pairs import residual_pairs
from hiddenbits.diagnostics.precision import (
    Reliability,
    item_information,
    reliability,
    sum_score_table,
    test_information,
)
from hiddenbits.diagnostics.starts import replicated_starts

__all__ = [
    "BootstrapLRT",
    "FitStatistics",
    "M2Test",
    "Reliability",
    "bootstrap_lrt",
    "cause_usage",
    "cell_probabilities",
    "classification_table",
    "entropy",
    "exclusive_groups",
    "fit_statistics",
    "item_fit",
    "item_information",
    "m2_test",
    "person_fit",
    "reliability",
    "replicated_starts",
    "residual_pairs",
    "sum_score_table",
    "test_information",
]
