"""Commands of the command line and calls in Python, quoted so that they run as they are printed.

The report and the command line print what to run next, with the options of the current run.
"""

from __future__ import annotations

import os
import re
import shlex


def command(name: str, /, *arguments: object, **options: object) -> str:
    """Return a command that a POSIX shell runs as it is printed.

    Parameters
    ----------
    name : str
        The command, such as "fit".
    *arguments : object
        Positional arguments: paths, the word of a model.
    **options : object
        Its options by name. None and empty lists are skipped; an option is repeated for each value of a list; True
        and False become ``--name`` and ``--no-name``.

    Examples
    --------
    >>> command("fit", "my votes.csv", "classes", n_components=2, drop=["party", "-x"], header=False)
    "hiddenbits fit 'my votes.csv' classes --n-components 2 --drop party --drop=-x --no-header"
    """
    words = ["hiddenbits", name]
    for argument in map(str, arguments):
        words.append(f"./{argument}" if argument.startswith("-") else argument)  # not taken for an option
    for option, value in options.items():
        flag = option.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
            continue
        for text in map(str, value if isinstance(value, (list, tuple)) else [] if value is None else [value]):
            words += [f"--{flag}={text}"] if text.startswith("-") else [f"--{flag}", text]
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
    shifted = " " + text
    return "$'{}'".format("".join(_escaped(sign, before) for sign, before in zip(text, shifted, strict=False)))


def _escaped(sign: str, before: str) -> str:
    """Return a character as it stands between $' and '."""
    if sign in "'\\":
        return f"\\{sign}"
    if sign.isprintable() and sign != "`" and (sign, before) != (" ", " "):
        return sign
    errors = "surrogateescape" if "\udc80" <= sign <= "\udcff" else "surrogatepass"  # file names that are not UTF-8
    return "".join(f"\\x{byte:02x}" for byte in sign.encode("utf-8", errors))


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
    texts = [*map(repr, arguments), *(f"{name}={value!r}" for name, value in options.items())]
    # only strings contain backticks or two spaces
    return re.sub(r" (?= )", r"\\x20", f"{function}({', '.join(texts)})".replace("`", r"\x60"))


def path_shown(path: str | os.PathLike[str]) -> str:
    """Return a path or an address as a command shows it: unchanged, but without the secrets of an address.

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
    """Return a note about the secrets of an address, which are never shown."""
    complete = all(path_shown(path) == path for path in paths)
    return () if complete else ("The address is shown without its secrets: add them again.",)
