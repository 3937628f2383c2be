"""Commands of the command line and calls in Python, written so that they run as they are printed.

The report and the command line print what to run next. Everything printed is made here, from the options of the run.
"""

from __future__ import annotations

import os
import re
import shlex


def command(verb: str, *arguments: object, **options: object) -> str:
    """Return a command that a POSIX shell runs as it is printed.

    Parameters
    ----------
    verb : str
        The command, such as "fit".
    *arguments : object
        What it takes without an option: paths, the word of a model.
    **options : object
        Its options by name. None and empty lists are left out; of a list, the option is repeated for each value; True
        and False are ``--name`` and ``--no-name``.

    Examples
    --------
    >>> command("fit", "my votes.csv", "classes", size=2, drop=["party", "-x"], header=False, seed=None)
    "hiddenbits fit 'my votes.csv' classes --size 2 --drop party --drop=-x --no-header"
    """
    words = ["hiddenbits", verb]
    for argument in map(str, arguments):
        words.append(f"./{argument}" if argument.startswith("-") else argument)  # not taken for an option
    for name, value in options.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
            continue
        for one in map(str, value if isinstance(value, (list, tuple)) else [] if value is None else [value]):
            words += [f"--{flag}={one}"] if one.startswith("-") else [f"--{flag}", one]
    return " ".join(map(shell_word, words))


def shell_word(text: str) -> str:
    r"""Return a text as one word of a shell, without characters that a page or a mail would change.

    Backticks, control characters, and spaces after spaces are escaped, as bash, zsh and ksh read them.

    Examples
    --------
    >>> print(shell_word("q1"), shell_word("it's"), shell_word("two  spaces"), shell_word("a`b" + chr(10)))
    q1 'it'"'"'s' $'two \x20spaces' $'a\x60b\x0a'
    """
    if text.isprintable() and "`" not in text and "  " not in text:
        return shlex.quote(text)
    after = " " + text
    return "$'{}'".format("".join(_escaped(one, before) for one, before in zip(text, after, strict=False)))


def _escaped(one: str, before: str) -> str:
    """Return a character as it stands between $' and '."""
    if one in "'\\":
        return f"\\{one}"
    if one.isprintable() and one != "`" and (one, before) != (" ", " "):
        return one
    byte = "surrogateescape" if "\udc80" <= one <= "\udcff" else "surrogatepass"  # of a file's name that is not UTF-8
    return "".join(f"\\x{number:02x}" for number in one.encode("utf-8", byte))


class Name(str):
    """A name or an expression in a call, in place of a value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def call(function: str, *arguments: object, **options: object) -> str:
    r"""Return a call in Python.

    Examples
    --------
    >>> print(call("hiddenbits.report", Name("X"), by="a`b", seed=3))
    hiddenbits.report(X, by='a\x60b', random_state=3)
    """
    given = [*map(repr, arguments), *(f"{name}={value!r}" for name, value in options.items())]
    # in texts alone: nothing else that is printed has backticks or two spaces
    return re.sub(r" (?= )", r"\\x20", f"{function}({', '.join(given)})".replace("`", r"\x60"))


def path_shown(path: str | os.PathLike[str]) -> str:
    """Return a path or an address as a command shows it: as it was given, but for the secrets of an address.

    Examples
    --------
    >>> path_shown("data/votes.csv"), path_shown("https://me:word@example.org/votes.csv")
    ('data/votes.csv', 'https://example.org/votes.csv')
    """
    text = os.fspath(path)
    if "://" not in text:
        return text
    from hiddenbits.addresses import safe_url

    return safe_url(text)


def secrets_note(*paths: str) -> tuple[str, ...]:
    """Return a note about the secrets of an address, which no line shows."""
    shown = all(path_shown(path) == path for path in paths)
    return () if shown else ("The address stands here without its secrets: put them in again.",)
