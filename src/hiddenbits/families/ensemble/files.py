"""Ensembles to and from files: one file, in which every member is what its own file would be."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import Floats
from hiddenbits.families._base.file_verbs import FileVerbs
from hiddenbits.families.registry import ESTIMATORS, name_of, unfitted
from hiddenbits.store.validation import VERSION, WRITTEN_BY, is_count, require, require_finite, require_names

META_KEYS = {"hyperparameters", "n_features_in", "feature_names_in", "converged", "members"}


class EnsembleFiles(FileVerbs):
    """`save` and `load` of an ensemble, next to the verbs of files that all estimators have."""

    estimator: BaseEstimator
    estimators_: list[BaseEstimator]
    weights_: Floats
    converged_: bool
    n_features_in_: int

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted ensemble, with all its members, to a file that holds no code; see `hiddenbits.load`.

        Parameters
        ----------
        path : path
            The file.
        """
        from hiddenbits.families._base.persistence import described, hyperparameters_of, table_meta
        from hiddenbits.store import write

        check_is_fitted(self, "weights_")
        members = [described(member) for member in self.estimators_]
        names = getattr(self, "feature_names_in_", None)
        meta = {
            "hyperparameters": {**hyperparameters_of(self, leave_out="estimator"), "estimator": _named(self.estimator)},
            "n_features_in": int(self.n_features_in_),
            "feature_names_in": None if names is None else [str(name) for name in names],
            "converged": bool(self.converged_),
            **table_meta(self),
            WRITTEN_BY: VERSION,
            "members": [
                {"kind": name_of(member), "meta": of_member}
                for member, (of_member, _) in zip(self.estimators_, members, strict=True)
            ],
        }
        arrays = {f"{m}/{name}": array for m, (_, held) in enumerate(members) for name, array in held.items()}
        write(path, name_of(self), meta, {"weights": self.weights_, **arrays})

    @classmethod
    def _restored(cls, meta: Any, arrays: Any) -> Self:
        """Build an ensemble from what a file says, refusing whatever a fit could not have written."""
        from hiddenbits.families._base.persistence import (
            CODING,
            TABLE_VERSION,
            restored,
            restored_coding,
            restored_version,
        )

        require(set(meta) - {CODING, TABLE_VERSION} == META_KEYS, "its description is not complete")
        hyperparameters = meta["hyperparameters"]
        require(isinstance(hyperparameters, dict) and "estimator" in hyperparameters, "it does not say of what it is")
        # What is declared is compared with what is there before a member is built; each has arrays of its own.
        ensemble: Any = unfitted("Ensemble", {**hyperparameters, "estimator": None})
        said, described = hyperparameters["estimator"], meta["members"]
        kinds = said if isinstance(said, list) else [said]
        require("weights" in arrays and isinstance(described, list), "it has no weights, or no members")
        weights = arrays["weights"]
        require_finite([weights])
        require(weights.shape == (len(described),), "there is not one weight a member")
        declared = ensemble.n_estimators * len(kinds)
        require(declared == len(weights) < len(arrays), "the number of members is not the declared one")
        valid = len(weights) > 0 and bool((weights > 0).all()) and abs(float(weights.sum()) - 1.0) <= 1e-9
        require(valid, "weights must be positive and add up to 1")
        held: list[dict[str, Any]] = [{} for _ in described]
        for name in set(arrays) - {"weights"}:
            number, _, own = name.partition("/")
            known = number.isascii() and number.isdecimal() and len(number) <= 9 and int(number) < len(held)
            require(known and str(int(number)) == number, "a member is unknown")
            held[int(number)][own] = arrays[name]
        members = []
        for m, (one, mine) in enumerate(zip(described, held, strict=True)):
            require(isinstance(one, dict) and set(one) == {"kind", "meta"}, "a member is not described")
            kind = kinds[m // ensemble.n_estimators]
            expected = "BernoulliMixture" if kind is None else kind.get("kind") if isinstance(kind, dict) else None
            known = isinstance(expected, str) and expected in ESTIMATORS
            require(known and one["kind"] == expected, "a member is not of the declared kind")
            members.append(restored(str(expected), one["meta"], mine))
        ensemble.estimator = _unnamed(said)
        n_columns, names = meta["n_features_in"], meta["feature_names_in"]
        require(is_count(n_columns), "the number of columns is not a number")
        require(all(member.n_features_in_ == n_columns for member in members), "members differ in their columns")
        require_names(names, n_columns)
        require(isinstance(meta["converged"], bool), "it does not say whether it converged")
        if names is not None:
            ensemble.feature_names_in_ = np.array(names, dtype=object)
        ensemble.n_features_in_, ensemble.estimators_, ensemble.weights_ = n_columns, members, weights
        ensemble.converged_ = meta["converged"]
        ensemble.coding_ = restored_coding(meta, n_columns, names)
        ensemble.table_version_ = restored_version(meta)
        found: Self = ensemble
        return found


def _named(estimator: BaseEstimator) -> Any:
    """Return an estimator, or a list of them, as names and hyperparameters."""
    from hiddenbits.families._base.persistence import hyperparameters_of

    if estimator is None:
        return None
    if isinstance(estimator, (list, tuple)):
        return [_named(one) for one in estimator]
    return {"kind": name_of(estimator), "hyperparameters": hyperparameters_of(estimator)}


def _unnamed(said: Any) -> Any:
    """Return what `_named` was given; only names of the registry are believed."""
    if said is None:
        return None
    if isinstance(said, list):
        require(bool(said) and all(isinstance(one, dict) for one in said), "its estimators are not described")
        return [_unnamed(one) for one in said]
    require(isinstance(said, dict) and set(said) == {"kind", "hyperparameters"}, "its estimator is not described")
    kind = said["kind"]
    require(isinstance(kind, str) and kind in ESTIMATORS, f"{str(kind)[:40]!r} is not an estimator")
    return unfitted(kind, said["hyperparameters"])
