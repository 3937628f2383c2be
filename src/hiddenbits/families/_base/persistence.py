"""Fitted models to and from files: which parts of an estimator are saved, and all checks when they are loaded."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import AnyArray
from hiddenbits.data.coding.coded_columns import Coding
from hiddenbits.data.declared import Params, plain, prefixed, unprefixed
from hiddenbits.engine import Restart, Running, StopReason, online_form
from hiddenbits.exceptions import FileError
from hiddenbits.families._base.columns import column_sizes
from hiddenbits.families._base.protocol import Estimator
from hiddenbits.families._base.record import fit_record
from hiddenbits.model_api import Averages, Model
from hiddenbits.store import read, write
from hiddenbits.store.validation import (
    LARGEST_OBJECTIVE,
    VERSION,
    WRITTEN_BY,
    exactly,
    is_count,
    is_weight,
    refusal,
    refuse_large,
    require,
    require_finite,
    require_moderate,
    require_names,
)

E = TypeVar("E")

# The estimators that a model file may hold, by name (contract tests cover all of them). Files identify estimators only
# by these names, so that classes and modules may be renamed.
NAMES = (
    "IndependentColumns",
    "LatentClassAnalysis",
    "ItemResponseModel",
    "LogisticPCA",
    "ClippedPCA",
    "CombinationMachine",
    "BinarySparseCoding",
    "HiddenTree",
    "NoisyOrNetwork",
    "TreeMixture",
    "TopographicMap",
)
ESTIMATORS: dict[str, Callable[[], Any]] = {name: partial(getattr, import_module("hiddenbits"), name) for name in NAMES}

META_KEYS = {
    "hyperparameters",
    "n_features_in",
    "feature_names_in",
    "n_iter",
    "stop_reason",
    "restarts",
    "running",
    "weight_seen",
}
CODING = "coding"  # only if columns were recoded
TABLE_VERSION = "table_version"  # only after a fit to a Delta table


def save(estimator: Estimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to `path`, atomically."""
    meta, arrays = file_content(estimator)
    write(path, name_of(estimator), {**meta, WRITTEN_BY: VERSION}, arrays)


