"""Checks on what a file says, in one place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from importlib.metadata import version
from typing import Any

import numpy as np

from hiddenbits.array_types import LEAST_WEIGHT, MOST_WEIGHT, AnyArray
from hiddenbits.quoting import message_of

VERSION = version("hiddenbits")
WRITTEN_BY = "written_by"  # the version that wrote a file: it is for messages alone, and decides nothing
LARGEST_WHOLE = 2**53  # whole numbers up to here are exact as floats, and fit the 64 bits of NumPy's integers
LARGEST = 1e100  # of sums: their squares and products are still numbers
LARGEST_OBJECTIVE = 1e5 * MOST_WEIGHT  # of a fit: nobody computes with it but by its row
LONGEST = 400  # letters of a message: it may quote what a file says


def require(valid: bool, flaw: str) -> None:
    """Refuse with a ValueError that says what is wrong."""
    if not valid:
        raise ValueError(flaw)


def is_count(value: object) -> bool:
    """Whether this is a whole number that is not negative."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_WHOLE


def is_weight(value: object) -> bool:
    """Whether this can be the weight of the rows of a table."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and LEAST_WEIGHT <= value <= MOST_WEIGHT


def exactly(arrays_type: Any, found: dict[str, Any], what: str) -> Any:
    """Build Arrays from exactly the fields they have."""
    require(set(found) == {field.name for field in fields(arrays_type)}, f"its {what} are not complete")
    return arrays_type.from_arrays(found)


def refuse_large(name: str, value: object) -> None:
    """Refuse a hyperparameter with a whole number, in whatever list, that no float and no 64 bits can hold exactly."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    for one in inner:
        refuse_large(name, one)
    if isinstance(value, int) and abs(value) > LARGEST_WHOLE:
        raise ValueError(f"{name}={value}: whole numbers in a file lie within 2^53 of 0")


def require_finite(arrays: Iterable[AnyArray]) -> None:
    """Refuse arrays that are not float64, or hold NaN or infinity."""
    for array in arrays:
        require(array.dtype == np.float64, "an array is not float64")
        require(bool(np.isfinite(array).all()), "an array holds NaN or infinity")


def require_moderate(arrays: Iterable[AnyArray], largest: float = LARGEST) -> None:
    """Refuse sums that are not float64, or with whose numbers nothing can be computed."""
    for array in arrays:
        require_finite([array])
        require(bool((np.abs(array) <= largest).all()), f"an array holds a number beyond {largest:g}")


def require_names(names: Any, n_columns: int) -> None:
    """Refuse column names that are not a list of one text for each column; None is no names."""
    if names is not None:
        require(isinstance(names, list) and len(names) == n_columns, "there is not one name for each column")
        require(all(isinstance(name, str) for name in names), "a column name is not text")
        require(len(set(names)) == len(names), "two columns have the same name")


def refusal(path: object, what: str, error: Exception, written_by: object, remedy: str) -> str:
    """Return the sentences of a file that cannot be read: why, whether the versions may differ, what to do."""
    versions = f"This is hiddenbits {VERSION}"
    if isinstance(written_by, str) and written_by != VERSION:
        versions += f", and hiddenbits {shortened(written_by)} wrote the file: the versions may not match"
    else:
        versions += "; if another version wrote the file, the versions may not match"
    said = " ".join(message_of(error).split())
    said = said if len(said) <= LONGEST else f"{said[:LONGEST]}..."
    return f"{path} {what}: {said.rstrip('.')}. {remedy} {versions}."


def shortened(value: object) -> str:
    """Return what a file says, short enough for a message."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
