"""Ensembles to and from files: one file, in which every member is what its own file would be."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hiddenbits.estimators.file_verbs import FileVerbs
from hiddenbits.estimators.lawful import require, require_finite, require_names, unfitted

META_KEYS = {"hyperparameters", "n_features_in", "feature_names_in", "converged", "members"}


class EnsembleFiles(FileVerbs):
    """`save` and `load` of an ensemble, beside the verbs of files that all estimators have."""

    estimator: Any
    estimators_: list[Any]
    weights_: NDArray[np.float64]
    converged_: bool
    n_features_in_: int

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted ensemble, with all its members, to a file that holds no code; see `hiddenbits.load`.

        Parameters
        ----------
        path : path
            The file.
        """
        from hiddenbits.estimators.files import described, hyperparameters_of
        from hiddenbits.store import write

        check_is_fitted(self, "weights_")
        members = [described(member) for member in self.estimators_]
        names = getattr(self, "feature_names_in_", None)
        meta = {
            "hyperparameters": {**hyperparameters_of(self, leave_out="estimator"), "estimator": _named(self.estimator)},
            "n_features_in": int(self.n_features_in_),
            "feature_names_in": None if names is None else [str(name) for name in names],
            "converged": bool(self.converged_),
            "members": [
                {"kind": type(member).__name__, "meta": of_member}
                for member, (of_member, _) in zip(self.estimators_, members, strict=True)
            ],
        }
        arrays = {f"{m}/{name}": array for m, (_, held) in enumerate(members) for name, array in held.items()}
        write(path, type(self).__name__, meta, {"weights": self.weights_, **arrays})

    @classmethod
    def _restored(cls, meta: Any, arrays: Any) -> Self:
        """Build an ensemble from what a file says, refusing whatever a fit could not have written."""
        from hiddenbits.estimators.files import restored
        from hiddenbits.estimators.registry import ESTIMATORS

        require(set(meta) == META_KEYS, "its description is not complete")
        hyperparameters = meta["hyperparameters"]
        require(isinstance(hyperparameters, dict) and "estimator" in hyperparameters, "it does not say of what it is")
        ensemble: Any = unfitted(cls, {**hyperparameters, "estimator": _unnamed(hyperparameters["estimator"])})
        weights, described = arrays["weights"], meta["members"]
        require_finite([weights])
        require(isinstance(described, list) and weights.shape == (len(described),), "there is not one weight a member")
        lawful = len(weights) > 0 and bool((weights > 0).all()) and abs(float(weights.sum()) - 1.0) <= 1e-9
        require(lawful, "weights must be positive and add up to 1")
        require(len(ensemble._members()) == len(weights), "the number of members is not the declared one")
        held: list[dict[str, Any]] = [{} for _ in described]
        for name in set(arrays) - {"weights"}:
            number, _, own = name.partition("/")
            require(
                number.isdecimal() and int(number) < len(held) and str(int(number)) == number, "a member is unknown"
            )
            held[int(number)][own] = arrays[name]
        members = []
        for one, mine, declared in zip(described, held, ensemble._members(), strict=True):
            require(isinstance(one, dict) and set(one) == {"kind", "meta"}, "a member is not described")
            require(one["kind"] == type(declared).__name__, "a member is not of the declared kind")
            members.append(restored(ESTIMATORS[one["kind"]](), one["meta"], mine))
        n_columns, names = meta["n_features_in"], meta["feature_names_in"]
        require(all(member.n_features_in_ == n_columns for member in members), "members differ in their columns")
        require_names(names, n_columns)
        require(isinstance(meta["converged"], bool), "it does not say whether it converged")
        if names is not None:
            ensemble.feature_names_in_ = np.array(names, dtype=object)
        ensemble.n_features_in_, ensemble.estimators_, ensemble.weights_ = n_columns, members, weights
        ensemble.converged_ = meta["converged"]
        return ensemble  # type: ignore[no-any-return]


def _named(estimator: Any) -> Any:
    """Return an estimator, or a list of them, as names and hyperparameters."""
    from hiddenbits.estimators.files import hyperparameters_of

    if estimator is None:
        return None
    if isinstance(estimator, (list, tuple)):
        return [_named(one) for one in estimator]
    return {"kind": type(estimator).__name__, "hyperparameters": hyperparameters_of(estimator)}


def _unnamed(said: Any) -> Any:
    """Return what `_named` was given; only names of the registry are believed."""
    from hiddenbits.estimators.registry import ESTIMATORS

    if said is None:
        return None
    if isinstance(said, list):
        require(all(isinstance(one, dict) for one in said), "its estimators are not described")
        return [_unnamed(one) for one in said]
    require(isinstance(said, dict) and set(said) == {"kind", "hyperparameters"}, "its estimator is not described")
    require(said["kind"] in ESTIMATORS, f"{str(said['kind'])[:80]!r} is not an estimator")
    return unfitted(ESTIMATORS[said["kind"]](), said["hyperparameters"])
