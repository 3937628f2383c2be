"""Checks on what a file says, in one place: a model file and a statistics file are believed by the same rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def require(lawful: bool, flaw: str) -> None:
    """Refuse with a ValueError that says what is wrong."""
    if not lawful:
        raise ValueError(flaw)


def is_count(value: Any) -> bool:
    """Whether this is a whole number that is not negative."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def exactly(arrays_type: Any, fields: dict[str, Any], what: str) -> Any:
    """Build Arrays from exactly the fields they have."""
    require(set(fields) == set(arrays_type.__dataclass_fields__), f"its {what} are not complete")
    return arrays_type.from_arrays(fields)


def unfitted(cls: Any, hyperparameters: Any) -> Any:
    """Build an estimator from hyperparameters that have been checked."""
    require(isinstance(hyperparameters, dict), "hyperparameters are not a mapping")
    require(set(hyperparameters) == set(cls._get_param_names()), "its hyperparameters are those of another model")
    estimator = cls(**hyperparameters)
    estimator._validate_params()
    return estimator


def require_finite(arrays: Iterable[NDArray[Any]]) -> None:
    """Refuse arrays that are not float64, or hold NaN or infinity."""
    for array in arrays:
        require(array.dtype == np.float64, "an array is not float64")
        require(bool(np.isfinite(array).all()), "an array holds NaN or infinity")


def require_names(names: Any, n_columns: int) -> None:
    """Refuse column names that are not a list of one text for each column; None is no names."""
    if names is not None:
        require(isinstance(names, list) and len(names) == n_columns, "there is not one name for each column")
        require(all(isinstance(name, str) for name in names), "a column name is not text")
