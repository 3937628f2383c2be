"""What a 1 is called in a report: 1 or yes where it is that, otherwise the value of the table that it stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hiddenbits.reporting.text import plain, quoted, told_apart

COUNTED = "counted as yes"


@dataclass(frozen=True)
class Values:
    """The columns of a table, or some of them, and what 1 and 0 stand for in each.

    `bare` are the names of the columns as shown, `names` the same with the value that is 1 where that is not yes
    ("sex = female"); `meanings` are those of the table's coding, None for a table of 0 and 1. `one` and `ones` are what
    a sentence about all columns calls a 1: "1" and "ones", but where some columns have codes such as 1 and 2, of which
    the 1 is none, "2" and "cells that are 2", or "counted as yes" and "cells counted as yes" where columns differ.
    """

    bare: list[str]
    names: list[str]
    meanings: tuple[Any, ...] | None = None
    one: str = "1"
    ones: str = "ones"

    @classmethod
    def of(cls, columns: Sequence[str], coding: Any) -> Values:
        """Return what the columns of a table with this coding are called."""
        if coding is None or not coding.sentence():
            return cls(told_apart(columns), told_apart(columns))
        meanings = coding.meanings
        names = told_apart(columns, [meaning.tail for meaning in meanings])
        one, ones = "1", "ones"
        if any(meaning.form == "codes" for meaning in meanings):
            values = {meaning.one for meaning in meanings}
            value = values.pop() if len(values) == 1 else ""
            one, ones = (value, f"cells that are {value}") if value else (COUNTED, f"cells {COUNTED}")
        return cls(told_apart(columns), names, meanings, one, ones)

    def taken(self, columns: Sequence[int]) -> Values:
        """Return those of some columns."""
        meanings = None if self.meanings is None else tuple(self.meanings[j] for j in columns)
        return Values([self.bare[j] for j in columns], [self.names[j] for j in columns], meanings, self.one, self.ones)

    @property
    def all_yes(self) -> bool:
        """Whether every 1 is a 1 of the table, or a word for yes."""
        return self.meanings is None or all(meaning.is_yes for meaning in self.meanings)

    @property
    def probability(self) -> str:
        """The probability of a 1 in words."""
        return "probability" if self.one == COUNTED else f"probability of {self.one}"

    def cell(self, column: int, bit: float) -> str:
        """Return a cell as the table has it: 1, “female”, 2, > 40."""
        if self.meanings is None or self.meanings[column].form in ("bit", "level"):
            return f"{bit:.0f}"
        meaning = self.meanings[column]
        text = meaning.one if bit else meaning.zero
        return text if meaning.form in ("codes", "above") else quoted(text)

    def labels(self, column: int) -> tuple[str, str]:
        """Return 0 and 1 as the values of the table: male and female, 1 and 2; 0 and 1 where they are that."""
        if self.meanings is None or self.meanings[column].form in ("bit", "level"):
            return "0", "1"
        meaning = self.meanings[column]
        return plain(meaning.zero), plain(meaning.one)

    def is_one(self, column: int) -> str:
        """Say that a column is 1: “milk” is 1, “sex” is “female”."""
        return f"{quoted(self.bare[column])} is {self.cell(column, 1.0)}"

    def both_one(self, first: int, second: int) -> str:
        """Say that two columns are 1: “milk” and “tea” are both 1, “milk” is 1 and “sex” is “female”."""
        if self.cell(first, 1.0) == self.cell(second, 1.0):
            return f"{quoted(self.bare[first])} and {quoted(self.bare[second])} are both {self.cell(first, 1.0)}"
        return f"{self.is_one(first)} and {self.is_one(second)}"

    def has(self, column: int, bit: float) -> tuple[str, str]:
        """Return a verb and a name that say what a row has: has “milk”, lacks “milk”, has “sex = male”."""
        meaning = None if self.meanings is None else self.meanings[column]
        if meaning is None or not meaning.tail:
            return ("has" if bit else "lacks"), self.names[column]
        if bit:
            return "has", self.names[column]
        tail = f" {meaning.zero}" if meaning.form == "above" else f" = {meaning.zero}"
        return "has", f"{self.bare[column]}{tail}"

    @property
    def share(self) -> str:
        """A share of ones in words."""
        return f"share of {self.ones}"
