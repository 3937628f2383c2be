"""What the members of an ensemble must have in common: the columns, and how they were read."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits.data.columns.coding import Coding


def same_coding(members: list[Any]) -> Coding | None:
    """Return how members read columns; refuse those that read them differently."""
    codings = [coding for member in members if (coding := getattr(member, "coding_", None)) is not None]
    for other in codings[1:]:
        if (name := codings[0].conflict(other)) is not None:
            raise ValueError(f"Members read column {name!r} differently. Fit them to tables with the same code=.")
    return codings[0] if codings else None


def same_names(ensemble: BaseEstimator, member: BaseEstimator) -> None:
    """Refuse a member that was fitted to columns of other names."""
    names = getattr(member, "feature_names_in_", ensemble.feature_names_in_)
    if not np.array_equal(names, ensemble.feature_names_in_):
        raise ValueError("Members were fitted to columns of different names. Fit them to the same columns.")
