"""One scan over named columns, which counts the distinct values of each, batch by batch."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from hiddenbits.array_types import AnyArray
from hiddenbits.data.coding.cells import keys_of
from hiddenbits.data.coding.coded_columns import BIT_KEYS
from hiddenbits.data.coding.vocabulary import MISSING_NUMBERS, Key, is_blank, key_of, plain_number
from hiddenbits.data.columns.protocol import Batch, Columns

CODES = np.array(sorted(MISSING_NUMBERS))


@dataclass(frozen=True, eq=False)
class ColumnProfile:
    """How often each value of a column occurs.

    Attributes
    ----------
    name : str
        Its name.
    form : str
        "date" or "other" where the type of the column says that it holds neither numbers nor categories.
    counts : dict
        How often each value occurs; None stands for missing values.
    cut : int
        How many values were counted one by one, of a column that has more: only some of them are here, the first, the
        codes for missing, the smallest and the largest number. 0 where all are here.
    infinite : int
        The first row with an infinite number.
    """

    name: str
    form: str = ""
    counts: dict[Any, int] = field(default_factory=dict)
    cut: int = 0
    infinite: int = 0

    @cached_property
    def keys(self) -> dict[Any, Key | None]:
        """The distinct values as they are compared; None for missing values, those in words too."""
        return dict(zip(self.counts, keys_of(list(self.counts)), strict=True))

    @property
    def is_bits(self) -> bool:
        """Whether all values are 0, 1, true, false or missing."""
        return not self.form and all(key is None or key in BIT_KEYS for key in self.keys.values())

    @property
    def is_numeric(self) -> bool:
        """Whether all values are numbers or missing."""
        return all(key is None or isinstance(key, float) for key in self.keys.values())


def look(columns: Columns, *, most: float = math.inf) -> dict[str, ColumnProfile]:
    """Go through the rows once and count the values of each column; of a column with more than `most` only some."""
    tallies = [_Tally(name, most) for name in columns.names]
    for batch in columns.batches(0, columns.n_rows, columns.names):
        with batch.reading():
            for tally in tallies:
                tally.add(batch)
    return {tally.name: tally.profile() for tally in tallies}


class _Tally:
    """Counts the values of a column: all of them, as long as there are no more than `most`.

    Of a column with more it matters whether all are numbers, whether these count the rows, and which codes for missing
    there are; the first values tell ids from text.
    """

    def __init__(self, name: str, most: float) -> None:
        self.name, self._form, self._most = name, "", most
        self._counts: dict[tuple[type, Any], int] = {}
        self._missing = self._infinite = 0
        self._cut, self._numbers = False, _Numbers()

    def add(self, batch: Batch) -> None:
        """Count some more cells."""
        numbers = batch.numbers(self.name) if self._cut else None
        if numbers is not None:
            values, many = self._numbers.telling(numbers)
        else:
            cells = batch.cells(self.name)
            self._form = self._form or cells.form
            values, many = cells.values, cells.many()
        for value, count in zip(values, many, strict=True):
            if value is None:
                self._missing += count
            elif self._cut:
                self._numbers.add(value, count)
            elif count:
                at = (type(value), value)  # a Counter is half as quick for values that are new
                self._counts[at] = self._counts.get(at, 0) + count
        if not self._cut and len(self._counts) > self._most:
            self._cut = True
            for (_, value), count in self._counts.items():
                self._numbers.add(value, count)
            self._counts = dict(list(self._counts.items())[: int(self._most)])
        if not self._infinite and any(is_infinite(value) for value in values):
            cells = batch.cells(self.name)
            rows = [cells.first_row(k) for k, value in enumerate(cells.values) if is_infinite(value)]
            self._infinite = batch.first_row + min(rows)

    def profile(self) -> ColumnProfile:
        """Return the counts."""
        counts: dict[Any, int] = {}
        for (_, value), count in self._counts.items():  # True and 1 are one value here
            counts[value] = counts.get(value, 0) + count
        if self._cut and not self._form:
            counts = self._numbers.more(counts, int(self._most))
        cut = int(self._most) if self._cut else 0
        return ColumnProfile(self.name, self._form, {**counts, None: self._missing}, cut, self._infinite)


def is_infinite(value: Any) -> bool:
    """Whether a value is an infinite number, also as text."""
    if isinstance(value, str):
        return value.strip().lower().lstrip("+-") in ("inf", "infinity")
    return isinstance(value, float) and math.isinf(value)


class _Numbers:
    """What is kept of a column with many values, for as long as all of them are numbers."""

    def __init__(self) -> None:
        self.all_numbers = self._whole = True
        self._word: Any = None
        self._n_cells = 0
        self._low, self._high = math.inf, -math.inf  # of those that are no codes for missing
        self._codes: Counter[int | float] = Counter()

    def telling(self, numbers: AnyArray) -> tuple[list[Any], list[int]]:
        """Return those of some cells that can tell something: codes for missing, and the smallest and largest other."""
        numbers = np.ma.filled(numbers.astype(float), np.nan)
        missing = np.isnan(numbers)
        numbers = numbers[~missing]
        self._whole = self._whole and bool((numbers == np.rint(numbers)).all())
        coded = np.isin(numbers, CODES)
        values, many = np.unique(numbers[coded], return_counts=True)
        others = numbers[~coded]
        ends = [others.min(), others.max()] if len(others) else []
        weights = [len(others) - 1, 1] if len(others) else []
        found = [float(value) for value in (*values, *ends)]
        return [*found, None], [*many.tolist(), *weights, int(missing.sum())]

    def add(self, value: Any, count: int) -> None:
        """Take some cells of one value."""
        key = key_of(value)
        if isinstance(key, str):
            if not is_blank(key):
                self.all_numbers, self._word = False, value
        elif count:
            self._n_cells += count
            self._whole = self._whole and key.is_integer()
            if key in MISSING_NUMBERS:
                self._codes[plain_number(key)] += count
            else:
                self._low, self._high = min(self._low, key), max(self._high, key)

    def more(self, counts: dict[Any, int], most: int) -> dict[Any, int]:
        """Return the counts of the first values, with what came later."""
        if not self.all_numbers:
            return {**counts, self._word: counts.get(self._word, 1)}
        if self._whole and self._high - self._low == self._n_cells - 1:  # they count the rows
            return {int(self._low) + k: 1 for k in range(most)}
        ends = {plain_number(end): 1 for end in (self._low, self._high) if math.isfinite(end)}
        return {**ends, **counts, **self._codes}
