"""Shell commands and Python calls, written so that they run as they are printed.

The report and the command line print what to run next, from the options of the current run.
"""

from __future__ import annotations

import os
import re
import shlex


def command(subcommand: str, *arguments: object, **options: object) -> str:
    """Return a command that a POSIX shell runs as it is printed.

    Parameters
    ----------
    subcommand : str
        The command, such as "fit".
    *arguments : object
        Its positional arguments: paths, the name of a model.
    **options : object
        Its options by name. None and empty lists are omitted; for a list, the option is repeated for each value; True
        and False are ``--name`` and ``--no-name``.

    Examples
    --------
    >>> command("fit", "my votes.csv", "classes", size=2, drop=["party", "-x"], header=False, seed=None)
    "hiddenbits fit 'my votes.csv' classes --size 2 --drop party --drop=-x --no-header"
    """
    words = ["hiddenbits", subcommand]
    for argument in map(str, arguments):
        words.append(f"./{argument}" if argument.startswith("-") else argument)  # so that it is not read as an option
    for option, value in options.items():
        flag = option.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
            continue
        for word in map(str, value if isinstance(value, (list, tuple)) else [] if value is None else [value]):
            words += [f"--{flag}={word}"] if word.startswith("-") else [f"--{flag}", word]
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
    return "$'{}'".format("".join(_escaped(c, before) for c, before in zip(text, " " + text, strict=False)))


def _escaped(c: str, before: str) -> str:
    """Return a character escaped for a place between $' and '."""
    if c in "'\\":
        return f"\\{c}"
    if c.isprintable() and c != "`" and (c, before) != (" ", " "):
        return c
    errors = "surrogateescape" if "\udc80" <= c <= "\udcff" else "surrogatepass"  # of a file name that is not UTF-8
    return "".join(f"\\x{number:02x}" for number in c.encode("utf-8", errors))


class Name(str):
    """A name or an expression in a call, in place of a value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def call(function: str, *arguments: object, **options: object) -> str:
    r"""Return a call in Python.

    Examples
    --------
    >>> print(call("hiddenbits.report", Name("X"), by="a`b", random_state=3))
    hiddenbits.report(X, by='a\x60b', random_state=3)
    """
    words = [*map(repr, arguments), *(f"{name}={value!r}" for name, value in options.items())]
    # only strings can have backticks or two spaces
    return re.sub(r" (?= )", r"\\x20", f"{function}({', '.join(words)})".replace("`", r"\x60"))


def path_shown(path: str | os.PathLike[str]) -> str:
    """Return a path or an address as a command shows it: unchanged, except for the secrets of an address.

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
    """Return a note about the secrets of an address, which no command shows."""
    shown = all(path_shown(path) == path for path in paths)
    return () if shown else ("The address stands here without its secrets: put them in again.",)
