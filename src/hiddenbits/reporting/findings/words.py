"""Phrases that several findings share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.effects import Contrast, chance_edge
from hiddenbits.reporting.findings.finding import Number
from hiddenbits.reporting.sample import Sample, supported
from hiddenbits.reporting.text import count, percent, quoted

NAMED = 3  # columns in a sentence, on each side
ONE_SIDED = 0.85  # share of the named columns with the same sign, beyond which rows differ in their number of 1s
FEW = 1000  # rows of a set below which shares are whole percentages: one row is more than a tenth of one
ENOUGH = 4  # named columns that make such a statement possible
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def word(number: int) -> str:
    """Return a number as text: in letters up to twelve."""
    return WORDS[number] if 0 <= number < len(WORDS) else f"{number:,}"


def joined(phrases: Sequence[str]) -> str:
    """Return phrases as an enumeration: a, b and c."""
    return phrases[0] if len(phrases) == 1 else ", ".join(phrases[:-1]) + " and " + phrases[-1]


def of_rows(context: Context, rows: int) -> str:
    """Return the number of rows of a value if it is not of all rows: ", among 2,366 of the 9,835 rows"."""
    total = context.sample.look.n_rows
    return "" if rows == total else f", among {rows:,} of the {count(total, 'row')}"


class Sides:
    """The columns in which two sets of rows differ, in words and numbers.

    `more` and `less` are the columns that the first set has more and less often, the largest effects first;
    `leaning` is 1 or -1 if nearly all have the same sign, else 0. Otherwise only columns are named that the pairs of
    the table support (`links.supported`).
    """

    def __init__(self, between: Contrast, sample: Sample, least: int) -> None:
        self.between, self.names, self.ones = between, sample.names, sample.values.ones
        columns, signs = between.named(least), np.sign(between.difference)
        up = sum(signs[j] > 0 for j in columns)
        most = max(up, len(columns) - up)
        self.leaning = 0
        if len(columns) >= max(ENOUGH, 0.5 * len(self.names)) and most >= ONE_SIDED * len(columns):
            self.leaning = 1 if up == most else -1
        self.columns = columns if self.leaning else supported(columns, signs, sample.links, chance_edge(len(signs)))
        self.more = [j for j in self.columns if signs[j] > 0]
        self.less = [j for j in self.columns if signs[j] < 0]

    def shown(
        self, columns: Sequence[int], second: str, *, first: str = "of them", flipped: bool = False, most: int = NAMED
    ) -> str:
        """Return columns with the shares of both sets: "milk" (60% of them, 20% of others), "butter" (41%, 9%)."""
        share = self.between.shares[::-1] if flipped else self.between.shares
        phrases = []
        for number, j in enumerate(columns[:most]):
            few = float(self.between.observed[:, j].min()) < FEW
            p, q = percent(float(share[0, j]), few=few), percent(float(share[1, j]), few=few)
            shares = f"({p}, {q})" if number else f"({p} {first}, {q} {second})"
            phrases.append(f"{quoted(self.names[j])} {shares}")
        return joined(phrases)

    def numbers(self, columns: Sequence[int], most: int = NAMED) -> dict[str, Number]:
        """Return the same shares and the standard errors of their differences, by name."""
        share, error = self.between.shares, self.between.errors
        numbers: dict[str, Number] = {}
        for j in columns[:most]:
            numbers[f"share of {self.names[j]}"] = float(share[0, j])
            numbers[f"share of {self.names[j]}, others"] = float(share[1, j])
            numbers[f"error of {self.names[j]}"] = float(error[j])
        return numbers

    @property
    def totals(self) -> tuple[float, float]:
        """Mean number of 1s in a row of both sets: the sum of the shares."""
        first, second = self.between.shares.sum(axis=1)
        return float(first), float(second)

    def apart(self, other: str) -> tuple[str, dict[str, Number]]:
        """Describe how the first set of rows differs from the other, with the numbers; "" if nothing may be named."""
        if not self.columns:
            return "", {}
        if self.leaning:
            first, second = self.totals
            top = self.more if self.leaning > 0 else self.less
            phrase = (
                f"have {'more' if self.leaning > 0 else 'fewer'} {self.ones} in almost every column (on average "
                f"{first:.1f} of {len(self.names)}, {other} {second:.1f}), most clearly in "
                f"{self.shown(top, f'of {other}')}"
            )
            return phrase, {"1s": first, "1s, others": second, **self.numbers(top)}
        parts = []
        if self.more:
            parts.append(f"more often have {self.shown(self.more, f'of {other}')}")
        if self.less:
            parts.append(
                f"{'less often' if self.more else 'less often have'} {self.shown(self.less, f'of {other}', most=2)}"
            )
        numbers = self.numbers(self.more) | self.numbers(self.less, 2)
        return ", and ".join(parts), numbers

    def lines(self, *, flipped: bool = False) -> list[tuple[str, float, float]]:
        """Return the columns that a sentence names first, of both sides if it names both, and both shares."""
        share = self.between.shares[::-1] if flipped else self.between.shares
        first, second = (self.less, self.more) if flipped else (self.more, self.less)
        drawn = first or second
        if not self.leaning and first and second:
            drawn = first[: max(2, 4 - len(second))] + second[:2]
        elif self.leaning:
            drawn = self.more if self.leaning > 0 else self.less
        return [(self.names[j], float(share[0, j]), float(share[1, j])) for j in drawn[:4]]
