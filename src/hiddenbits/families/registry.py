"""The estimators by name: what a model file may hold, and what the contract tests walk through.

Names map to functions that import: a reader of names (the command line) need not import scikit-learn. Files know
estimators by these names alone, never by class or module, so both may change; a name that was once written stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
    "HiddenTree": _from("hidden_tree", "HiddenTree"),
    "NoisyOrNetwork": _from("noisy_or", "NoisyOrNetwork"),
    "TreeMixture": _from("tree_mixture", "TreeMixture"),
    "TopographicMap": _from("topographic_map", "TopographicMap"),
}

# Hyperparameters that were dropped, with the default that each had, as JSON says it: {"LogisticPCA": {"gone": False}}.
# A file that has one of them at its old default is read, as if it were not there; any other value is refused by name.
# Those with ANY meant nothing for a fitted model and are ignored whatever they are.
ANY = object()
_OF_PASSES: dict[str, object] = dict.fromkeys(("online_passes", "n_init", "max_iter", "tol", "accelerate"), ANY)
DROPPED: dict[str, dict[str, object]] = {
    "IndependentBits": _OF_PASSES,
    "ClippedPCA": _OF_PASSES,
    "CombinationMachine": {"accelerate": ANY},
    "LogisticPCA": {"curvature": "cell"},
    "NoisyOrNetwork": dict.fromkeys(("schedule", "batch_rows", "stop_below", "first_strengths"), ANY),
}

DROPPED_ARRAYS = {"LogisticPCA": {"params.xi"}}  # read as if they were not there, where they hold nothing


def name_of(estimator: object) -> str:
    """Return the name by which files know an estimator; refuse one that no file could bring back."""
    own, cls = type(estimator).__name__, _saved_as(estimator)
    first: str = cls.__name__
    for name in (first, *ESTIMATORS):
        if name in ESTIMATORS and ESTIMATORS[name]() is cls:
            return name
    raise TypeError(f"{own} is not an estimator of hiddenbits, so its file could not be loaded again.")


def hyperparameters_of(estimator: Any) -> dict[str, Any]:
    """Return the hyperparameters by the names that a file has for them."""
    return {name: getattr(estimator, name) for name in _saved_as(estimator)._get_param_names()}


def _saved_as(estimator: object) -> Any:
    """Return the class as which an estimator is saved: its own, unless it is a paper's way to fit another."""
    return getattr(estimator, "_saved_as", type(estimator))


def without_dropped(kind: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays of a file without those that were dropped since."""
    gone = DROPPED_ARRAYS.get(kind, set())
    return {name: array for name, array in arrays.items() if name not in gone or array.size}


def unfitted(kind: str, hyperparameters: Any) -> Any:
    """Build an estimator from the hyperparameters of a file, which an earlier version may have written.

    One that is not there takes its default; one that was dropped since is ignored at the default it had (`DROPPED`);
    one that is now part of an object goes there.
    """
    cls = ESTIMATORS[kind]()
    require(isinstance(hyperparameters, dict), "hyperparameters are not a mapping")
    given = cls._from_earlier(hyperparameters)
    names, dropped = set(cls._get_param_names()), DROPPED.get(kind, {})
    known = {name for name in given if name in names or name.partition("__")[0] in cls._groups}
    for name, value in given.items():
        if name in known:
            refuse_large(name, value)
            continue
        require(name in dropped, f"it has a hyperparameter {name[:40]!r} that this version of hiddenbits does not know")
        default = dropped[name]
        require(
            default is ANY or (type(value) is type(default) and value == default),
            f"it has {name}={shortened(value)}, but {name} has been removed since: only files with "
            f"{name}={default!r} can still be read",
        )
    estimator = cls._from_file({name: value for name, value in given.items() if name in known})
    estimator._validate_params()
    return estimator
