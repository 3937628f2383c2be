"""Names and numbers as the report shows them. Anything from the table is text, never markup."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from hiddenbits.quoting import printable

LONGEST = 60  # characters of a name; longer ones are shortened
VALUE_AT_END = re.compile(r" (?:=|>|<=) [^=<>]+$")  # a value at the end of a name, which is not shortened


def plain(text: object, longest: int = LONGEST) -> str:
    r"""Return a text on one line, shortened; control characters are shown escaped.

    A value at the end of a name, such as = no, is kept unless it is longer than half of `longest`.

    Examples
    --------
    >>> print(plain("two" + chr(10) + "lines" + chr(27)), len(plain("x" * 10_000)))
    two lines\x1b 60
    >>> print(plain("watches television = no", 13))
    watches… = no
    """
    cut = str(text)[: 4 * longest]
    shown = printable("".join(" " if letter.isspace() else letter for letter in cut))
    if len(shown) <= longest and len(cut) == len(str(text)):
        return shown
    value = VALUE_AT_END.search(shown) if len(cut) == len(str(text)) else None
    value_text = value[0] if value is not None and 2 * len(value[0]) <= longest else ""
    head = shown[: longest - 1 - len(value_text)]
    return f"{head.rstrip() if value_text else head}…{value_text}"


def quoted(name: str) -> str:
    """Return the name of a column, or a value, as it appears in a sentence."""
    return f"“{plain(name, 40)}”"


def told_apart(names: Sequence[object], ends: Sequence[str] | None = None) -> list[str]:
    """Return shortened names, each with its ending; names that become equal get the number of their column."""
    whole = [f"{plain(name)}{end}" for name, end in zip(names, ends or [""] * len(names), strict=True)]
    short = [plain(name) for name in whole]
    counts = Counter(short)
    return [text if counts[text] == 1 else f"{text} [{number + 1}]" for number, text in enumerate(short)]


def name(text: object) -> Markup:
    """Return a name as a separate element, so that right-to-left letters do not reverse the sentence."""
    return Markup("<bdi>{}</bdi>").format(plain(text, LONGEST + 12))


def names(texts: Iterable[object], most: int = 5, last: str = "and") -> Markup:
    """Return names as a phrase: a, b and c; names after the first `most` are counted."""
    all_texts = list(texts)
    parts = [name(text) for text in all_texts[:most]]
    if len(all_texts) > most:
        parts.append(Markup("{} more").format(f"{len(all_texts) - most:,}"))
    if len(parts) < 2:
        return parts[0] if parts else Markup("none")
    return Markup(", ").join(parts[:-1]) + Markup(" {} ").format(last) + parts[-1]


def count(number: float, one: str, many: str | None = None) -> str:
    """Return a number with its noun: 1 row, 2 rows."""
    return f"{number:,.0f} {one if number == 1 else many or plural(one)}"


def plural(noun: str) -> str:
    """Return the plural of a noun: rows, classes."""
    return f"{noun}es" if noun.endswith("ss") else f"{noun}s"


def percent(share: float, *, few: bool = False) -> str:
    """Return a share in percent, with one more digit near 0 and 1 unless it is based on `few` rows.

    Only exact values show as 0% or 100%.
    """
    if share != share:
        return "-"
    if few and 0.0 < share < 1.0:
        return "<1%" if share < 0.01 else ">99%" if share > 0.99 else f"{share:.0%}"
    if 0.0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1.0:
        return ">99.9%"
    return f"{share:.1%}" if 0.0 < share < 0.02 or 0.98 < share < 1.0 else f"{share:.0%}"


def points(difference: float) -> str:
    """Return a difference of two shares in percentage points; raise if no two shares differ so much.

    Examples
    --------
    >>> points(0.294), points(-1.0), points(-0.001)
    ('+29 points', '-100 points', '+0 points')
    """
    if abs(difference) > 1.0 + 1e-9:
        raise ValueError(f"{difference} is not a difference of two shares.")
    return f"{round(100 * difference):+d} points"


def sentence(text: str, *values: object) -> Markup:
    """Return a sentence with values inserted; values are escaped unless they are our own markup."""
    return Markup(text).format(*values)  # noqa: S704 (the text is ours; values are escaped)


def times(nats: float) -> str:
    """Return a ratio of probabilities, exp(nats), in words."""
    if nats < math.log(1e6):
        return f"{math.exp(nats):,.0f} times" if nats > math.log(9.5) else f"{math.exp(nats):.1f} times"
    power = f"{nats / math.log(10.0):.0f}".translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{power} times"


# The parts of a section; `page` turns them into HTML.

# Sections of evidence, in the order of the page; a finding names one. Sections with nothing to show are omitted.
KEYS = ("table", "which", "map", "groups", "classes", "items", "causes", "pairs", "odd", "cells", "blanks", "how")


@dataclass(frozen=True)
class TextTable:
    """A table. `numeric` columns are aligned right; a folded table opens when its caption is clicked."""

    caption: str
    heads: Sequence[object]
    rows: Sequence[Sequence[object]]
    numeric: frozenset[int] = frozenset()
    folded: bool = False
    wordy: int = -1  # the column of sentences, which gets a minimum width
    kind: str = "grid"


@dataclass(frozen=True)
class Chart:
    """A drawing, a caption, and the same data as a table for readers who cannot see it."""

    drawing: Markup
    caption: Markup
    same: TextTable | None = None
    kind: str = "figure"


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    text: Markup
    kind: str = "text"


@dataclass(frozen=True)
class InteractiveMap:
    """The map with its panel; the script of the page reads `data`."""

    drawing: Markup
    caption: Markup
    data: dict[str, Any] | None
    choices: Sequence[tuple[str, Sequence[tuple[str, str]]]] = ()
    chosen: str = ""
    same: TextTable | None = None
    kind: str = "map"


Part = TextTable | Chart | Paragraph | InteractiveMap


@dataclass(frozen=True)
class Section:
    """A part of the report that can be folded; `opening` is a plain sentence about this table."""

    key: str
    title: str
    opening: Markup
    parts: Sequence[Part] = ()
    how: Sequence[tuple[str, str]] = ()  # a value, and the line of Python that reproduces it
    every_row: bool = False  # whether values are based on all rows even if the models use a sample


def cautions(*notes: str) -> list[Part]:
    """Return the reasons to read a section with caution, if there are any."""
    reasons = [note for note in notes if note]
    return [Paragraph(Markup("Caution: the fit {}.").format("; ".join(reasons)))] if reasons else []
