"""What 1 stands for in each column, in the user's own values: for summaries of models and reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

Form = Literal["bit", "yes", "word", "codes", "above", "level"]
MAX_NAMED_COLUMNS, MAX_LISTED_VALUES = 2, 6  # columns that a sentence names, and values that it lists


@dataclass(frozen=True)
class Meaning:
    """The meanings of 1 and 0 in one binary column.

    Attributes
    ----------
    column : str
        The name of the column; with the value, if each value has its own binary column.
    form : {"bit", "yes", "word", "codes", "above", "level"}
        What 1 means: a 1 in the table; a word for yes; another word; one of several codes, which are numbers; a number
        above a threshold; the value in the name of the column.
    one, zero : str
        The values as text.
    codes : tuple of str
        All numbers of the form "codes", the smallest first.

    Examples
    --------
    >>> Meaning("smokes", "yes", "Yes", "No").named, Meaning("sex", "word", "female", "male").named
    ('smokes', 'sex = female')
    """

    column: str
    form: Form = "bit"
    one: str = "1"
    zero: str = "0"
    codes: tuple[str, ...] = ()

    @property
    def is_yes(self) -> bool:
        """Whether the name of the column alone describes a 1."""
        return self.form in ("bit", "yes")

    @property
    def tail(self) -> str:
        """The text after the name of the column, if the name alone does not describe a 1."""
        if self.is_yes or self.form == "level":
            return ""
        return f" {self.one}" if self.form == "above" else f" = {self.one}"

    @property
    def named(self) -> str:
        """The name of the column, with the value that is 1 unless it means yes."""
        return self.column + self.tail


def sentence(meanings: Sequence[Meaning], quoted: Callable[[str], str], option: str) -> str:
    """Return a sentence about what 1 stands for in each column; "" if every 1 is a 1 of the table.

    Parameters
    ----------
    meanings : sequence of Meaning
        One for each binary column.
    quoted : function
        Puts names and values in quotes.
    option : str
        The option that changes which value is 1, for columns of codes such as 1 and 2.

    Examples
    --------
    >>> answers = [Meaning(f"q{j}", "yes", "yes", "no") for j in range(9)]
    >>> sentence([*answers, Meaning("sex", "word", "female", "male")], repr, "recode=")
    "1 means 'yes' in 9 columns and 'female' in 'sex'."
    >>> sentence([Meaning(f"q{j}", "codes", "2", "1", ("1", "2")) for j in range(9)], repr, "recode=")
    'The value 2 is counted as yes in all 9 columns (codes 1 and 2; change with recode=).'
    """
    if all(meaning.form == "bit" for meaning in meanings):
        return ""
    groups: dict[tuple[Form, str, tuple[str, ...]], list[str]] = {}
    for meaning in meanings:
        one = "" if meaning.form == "level" else meaning.one
        groups.setdefault((meaning.form, one, meaning.codes), []).append(meaning.column)
    order = sorted(groups, key=lambda group: -len(groups[group]))
    codes_group = next((group for group in order if group[0] == "codes"), None)
    parts = []
    for group in order[:MAX_LISTED_VALUES]:
        form, one, codes = group
        change = f"; change with {option}" if group == codes_group else ""
        details = f" (codes {_listed(codes)}{change})" if codes else ""
        parts.append((_value(form, one, quoted), f"in {_columns(groups[group], len(meanings), quoted)}{details}"))
    if other_groups := order[MAX_LISTED_VALUES:]:
        parts.append(("other values", f"in {_count(sum(len(groups[group]) for group in other_groups))}"))
    if len(parts) == 1 and codes_group is not None:
        value, place = parts[0]
        return f"{value[0].upper()}{value[1:]} {'are' if ' or ' in value else 'is'} counted as yes {place}."
    phrases = [" ".join(part) for part in parts]
    conjunction = ", and " if any(" and " in phrase for phrase in phrases) else " and "
    return f"{'1 means' if codes_group is None else 'Counted as yes:'} {_listed(phrases, conjunction)}."


def _value(form: Form, one: str, quoted: Callable[[str], str]) -> str:
    if form == "bit":
        return "1 as in the table"
    if form == "codes":
        return f"the value{'s' if ' or ' in one else ''} {one}"
    if form == "above":
        return f"above {one.removeprefix('> ')}"
    return "the value that the column is named after" if form == "level" else quoted(one)


def _columns(names: Sequence[str], n_columns: int, quoted: Callable[[str], str]) -> str:
    if 1 < len(names) == n_columns:
        return f"all {_count(n_columns)}"
    return _listed([quoted(name) for name in names]) if len(names) <= MAX_NAMED_COLUMNS else _count(len(names))


def _count(number: int) -> str:
    return f"{number:,} column{'' if number == 1 else 's'}"


def _listed(texts: Sequence[str], conjunction: str = " and ") -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])}{conjunction}{texts[-1]}"
