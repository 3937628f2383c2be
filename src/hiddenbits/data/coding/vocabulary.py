"""Words that show what a column is: pairs of yes and no, words and codes for missing values, scales, names of ids.

All words are in lower case, with single spaces. `key_of` converts a cell to that form.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

Key = float | str  # the form in which cells are compared: a number, or a word

NA_STRINGS = frozenset({"", "na", "n/a", "nan", "null", "?", "."})  # always read as missing values
BOOLEAN_WORDS: dict[str, float] = {"true": 1.0, "false": 0.0}


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Return pairs of words that are written as "yes/no, on/off"."""
    split = (pair.strip().partition("/") for pair in text.split(","))
    return tuple((positive, negative) for positive, _, negative in split)


# The word for 1 first. A column with one of these pairs is a yes/no question.
YES_NO = _pairs(
    """
    yes/no, y/n, true/false, t/f, ja/nein, j/n, ja/nee, ja/nej, ja/nei, oui/non, o/n, si/no, sí/no, sì/no, s/n,
    sim/não, sim/nao, да/нет, tak/nie, ano/ne, kyllä/ei, igen/nem, evet/hayır, はい/いいえ, 是/否, wahr/falsch,
    vrai/faux, yea/nay, aye/no, aye/nay, ✓/✗, ✔/✘
    """  # noqa: RUF001
)
PAIRS = YES_NO + _pairs(
    """
    richtig/falsch, on/off, an/aus, right/wrong, correct/wrong, correct/incorrect, pass/fail, passed/failed,
    success/failure, present/absent, positive/negative, positiv/negativ, pos/neg, +/-, agree/disagree,
    for/against, high/low, case/control, treated/control, treatment/control, with/without, mit/ohne,
    bought/not bought, ever/never
    """
)
YES = frozenset(yes for yes, _ in YES_NO)
TICKS = frozenset({"x", "✓", "✔"})  # in a column of boxes that are ticked or empty
# "not selected" is the 0 of "selected", "keine Allergie" that of "Allergie"
DENIALS = ("not ", "nicht ", "kein ", "keine ", "pas de ")
NEGATIONS = ("not ", "no ", "non ", "non-", "not-", "nicht ", "kein ", "keine ", "pas de ", "un", "in", "dis", "never ")

# Words that usually mean a missing value; the user decides, because they can be valid answers.
MISSING_WORDS = frozenset(
    {
        "none", "-", "--", "---", "*", "**", "#n/a", "#na", "n.a.", "n.a", "na.", "nil", "missing", "unknown", "unk",
        "don't know", "dont know", "do not know", "dk", "d/k", "dk/na", "dk/ref", "not sure", "no answer",
        "not answered", "not asked", "not applicable", "not available", "refused", "refusal", "refuse", "declined",
        "prefer not to say", "prefer not to answer", "skipped", "no opinion", "no data", "not stated", "not known",
        "not reported", "not recorded", "inapplicable", "keine angabe", "keine angaben", "k.a.", "k. a.", "ka", "k.a",
        "weiß nicht", "weiss nicht", "weiß ich nicht", "w.n.", "fehlt", "fehlend", "unbekannt",
        "verweigert", "entfällt", "nicht beantwortet", "sans réponse", "non réponse", "ne sait pas", "nsp", "inconnu",
        "no sabe", "no contesta", "ns/nc", "nc", "sin respuesta", "desconocido", "non so", "non risponde", "não sabe",
        "geen antwoord", "weet niet", "onbekend", "vet ej", "ved ikke", "нет ответа", "не знаю",
    }
)  # fmt: skip
# Numbers that are codes for missing values if they lie far from all other values of the column.
MISSING_NUMBERS = frozenset(
    [float(sign * int(digits * times)) for sign in (1, -1) for digits in "789" for times in range(1, 6)]
    + [float(sign * n) for sign in (1, -1) for n in (97, 98, 96, 997, 998, 996, 9997, 9998)]
    + [-1.0, -2.0, -3.0]
)

