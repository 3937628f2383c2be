"""Phrases that several findings share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.effects import Contrast, chance_limit
from hiddenbits.reporting.findings.finding import Number
from hiddenbits.reporting.sample import Sample, supported
from hiddenbits.reporting.text import count, percent, quoted

MAX_NAMED = 3  # named in a sentence, for each sign of the difference
MIN_SAME_SIGN = 0.85  # of the columns: from this share on, the sets differ in their number of 1s
MIN_ROWS_DECIMALS = 1000  # rows of a set; shares of fewer rows are whole percentages
MIN_NAMED = 4  # columns that must differ for that statement
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def in_words(number: int) -> str:
    """Return a number as text: in letters up to twelve."""
    return WORDS[number] if 0 <= number < len(WORDS) else f"{number:,}"


def join(phrases: Sequence[str]) -> str:
    """Return phrases as an enumeration: a, b and c."""
    return phrases[0] if len(phrases) == 1 else ", ".join(phrases[:-1]) + " and " + phrases[-1]


def among_rows(context: Context, rows: int) -> str:
    """Return the rows that a value is based on, ", among 2,366 of the 9,835 rows"; "" if it is based on all rows."""
    total = context.sample.summary.n_rows
    return "" if rows == total else f", among {rows:,} of the {count(total, 'row')}"


class Differences:
    """The columns in which two sets of rows differ, in words and numbers.

    `more` and `less` are the columns that are 1 more often and less often in the first set, the largest differences
    first. `direction` is 1 or -1 if nearly all differences have this sign, else 0; if it is 0, only columns are kept
    whose signs agree with the associations between columns (`sample.supported`).
    """

    def __init__(self, contrast: Contrast, sample: Sample, min_rows: int) -> None:
        self.contrast, self.names, self.ones = contrast, sample.names, sample.values.ones
        columns, signs = contrast.named(min_rows), np.sign(contrast.difference)
        n_more = sum(signs[j] > 0 for j in columns)
        n_same = max(n_more, len(columns) - n_more)
        self.direction = 0
        if len(columns) >= max(MIN_NAMED, 0.5 * len(self.names)) and n_same >= MIN_SAME_SIGN * len(columns):
            self.direction = 1 if n_more == n_same else -1
        self.columns = columns if self.direction else supported(columns, signs, sample.links, chance_limit(len(signs)))
        self.more = [j for j in self.columns if signs[j] > 0]
        self.less = [j for j in self.columns if signs[j] < 0]

    def phrase(
        self, columns: Sequence[int], second: str, *, first: str = "of them", flipped: bool = False, n: int = MAX_NAMED
    ) -> str:
        """Return up to `n` columns with the shares of both sets: "milk" (60% of them, 20% of others)."""
        by_set = self.contrast.shares[::-1] if flipped else self.contrast.shares
        phrases = []
        for number, j in enumerate(columns[:n]):
            few = float(self.contrast.observed[:, j].min()) < MIN_ROWS_DECIMALS
            p, q = percent(float(by_set[0, j]), few=few), percent(float(by_set[1, j]), few=few)
            shares = f"({p}, {q})" if number else f"({p} {first}, {q} {second})"
            phrases.append(f"{quoted(self.names[j])} {shares}")
        return join(phrases)

    def numbers(self, columns: Sequence[int], n: int = MAX_NAMED) -> dict[str, Number]:
        """Return these shares and the standard errors of their differences, by name."""
        shares, errors = self.contrast.shares, self.contrast.errors
        numbers: dict[str, Number] = {}
        for j in columns[:n]:
            numbers[f"share of {self.names[j]}"] = float(shares[0, j])
            numbers[f"share of {self.names[j]}, others"] = float(shares[1, j])
            numbers[f"error of {self.names[j]}"] = float(errors[j])
        return numbers

    @property
    def mean_ones(self) -> tuple[float, float]:
        """Mean number of 1s in a row, in each set: the sum of the shares."""
        first, second = self.contrast.shares.sum(axis=1)
        return float(first), float(second)

    def describe(self, other: str) -> tuple[str, dict[str, Number]]:
        """Describe how the first set of rows differs from the other, with the numbers; "" if no column is named."""
        if not self.columns:
            return "", {}
        if self.direction:
            first, second = self.mean_ones
            clearest = self.more if self.direction > 0 else self.less
            phrase = (
                f"have {'more' if self.direction > 0 else 'fewer'} {self.ones} in almost every column (on average "
                f"{first:.1f} of {len(self.names)}, {other} {second:.1f}), most clearly in "
                f"{self.phrase(clearest, f'of {other}')}"
            )
            return phrase, {"1s": first, "1s, others": second, **self.numbers(clearest)}
        parts = []
        if self.more:
            parts.append(f"more often have {self.phrase(self.more, f'of {other}')}")
        if self.less:
            parts.append(
                f"{'less often' if self.more else 'less often have'} {self.phrase(self.less, f'of {other}', n=2)}"
            )
        numbers = self.numbers(self.more) | self.numbers(self.less, 2)
        return ", and ".join(parts), numbers

    def lines(self, *, flipped: bool = False) -> list[tuple[str, float, float]]:
        """Return up to four of the columns in the sentence, with more and less 1s if it names both, and both shares."""
        shares = self.contrast.shares[::-1] if flipped else self.contrast.shares
        first, second = (self.less, self.more) if flipped else (self.more, self.less)
        columns = first or second
        if not self.direction and first and second:
            columns = first[: max(2, 4 - len(second))] + second[:2]
        elif self.direction:
            columns = self.more if self.direction > 0 else self.less
        return [(self.names[j], float(shares[0, j]), float(shares[1, j])) for j in columns[:4]]
