"""hiddenbits: find the hidden structure behind a table of bits.

Public names resolve when they are first used, so that importing the package is quick.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

_HOMES = {
    "BernoulliMixture": "hiddenbits.estimators.mixture",
    "BinarySparseCoding": "hiddenbits.estimators.sparse_coding",
    "ClippedPCA": "hiddenbits.estimators.clipped",
    "CombinationMachine": "hiddenbits.estimators.combination",
    "Ensemble": "hiddenbits.estimators.ensemble",
    "HiddenTree": "hiddenbits.estimators.hidden_tree",
    "IndependentBits": "hiddenbits.estimators.independent",
    "LogisticPCA": "hiddenbits.estimators.logistic",
    "LogisticPCAMixture": "hiddenbits.estimators.logistic_mixture",
    "NoisyOrNetwork": "hiddenbits.estimators.noisy_or",
    "SmallWeightsWarning": "hiddenbits.estimators.tables",
    "Table": "hiddenbits.data",
    "TableError": "hiddenbits.data",
    "Statistics": "hiddenbits.estimators.statistics",
    "StatisticsError": "hiddenbits.estimators.statistics",
    "StoreError": "hiddenbits.store",
    "CheckpointError": "hiddenbits.engine",
    "ClusterError": "hiddenbits.engine",
    "CopiedRowsWarning": "hiddenbits.evaluate.copies",
    "DegeneratePairsWarning": "hiddenbits.estimators.tetrachoric",
    "DuplicateItemsWarning": "hiddenbits.data.readers",
    "EnvironmentChangedWarning": "hiddenbits.engine",
    "NoZerosWarning": "hiddenbits.engine",
    "Piece": "hiddenbits.engine",
    "TetrachoricCorrelations": "hiddenbits.estimators.tetrachoric",
    "UnlockedCheckpointWarning": "hiddenbits.engine",
    "hide_cells": "hiddenbits.data.hidden",
    "load": "hiddenbits.estimators.files",
    "map_pieces": "hiddenbits.engine",
    "merge": "hiddenbits.estimators.statistics",
    "open_table": "hiddenbits.data",
    "run_on": "hiddenbits.engine",
    "take_rows": "hiddenbits.data.chosen",
    "TreeMixture": "hiddenbits.estimators.trees",
    "tetrachoric": "hiddenbits.estimators.tetrachoric",
    "evaluate": "hiddenbits.evaluate",
    "datasets": "hiddenbits.datasets",
    "images": "hiddenbits.images",
    "plots": "hiddenbits.plots",
    "report": "hiddenbits.report",
}

logging.getLogger(__name__).addHandler(logging.NullHandler())  # silent unless somebody asks: docs/logging.md

__all__ = [*sorted(_HOMES), "__version__"]

if TYPE_CHECKING:
    from hiddenbits import datasets as datasets
    from hiddenbits import evaluate as evaluate
    from hiddenbits import images as images
    from hiddenbits import plots as plots
    from hiddenbits import report as report
    from hiddenbits.data import Table as Table
    from hiddenbits.data import TableError as TableError
    from hiddenbits.data import open_table as open_table
    from hiddenbits.data.chosen import take_rows as take_rows
    from hiddenbits.data.hidden import hide_cells as hide_cells
    from hiddenbits.data.readers import DuplicateItemsWarning as DuplicateItemsWarning
    from hiddenbits.engine import CheckpointError as CheckpointError
    from hiddenbits.engine import ClusterError as ClusterError
    from hiddenbits.engine import EnvironmentChangedWarning as EnvironmentChangedWarning
    from hiddenbits.engine import NoZerosWarning as NoZerosWarning
    from hiddenbits.engine import Piece as Piece
    from hiddenbits.engine import UnlockedCheckpointWarning as UnlockedCheckpointWarning
    from hiddenbits.engine import map_pieces as map_pieces
    from hiddenbits.engine import run_on as run_on
    from hiddenbits.estimators.clipped import ClippedPCA as ClippedPCA
    from hiddenbits.estimators.combination import CombinationMachine as CombinationMachine
    from hiddenbits.estimators.ensemble import Ensemble as Ensemble
    from hiddenbits.estimators.files import load as load
    from hiddenbits.estimators.hidden_tree import HiddenTree as HiddenTree
    from hiddenbits.estimators.independent import IndependentBits as IndependentBits
    from hiddenbits.estimators.logistic import LogisticPCA as LogisticPCA
    from hiddenbits.estimators.logistic_mixture import LogisticPCAMixture as LogisticPCAMixture
    from hiddenbits.estimators.mixture import BernoulliMixture as BernoulliMixture
    from hiddenbits.estimators.noisy_or import NoisyOrNetwork as NoisyOrNetwork
    from hiddenbits.estimators.sparse_coding import BinarySparseCoding as BinarySparseCoding
    from hiddenbits.estimators.statistics import Statistics as Statistics
    from hiddenbits.estimators.statistics import StatisticsError as StatisticsError
    from hiddenbits.estimators.statistics import merge as merge
    from hiddenbits.estimators.tables import SmallWeightsWarning as SmallWeightsWarning
    from hiddenbits.estimators.tetrachoric import DegeneratePairsWarning as DegeneratePairsWarning
    from hiddenbits.estimators.tetrachoric import TetrachoricCorrelations as TetrachoricCorrelations
    from hiddenbits.estimators.tetrachoric import tetrachoric as tetrachoric
    from hiddenbits.estimators.trees import TreeMixture as TreeMixture
    from hiddenbits.evaluate.copies import CopiedRowsWarning as CopiedRowsWarning
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
