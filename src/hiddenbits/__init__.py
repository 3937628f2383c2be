"""hiddenbits: find the hidden structure behind a table of bits.

Public names resolve when they are first used, so that importing the package is quick.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

_HOMES = {
    "Annealing": "hiddenbits.families.binary_sparse_coding.estimator",
    "LatentClassAnalysis": "hiddenbits.families.latent_class_analysis.estimator",
    "BinarySparseCoding": "hiddenbits.families.binary_sparse_coding.estimator",
    "Chains": "hiddenbits.families.combination_machine.options",
    "ClippedPCA": "hiddenbits.families.clipped_pca.estimator",
    "CombinationMachine": "hiddenbits.families.combination_machine.estimator",
    "GibbsChains": "hiddenbits.families.noisy_or.estimator",
    "Growth": "hiddenbits.families.combination_machine.options",
    "HiddenTree": "hiddenbits.families.hidden_tree.estimator",
    "IndependentColumns": "hiddenbits.families.independent_columns",
    "LogisticPCA": "hiddenbits.families.logistic_pca.estimator",
    "NoisyOrNetwork": "hiddenbits.families.noisy_or.estimator",
    "Pursuit": "hiddenbits.families.combination_machine.options",
    "Quadrature": "hiddenbits.families.logistic_pca.estimator",
    "SpilledTableWarning": "hiddenbits.data.errors",
    "SmallWeightsWarning": "hiddenbits.families._base.inputs",
    "Table": "hiddenbits.data",
    "TableError": "hiddenbits.data",
    "Summary": "hiddenbits.shown",
    "StoreError": "hiddenbits.store",
    "ColumnsCodedWarning": "hiddenbits.data.columns.message",
    "ColumnsError": "hiddenbits.data.columns.message",
    "ColumnsLeftOutWarning": "hiddenbits.data.columns.message",
    "CheckpointError": "hiddenbits.engine",
    "ClusterError": "hiddenbits.engine",
    "CopiedRowsWarning": "hiddenbits.evaluate.copies",
    "DegeneratePairsWarning": "hiddenbits.families.tetrachoric",
    "DuplicateItemsWarning": "hiddenbits.data.items.gather",
    "EnvironmentChangedWarning": "hiddenbits.engine",
    "FoundDialectWarning": "hiddenbits.data.errors",
    "NoZerosWarning": "hiddenbits.engine",
    "UnrecordedColumnsWarning": "hiddenbits.engine",
    "Piece": "hiddenbits.engine",
    "Places": "hiddenbits.families.topographic_map.estimator",
    "Progress": "hiddenbits.cli.execution",
    "RotatedLoadings": "hiddenbits.maths.rotation",
    "TetrachoricCorrelations": "hiddenbits.families.tetrachoric",
    "UnlockedCheckpointWarning": "hiddenbits.engine",
    "UnwrittenCheckpointWarning": "hiddenbits.engine",
    "exclusive_groups": "hiddenbits.diagnostics.exclusive_groups",
    "hide_cells": "hiddenbits.data.masking",
    "look_at_columns": "hiddenbits.data.look",
    "load": "hiddenbits.families._base.persistence",
    "map_pieces": "hiddenbits.engine",
    "open_table": "hiddenbits.data",
    "report": "hiddenbits.reporting",
    "run_on": "hiddenbits.engine",
    "repeat_rows": "hiddenbits.data.subset",
    "take_rows": "hiddenbits.data.subset",
    "TopographicMap": "hiddenbits.families.topographic_map.estimator",
    "TreeMixture": "hiddenbits.families.tree_mixture.estimator",
    "Variational": "hiddenbits.families.logistic_pca.estimator",
    "tetrachoric": "hiddenbits.families.tetrachoric",
    "diagnostics": "hiddenbits.diagnostics",
    "evaluate": "hiddenbits.evaluate",
    "datasets": "hiddenbits.datasets",
    "inference": "hiddenbits.inference",
    "plots": "hiddenbits.plots",
    "reporting": "hiddenbits.reporting",
}

logging.getLogger(__name__).addHandler(logging.NullHandler())  # silent unless somebody asks: docs/logging.md

__all__ = [*sorted(_HOMES), "__version__"]

if TYPE_CHECKING:
    from hiddenbits import datasets as datasets
    from hiddenbits import diagnostics as diagnostics
    from hiddenbits import evaluate as evaluate
    from hiddenbits import inference as inference
    from hiddenbits import plots as plots
    from hiddenbits import reporting as reporting
    from hiddenbits.cli.execution import Progress as Progress
    from hiddenbits.data import Table as Table
    from hiddenbits.data import TableError as TableError
    from hiddenbits.data import open_table as open_table
    from hiddenbits.data.columns.message import ColumnsCodedWarning as ColumnsCodedWarning
    from hiddenbits.data.columns.message import ColumnsError as ColumnsError
    from hiddenbits.data.columns.message import ColumnsLeftOutWarning as ColumnsLeftOutWarning
    from hiddenbits.data.errors import FoundDialectWarning as FoundDialectWarning
    from hiddenbits.data.errors import SpilledTableWarning as SpilledTableWarning
    from hiddenbits.data.items.gather import DuplicateItemsWarning as DuplicateItemsWarning
    from hiddenbits.data.look import look_at_columns as look_at_columns
    from hiddenbits.data.masking import hide_cells as hide_cells
    from hiddenbits.data.subset import repeat_rows as repeat_rows
    from hiddenbits.data.subset import take_rows as take_rows
    from hiddenbits.diagnostics.exclusive_groups import exclusive_groups as exclusive_groups
    from hiddenbits.engine import CheckpointError as CheckpointError
    from hiddenbits.engine import ClusterError as ClusterError
    from hiddenbits.engine import EnvironmentChangedWarning as EnvironmentChangedWarning
    from hiddenbits.engine import NoZerosWarning as NoZerosWarning
    from hiddenbits.engine import Piece as Piece
    from hiddenbits.engine import UnlockedCheckpointWarning as UnlockedCheckpointWarning
    from hiddenbits.engine import UnrecordedColumnsWarning as UnrecordedColumnsWarning
    from hiddenbits.engine import UnwrittenCheckpointWarning as UnwrittenCheckpointWarning
    from hiddenbits.engine import map_pieces as map_pieces
    from hiddenbits.engine import run_on as run_on
    from hiddenbits.evaluate.copies import CopiedRowsWarning as CopiedRowsWarning
    from hiddenbits.families._base.inputs import SmallWeightsWarning as SmallWeightsWarning
    from hiddenbits.families._base.persistence import load as load
    from hiddenbits.families.binary_sparse_coding.estimator import Annealing as Annealing
    from hiddenbits.families.binary_sparse_coding.estimator import BinarySparseCoding as BinarySparseCoding
    from hiddenbits.families.clipped_pca.estimator import ClippedPCA as ClippedPCA
    from hiddenbits.families.combination_machine.estimator import CombinationMachine as CombinationMachine
    from hiddenbits.families.combination_machine.options import Chains as Chains
    from hiddenbits.families.combination_machine.options import Growth as Growth
    from hiddenbits.families.combination_machine.options import Pursuit as Pursuit
    from hiddenbits.families.hidden_tree.estimator import HiddenTree as HiddenTree
    from hiddenbits.families.independent_columns import IndependentColumns as IndependentColumns
    from hiddenbits.families.latent_class_analysis.estimator import LatentClassAnalysis as LatentClassAnalysis
    from hiddenbits.families.logistic_pca.estimator import LogisticPCA as LogisticPCA
    from hiddenbits.families.logistic_pca.estimator import Quadrature as Quadrature
    from hiddenbits.families.logistic_pca.estimator import Variational as Variational
    from hiddenbits.families.noisy_or.estimator import GibbsChains as GibbsChains
    from hiddenbits.families.noisy_or.estimator import NoisyOrNetwork as NoisyOrNetwork
    from hiddenbits.families.tetrachoric import DegeneratePairsWarning as DegeneratePairsWarning
    from hiddenbits.families.tetrachoric import TetrachoricCorrelations as TetrachoricCorrelations
    from hiddenbits.families.tetrachoric import tetrachoric as tetrachoric
    from hiddenbits.families.topographic_map.estimator import Places as Places
    from hiddenbits.families.topographic_map.estimator import TopographicMap as TopographicMap
    from hiddenbits.families.tree_mixture.estimator import TreeMixture as TreeMixture
    from hiddenbits.maths.rotation import RotatedLoadings as RotatedLoadings
    from hiddenbits.reporting import report as report
    from hiddenbits.shown import Summary as Summary
    from hiddenbits.store import StoreError as StoreError


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'hiddenbits' has no attribute {name!r}")
    module = import_module(home)
    value = module if home == f"hiddenbits.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
