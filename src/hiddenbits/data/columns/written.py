"""How cells are written: several codes in one, numbers with commas or a percent sign, names of columns of counts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hiddenbits.data.coding.vocabulary import Key

MARKS = (";", "|", ",")  # between codes
LONGEST_CODE = 40
SOME = 0.05  # of the cells have several codes

NUMERAL = re.compile(  # 1,200 and 1 200,50 and 0,5 and 45 % and € 12
    r"""(?x) ^[-+]? [$€£¥]?\s? (?: \d{1,3}(?:[,.'\s\u00a0\u202f]\d{3})+(?:[.,]\d+)? | \d*[.,]?\d+ )
      \s?(?:%|‰|[$€£¥])?$"""
)
COMMA_DECIMAL = re.compile(r"^[-+]?\d+,\d+$")
COUNTS = re.compile(
    r"(?i)^(?:freq|frequency|frequencies|counts?|n|weights?|wt|anzahl|häufigkeit|haeufigkeit|effectif)$"
)


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
