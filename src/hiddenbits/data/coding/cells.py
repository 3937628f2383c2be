"""The cells of a column: its distinct values, and for each row the number of its value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data.coding.vocabulary import Key, is_na, key_of, none_is_na

Category = str | int | float | bool

MAX_COMPARED_VALUES = 8
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(\.[0-9]+)?")  # 007 is no number


def is_category(value: Any) -> bool:
    """Whether this can be a category: text or a finite number."""
    return isinstance(value, (str, bool, int)) or (isinstance(value, float) and abs(value) < float("inf"))


class KeptColumn(Protocol):
    """A column whose original values can be read, from memory or from the files."""

    def part(self, start: int = 0, stop: int | None = None) -> ColumnCells:
        """Return some rows of the column."""
        ...

    def listed(self, start: int = 0, stop: int | None = None) -> list[Any]:
        """Return the cells of some rows, None for a missing value."""
        ...

    def examples(self) -> list[Any]:
        """Return values that show the type of the column."""
        ...


@dataclass(frozen=True, eq=False)
class ColumnCells:
    """A column: its name, distinct values (None for a missing value), and for each row the number of its value.

    `form` is "date" or "other" if the type of the column shows that it holds neither numbers nor categories; `number`
    is the type in which its numbers are compared with a threshold: as a float32, 0.1 is not above 0.1.
    """

    name: str
    values: list[Any]
    rows: NDArray[Any]
    form: str = ""
    number: type = float

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def keys(self) -> list[Key | None]:
        """The distinct values as they are compared; None for missing values, also for words such as "n/a"."""
        return keys_of(self.values)

    def key_numbers(self) -> Floats:
        """Return the number of each distinct value, NaN for missing values and words."""
        return np.array([key if isinstance(key, float) else np.nan for key in self.keys], np.float64)

    def counts(self) -> list[int]:
        """Return how often each of the values occurs."""
        if len(self.values) <= MAX_COMPARED_VALUES:  # comparing bytes is faster than counting whole numbers
            return [int(np.count_nonzero(self.rows == k)) for k in range(len(self.values))]
        counts: list[int] = np.bincount(self.rows, minlength=len(self.values)).tolist()
        return counts

    def numbers(self) -> Floats:
        """Return the cells of a column of numbers, NaN for a missing value."""
        numbers = np.array([np.nan if value is None else float(value) for value in self.values])
        return np.asarray(numbers[self.rows], np.float64)

    def first_row(self, number: int) -> int:
        """Return the first row that has the value with this number."""
        return int(np.flatnonzero(self.rows == number)[0])

    def part(self, start: int = 0, stop: int | None = None) -> ColumnCells:
        """Return some rows of the column."""
        return replace(self, rows=self.rows[start:stop])

    def take(self, rows: AnyArray) -> ColumnCells:
        """Return the given rows of the column."""
        return replace(self, rows=self.rows[rows])

    def listed(self, start: int = 0, stop: int | None = None) -> list[Any]:
        """Return the cells of some rows, None for a missing value."""
        return [self.values[k] for k in self.rows[start:stop].tolist()]

    def examples(self) -> list[Any]:
        """Return values that show the type of the column."""
        return self.values

    def filled(self, imputed: Sequence[Any], missing: Sequence[bool]) -> list[Any]:
        """Return the cells, with imputed values for missing ones; `missing` is by the number of the value."""
        return [fill if missing[k] else self.values[k] for k, fill in zip(self.rows.tolist(), imputed, strict=True)]


def keys_of(values: Sequence[Any]) -> list[Key | None]:
    """Return the distinct values of a column as they are compared; None for missing values, also for "n/a" etc."""
    keys = [None if value is None else key_of(value) for value in values]
    none_is_missing = none_is_na(keys)
    return [None if key is None or is_na(key) or (none_is_missing and key == "none") else key for key in keys]


def common_type(values: Iterable[Any]) -> type:
    """Return the type that holds all values that are not missing: bool, int, float, or else str.

    Text that is a number counts as one: CSV files hold nothing but text.
    """
    types = {_type_of(value) for value in values if value is not None}
    for common, included in ((bool, {bool}), (int, {int}), (float, {int, float})):
        if types and types <= included:
            return common
    return str


def _type_of(value: Any) -> type:
    if not isinstance(value, str):
        return type(value)
    number = NUMBER.fullmatch(value)
    return str if number is None else float if number[1] else int


def compact(rows: NDArray[Any], n_values: int) -> NDArray[Any]:
    """Return numbers of values in the smallest type that holds them."""
    dtype = np.uint8 if n_values <= 256 else np.uint16 if n_values <= 65536 else np.int32
    return rows.astype(dtype, copy=False)
