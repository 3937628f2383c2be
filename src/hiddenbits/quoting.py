"""How names, cells and other programs' messages appear in a message: on one line, escaped, short, hidden if asked.

A column or a file may be called anything: escape sequences that recolour or clear a terminal, letters that turn the
line around, line breaks that fake a second message. A cell may be private. This module is the one place that decides
what is shown of them; every room may use it.
"""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path

HIDE = "HIDDENBITS_HIDE_VALUES"
MOST = 20  # characters of a cell that a message shows
MOST_TOLD = 200  # characters of another program's message
HIDDEN = "the value (hidden)"
# Control characters, format characters (among them those that reorder text), lone surrogates, line separators. Joiners,
# which Persian, Indic scripts and emoji are spelled with, are format characters too, and do no harm.
ESCAPED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
JOINERS = "\u200c\u200d"


def printable(text: object, keep: str = "") -> str:
    r"""Return a text with every character escaped that would act on a terminal instead of being shown.

    A text that is escaped already is left as it is.

    Parameters
    ----------
    text : object
        What to show.
    keep : str
        Characters to leave alone, such as the line breaks of a text of several lines.

    Examples
    --------
    >>> print(printable("red\x1b[31m" + chr(10) + "b\u202egnp"))
    red\x1b[31m\nb\u202egnp
    """
    shown = text if isinstance(text, str) else str(text)
    if shown.isprintable():
        return shown
    kept = keep + JOINERS
    return "".join(_escaped(one) if unicodedata.category(one) in ESCAPED and one not in kept else one for one in shown)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def name_of(name: object) -> str:
    """Return a name as a list of names shows it: escaped, and in quotes where there is nothing to see.

    Examples
    --------
    >>> name_of("age"), name_of(" ")
    ('age', "' '")
    """
    shown = printable(name)
    return shown if shown.strip() else repr(shown)


def values_hidden() -> bool:
    """Whether messages show nothing of any cell: HIDDENBITS_HIDE_VALUES is set, and not to 0."""
    return os.environ.get(HIDE, "0").strip() not in ("", "0")


def quoted(cell: object) -> str:
    """Return a cell as an error shows it: at most 20 characters; nothing with HIDDENBITS_HIDE_VALUES=1.

    Examples
    --------
    >>> quoted("maybe"), quoted(2.0), quoted("a diagnosis that is nobody's business")
    ("'maybe'", '2.0', "'a diagnosis that is ...'")
    """
    if values_hidden():
        return HIDDEN
    if isinstance(cell, str):
        return repr(str(cell) if len(cell) <= MOST else cell[:MOST] + "...")
    try:
        shown = printable(cell)
    except ValueError:  # an integer of more digits than Python prints
        return "a number that is too long to print"
    return shown if len(shown) <= MOST else shown[:MOST] + "..."


def told(error: object, *paths: object) -> str:
    """Return what another program said, on one line. It may quote cells: long quotations are cut, or all is hidden.

    Parameters
    ----------
    error : object
        The error, or its text.
    *paths : path
        Files that the message may name in full.

    Examples
    --------
    >>> told("could not convert string to float: 'a diagnosis that is private'")
    "could not convert string to float: 'a diagnosis that is ...'"
    """
    if values_hidden() and not (isinstance(error, OSError) and error.errno):  # the system's own words hold no cell
        return "message hidden"
    text = " ".join(str(error).split())
    known = {str(path) for path in paths} | {repr(str(path))[1:-1] for path in paths}
    known |= {Path(str(path)).name for path in paths}

    def cut(found: re.Match[str]) -> str:
        mark, inner = found[1], found[2]
        return found[0] if len(inner) <= MOST or inner in known else f"{mark}{inner[:MOST]}...{mark}"

    return printable(re.sub(r"(['\"`])(.*?)\1", cut, text))[:MOST_TOLD]


def cause(error: BaseException) -> BaseException | None:
    """Return the error to name as the cause of ours: none where its text, which tracebacks print, is hidden."""
    return None if values_hidden() else error


class PrintableError(ValueError):
    """An error whose message can be printed whatever names it holds: the base of the package's own errors."""

    def __init__(self, message: object = "") -> None:
        super().__init__(printable(message))
