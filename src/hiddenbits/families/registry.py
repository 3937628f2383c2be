"""The estimators by name: what a model file may hold, and what the contract tests walk through.

Names map to functions that import: a reader of names (the command line) need not import scikit-learn. Files know
estimators by these names alone, never by class or module, so both may change; a name that was once written stays.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from hiddenbits.store.validation import refuse_large, require, shortened


def _from(family: str, name: str) -> Callable[[], Any]:
    return lambda: getattr(import_module(f"hiddenbits.families.{family}.estimator"), name)


ESTIMATORS: dict[str, Callable[[], Any]] = {
    "IndependentBits": _from("independent_bits", "IndependentBits"),
    "BernoulliMixture": _from("bernoulli_mixture", "BernoulliMixture"),
    "LogisticPCA": _from("logistic_pca", "LogisticPCA"),
    "ClippedPCA": _from("clipped_pca", "ClippedPCA"),
    "CombinationMachine": _from("combination_machine", "CombinationMachine"),
    "BinarySparseCoding": _from("binary_sparse_coding", "BinarySparseCoding"),
    "LogisticPCAMixture": _from("logistic_pca_mixture", "LogisticPCAMixture"),
    "HiddenTree": _from("hidden_tree", "HiddenTree"),
    "NoisyOrNetwork": _from("noisy_or", "NoisyOrNetwork"),
    "TreeMixture": _from("tree_mixture", "TreeMixture"),
}

# Estimators that are made of others: they have members in place of a model of their own.
COMPOSITES: dict[str, Callable[[], Any]] = {
    "Ensemble": _from("ensemble", "Ensemble"),
}

# Hyperparameters that were dropped, with the default that each had, as JSON says it: {"LogisticPCA": {"gone": False}}.
# A file that has one of them at its old default is read, as if it were not there; any other value is refused by name.
DROPPED: dict[str, dict[str, object]] = {}


def name_of(estimator: object) -> str:
    """Return the name by which files know an estimator; refuse one that no file could bring back."""
    kinds = ESTIMATORS | COMPOSITES
    own = type(estimator).__name__
    for name in (own, *kinds):
        if name in kinds and kinds[name]() is type(estimator):
            return name
    raise TypeError(f"{own} is not an estimator of hiddenbits, so its file could not be loaded again.")


def unfitted(kind: str, hyperparameters: Any) -> Any:
    """Build an estimator from the hyperparameters of a file, which an earlier version may have written.

    One that is not there takes its default; one that was dropped since is ignored at the default it had (`DROPPED`).
    """
    cls = (ESTIMATORS | COMPOSITES)[kind]()
    require(isinstance(hyperparameters, dict), "hyperparameters are not a mapping")
    known, dropped = set(cls._get_param_names()), DROPPED.get(kind, {})
    for name, value in hyperparameters.items():
        if name in known:
            refuse_large(name, value)
            continue
        require(name in dropped, f"it has a hyperparameter {name[:40]!r} that this version of hiddenbits does not know")
        require(
            type(value) is type(dropped[name]) and value == dropped[name],
            f"it has {name}={shortened(value)}, but {name} has been removed since: only files with "
            f"{name}={dropped[name]!r} can still be read",
        )
    estimator = cls(**{name: value for name, value in hyperparameters.items() if name in known})
    estimator._validate_params()
    return estimator
