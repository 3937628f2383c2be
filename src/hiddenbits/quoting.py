"""Names, cells and messages of other programs in our messages: on one line, escaped, short, and hidden on request.

The name of a column or file may contain escape sequences that recolor or clear a terminal, characters that reverse the
line, or line breaks that fake a second message. A cell may be private, and a message of another library may repeat a
cell, a password or a signed address. This module decides what is shown of them: `printable` for names, `quoted` for
cells, `redacted` for messages of other programs, and `discreet` for all errors that leave a public function, with the
errors that caused them. All modules may use it.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from opcode import opmap
from pathlib import Path
from urllib.parse import quote

from hiddenbits.addresses import ANNOUNCED, SECRET, safe_url, without_user

HIDE = "HIDDENBITS_HIDE_VALUES"
CELL_LENGTH = 20  # characters of a cell that a message shows
MESSAGE_LENGTH = 200  # characters of another program's message that a message shows
SEARCHED_LENGTH = 4000  # characters of that message that are searched for secrets, because patterns take time
HIDDEN_VALUE = "the value (hidden)"
# Control characters, format characters (including those that reorder text), lone surrogates, line separators. Joiners,
# which Persian, Indic scripts and emoji need, are format characters, too, but harmless.
ESCAPED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
JOINERS = "\u200c\u200d"
ADDRESS = re.compile(r"[A-Za-z][\w+.-]*://[^\s'\"<>]+")
MIN_SECRET_LENGTH = 3  # shorter secrets occur in every sentence
QUOTE_MARK, SECRET_NAME = "['\"]", rf"(?<![\w-])([\w-]{{0,60}}?{ANNOUNCED})"
# Where a message of another program shows a secret: user:password@host, name=value, a header of HTTP.
SECRETS_IN_MESSAGES = (
    (re.compile(r"(?<![\w/])[^\s/@:'\"`(,=]+:(?!/|\d+/)[^\s@'\"`]+@(?=\w)"), f"{SECRET}@"),
    (re.compile(rf"(?i){SECRET_NAME}({QUOTE_MARK}?\s*(?:=|%3D|:)\s*{QUOTE_MARK}?)[^\s'\"&;,)]+"), rf"\1\2{SECRET}"),
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{6,}"), rf"\1 {SECRET}"),
)
ENVIRONMENT = re.compile(  # variables whose values are secrets
    ".*(?:TOKEN|SECRET|PASSWORD|PASSWD|(?:ACCESS|API|ACCOUNT|PRIVATE|SECRET)_KEY(?:_ID)?|_SAS|CONNECTION_STRING)",
    re.IGNORECASE,
)


def printable(text: object, keep: str = "") -> str:
    r"""Return a text in which every character is escaped that would control a terminal instead of being shown.

    A text that is already escaped does not change.

    Parameters
    ----------
    text : object
        The text.
    keep : str
        Characters that are not escaped, such as the line breaks of a text of several lines.

    Examples
    --------
    >>> print(printable("red\x1b[31m" + chr(10) + "b\u202egnp"))
    red\x1b[31m\nb\u202egnp
    """
    shown = text if isinstance(text, str) else str(text)
    if shown.isprintable():
        return shown
    keep += JOINERS
    return "".join(_escaped(c) if unicodedata.category(c) in ESCAPED_CATEGORIES and c not in keep else c for c in shown)


def json_escaped(text: str) -> str:
    r"""Return JSON with characters that control a terminal escaped: the content stays the same.

    Examples
    --------
    >>> print(json_escaped('{"a": "red\x1b[31m"}'))
    {"a": "red\u001b[31m"}
    """
    return "".join(c if printable(c, keep="\n") == c else json.dumps(c)[1:-1] for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def name_of(name: object) -> str:
    """Return a name as in a list of names: escaped, and in quotes if it would be invisible.

    Examples
    --------
    >>> name_of("age"), name_of(" ")
    ('age', "' '")
    """
    shown = printable(name)
    return shown if shown.strip() else repr(shown)


def values_hidden() -> bool:
    """Whether messages show no cells: HIDDENBITS_HIDE_VALUES is set, and not to 0."""
    return os.environ.get(HIDE, "0").strip() not in ("", "0")


def quoted(cell: object) -> str:
    """Return a cell for an error message: at most 20 characters, or nothing with HIDDENBITS_HIDE_VALUES=1.

    Examples
    --------
    >>> quoted("maybe"), quoted(2.0), quoted("a diagnosis that is nobody's business")
    ("'maybe'", '2.0', "'a diagnosis that is ...'")
    """
    if values_hidden():
        return HIDDEN_VALUE
    if isinstance(cell, str):
        return repr(str(cell) if len(cell) <= CELL_LENGTH else cell[:CELL_LENGTH] + "...")
    try:
        shown = printable(cell)
    except ValueError:  # an integer of more digits than Python prints
        return "a number that is too long to print"
    return shown if len(shown) <= CELL_LENGTH else shown[:CELL_LENGTH] + "..."


def redacted(error: object, *places: object, secrets: Iterable[str] = ()) -> str:
    """Return a message of another program on one line, without secrets; cells that it quotes are shortened or hidden.

    Parameters
    ----------
    error : object
        The error, or its text.
    *places : path or RemoteFile
        Files that the message may name in full; a remote one knows its secrets.
    secrets : iterable of str
        Texts that must not be shown, in addition to those that look like secrets.

    Examples
    --------
    >>> redacted("could not convert string to float: 'a diagnosis that is private'")
    "could not convert string to float: 'a diagnosis that is ...'"
    >>> redacted('Invalid bucket name "key:word@bucket"')
    'Invalid bucket name "***@bucket"'
    """
    if values_hidden() and not (isinstance(error, OSError) and error.errno):  # the system's own messages have no cells
        return "message hidden"
    text = " ".join(without_secrets(str(error), [*secrets, *_secrets_of(places)]).split())
    known = {str(place) for place in places} | {repr(str(place))[1:-1] for place in places}
    known |= {Path(str(place)).name for place in places}

    def shorten(match: re.Match[str]) -> str:
        mark, inner = match[1], match[2]
        return match[0] if len(inner) <= CELL_LENGTH or inner in known else f"{mark}{inner[:CELL_LENGTH]}...{mark}"

    return printable(re.sub(r"(['\"`])(.*?)\1", shorten, text))[:MESSAGE_LENGTH]


def without_secrets(text: str, secrets: Iterable[str] = ()) -> str:
    """Return a text without `secrets`, secrets of environment variables, and words that look like secrets.

    Examples
    --------
    >>> without_secrets("403 for https://me:word@example.org/x.csv?sig=abc with password='hush'")
    "403 for https://example.org/x.csv?... with password='***'"
    """
    words = {form for word in [*secrets, *_of_environment()] for form in (word, quote(word, safe=""), repr(word)[1:-1])}
    for word in sorted((word for word in words if len(word) >= MIN_SECRET_LENGTH), key=len, reverse=True):
        text = text.replace(word, SECRET)
    text = text[:SEARCHED_LENGTH]
    text = ADDRESS.sub(lambda match: safe_url(match[0]), text)
    for pattern, shown in SECRETS_IN_MESSAGES:
        text = pattern.sub(shown, text)
    return text


def _of_environment() -> Iterator[str]:
    """Yield the values of environment variables whose names announce a secret."""
    for name, value in os.environ.items():
        if len(value) >= 2 * MIN_SECRET_LENGTH and ENVIRONMENT.fullmatch(name):
            yield value


def _secrets_of(places: Iterable[object]) -> Iterator[str]:
    for place in places:
        yield from getattr(place, "secrets", ())


@contextmanager
def discreet(*places: object) -> Iterator[None]:
    """Raise no error that shows a secret, or a value if values are hidden, nor an error caused by such an error.

    Errors of this package pass, because they are worded with `quoted` and `redacted`. Other errors pass unless
    something has to be hidden: then an error of the nearest base class is raised, with a redacted message. The chain of
    causes, which tracebacks print, ends before the first error that may not be shown.

    Parameters
    ----------
    *places : path or RemoteFile
        The files that are read; a remote one knows its secrets.
    """
    try:
        try:
            yield
        except Exception as error:
            _cut_causes(error, places)
            if _may_be_shown(error, places):
                raise
            raise _with_message(error, redacted(error, *places)) from None
    except Exception as error:
        if error.__suppress_context__:  # not printed, but a worker would send it
            error.__context__ = None
        raise


def _cut_causes(error: BaseException, places: Iterable[object]) -> None:
    """Cut the chain of an error's causes before the first that may not be shown."""
    earlier = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    while earlier is not None:
        if not _may_be_shown(earlier, places):
            error.__cause__, error.__suppress_context__ = None, True
            return
        error, earlier = earlier, earlier.__cause__ or (None if earlier.__suppress_context__ else earlier.__context__)


def _may_be_shown(error: BaseException, places: Iterable[object]) -> bool:
    """Whether nothing in the message of an error has to be hidden."""
    if isinstance(error, PrintableError) or _raised_here(error):
        return True
    text = str(error)
    return not values_hidden() and without_secrets(text, _secrets_of(places)) == text


def _raised_here(error: BaseException) -> bool:
    """Whether a `raise` of this package raised the error: messages of Python or other libraries may quote cells."""
    trace = error.__traceback__
    if trace is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    frame = trace.tb_frame
    in_package = str(frame.f_globals.get("__name__")).partition(".")[0] == __name__.partition(".")[0]
    return in_package and frame.f_code.co_code[trace.tb_lasti] == opmap["RAISE_VARARGS"]


def _with_message(error: Exception, text: str) -> Exception:
    """Return an error with another text, of the same class or the nearest base class that a text can construct."""
    for error_type in type(error).__mro__:
        with suppress(Exception):
            new_error = error_type(text)
            if isinstance(new_error, Exception) and str(new_error) == text:
                return new_error
    return RuntimeError(text)


def message_of(error: BaseException) -> str:
    """Return the message of any error for display: unchanged if it may be shown, otherwise redacted."""
    return str(error) if _may_be_shown(error, ()) else redacted(error)


class PrintableError(ValueError):
    """An error whose message is safe to print, whatever names it contains: the base of the package's own errors."""

    def __init__(self, message: object = "") -> None:
        super().__init__(without_user(printable(message)))
