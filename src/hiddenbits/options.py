"""Groups of options of estimators: how chains run, how a model grows, how a fit begins."""

from hiddenbits.families.binary_sparse_coding.estimator import Annealing
from hiddenbits.families.combination_machine.options import Chains, Growth, Pursuit
from hiddenbits.families.noisy_or.estimator import GibbsChains

__all__ = ["Annealing", "Chains", "GibbsChains", "Growth", "Pursuit"]
