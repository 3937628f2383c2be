"""What one column is taken for, from its distinct values and how often each occurs. Nothing is read here.

| taken for | rule |
|---|---|
| bits | nothing but 0, 1, true, false and blanks |
| two values | two distinct numbers, or two words, besides blanks and codes for missing |
| one value or blank | one value, and blanks: a blank may mean "no", or "not asked" |
| ordered | 3 to 11 whole numbers in even steps, or labels of a known scale, or ranges such as "20-29" |
| nominal | at most 50 words, or whole numbers, each of which occurs about twice or more |
| date | every value is written as a date or a time |
| id | all different (in 5 rows or more), or named so and nearly all different |
| constant | one value in every row |
| codes | cells with several codes, such as "E11;I10" |
| number | numbers, also such as "1,200" and "45%" |
| text | anything else |

Codes for missing are found in columns of the first five kinds: words such as "don't know", and numbers such as -99 or 9
that lie apart from all other values of the column. They are asked for, and never turned into bits. Numbers with a
decimal comma in some cells and a point in others are asked for, too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from hiddenbits.data.coding.vocabulary import (
    DATE,
    MISSING_NUMBERS,
    MISSING_WORDS,
    Key,
    ends_in_id,
    in_order_of_size,
    is_blank,
    key_of,
    none_is_blank,
    on_one_scale,
    one_of_two,
    plain_number,
    says_id,
)

Taken = Literal[
    "bits",
    "two values",
    "one value or blank",
    "ordered",
    "nominal",
    "codes",
    "number",
    "date",
    "text",
    "id",
    "constant",
]
READ: tuple[Taken, ...] = ("bits", "two values")
ASKED: tuple[Taken, ...] = ("one value or blank", "ordered", "nominal", "codes")

MOST_ORDERED = 11  # whole numbers, or the range that they lie in
MOST_NOMINAL = 50
FEWEST_IDS = 5  # rows; in fewer, values may all be different by chance
NEARLY_ALL = 0.9  # of the rows differ in a column that is named like an id

MARKS = (";", "|", ",")  # between codes
LONGEST_CODE = 40
SOME = 0.05  # of the cells have several codes

NUMERAL = re.compile(  # 1,200 and 1 200,50 and 0,5 and 45 % and € 12
    r"""(?x) ^[-+]? [$€£¥]?\s? (?: \d{1,3}(?:[,.'\s\u00a0\u202f]\d{3})+(?:[.,]\d+)? | \d*[.,]?\d+ )
      \s?(?:%|‰|[$€£¥])?$"""
)
COMMA_DECIMAL = re.compile(r"^[-+]?\d+,\d+$")


@dataclass(frozen=True)
class ColumnLook:
    """What was seen in one column, and what it is taken for.

    Attributes
    ----------
    name : str
        Its name.
    taken : str
        What it is taken for, codes for missing left aside.
    values : tuple of (value, count)
        Its distinct values, blanks left aside: in order, or the most frequent first where they have none.
    n_rows, n_blank : int
        Rows, and those in which the column is blank.
    suspects : tuple
        Values that look like codes for missing.
    one, zero : value or None
        Of two values the one that is read as 1, and the other.
    by_meaning : bool
        Whether their meaning says which is 1.
    mark : str
        What is between codes, where cells have several.
    unclear : {"", "signs", "commas", "counts"}
        Numbers with decimal commas and points; with commas, where they are to be cut; those that seem to count rows.

    Examples
    --------
    >>> look = described("q1", {"yes": 3, "no": 5, "don't know": 1})
    >>> look.taken, look.one, look.suspects
    ('two values', 'yes', ("don't know",))
    """

    name: str
    taken: Taken
    values: tuple[tuple[Any, int], ...]
    n_rows: int
    n_blank: int = 0
    suspects: tuple[Any, ...] = ()
    one: Any = None
    zero: Any = None
    by_meaning: bool = False
    mark: str = ""
    unclear: str = ""

    @property
    def needs_a_word(self) -> bool:
        """Whether the column cannot be read before the user has said something about it."""
        return self.taken in ASKED or bool(self.suspects) or bool(self.unclear)

    @property
    def left_out(self) -> bool:
        """Whether the column stays out of a table of bits."""
        return not self.needs_a_word and self.taken not in READ


def described(
    name: str,
    counts: Mapping[Any, int],
    *,
    form: str = "",
    missing: Iterable[Key] | None = None,
    threshold: bool = False,
) -> ColumnLook:
    """Return what a column is taken for.

    Parameters
    ----------
    name : str
        Its name.
    counts : mapping
        How often each value occurs; None stands for blanks.
    form : str
        "date" or "other" where the type of the column says so.
    missing : iterable of keys, optional
        Codes for missing that the user named (see `key_of`); empty: there are none. By default they are searched for.
    threshold : bool
        Whether numbers are to be cut into bits, so that columns of numbers are looked through for codes, too.
    """
    n_rows = sum(counts.values())
    declared = None if missing is None else set(missing)
    labels, often = _grouped(counts, declared or set())
    n_blank = n_rows - sum(often.values())

    def look(taken: Taken, keys: Sequence[Key], **more: Any) -> ColumnLook:
        first = set(keys)
        order = [*keys, *(key for key in often if key not in first)]
        return ColumnLook(name, taken, tuple((labels[key], often[key]) for key in order), n_rows, n_blank, **more)

    if form in ("date", "other"):
        return look("date" if form == "date" else "text", ())
    keys = list(often)
    suspects = [] if declared is not None else suspected(keys, threshold=threshold, often=often)
    rest = [key for key in keys if key not in suspects]
    written = how_numbers_are_written(rest)
    if written:
        unclear = written if written == "signs" or (threshold and written == "commas") else ""
        return look("number", sorted(rest, key=str), unclear=unclear)
    if not says_id(name) and (mark := mark_between_codes(rest, often)):
        return look("codes", sorted(rest, key=lambda key: (-often[key], str(key))), mark=mark)
    taken, order = _taken(name, rest, often, n_rows, n_blank + sum(often[key] for key in suspects))
    numbers = threshold and (taken == "number" or (taken == "id" and not says_id(name)))
    keep = suspects if numbers or taken in (*READ, *ASKED, "constant") else []
    if keep and taken == "constant":  # one value, and a code for missing
        taken = "one value or blank"
    if keep != suspects:
        taken, order = _taken(name, keys, often, n_rows, n_blank)
    found = tuple(labels[key] for key in keep)
    if taken == "two values":
        one, by_meaning = one_of_two(order[0], order[1])
        zero = order[1] if one == order[0] else order[0]
        return look(taken, order, suspects=found, one=labels[one], zero=labels[zero], by_meaning=by_meaning)
    return look(taken, order, suspects=found)


def _grouped(counts: Mapping[Any, int], missing: set[Key]) -> tuple[dict[Key, Any], dict[Key, int]]:
    """Return the most frequent spelling of each value, and how often it occurs; without blanks and missing codes."""
    labels: dict[Key, Any] = {}
    often: dict[Key, int] = {}
    best: dict[Key, int] = {}
    for value, count in counts.items():
        key = None if value is None else key_of(value)
        if key is None or not count or is_blank(key) or key in missing:
            continue
        often[key] = often.get(key, 0) + count
        if count > best.get(key, 0):
            best[key] = count
            labels[key] = plain_number(key) if isinstance(value, str) and isinstance(key, float) else value
    if none_is_blank(often):
        del labels["none"], often["none"]
    return labels, often


def _taken(
    name: str, keys: Sequence[Key], often: Mapping[Key, int], n_rows: int, n_blank: int
) -> tuple[Taken, list[Key]]:
    """Return what values are taken for, and the values in order."""
    frequent = sorted(keys, key=lambda key: (-often[key], str(key)))
    if set(keys) <= {0.0, 1.0, "true", "false"}:
        return "bits", sorted(keys, key=str)
    if len(keys) == 1:
        return ("one value or blank" if n_blank else "constant"), frequent
    numbers = sorted(key for key in keys if isinstance(key, float))
    words = [key for key in keys if isinstance(key, str)]
    n_cells = n_rows - n_blank
    if _tells_rows_apart(name, keys, n_cells):
        return ("id" if says_id(name) or not any(" " in word.strip() for word in words) else "text"), frequent
    if len(keys) == 2 and len(numbers) != 1:  # a word next to a number is a category, or a mistake
        return "two values", sorted(keys, key=lambda key: (isinstance(key, str), key))
    if words and all(DATE.match(word) for word in words) and not numbers:
        return "date", sorted(keys)
    repeated = len(keys) * 2 <= n_cells or (len(keys) <= 5 and (len(keys) < n_cells or not _are_phrases(words)))
    if not words:
        whole = all(key == int(key) for key in numbers)
        if whole and numbers[-1] - numbers[0] < MOST_ORDERED:
            return "ordered", list(numbers)
        if not whole and {0.0, 1.0} <= set(numbers) and len(keys) <= MOST_ORDERED:
            return "nominal", list(numbers)  # bits, and a few that are none
        few = whole and len(keys) <= MOST_ORDERED and len(keys) * 4 <= n_cells
        return ("number" if not few else "ordered" if _in_steps(numbers) else "nominal"), list(numbers)
    if (scale := in_order_of_size(keys) if numbers else on_one_scale(words)) is not None:
        return "ordered", list(scale)
    among_bits = numbers and set(numbers) <= {0.0, 1.0} and len(words) <= MOST_ORDERED
    if len(keys) <= MOST_NOMINAL and (repeated or among_bits):
        return "nominal", frequent
    return "text", frequent


def _in_steps(numbers: Sequence[float]) -> bool:
    """Whether whole numbers go up in even steps, most of which occur: 6, 12, 18, 24, or 0 to 12; not 101, 205, 310."""
    step = math.gcd(*(int(number - numbers[0]) for number in numbers[1:]))
    return 2 * len(numbers) > (numbers[-1] - numbers[0]) / step + 1


def _are_phrases(words: Sequence[str]) -> bool:
    """Whether most words are several: a remark, not a category."""
    return 2 * sum(" " in word.strip() for word in words) > len(words)


def _tells_rows_apart(name: str, keys: Sequence[Key], n_cells: int) -> bool:
    """Whether the values are those of an id: nearly all different where the name says so, else all different.

    Numbers that are all different are most often measurements; they are an id if they count rows.
    """
    if says_id(name) and len(keys) >= 3 and len(keys) >= NEARLY_ALL * n_cells:
        return True
    numbers = [key for key in keys if isinstance(key, float)]
    if ends_in_id(name) and len(numbers) == len(keys) > MOST_ORDERED and all(key == int(key) for key in numbers):
        return True  # of a person, school or county that has several rows
    if len(keys) < n_cells or n_cells < FEWEST_IDS:
        return False
    if len(numbers) < len(keys):
        return not all(isinstance(key, str) and DATE.match(key) for key in keys)
    return max(numbers) - min(numbers) == n_cells - 1 and all(key == int(key) for key in numbers)


def suspected(keys: Sequence[Key], *, threshold: bool = False, often: Mapping[Key, int] | None = None) -> list[Key]:
    """Return the values that look like codes for missing.

    Words are known ones. Numbers are such as -9, 99 or 998, all on one side of all other values and apart from them: by
    more than any two others, and than one step of whole numbers. Where numbers are cut (`threshold`), single digits
    above the others are counts; but one such as 99 that stands apart and is the most frequent (`often`) is a code, and
    so is -99 among numbers that are not negative.

    Examples
    --------
    >>> suspected([0.0, 1.0, 9.0]), suspected([1.0, 2.0, 3.0, 4.0, -99.0, -98.0]), suspected([7.0, 8.0, 9.0])
    ([9.0], [-99.0, -98.0], [])
    """
    plus_minus = set(keys) == {"+", "-"}
    words = [key for key in keys if isinstance(key, str) and key in MISSING_WORDS and not plus_minus]
    answers = [key for key in keys if isinstance(key, str) and (key == "none" or key not in words)]
    if "none" in words and len(answers) > 2 and on_one_scale(answers):
        words.remove("none")  # none, mild, severe
    numbers = sorted(key for key in keys if isinstance(key, float))
    low, high = 0, len(numbers)
    while low < high and numbers[low] in MISSING_NUMBERS and numbers[low] < 0:
        low += 1
    while low < high and numbers[high - 1] in MISSING_NUMBERS and numbers[high - 1] > 0:
        high -= 1
    below = _apart(numbers[:low], numbers[low:high] or numbers[high:], threshold=threshold)
    middle = numbers[low:high]
    if middle and middle[0] >= 0.0:
        whole = all(number == int(number) for number in middle)
        below = [n for n in numbers[:low] if n in below or n <= -7.0 or (threshold and whole and middle[0] - n > 1.0)]
    others = [number for number in numbers[:high] if number not in below]
    above = _apart([-n for n in numbers[high:][::-1]], [-n for n in others[::-1]], threshold=threshold)
    found: list[Key] = [*below, *sorted(-number for number in above)]
    if threshold and often and not above and high < len(numbers) and middle:
        found += [n for n in numbers[high:] if n >= 77.0 and n - middle[-1] > 5.0 and _most_frequent(n, often)]
    if found and len(found) == len(numbers) and len(words) == len(keys) - len(numbers):
        return list(words)  # nothing else would be left
    return [*found, *words]


def _most_frequent(number: float, often: Mapping[Key, int]) -> bool:
    return often[number] >= 3 and all(count < often[number] for key, count in often.items() if key != number)


def _apart(codes: list[float], others: list[float], *, threshold: bool) -> list[float]:
    """Return the codes, all below the others, that lie apart from them; the nearest may be ordinary values."""
    codes, others = list(codes), list(others)
    while codes:
        gap = (others[0] if others else float("inf")) - codes[-1]
        span = others[-1] - others[0] if others else 0.0
        step = max((b - a for a, b in pairwise(others)), default=1.0)  # 0, 2, 4, 6: 8 is not apart
        far = gap > max(1.0, span) or (gap > max(1.0, step) and span < MOST_ORDERED)
        if codes[-1] == -1.0 and others in ([1.0], [0.0, 1.0]):
            far = False  # -1, 0, 1: against, neither, for
        if threshold and codes[-1] < 0.0 and others and others[0] <= 0.0 and others[-1] <= 0.0:  # mirrored: above
            far = codes[-1] <= -77.0 and gap > 2.0 * max(1.0, span)
        if far and (others or len(codes) > 1):
            return codes
        others.insert(0, codes.pop())
    return []


def mark_between_codes(keys: Sequence[Key], often: Mapping[Key, int]) -> str:
    """Return what is between several codes in a cell; empty where cells have one.

    Codes are short, and change their places: some come first in one cell, and later in another. A semicolon or a bar in
    a column of two values is between codes in any case.

    Examples
    --------
    >>> cells = ["E11;I10", "I10", "J45"]
    >>> mark_between_codes(cells, dict.fromkeys(cells, 1)), mark_between_codes(["Bern, CH", "Rome, IT"], {})
    (';', '')
    """
    texts = {key: key if isinstance(key, str) else f"{key:g}" for key in keys}
    for mark in MARKS:
        several = [key for key, text in texts.items() if mark in text.strip(f"{mark} ")]
        if not several or sum(often.get(key, 1) for key in several) < SOME * sum(often.get(key, 1) for key in keys):
            continue
        cut = [[code.strip() for code in text.split(mark) if code.strip()] for text in texts.values()]
        if any(len(code) > LONGEST_CODE for codes in cut for code in codes):
            continue
        if mark == "," and all(NUMERAL.match(text) for text in texts.values()):
            continue  # decimal commas, or thousands
        first, later = {codes[0] for codes in cut if codes}, {code for codes in cut for code in codes[1:]}
        if mark == "," and 2 * len(first | later) > sum(map(len, cut)):
            continue  # hardly any occurs twice: places and names, as in "Leeds, Yorkshire"
        if first & later or (mark != "," and len(texts) == 2):
            return mark
    return ""


def how_numbers_are_written(keys: Sequence[Key]) -> str:
    """Return how words that are all numbers are written: "signs" (1,5 next to 1.5), "commas", "marks"; else empty.

    Examples
    --------
    >>> [how_numbers_are_written(keys) for keys in (["1,0", 1.5], ["1,5", 2.0], ["45%", "3 %"], ["a", 1.0])]
    ['signs', 'commas', 'marks', '']
    """
    words = [key for key in keys if isinstance(key, str)]
    if not words or not all(NUMERAL.match(word) for word in words):
        return ""
    if not all(COMMA_DECIMAL.match(word) for word in words):
        return "marks"
    return "signs" if any(isinstance(key, float) and key != int(key) for key in keys) else "commas"
