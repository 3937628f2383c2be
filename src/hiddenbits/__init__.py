"""hiddenbits: find the hidden structure behind a table: classes of respondents, a scale or a map, causes.

Public names resolve when they are first used, so that importing the package is quick.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

_HOMES = {
    "BinarySparseCoding": "hiddenbits.families.binary_sparse_coding.estimator",
    "ClippedPCA": "hiddenbits.families.clipped_pca.estimator",
    "CombinationMachine": "hiddenbits.families.combination_machine.estimator",
    "HiddenTree": "hiddenbits.families.hidden_tree.estimator",
    "IndependentColumns": "hiddenbits.families.independent_columns",
    "ItemResponseModel": "hiddenbits.families.item_response.estimator",
    "LatentClassAnalysis": "hiddenbits.families.latent_class_analysis.estimator",
    "LogisticPCA": "hiddenbits.families.logistic_pca.estimator",
    "NoisyOrNetwork": "hiddenbits.families.noisy_or.estimator",
    "TopographicMap": "hiddenbits.families.topographic_map.estimator",
    "TreeMixture": "hiddenbits.families.tree_mixture.estimator",
    "load": "hiddenbits.families._base.persistence",
    "open_table": "hiddenbits.data",
    "report": "hiddenbits.reporting",
    "run_on": "hiddenbits.engine",
    "tetrachoric": "hiddenbits.families.tetrachoric",
    "datasets": "hiddenbits.datasets",
    "diagnostics": "hiddenbits.diagnostics",
    "evaluate": "hiddenbits.evaluate",
    "exceptions": "hiddenbits.exceptions",
    "inference": "hiddenbits.inference",
    "options": "hiddenbits.options",
    "plots": "hiddenbits.plots",
    "results": "hiddenbits.results",
    "tables": "hiddenbits.tables",
}

logging.getLogger(__name__).addHandler(logging.NullHandler())  # silent by default: docs/logging.md

__all__ = [*sorted(_HOMES), "__version__"]

if TYPE_CHECKING:
    from hiddenbits import datasets as datasets
    from hiddenbits import diagnostics as diagnostics
    from hiddenbits import evaluate as evaluate
    from hiddenbits import exceptions as exceptions
    from hiddenbits import inference as inference
    from hiddenbits import options as options
    from hiddenbits import plots as plots
    from hiddenbits import results as results
    from hiddenbits import tables as tables
    from hiddenbits.data import open_table as open_table
    from hiddenbits.engine import run_on as run_on
    from hiddenbits.families._base.persistence import load as load
    from hiddenbits.families.binary_sparse_coding.estimator import BinarySparseCoding as BinarySparseCoding
    from hiddenbits.families.clipped_pca.estimator import ClippedPCA as ClippedPCA
    from hiddenbits.families.combination_machine.estimator import CombinationMachine as CombinationMachine
    from hiddenbits.families.hidden_tree.estimator import HiddenTree as HiddenTree
    from hiddenbits.families.independent_columns import IndependentColumns as IndependentColumns
    from hiddenbits.families.item_response.estimator import ItemResponseModel as ItemResponseModel
    from hiddenbits.families.latent_class_analysis.estimator import LatentClassAnalysis as LatentClassAnalysis
    from hiddenbits.families.logistic_pca.estimator import LogisticPCA as LogisticPCA
    from hiddenbits.families.noisy_or.estimator import NoisyOrNetwork as NoisyOrNetwork
    from hiddenbits.families.tetrachoric import tetrachoric as tetrachoric
    from hiddenbits.families.topographic_map.estimator import TopographicMap as TopographicMap
    from hiddenbits.families.tree_mixture.estimator import TreeMixture as TreeMixture
    from hiddenbits.reporting import report as report


def __getattr__(name: str) -> Any:
    module_name = _HOMES.get(name)
    if module_name is None:
        raise AttributeError(f"module 'hiddenbits' has no attribute {name!r}")
    module = import_module(module_name)
    value = module if module_name == f"hiddenbits.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