SCALES: tuple[tuple[str, ...], ...] = (
    ("strongly disagree", "disagree", "somewhat disagree", "slightly disagree", "neither agree nor disagree", "neither",
     "neutral", "undecided", "slightly agree", "somewhat agree", "agree", "strongly agree"),
    ("disagree strongly", "disagree", "neutral", "agree", "agree strongly"),
    ("never", "almost never", "very rarely", "rarely", "seldom", "occasionally", "sometimes", "often", "frequently",
     "usually", "very often", "almost always", "always"),
    ("not", "not at all", "a little", "slightly", "somewhat", "fairly", "moderately", "quite", "quite a bit", "very",
     "very much", "extremely"),
    ("none", "very low", "low", "lower", "mid", "middle", "medium", "moderate", "high", "higher", "very high"),
    ("no", "partial", "full"),
    ("none", "few", "some", "moderate", "many", "most", "high", "all"),
    ("none", "little", "a little", "some", "marked", "much", "a lot", "a great deal"),
    ("much worse", "worse", "same", "average", "better", "much better"),
    ("young", "middle", "old"),
    ("light", "moderate", "heavy"),
    ("short", "medium", "long"),
    ("slow", "medium", "fast"),
    ("not too happy", "pretty happy", "very happy"),
    ("hardly any", "only some", "a great deal"),
    ("primary", "secondary", "tertiary"),
    ("less than high school", "high school", "some college", "college", "bachelor", "bachelors", "master", "masters",
     "phd", "doctorate"),
    ("very poor", "very bad", "poor", "bad", "fair", "average", "ok", "okay", "good", "very good", "excellent"),
    ("none", "mild", "moderate", "severe", "very severe"),
    ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
    ("very unlikely", "unlikely", "neutral", "likely", "very likely"),
    ("not important", "slightly important", "moderately important", "important", "very important"),
    ("xs", "s", "m", "l", "xl", "xxl"),
    ("small", "medium", "large"),
    ("first", "second", "third", "fourth"),
    ("1st", "2nd", "3rd", "4th", "5th"),
    ("trifft gar nicht zu", "trifft nicht zu", "trifft eher nicht zu", "teils/teils", "teils teils", "weder noch",
     "trifft eher zu", "trifft zu", "trifft voll zu", "trifft voll und ganz zu"),
    ("stimme gar nicht zu", "stimme überhaupt nicht zu", "stimme nicht zu", "stimme eher nicht zu", "neutral",
     "teils/teils", "unentschieden", "stimme eher zu", "stimme zu", "stimme voll zu", "stimme voll und ganz zu"),
    ("nie", "sehr selten", "selten", "manchmal", "gelegentlich", "oft", "häufig", "sehr oft", "immer"),
    ("gar nicht", "wenig", "etwas", "mittel", "ziemlich", "sehr"),
    ("niedrig", "mittel", "hoch"),
    ("jamais", "rarement", "parfois", "souvent", "toujours"),
    ("pas du tout d'accord", "plutôt pas d'accord", "pas d'accord", "neutre", "plutôt d'accord", "d'accord",
     "tout à fait d'accord"),
    ("nunca", "casi nunca", "rara vez", "a veces", "casi siempre", "siempre"),
)  # fmt: skip

ID_NAMES = re.compile(
    r"""(?ix) ^(?: (?:.*[\s_.\-])? (?:id|ids|uid|uuid|guid|key|nr|no|num|number|nummer|index|idx) [\s_.]*
      | (?:case|user|person|subject|patient|respondent|participant|customer|record|row|student|resp|vp)
        [\s_.\-]* (?:id|nr|no|code|num|number|nummer|name)? | unnamed:?\s*\d* | rownames? | row[\s_.]names? | \s*
      | e-?mail | name | names | surname | vorname | nachname | pseudonym | identifier | kennung | lfd\.?\s*nr\.?
      | token | login | session(?:[\s_]?id)? | response[\s_]?id | ip[\s_]?address )$"""
)
DATE = re.compile(
    r"""(?x) ^(?: \d{4}[-/.]\d{1,2}[-/.]\d{1,2} | \d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2}) | \d{4}-\d{2} )
      (?: [T\s]+ \d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)? \s*(?:[AaPp][Mm])? (?:Z|[+-]\d{2}:?\d{2})? )?$
      | ^\d{1,2}:\d{2}(?::\d{2})?$"""
)
RANGE = re.compile(  # "20-29", "< 20", "65 or older", "[10,20)", "$10,000 to $20,000"
    r"""(?x) ^ (?P<before> [<>\u2264\u2265]=? | under | below | up\ to | less\ than | over | above | more\ than
        | at\ least )? \s* [\[(]? \$? (?P<low> -?\d{1,3}(?:,\d{3})+ | -?\d+(?:\.\d+)? ) k? \s*
      (?P<after> (?: - | \u2013 | to | and | , ) \s* \$? -?\d[\d,]*(?:\.\d+)? k? [\])]?
        | \+ | (?:or|and) \s (?:more|less|older|younger|over|under|above|below|up) )? \s* (?P<unit> [a-z]*\.? ) $"""
)
NUMBERED = re.compile(
    r"^\(?\d{1,3}\)?\s*[.:=)\-]\s*(?=\D)|^\(\d{1,3}\)\s*|^\d{1,3}\s+(?=[^\W\d])"
)  # "1: yes", "(2) no"
WORDS = (
    NA_STRINGS
    | MISSING_WORDS
    | frozenset(BOOLEAN_WORDS)
    | {word for pair in PAIRS for word in pair}
    | {word for scale in SCALES for word in scale}
)


