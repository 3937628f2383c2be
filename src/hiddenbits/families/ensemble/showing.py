"""What a fitted ensemble shows of itself: its members and their weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import AnyArray
from hiddenbits.families._base.showing import ShowsItself, SummaryTable


class ShowsMembers(ShowsItself):
    """`summary`, and the names of `transform`."""

    estimators_: list[Any]
    weights_: AnyArray

    def get_feature_names_out(self, input_features: object = None) -> AnyArray:
        """Return the names of the members: "member_1", ...

        Parameters
        ----------
        input_features : None
            Ignored; scikit-learn's convention.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self, "weights_")
        return np.array([f"member_{m + 1}" for m in range(len(self.weights_))], dtype=object)

    def _story(self) -> dict[str, str]:
        me: Any = self
        said = {"members": f"{len(self.weights_)}, fitted to {me.n_features_in_:,} columns"}
        return said | {"stop": "all converged" if me.converged_ else "not all of its members converged"}

    def _tables(self) -> dict[str, SummaryTable]:
        columns = {
            "member": self.get_feature_names_out(),
            "weight": self.weights_,
            "model": [repr(member) for member in self.estimators_],
        }
        return {"members": SummaryTable("Members and their weights", columns, "members")}
