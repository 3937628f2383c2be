"""Fitted models to and from files: what of an estimator is kept, and every check on the way back."""

from __future__ import annotations

import os
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
from hiddenbits.families.registry import ESTIMATORS, name_of, saved_as, unfitted
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
CODING = "coding"  # only where the fit was to columns with other values than bits
TABLE_VERSION = "table_version"  # only where it was to a Delta table


def save(estimator: Estimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to `path`, atomically."""
    meta, arrays = described(estimator)
    write(path, name_of(estimator), {**meta, WRITTEN_BY: VERSION}, arrays)


def described(estimator: Estimator) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return what a file says of a fitted estimator, and its arrays."""
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
        **estimator._more_meta(),
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
    """Return how columns were read, from what a file says."""
    if CODING not in meta:
        return None
    coding = Coding.from_plain(meta[CODING])
    fits = len(coding.sizes) == n_columns and names == (list(coding.column_names) if coding.named else None)
    require(fits, "the coding of its columns does not fit their names")
    return coding


def restored_version(meta: Any) -> int | None:
    """Return the version of the Delta table of the fit, from what a file says."""
    version = meta.get(TABLE_VERSION)
    require(TABLE_VERSION not in meta or is_count(version), "the version of its table is not a count")
    return None if version is None else int(version)


def hyperparameters_of(estimator: Estimator) -> dict[str, Any]:
    """Return the hyperparameters as a file can say them; options with the name of their class."""
    hyperparameters = {name: getattr(estimator, name) for name in saved_as(estimator)._get_param_names()}
    if not isinstance(hyperparameters["random_state"], (int, np.integer)):
        hyperparameters["random_state"] = None  # a generator cannot be written down; the fit is not affected
    for name, value in hyperparameters.items():
        if hasattr(value, "get_params"):
            hyperparameters[name] = {"of": type(value).__name__, **value.get_params()}
    hyperparameters = plain(hyperparameters)
    for name, value in hyperparameters.items():
        refuse_large(name, value)
    return hyperparameters


def load(path: str | os.PathLike[str], expected: type[E] | None = None) -> E:
    """Read a fitted model from a file written by `save`; whatever is not valid is refused with a FileError.

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
            f"{path} contains {stored.kind!r}, which is not a model that hiddenbits {VERSION} knows. If a newer "
            f"version wrote the file, upgrade hiddenbits. Known models are {', '.join(ESTIMATORS)}."
        )
    if expected is not None and ESTIMATORS[stored.kind]() is not expected:
        raise FileError(f"{path} holds a {stored.kind}, not a {expected.__name__}. Use hiddenbits.load.")
    written_by = stored.meta.pop(WRITTEN_BY, None)
    try:
        return restored(stored.kind, stored.meta, stored.arrays)  # type: ignore[no-any-return]
    except MemoryError:  # of the machine, which says nothing about the file
        raise
    except Exception as error:
        what = f"is not a valid {stored.kind}"
        raise FileError(refusal(path, what, error, written_by, "Restore a copy, or fit again.")) from error


def restored(kind: str, meta: Any, arrays: Any) -> Any:
    """Build an estimator from what a file says, refusing whatever a fit could not have written."""
    require(isinstance(meta, dict) and set(meta) >= META_KEYS, "its description is not complete")
    estimator = unfitted(kind, meta["hyperparameters"])
    estimator._take_meta({name: meta[name] for name in meta.keys() - META_KEYS - {CODING, TABLE_VERSION}})
    require_finite(array for name, array in arrays.items() if name != "restarts")
    n_columns, names = meta["n_features_in"], meta["feature_names_in"]
    estimator.coding_ = restored_coding(meta, n_columns, names)  # the model depends on how many levels columns have
    model = estimator._model()
    params = exactly(model.params_type, unprefixed("params", arrays), "parameters")
    flaw = params.flaw() or model.mismatch(params)
    require(flaw is None, str(flaw))
    fits = is_count(n_columns) and sum(column_sizes(estimator) or (n_columns,)) == params.n_columns
    require(fits, "the number of columns does not fit its arrays")
    require_names(names, n_columns)
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    estimator.n_features_in_ = n_columns
    estimator._table_version = restored_version(meta)
    estimator.__dict__.update(_restored_record(params, model, meta, arrays))
    if meta["running"] is not None:
        estimator._online_seed = meta["running"][1]
    return estimator


def _restored_record(params: Params, model: Model[Any, Any], meta: Any, arrays: Any) -> dict[str, object]:
    """Return how the fit went, and the running statistics of an online fit, as `fit_record` has them."""
    known = {"trace", "restarts", *(f"params.{name}" for name in params.to_arrays())}
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
    started = np.array([n_iter == 0 for n_iter, _ in restarts], bool)  # without a pass there is no objective
    objective = np.where(started & (objectives == -np.inf), 0.0, objectives)
    require_moderate([trace, objective], LARGEST_OBJECTIVE)
    running = None
    if meta["running"] is not None:
        require(isinstance(meta["running"], list) and len(meta["running"]) == 2, "its running statistics are damaged")
        require(all(map(is_count, meta["running"])), "its running statistics are damaged")
        stats = exactly(model.stats_type, unprefixed("running", arrays), "running statistics")
        form = online_form(model)
        flaw = form.stats_flaw(stats, params) if isinstance(form, Averages) else "it does not learn online"
        require(flaw is None, str(flaw))
        known |= {f"running.{name}" for name in stats.to_arrays()}
        running = Running(stats, meta["running"][0], float(weight))
    require(set(arrays) == known, "it holds arrays that do not belong to this model")
    return fit_record(
        params,
        float(weight),
        meta["stop_reason"],
        trace=trace,
        n_iter=meta["n_iter"],
        restarts=[Restart(float(o), n, StopReason(why)) for o, (n, why) in zip(objectives, restarts, strict=True)],
        running=running,
    )