def key_of(value: Any) -> Key:
    """Return the form in which a cell is compared: a number, a known word in lower case, or another word unchanged.

    Examples
    --------
    >>> key_of(" YES "), key_of("1.0"), key_of(True), key_of("Aa")
    ('yes', 1.0, 1.0, 'Aa')
    """
    if not isinstance(value, str):
        try:
            number = float(value)
        except (OverflowError, TypeError, ValueError):  # a whole number beyond all floats, or no number at all
            return str(value)
        return number if math.isfinite(number) else str(number)
    parsed = number_of(value)
    if parsed is not None:
        return parsed
    word = " ".join(value.split())
    lower = word.casefold()
    return lower if lower in WORDS else word


def number_of(text: str) -> float | None:
    """Return the finite number that a text is; None if it is not a number."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in text else None


def plain_number(number: float) -> int | float:
    """Return a number as people write it: an int if it is whole and floats hold it exactly."""
    return int(number) if number.is_integer() and abs(number) < 2**53 else number  # infinity stays


def is_na(key: Key) -> bool:
    """Whether a cell is a missing value written as text."""
    return isinstance(key, str) and key in NA_STRINGS


def none_is_na(keys: Iterable[Key | None]) -> bool:
    """Whether "none" means a missing value, as among numbers, and is not one of several answers.

    Examples
    --------
    >>> none_is_na([0.0, 1.0, "none"]), none_is_na(["none", "current", "former"])
    (True, False)
    """
    words = {key for key in keys if isinstance(key, str)} - BOOLEAN_WORDS.keys() - NA_STRINGS
    return words == {"none"}


def plain_word(key: Key) -> str:
    """Return a word in lower case, without the number that some programs write before it."""
    return NUMBERED.sub("", str(key)).strip().casefold() or str(key).casefold()


def positive_value(first: Key, second: Key) -> tuple[Key, bool]:
    """Return which of two values is 1, and whether their meaning decides this.

    Words are decided by their meaning, by that of their first words, or by their order on a known scale; if none of
    these is known, the last in the alphabet is 1. Of two numbers, the larger is 1.

    Examples
    --------
    >>> positive_value("no", "yes"), positive_value(1.0, 2.0), positive_value("m", "f")
    (('yes', True), (2.0, False), ('m', False))
    >>> positive_value("Yes, daily", "No, less often"), positive_value("always", "never")
    (('Yes, daily', True), ('always', True))
    >>> positive_value("Mostly true", "Not true")
    ('Mostly true', True)
    """
    if isinstance(first, float) and isinstance(second, float):
        return max(first, second), False
    plain = {plain_word(first): first, plain_word(second): second}
    for positive, negative in PAIRS:
        if set(plain) == {positive, negative}:
            return plain[positive], True
    for word, other in (tuple(plain), tuple(plain)[::-1]) if len(plain) == 2 else ():
        first_words = (_first_word(word), _first_word(other))
        negated = other.startswith(DENIALS) and not word.startswith(DENIALS)  # "not true" and "mostly true"
        if negated or any(other == negation + word for negation in NEGATIONS):
            return plain[word], True
        if first_words in PAIRS and min(map(len, first_words)) > 1:
            return plain[word], True
    scale = next((scale for scale in SCALES if len(plain) == 2 and set(plain) <= set(scale)), None)
    if scale is not None:
        return plain[max(plain, key=scale.index)], True
    return max((first, second), key=lambda key: (str(key).casefold(), str(key))), False


def means_yes(value: Key, others: Iterable[Key]) -> bool:
    """Whether a value means yes, given the other values of its column.

    Single letters mean yes only if the column has their no, ticks such as "x" only if all other cells are empty.

    Examples
    --------
    >>> means_yes("Yes", ["no"]), means_yes("y", ["n"]), means_yes("Ja, oft", ["nie"]), means_yes("x", [])
    (True, True, True, True)
    >>> means_yes("No", ["yes"]), means_yes("s", ["m"]), means_yes("female", ["male"]), means_yes(2.0, [1.0])
    (False, False, False, False)
    """
    word, other_words = _first_word(plain_word(value)), [_first_word(plain_word(other)) for other in others]
    if any((word, other) in YES_NO for other in other_words):
        return True
    return (word in YES and len(word) > 1) or (word in TICKS and not other_words)


def _first_word(text: str) -> str:
    """Return the first word of a text, without the punctuation after it."""
    return re.split(r"[\s,;:.!/()]", text, maxsplit=1)[0] or text


def in_scale_order(words: list[str]) -> tuple[str, ...] | None:
    """Return words in order, lowest first, if all are on a known scale; None otherwise."""
    plain = {plain_word(word): word for word in words}
    for scale in SCALES:
        if len(plain) == len(words) and set(plain) <= set(scale):
            return tuple(plain[word] for word in scale if word in plain)
    if (by_degree := _without_shared_words(list(plain))) is not None and len(plain) == len(words) and len(words) > 2:
        degrees = next((scale for scale in SCALES if set(by_degree) <= set(scale)), ())
        if degrees:  # "not anxious at all", "a little anxious", "very anxious"
            return tuple(plain[by_degree[degree]] for degree in degrees if degree in by_degree)
    if (ranges := in_order_of_size(words)) is not None:
        return tuple(str(word) for word in ranges)
    matches = [re.match(r"^\(?(\d{1,2})\)?[\s.:=)\-]", word) for word in words]
    numbers = [int(match[1]) for match in matches if match]
    if len(set(numbers)) == len(words):  # "1 - very bad", ..., "5 - very good"
        return tuple(word for _, word in sorted(zip(numbers, words, strict=True)))
    return None


def _without_shared_words(words: list[str]) -> dict[str, str] | None:
    """Return each text by its words that not all texts have; None if they share no word, or a text has no others."""
    split = [word.split() for word in words]
    shared = set(split[0]).intersection(*split[1:]) if split else set()
    own_words = {" ".join(w for w in part if w not in shared): word for part, word in zip(split, words, strict=True)}
    return own_words if shared and len(own_words) == len(words) and "" not in own_words else None


def in_order_of_size(keys: Sequence[Key]) -> list[Key] | None:
    """Return ranges and numbers in order, lowest first; None if one is neither, or units differ.

    Examples
    --------
    >>> in_order_of_size(["30-39", "under 20", "40+", "20-29"])
    ['under 20', '20-29', '30-39', '40+']
    >>> in_order_of_size([0.0, "3 or more", "1-2"]), in_order_of_size(["1-3 months", "1-2 years"])
    ([0.0, '1-2', '3 or more'], None)
    """
    matches = [(RANGE.match(f"{key:g}" if isinstance(key, float) else key.casefold()), key) for key in keys]
    units = {match["unit"].rstrip("s.") for match, _ in matches if match is not None} - {""}
    if any(match is None for match, _ in matches) or len(units) > 1 or all(isinstance(key, float) for key in keys):
        return None
    low_ends = {key: _low_end(match) for match, key in matches if match is not None}
    return sorted(keys, key=low_ends.__getitem__) if len(set(low_ends.values())) == len(keys) > 2 else None


def _low_end(match: re.Match[str]) -> tuple[float, int]:
    """Return the lower end of a range (the upper, if it has no lower), and -1, 0 or 1 to sort equal ends by."""
    low = float(match["low"].replace(",", ""))
    before, after = (match["before"] or "").strip(), (match["after"] or "").strip()
    if before in ("<", "<=", "\u2264", "under", "below", "up to", "less than") or after.endswith(
        ("less", "under", "below", "younger")
    ):
        return low, -1
    return low, 1 if before in (">", "over", "above", "more than") else 0


def ends_in_id(name: str) -> bool:
    """Whether a name is, or ends in, the word id."""
    return re.search(r"(^|[_\s.\-])(id|ID|Id)$|[a-z]I[Dd]$", name.strip()) is not None


def is_id_name(name: str) -> bool:
    """Whether a column has a name that ids usually have.

    Examples
    --------
    >>> [is_id_name(name) for name in ("id", "order_id", "PatientID", "", "Unnamed: 0", "paid", "valid")]
    [True, True, True, True, True, False, False]
    """
    return ID_NAMES.match(name.strip()) is not None or re.search(r"[a-z]I[Dd]$", name) is not None
