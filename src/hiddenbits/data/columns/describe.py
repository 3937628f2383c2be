"""Infers the type of a column from its distinct values and their counts; reads no data.

| inferred type | rule |
|---|---|
| binary | nothing but 0, 1, true, false and missing values |
| two values | two distinct numbers or two words, apart from missing values and codes for them |
| one value or missing | one value, and missing values, which may mean "no" or "not asked" |
| ordinal | 3 to 11 whole numbers in even steps, or labels of a known scale, or ranges such as "20-29" |
| nominal | at most 50 words, or whole numbers, each of which occurs about twice or more |
| date | every value is written as a date or a time |
| id | all different (in 5 rows or more), or nearly all different and named like an id |
| constant | one value in every row |
| several codes | cells with several codes, such as "E11;I10" |
| continuous | numbers, also such as "1,200" and "45%" |
| text | anything else |

Codes for missing values are searched for in columns of the first five types: words such as "don't know", and numbers
such as -99 or 9 that lie far from all other values of the column. The user must confirm them; they never become bits.
The user must also decide about numbers that have a decimal comma in some cells and a point in others.
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
    in_scale_order,
    is_id_name,
    is_na,
    key_of,
    none_is_na,
    plain_number,
    positive_value,
)

InferredType = Literal[
    "binary",
    "two values",
    "one value or missing",
    "ordinal",
    "nominal",
    "several codes",
    "continuous",
    "date",
    "text",
    "id",
    "constant",
]
READ_AS_BITS: tuple[InferredType, ...] = ("binary", "two values")
AMBIGUOUS: tuple[InferredType, ...] = ("one value or missing", "ordinal", "nominal", "several codes")

MAX_ORDINAL_RANGE = 11  # number of whole numbers in an ordinal column, and the range that they lie in
MAX_NOMINAL_VALUES = 50
MIN_ID_ROWS = 5  # in fewer rows, all values may be different by chance
MIN_ID_SHARE = 0.9  # minimum share of different values in a column that is named like an id

SEPARATORS = (";", "|", ",")  # between codes
MAX_CODE_CHARACTERS = 40
MIN_SHARE_WITH_CODES = 0.05  # minimum share of cells with several codes

NUMERAL = re.compile(  # 1,200 and 1 200,50 and 0,5 and 45 % and € 12
    r"""(?x) ^[-+]? [$€£¥]?\s? (?: \d{1,3}(?:[,.'\s\u00a0\u202f]\d{3})+(?:[.,]\d+)? | \d*[.,]?\d+ )
      \s?(?:%|‰|[$€£¥])?$"""
)
COMMA_DECIMAL = re.compile(r"^[-+]?\d+,\d+$")


@dataclass(frozen=True)
class ColumnDescription:
    """The distinct values of a column, and the type that it seems to have.

    Attributes
    ----------
    name : str
        Its name.
    inferred_type : str
        The type of its values without codes for missing values.
    values : tuple of (value, count)
        Its distinct values other than missing ones: in order, or the most frequent first if they have no order.
    n_rows, n_missing : int
        Number of rows, and of missing cells.
    suspected_codes : tuple
        Values that look like codes for missing values.
    positive, negative : value or None
        Of two values, the one that is read as 1, and the other.
    by_meaning : bool
        Whether the meaning of the two values decides which is 1.
    separator : str
        The character between codes, if cells have several.
    ambiguity : {"", "signs", "commas", "counts"}
        Numbers with decimal commas and decimal points; numbers with commas that a threshold has to cut; numbers that
        seem to count rows.

    Examples
    --------
    >>> column = describe_column("q1", {"yes": 3, "no": 5, "don't know": 1})
    >>> column.inferred_type, column.positive, column.suspected_codes
    ('two values', 'yes', ("don't know",))
    """

    name: str
    inferred_type: InferredType
    values: tuple[tuple[Any, int], ...]
    n_rows: int
    n_missing: int = 0
    suspected_codes: tuple[Any, ...] = ()
    positive: Any = None
    negative: Any = None
    by_meaning: bool = False
    separator: str = ""
    ambiguity: str = ""

    @property
    def is_ambiguous(self) -> bool:
        """Whether the user must decide how the column is read."""
        return self.inferred_type in AMBIGUOUS or bool(self.suspected_codes) or bool(self.ambiguity)

    @property
    def is_excluded(self) -> bool:
        """Whether the column is excluded from binary data."""
        return not self.is_ambiguous and self.inferred_type not in READ_AS_BITS


def describe_column(
    name: str,
    counts: Mapping[Any, int],
    *,
    form: str = "",
    missing: Iterable[Key] | None = None,
    threshold: bool = False,
) -> ColumnDescription:
    """Return the type that a column seems to have, and what it was inferred from.

    Parameters
    ----------
    name : str
        Its name.
    counts : mapping
        How often each value occurs; None stands for missing values.
    form : str
        "date" or "other" if that is the type of the column.
    missing : iterable of keys, optional
        Codes for missing values that the user named (see `key_of`); empty: there are none. By default they are
        searched for.
    threshold : bool
        Whether a threshold makes bits of numbers, so that continuous columns are searched for codes, too.
    """
    n_rows = sum(counts.values())
    named_codes = None if missing is None else set(missing)
    labels, key_counts = _counts_by_key(counts, named_codes or set())
    n_missing = n_rows - sum(key_counts.values())

    def description(inferred_type: InferredType, ordered: Sequence[Key], **details: Any) -> ColumnDescription:
        values = tuple((labels[key], key_counts[key]) for key in dict.fromkeys((*ordered, *key_counts)))
        return ColumnDescription(name, inferred_type, values, n_rows, n_missing, **details)

    if form in ("date", "other"):
        return description("date" if form == "date" else "text", ())
    keys = list(key_counts)
    codes = [] if named_codes is not None else missing_codes(keys, threshold=threshold, counts=key_counts)
    answers = [key for key in keys if key not in codes]
    if notation := number_notation(answers):
        ambiguity = notation if notation == "signs" or (threshold and notation == "commas") else ""
        return description("continuous", sorted(answers, key=str), ambiguity=ambiguity)
    if not is_id_name(name) and (separator := code_separator(answers, key_counts)):
        frequent = sorted(answers, key=lambda key: (-key_counts[key], str(key)))
        return description("several codes", frequent, separator=separator)
    n_unanswered = n_missing + sum(key_counts[key] for key in codes)
    inferred_type, order = _infer_type(name, answers, key_counts, n_rows, n_unanswered)
    are_numbers = inferred_type == "continuous" or (inferred_type == "id" and not is_id_name(name))
    has_codes = inferred_type in (*READ_AS_BITS, *AMBIGUOUS, "constant") or (threshold and are_numbers)
    if codes and not has_codes:  # an excluded column has values and no codes
        inferred_type, order = _infer_type(name, keys, key_counts, n_rows, n_missing)
    elif codes and inferred_type == "constant":  # one value, and a code for missing
        inferred_type = "one value or missing"
    details: dict[str, Any] = {"suspected_codes": tuple(labels[key] for key in codes if has_codes)}
    if inferred_type == "two values":
        positive, by_meaning = positive_value(order[0], order[1])
        negative = order[1] if positive == order[0] else order[0]
        details |= {"positive": labels[positive], "negative": labels[negative], "by_meaning": by_meaning}
    return description(inferred_type, order, **details)


def _counts_by_key(counts: Mapping[Any, int], missing: set[Key]) -> tuple[dict[Key, Any], dict[Key, int]]:
    """Return the most frequent spelling of each value, and its count; missing values and codes are excluded."""
    labels: dict[Key, Any] = {}
    key_counts: dict[Key, int] = {}
    top_counts: dict[Key, int] = {}
    for value, count in counts.items():
        key = None if value is None else key_of(value)
        if key is None or not count or is_na(key) or key in missing:
            continue
        key_counts[key] = key_counts.get(key, 0) + count
        if count > top_counts.get(key, 0):
            top_counts[key] = count
            labels[key] = plain_number(key) if isinstance(value, str) and isinstance(key, float) else value
    if none_is_na(key_counts):
        del labels["none"], key_counts["none"]
    return labels, key_counts


def _infer_type(
    name: str, keys: Sequence[Key], key_counts: Mapping[Key, int], n_rows: int, n_missing: int
) -> tuple[InferredType, list[Key]]:
    """Return the type that values seem to have, and the values in order."""
    frequent = sorted(keys, key=lambda key: (-key_counts[key], str(key)))
    if set(keys) <= {0.0, 1.0, "true", "false"}:
        return "binary", sorted(keys, key=str)
    if len(keys) == 1:
        return ("one value or missing" if n_missing else "constant"), frequent
    numbers = sorted(key for key in keys if isinstance(key, float))
    words = [key for key in keys if isinstance(key, str)]
    n_cells = n_rows - n_missing
    if _identifies_rows(name, keys, n_cells):
        return ("id" if is_id_name(name) or not any(" " in word.strip() for word in words) else "text"), frequent
    if len(keys) == 2 and len(numbers) != 1:  # a word and a number: a category, or a mistake
        return "two values", sorted(keys, key=lambda key: (isinstance(key, str), key))
    if words and all(DATE.match(word) for word in words) and not numbers:
        return "date", sorted(keys)
    are_repeated = len(keys) * 2 <= n_cells or (len(keys) <= 5 and (len(keys) < n_cells or not _are_phrases(words)))
    if not words:
        are_whole = all(key == int(key) for key in numbers)
        if are_whole and numbers[-1] - numbers[0] < MAX_ORDINAL_RANGE:
            return "ordinal", list(numbers)
        if not are_whole and {0.0, 1.0} <= set(numbers) and len(keys) <= MAX_ORDINAL_RANGE:
            return "nominal", list(numbers)  # bits, and a few other values
        if not are_whole or len(keys) > MAX_ORDINAL_RANGE or len(keys) * 4 > n_cells:
            return "continuous", list(numbers)
        return ("ordinal" if _in_even_steps(numbers) else "nominal"), list(numbers)
    if (scale := in_order_of_size(keys) if numbers else in_scale_order(words)) is not None:
        return "ordinal", list(scale)
    among_bits = numbers and set(numbers) <= {0.0, 1.0} and len(words) <= MAX_ORDINAL_RANGE
    if len(keys) <= MAX_NOMINAL_VALUES and (are_repeated or among_bits):
        return "nominal", frequent
    return "text", frequent


def _in_even_steps(numbers: Sequence[float]) -> bool:
    """Whether whole numbers rise in even steps, most of which occur: 6, 12, 18, 24, or 0 to 12; not 101, 205, 310."""
    step = math.gcd(*(int(number - numbers[0]) for number in numbers[1:]))
    return 2 * len(numbers) > (numbers[-1] - numbers[0]) / step + 1


def _are_phrases(words: Sequence[str]) -> bool:
    """Whether most cells have several words: they are remarks, not categories."""
    return 2 * sum(" " in word.strip() for word in words) > len(words)


def _identifies_rows(name: str, keys: Sequence[Key], n_cells: int) -> bool:
    """Whether the values are ids: nearly all different if the column is named like an id, otherwise all different.

    Numbers that are all different are usually measurements; they are an id if they count rows.
    """
    if is_id_name(name) and len(keys) >= 3 and len(keys) >= MIN_ID_SHARE * n_cells:
        return True
    numbers = [key for key in keys if isinstance(key, float)]
    if ends_in_id(name) and len(numbers) == len(keys) > MAX_ORDINAL_RANGE and all(key == int(key) for key in numbers):
        return True  # of a person, school or county that has several rows
    if len(keys) < n_cells or n_cells < MIN_ID_ROWS:
        return False
    if len(numbers) < len(keys):
        return not all(isinstance(key, str) and DATE.match(key) for key in keys)
    return max(numbers) - min(numbers) == n_cells - 1 and all(key == int(key) for key in numbers)


def missing_codes(
    keys: Sequence[Key], *, threshold: bool = False, counts: Mapping[Key, int] | None = None
) -> list[Key]:
    """Return the values that look like codes for missing values.

    These are known words, and numbers such as -9, 99 or 998 if they lie below or above all other values, at a distance
    of more than 1 that exceeds the distance between any two others. With a `threshold`, single digits above the others
    are counts; but a distant number such as 99 that is the most frequent (`counts`) is a code, and so is -99 among
    numbers that are not negative.

    Examples
    --------
    >>> missing_codes([0.0, 1.0, 9.0]), missing_codes([1.0, 2.0, 3.0, -99.0, -98.0]), missing_codes([7.0, 8.0, 9.0])
    ([9.0], [-99.0, -98.0], [])
    """
    are_signs = set(keys) == {"+", "-"}
    words = [key for key in keys if isinstance(key, str) and key in MISSING_WORDS and not are_signs]
    answers = [key for key in keys if isinstance(key, str) and (key == "none" or key not in words)]
    if "none" in words and len(answers) > 2 and in_scale_order(answers):
        words.remove("none")  # none, mild, severe
    numbers = sorted(key for key in keys if isinstance(key, float))
    low, high = 0, len(numbers)
    while low < high and numbers[low] in MISSING_NUMBERS and numbers[low] < 0:
        low += 1
    while low < high and numbers[high - 1] in MISSING_NUMBERS and numbers[high - 1] > 0:
        high -= 1
    below = _distant_codes(numbers[:low], numbers[low:high] or numbers[high:], threshold=threshold)
    middle = numbers[low:high]
    if middle and middle[0] >= 0.0:
        whole = all(number == int(number) for number in middle)
        below = [n for n in numbers[:low] if n in below or n <= -7.0 or (threshold and whole and middle[0] - n > 1.0)]
    not_below = [number for number in numbers[:high] if number not in below]
    above = _distant_codes([-n for n in numbers[high:][::-1]], [-n for n in not_below[::-1]], threshold=threshold)
    codes: list[Key] = [*below, *sorted(-number for number in above)]
    if threshold and counts and not above and high < len(numbers) and middle:
        codes += [n for n in numbers[high:] if n >= 77.0 and n - middle[-1] > 5.0 and _most_frequent(n, counts)]
    if codes and len(codes) == len(numbers) and len(words) == len(keys) - len(numbers):
        return list(words)  # nothing else would be left
    return [*codes, *words]


def _most_frequent(number: float, counts: Mapping[Key, int]) -> bool:
    return counts[number] >= 3 and all(count < counts[number] for key, count in counts.items() if key != number)


def _distant_codes(codes: list[float], others: list[float], *, threshold: bool) -> list[float]:
    """Return the codes, numbers below all others, that are distant enough from the others to be codes."""
    codes, others = list(codes), list(others)
    while codes:
        gap = (others[0] if others else float("inf")) - codes[-1]
        span = others[-1] - others[0] if others else 0.0
        step = max((b - a for a, b in pairwise(others)), default=1.0)  # 0, 2, 4, 6: 8 is not far away
        is_distant = gap > max(1.0, span) or (gap > max(1.0, step) and span < MAX_ORDINAL_RANGE)
        if codes[-1] == -1.0 and others in ([1.0], [0.0, 1.0]):
            is_distant = False  # -1, 0, 1: against, neither, for
        if threshold and codes[-1] < 0.0 and others and others[0] <= 0.0 and others[-1] <= 0.0:  # signs are reversed
            is_distant = codes[-1] <= -77.0 and gap > 2.0 * max(1.0, span)
        if is_distant and (others or len(codes) > 1):
            return codes
        others.insert(0, codes.pop())
    return []


def code_separator(keys: Sequence[Key], counts: Mapping[Key, int]) -> str:
    """Return the character between several codes in a cell; empty if cells have one value each.

    Codes are short, and some codes that come first in a cell occur later in another. In a column of two values, a
    semicolon or a bar always separates codes.

    Examples
    --------
    >>> cells = ["E11;I10", "I10", "J45"]
    >>> code_separator(cells, dict.fromkeys(cells, 1)), code_separator(["Bern, CH", "Rome, IT"], {})
    (';', '')
    """
    texts = {key: key if isinstance(key, str) else f"{key:g}" for key in keys}
    for separator in SEPARATORS:
        keys_with_several = [key for key, text in texts.items() if separator in text.strip(f"{separator} ")]
        n_several, n_cells = (sum(counts.get(key, 1) for key in some) for some in (keys_with_several, keys))
        if not keys_with_several or n_several < MIN_SHARE_WITH_CODES * n_cells:
            continue
        parts = [[code.strip() for code in text.split(separator) if code.strip()] for text in texts.values()]
        if any(len(code) > MAX_CODE_CHARACTERS for codes in parts for code in codes):
            continue
        if separator == "," and all(NUMERAL.match(text) for text in texts.values()):
            continue  # decimal commas, or thousands
        first, later = {codes[0] for codes in parts if codes}, {code for codes in parts for code in codes[1:]}
        if separator == "," and 2 * len(first | later) > sum(map(len, parts)):
            continue  # hardly any occurs twice: towns and names, as in "Leeds, Yorkshire"
        if first & later or (separator != "," and len(texts) == 2):
            return separator
    return ""


def number_notation(keys: Sequence[Key]) -> str:
    """Return how numbers in text are written: "signs" (1,5 and 1.5), "commas", "marks"; empty if some are not numbers.

    Examples
    --------
    >>> [number_notation(keys) for keys in (["1,0", 1.5], ["1,5", 2.0], ["45%", "3 %"], ["a", 1.0])]
    ['signs', 'commas', 'marks', '']
    """
    words = [key for key in keys if isinstance(key, str)]
    if not words or not all(NUMERAL.match(word) for word in words):
        return ""
    if not all(COMMA_DECIMAL.match(word) for word in words):
        return "marks"
    return "signs" if any(isinstance(key, float) and key != int(key) for key in keys) else "commas"
