"""The estimators by name: what a model file may hold, and what the contract tests walk through.

Names map to functions that import: a reader of names (the command line) need not import scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def _from(module: str, name: str) -> Callable[[], Any]:
    return lambda: getattr(import_module(f"hiddenbits.estimators.{module}"), name)


ESTIMATORS: dict[str, Callable[[], Any]] = {
    "IndependentBits": _from("independent", "IndependentBits"),
    "BernoulliMixture": _from("mixture", "BernoulliMixture"),
    "LogisticPCA": _from("logistic", "LogisticPCA"),
    "ClippedPCA": _from("clipped", "ClippedPCA"),
    "CombinationMachine": _from("combination", "CombinationMachine"),
    "BinarySparseCoding": _from("sparse_coding", "BinarySparseCoding"),
    "LogisticPCAMixture": _from("logistic_mixture", "LogisticPCAMixture"),
    "HiddenTree": _from("hidden_tree", "HiddenTree"),
    "NoisyOrNetwork": _from("noisy_or", "NoisyOrNetwork"),
    "TreeMixture": _from("trees", "TreeMixture"),
}

# Estimators that are made of others: they have members in place of a model of their own.
COMPOSITES: dict[str, Callable[[], Any]] = {
    "Ensemble": _from("ensemble", "Ensemble"),
}