def file_content(estimator: Estimator) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return the metadata and arrays of the file of a fitted estimator."""
    check_is_fitted(estimator, "_params")
    mismatch = estimator._model().mismatch(estimator._params)
    if flaw := estimator._params.flaw():
        raise ValueError(f"The fitted model is not valid and cannot be saved: {flaw}. Fit again.")
    if mismatch:
        raise ValueError(f"The hyperparameters were changed after the fit: {mismatch}. Fit again, or set them back.")
    names = getattr(estimator, "feature_names_in_", None)
    running: Running | None = estimator._running
    meta = {
        "hyperparameters": hyperparameters_of(estimator),
        "n_features_in": int(estimator.n_features_in_),
        "feature_names_in": None if names is None else [str(name) for name in names],
        "n_iter": int(estimator.n_iter_),
        "weight_seen": float(estimator._fit_weight),
        "stop_reason": estimator.stop_reason_,
        "restarts": [[r.n_iter, str(r.reason)] for r in estimator.restarts_],
        "running": None if running is None else [running.steps, estimator._online_seed],
        **estimator._extra_meta(),
    }
    if estimator._coding is not None:
        meta[CODING] = estimator._coding.to_plain()
    if estimator._table_version is not None:
        meta[TABLE_VERSION] = int(estimator._table_version)
    arrays = {
        "trace": np.asarray(estimator.trace_, np.float64),
        "restarts": np.array([r.objective for r in estimator.restarts_], np.float64),
        **prefixed("params", estimator._params),
        **prefixed("running", None if running is None else running.stats),
    }
    return meta, arrays


def restored_coding(meta: Any, n_columns: int, names: Any) -> Coding | None:
    """Return the coding of the columns from the metadata of a file."""
    if CODING not in meta:
        return None
    coding = Coding.from_plain(meta[CODING])
    matches = len(coding.column_names) == n_columns and names == (list(coding.column_names) if coding.named else None)
    require(matches, "the coding of its columns does not fit their names")
    return coding


def restored_version(meta: Any) -> int | None:
    """Return the version of the Delta table of the fit from the metadata of a file."""
    version = meta.get(TABLE_VERSION)
    require(TABLE_VERSION not in meta or is_count(version), "the version of its table is not a count")
    return None if version is None else int(version)


def hyperparameters_of(estimator: Estimator) -> dict[str, Any]:
    """Return the hyperparameters as plain values; option objects as dicts with the name of their class."""
    hyperparameters = {name: getattr(estimator, name) for name in saved_as(estimator)._get_param_names()}
    if not isinstance(hyperparameters["random_state"], (int, np.integer)):
        hyperparameters["random_state"] = None  # a generator cannot be saved; the fit is not affected
    hyperparameters |= dict.fromkeys(estimator._not_saved)
    for name, value in hyperparameters.items():
        if hasattr(value, "get_params"):
            hyperparameters[name] = {"of": type(value).__name__, **value.get_params()}
    hyperparameters = plain(hyperparameters)
    for name, value in hyperparameters.items():
        refuse_large(name, value)
    return hyperparameters


def load(path: str | os.PathLike[str], expected: type[E] | None = None) -> E:
    """Load a fitted model from a file written by `save`; raise a FileError if the file is not valid.

    Parameters
    ----------
    path : path
        The file.
    expected : class, optional
        Refuse a model of any other class.

    Returns
    -------
    estimator : fitted estimator

    Examples
    --------
    >>> import tempfile, hiddenbits
    >>> model = hiddenbits.IndependentColumns(prior_strength=0).fit([[0, 1], [1, 1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model.hb")
    ...     hiddenbits.load(f"{folder}/model.hb")
    IndependentColumns(prior_strength=0)
    """
    stored = read(path)
    if stored.kind not in ESTIMATORS:
        raise FileError(
            f"{path} contains {stored.kind!r}, which is not a model of hiddenbits {VERSION}. If a newer version "
            f"wrote the file, upgrade hiddenbits. The models of this version are {', '.join(ESTIMATORS)}."
        )
    if expected is not None and ESTIMATORS[stored.kind]() is not expected:
        raise FileError(f"{path} contains a {stored.kind}, not a {expected.__name__}. Use hiddenbits.load.")
    written_by = stored.meta.pop(WRITTEN_BY, None)
    try:
        return restored(stored.kind, stored.meta, stored.arrays)  # type: ignore[no-any-return]
    except MemoryError:  # the file may be valid
        raise
    except Exception as error:
        problem = f"is not a valid {stored.kind}"
        raise FileError(refusal(path, problem, error, written_by, "Restore a copy, or fit again.")) from error


def restored(kind: str, meta: Any, arrays: Any) -> Any:
    """Build an estimator from the content of a file; refuse what a fit could not have written."""
    require(isinstance(meta, dict) and set(meta) >= META_KEYS, "its description is not complete")
    estimator = unfitted(kind, meta["hyperparameters"])
    estimator._restore_extra_meta({name: meta[name] for name in meta.keys() - META_KEYS - {CODING, TABLE_VERSION}})
    require_finite(array for name, array in arrays.items() if name != "restarts")
    n_columns, names = meta["n_features_in"], meta["feature_names_in"]
    estimator.coding_ = restored_coding(meta, n_columns, names)  # before `_model`, which needs its columns
    require(is_count(n_columns), "the number of columns is not a count")
    require_names(names, n_columns)
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    estimator.n_features_in_ = n_columns
    model = estimator._model()
    params = exactly(model.params_type, unprefixed("params", arrays), "parameters")
    flaw = params.flaw() or model.mismatch(params)
    require(flaw is None, str(flaw))
    sizes = column_sizes(estimator)
    require(
        (n_columns if sizes is None else sum(sizes)) == params.n_columns,
        "the number of columns does not fit its arrays",
    )
    estimator._table_version = restored_version(meta)
    estimator.__dict__.update(_restored_record(params, model, meta, arrays))
    if meta["running"] is not None:
        estimator._online_seed = meta["running"][1]
    return estimator


def _restored_record(params: Params, model: Model[Any, Any], meta: Any, arrays: Any) -> dict[str, object]:
    """Return the attributes of `fit_record` from a file, with the running statistics of online EM."""
    array_names = {"trace", "restarts", *(f"params.{name}" for name in params.to_arrays())}
    require(is_count(meta["n_iter"]), "n_iter is not a count")
    weight = meta["weight_seen"]
    require(is_weight(weight), "weight_seen is not a weight")
    require(meta["stop_reason"] in {*map(str, StopReason), "online"}, "its stop reason is unknown")
    require("trace" in arrays and "restarts" in arrays, "it has no trace or no restarts")
    trace, objectives, restarts = arrays["trace"], arrays["restarts"], meta["restarts"]
    require_moderate(unprefixed("running", arrays).values())
    require(trace.ndim == 1 and objectives.ndim == 1, "its trace is not a list")
    require(isinstance(restarts, list) and len(restarts) == len(objectives), "its restarts are not complete")
    require(all(isinstance(r, list) and len(r) == 2 and is_count(r[0]) for r in restarts), "a restart is damaged")
    has_no_iteration = np.array([n_iter == 0 for n_iter, _ in restarts], bool)  # and so its objective is -inf
    finite_objectives = np.where(has_no_iteration & (objectives == -np.inf), 0.0, objectives)
    require_moderate([trace, finite_objectives], LARGEST_OBJECTIVE)
    running = None
    if meta["running"] is not None:
        require(isinstance(meta["running"], list) and len(meta["running"]) == 2, "its running statistics are damaged")
        require(all(map(is_count, meta["running"])), "its running statistics are damaged")
        stats = exactly(model.stats_type, unprefixed("running", arrays), "running statistics")
        online = online_form(model)
        flaw = online.stats_flaw(stats, params) if isinstance(online, Averages) else "it does not learn online"
        require(flaw is None, str(flaw))
        array_names |= {f"running.{name}" for name in stats.to_arrays()}
        running = Running(stats, meta["running"][0], float(weight))
    require(set(arrays) == array_names, "it contains arrays that do not belong to this model")
    return fit_record(
        params,
        float(weight),
        meta["stop_reason"],
        trace=trace,
        n_iter=meta["n_iter"],
        restarts=[
            Restart(float(best), n, StopReason(reason)) for best, (n, reason) in zip(objectives, restarts, strict=True)
        ],
        running=running,
    )


def name_of(estimator: object) -> str:
    """Return the name of an estimator in files; refuse an estimator that could not be loaded again."""
    cls = saved_as(estimator)
    class_name: str = cls.__name__
    for name in (class_name, *ESTIMATORS):
        if name in ESTIMATORS and ESTIMATORS[name]() is cls:
            return name
    raise TypeError(f"{type(estimator).__name__} is not an estimator of hiddenbits, so its file could not be loaded.")


def saved_as(estimator: object) -> Any:
    """Return the class under which an estimator is saved: its class, or the public one of a paper's variant."""
    return getattr(estimator, "_saved_as", type(estimator))


def unfitted(kind: str, hyperparameters: Any) -> Any:
    """Build an estimator from the hyperparameters of a file, which must be exactly those of its class."""
    cls = ESTIMATORS[kind]()
    require(isinstance(hyperparameters, dict), "hyperparameters are not a mapping")
    names = set(cls._get_param_names())
    for name in hyperparameters.keys() - names:
        raise ValueError(f"it has a hyperparameter {name[:40]!r} that this version of hiddenbits does not have")
    for name in names - hyperparameters.keys():
        raise ValueError(f"it lacks the hyperparameter {name!r}")
    for name, value in hyperparameters.items():
        refuse_large(name, value)
    estimator = cls(**{name: _restored_hyperparameter(cls, name, value) for name, value in hyperparameters.items()})
    estimator._validate_params()
    return estimator


def _restored_hyperparameter(cls: Any, name: str, value: Any) -> Any:
    """Return a hyperparameter as it was before it was saved: a dict becomes an option object."""
    classes = {option.__name__: option for option in cls._parameter_constraints[name] if hasattr(option, "get_params")}
    if not classes or not isinstance(value, dict):
        return tuple(value) if isinstance(value, list) else value  # files have lists, not tuples
    require(value.get("of") in classes, f"its {name} has a class that {cls.__name__} does not accept")
    options, option_class = {key: item for key, item in value.items() if key != "of"}, classes[value["of"]]
    require(
        set(options) == set(option_class._get_param_names()),
        f"its {name} does not have exactly the options of {option_class.__name__}",
    )
    return option_class(**options)
