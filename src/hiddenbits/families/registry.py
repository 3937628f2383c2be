"""The estimators by name: what a model file may hold, and what the contract tests walk through.

Names map to functions that import: a reader of names (the command line) need not import scikit-learn. Files know
estimators by these names alone, never by class or module, so both may change.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from hiddenbits.store.validation import refuse_large, require

NAMES = (
    "IndependentColumns",
    "LatentClassAnalysis",
    "LogisticPCA",
    "ClippedPCA",
    "CombinationMachine",
    "BinarySparseCoding",
    "HiddenTree",
    "NoisyOrNetwork",
    "TreeMixture",
    "TopographicMap",
)
ESTIMATORS: dict[str, Callable[[], Any]] = {
    name: partial(getattr, import_module("hiddenbits"), name)
    for name in NAMES  # the package knows where each is
}


def name_of(estimator: object) -> str:
    """Return the name by which files know an estimator; refuse one that no file could bring back."""
    own, cls = type(estimator).__name__, saved_as(estimator)
    first: str = cls.__name__
    for name in (first, *ESTIMATORS):
        if name in ESTIMATORS and ESTIMATORS[name]() is cls:
            return name
    raise TypeError(f"{own} is not an estimator of hiddenbits, so its file could not be loaded again.")


def saved_as(estimator: object) -> Any:
    """Return the class as which an estimator is saved: its own, unless it is a paper's way to fit another."""
    return getattr(estimator, "_saved_as", type(estimator))


def unfitted(kind: str, hyperparameters: Any) -> Any:
    """Build an estimator from the hyperparameters of a file, which must be those of its class, all of them."""
    cls = ESTIMATORS[kind]()
    require(isinstance(hyperparameters, dict), "hyperparameters are not a mapping")
    names = set(cls._get_param_names())
    for name in hyperparameters.keys() - names:
        raise ValueError(f"it has a hyperparameter {name[:40]!r} that this version of hiddenbits does not know")
    for name in names - hyperparameters.keys():
        raise ValueError(f"it lacks the hyperparameter {name!r}")
    for name, value in hyperparameters.items():
        refuse_large(name, value)
    estimator = cls(**{name: _restored(cls, name, value) for name, value in hyperparameters.items()})
    estimator._validate_params()
    return estimator


def _restored(cls: Any, name: str, value: Any) -> Any:
    """Return a hyperparameter as it was before it was saved: options are of a class that it may have."""
    kinds = {one.__name__: one for one in cls._parameter_constraints[name] if hasattr(one, "get_params")}
    if not kinds or not isinstance(value, dict):
        return tuple(value) if isinstance(value, list) else value  # a file knows lists alone
    require(value.get("of") in kinds, f"its {name} is of no class that {cls.__name__} knows")
    numbers, kind = {one: number for one, number in value.items() if one != "of"}, kinds[value["of"]]
    require(set(numbers) == set(kind._get_param_names()), f"its {name} has not exactly the options of {kind.__name__}")
    return kind(**numbers)
