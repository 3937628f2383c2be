"""Checks of the content of files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from importlib.metadata import version
from typing import Any

import numpy as np

from hiddenbits.array_types import LEAST_WEIGHT, MOST_WEIGHT, AnyArray
from hiddenbits.quoting import message_of

VERSION = version("hiddenbits")
WRITTEN_BY = "written_by"  # the version that wrote a file, for messages only
LARGEST_EXACT_INTEGER = 2**53  # whole numbers up to here are exact as floats, and fit the 64 bits of NumPy's integers
LARGEST_SUM = 1e100  # squares and products of such sums are still finite
LARGEST_OBJECTIVE = 1e5 * MOST_WEIGHT  # less strict, because an objective is only divided by the number of rows
MESSAGE_LENGTH = 400  # characters of a reason, which may quote the file


def require(valid: bool, flaw: str) -> None:
    """Raise a ValueError with this message if a condition does not hold."""
    if not valid:
        raise ValueError(flaw)


def is_count(value: object) -> bool:
    """Whether this is a whole number that is not negative."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_EXACT_INTEGER


def is_weight(value: object) -> bool:
    """Whether this can be the weight of the rows of a table."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and LEAST_WEIGHT <= value <= MOST_WEIGHT


def exactly(arrays_type: Any, arrays: dict[str, Any], what: str) -> Any:
    """Build `arrays_type` from arrays, of which there must be exactly one for each field."""
    require(set(arrays) == {field.name for field in fields(arrays_type)}, f"its {what} are not complete")
    return arrays_type.from_arrays(arrays)


def refuse_large(name: str, value: object) -> None:
    """Refuse a hyperparameter with a whole number, at any depth, that floats or 64 bits cannot represent exactly."""
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    for item in items:
        refuse_large(name, item)
    if isinstance(value, int) and abs(value) > LARGEST_EXACT_INTEGER:
        raise ValueError(f"{name}={value}: whole numbers in a file lie within 2^53 of 0")


def require_finite(arrays: Iterable[AnyArray]) -> None:
    """Refuse arrays that are not float64, or that contain NaN or infinity."""
    for array in arrays:
        require(array.dtype == np.float64, "an array is not float64")
        require(bool(np.isfinite(array).all()), "an array holds NaN or infinity")


def require_moderate(arrays: Iterable[AnyArray], largest: float = LARGEST_SUM) -> None:
    """Refuse sums that are not float64, or whose numbers are too large to compute with."""
    for array in arrays:
        require_finite([array])
        require(bool((np.abs(array) <= largest).all()), f"an array holds a number beyond {largest:g}")


def require_names(names: Any, n_columns: int) -> None:
    """Refuse column names that are not a list of unique strings, one for each column; None means no names."""
    if names is not None:
        require(isinstance(names, list) and len(names) == n_columns, "there is not one name for each column")
        require(all(isinstance(name, str) for name in names), "a column name is not text")
        require(len(set(names)) == len(names), "two columns have the same name")


def refusal(path: object, what: str, error: Exception, written_by: object, remedy: str) -> str:
    """Return the message for a file that cannot be read: the reason, the remedy, and whether versions differ."""
    versions = f"This is hiddenbits {VERSION}"
    if isinstance(written_by, str) and written_by != VERSION:
        versions += f", and hiddenbits {shortened(written_by)} wrote the file: the versions may not match"
    else:
        versions += "; if another version wrote the file, the versions may not match"
    reason = " ".join(message_of(error).split())
    reason = reason if len(reason) <= MESSAGE_LENGTH else f"{reason[:MESSAGE_LENGTH]}..."
    return f"{path} {what}: {reason.rstrip('.')}. {remedy} {versions}."


def shortened(value: object) -> str:
    """Return the repr of a value, short enough for a message."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
