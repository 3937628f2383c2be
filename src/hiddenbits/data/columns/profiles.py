"""The counts of the distinct values of each named column, from one pass over the rows, batch by batch."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from hiddenbits.array_types import AnyArray
from hiddenbits.data.coding.cells import keys_of
from hiddenbits.data.coding.coded_columns import BIT_KEYS
from hiddenbits.data.coding.vocabulary import MISSING_NUMBERS, Key, is_na, key_of, plain_number
from hiddenbits.data.columns.gather import MANY_NUMBERS
from hiddenbits.data.columns.protocol import ColumnBatch, Columns

MISSING_CODES = np.array(sorted(MISSING_NUMBERS))


@dataclass(frozen=True, eq=False)
class ColumnProfile:
    """How often each value of a column occurs.

    Attributes
    ----------
    name : str
        Its name.
    form : str
        "date" or "other" if the type of the column shows that it holds neither numbers nor categories.
    counts : dict
        How often each value occurs; None stands for missing values.
    most_counted : int
        0 if all values were counted. Otherwise the column has more values than this, and `counts` has only the first
        ones, codes for missing values, and the smallest and the largest number.
    first_infinite : int
        The first row with an infinite number, if there is one.
    """

    name: str
    form: str = ""
    counts: dict[Any, int] = field(default_factory=dict)
    max_counted: int = 0
    first_infinite: int = 0

    @cached_property
    def keys(self) -> dict[Any, Key | None]:
        """The key of each distinct value; None for missing values, also for words such as "n/a"."""
        return dict(zip(self.counts, keys_of(list(self.counts)), strict=True))

    @property
    def is_bits(self) -> bool:
        """Whether all values are 0, 1, true, false or missing."""
        return not self.form and all(key is None or key in BIT_KEYS for key in self.keys.values())

    @property
    def is_numeric(self) -> bool:
        """Whether all values are numbers or missing."""
        return all(key is None or isinstance(key, float) for key in self.keys.values())


def profile_columns(
    columns: Columns, names: Sequence[str] | None = None, *, max_values: float = math.inf
) -> dict[str, ColumnProfile]:
    """Read the rows once and count the values of each column; only some if a column has more than `max_values`."""
    names = columns.names if names is None else names
    tallies = [_Tally(name, max_values) for name in names]
    for batch in columns.batches(0, columns.n_rows, names):
        with batch.reading():
            for tally in tallies:
                tally.add(batch)
    return {tally.name: tally.profile() for tally in tallies}


class _Tally:
    """Counts the values of a column: all of them, as long as there are no more than `max_values`.

    For a column with more values it records whether all are numbers, whether these count the rows, and which codes for
    missing values occur; the first values distinguish ids from text.
    """

    def __init__(self, name: str, max_values: float) -> None:
        self.name, self._form, self._max_values = name, "", max_values
        self._counts: dict[tuple[type, Any], int] = {}
        self._n_missing = self._first_infinite = 0
        self._has_many, self._numbers = False, _ManyValues()

    def add(self, batch: ColumnBatch) -> None:
        """Count some more cells."""
        if math.isinf(self._max_values) and batch.numbers(self.name) is not None:
            self._max_values = MANY_NUMBERS
        numbers = batch.numbers(self.name) if self._has_many else None
        if numbers is not None:
            values, counts = self._numbers.notable_counts(numbers)
        else:
            cells = batch.cells(self.name)
            self._form = self._form or cells.form
            values, counts = cells.values, cells.counts()
        for value, count in zip(values, counts, strict=True):
            if value is None:
                self._n_missing += count
            elif self._has_many:
                self._numbers.add(value, count)
            elif count:
                typed = (type(value), value)  # a Counter is half as fast for values that are new
                self._counts[typed] = self._counts.get(typed, 0) + count
        if not self._has_many and len(self._counts) > self._max_values:
            self._has_many = True
            for (_, value), count in self._counts.items():
                self._numbers.add(value, count)
            self._counts = dict(list(self._counts.items())[: int(self._max_values)])
        if not self._first_infinite and any(count and is_infinite(v) for v, count in zip(values, counts, strict=True)):
            cells = batch.cells(self.name)
            infinite = [k for k, value in enumerate(cells.values) if is_infinite(value)]
            self._first_infinite = batch.first_row + int(np.flatnonzero(np.isin(cells.rows, infinite))[0])

    def profile(self) -> ColumnProfile:
        """Return the counts."""
        counts: dict[Any, int] = {}
        for (_, value), count in self._counts.items():  # True and 1 are one value here
            counts[value] = counts.get(value, 0) + count
        if self._has_many and not self._form:
            counts = self._numbers.complete_counts(counts, int(self._max_values))
        max_counted = int(self._max_values) if self._has_many else 0
        counts[None] = self._n_missing
        return ColumnProfile(self.name, self._form, counts, max_counted, self._first_infinite)


def is_infinite(value: Any) -> bool:
    """Whether a value is an infinite number, also as text."""
    if isinstance(value, str):
        return value.strip().lower().lstrip("+-") in ("inf", "infinity")
    return isinstance(value, float) and math.isinf(value)


class _ManyValues:
    """The record of a column with many values: detailed as long as all of them are numbers."""

    def __init__(self) -> None:
        self.all_numbers = self._whole = True
        self._word: Any = None
        self._n_cells = 0
        self._low, self._high = math.inf, -math.inf  # of those that are not codes for missing values
        self._codes: Counter[int | float] = Counter()

    def notable_counts(self, numbers: AnyArray) -> tuple[list[Any], list[int]]:
        """Return codes for missing values, the smallest and largest of the others, None for missing; and counts."""
        numbers = np.ma.filled(numbers.astype(float), np.nan)
        missing = np.isnan(numbers)
        numbers = numbers[~missing]
        self._whole = self._whole and bool((numbers == np.rint(numbers)).all())
        is_code = np.isin(numbers, MISSING_CODES)
        codes, counts = np.unique(numbers[is_code], return_counts=True)
        others = numbers[~is_code]
        ends = [others.min(), others.max()] if len(others) else []
        end_counts = [len(others) - 1, 1] if len(others) else []
        values = [float(value) for value in (*codes, *ends)]
        return [*values, None], [*counts.tolist(), *end_counts, int(missing.sum())]

    def add(self, value: Any, count: int) -> None:
        """Record some cells of one value."""
        key = key_of(value)
        if isinstance(key, str):
            if not is_na(key):
                self.all_numbers, self._word = False, value
        elif count:
            self._n_cells += count
            self._whole = self._whole and key.is_integer()
            if key in MISSING_NUMBERS:
                self._codes[plain_number(key)] += count
            else:
                self._low, self._high = min(self._low, key), max(self._high, key)

    def complete_counts(self, counts: dict[Any, int], max_values: int) -> dict[Any, int]:
        """Return the counts of the first values, completed by the values recorded here."""
        if not self.all_numbers:
            return {**counts, self._word: counts.get(self._word, 1)}
        if self._whole and self._high - self._low == self._n_cells - 1:  # they count the rows
            return {int(self._low) + k: 1 for k in range(max_values)}
        ends = {plain_number(end): 1 for end in (self._low, self._high) if math.isfinite(end)}
        return {**ends, **counts, **self._codes}
