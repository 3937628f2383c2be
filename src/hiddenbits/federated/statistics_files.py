"""Statistics to and from files: the format and the suspicion of the model file."""

from __future__ import annotations

import os
from typing import Any

from hiddenbits.data.summary import Summary
from hiddenbits.engine import plain, prefixed, unprefixed
from hiddenbits.families.registry import ESTIMATORS
from hiddenbits.federated.statistics import Statistics, check, refuse_unlawful
from hiddenbits.store import StoreError, read, write
from hiddenbits.store.validation import (
    VERSION,
    WRITTEN_BY,
    exactly,
    is_count,
    refusal,
    require,
    require_names,
    unfitted,
)

KIND = "statistics"
META_KEYS = {"estimator", "hyperparameters", "n_features_in", "feature_names_in", "sites", "rows"}


def save(statistics: Statistics, path: str | os.PathLike[str]) -> None:
    """Write statistics to `path`, atomically: a reader sees the whole file or none."""
    refuse_unlawful(statistics)
    meta = {
        "estimator": statistics.estimator,
        "hyperparameters": plain(statistics.hyperparameters),
        "n_features_in": statistics.n_features,
        "feature_names_in": None if statistics.names is None else list(statistics.names),
        "sites": list(statistics.sites),
        "rows": statistics.rows,
        WRITTEN_BY: VERSION,
    }
    write(path, KIND, meta, {**prefixed("params", statistics.params), **prefixed("sums", statistics.sums)})


def load(path: str | os.PathLike[str]) -> Statistics:
    """Read statistics; whatever is not lawful is refused with a StoreError."""
    stored = read(path)
    if stored.kind != KIND:
        raise StoreError(f"{path} holds a {stored.kind}, not statistics. Pass a file written by `Statistics.save`.")
    written_by = stored.meta.pop(WRITTEN_BY, None)
    try:
        statistics = _restore(stored.meta, stored.arrays)
        check(statistics)
    except MemoryError:  # of the machine, which says nothing about the file
        raise
    except Exception as error:
        what, remedy = "does not hold lawful statistics", "Ask the site to send them again."
        raise StoreError(refusal(path, what, error, written_by, remedy)) from error
    return statistics


def _restore(meta: Any, arrays: Any) -> Statistics:
    """Build statistics of exactly what a file says; `check` judges their values."""
    require(set(meta) == META_KEYS, "its description is not complete")
    name, sites, names = meta["estimator"], meta["sites"], meta["feature_names_in"]
    require(isinstance(name, str) and name in ESTIMATORS, f"{str(name)[:80]!r} is not an estimator")
    require(isinstance(sites, list), "its sites are not a list")
    require(is_count(meta["n_features_in"]), "the number of columns is not a number")
    require_names(names, meta["n_features_in"])
    estimator = unfitted(name, meta["hyperparameters"])
    model = estimator._model()
    of_params, of_sums = unprefixed("params", arrays), unprefixed("sums", arrays)
    params = exactly(model.params_type, of_params, "parameters") if of_params else None
    sums = exactly(Summary if params is None else model.stats_type, of_sums, "sums")
    require(len(of_params) + len(of_sums) == len(arrays), "it holds arrays that do not belong to statistics")
    return Statistics(
        estimator=name,
        hyperparameters={
            name: meta["hyperparameters"].get(name, value)
            for name, value in plain(estimator.get_params(deep=False)).items()
        },
        n_features=meta["n_features_in"],
        names=None if names is None else tuple(names),
        params=params,
        sites=tuple(sites),
        rows=meta["rows"],
        sums=sums,
    )
