"""Rewrite the library's messages for the command line: its options instead of Python parameters."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import Any

from hiddenbits.cli.reading import READER, READING
from hiddenbits.commands import shell_word

OWN = {name: f"--{name.replace('_', '-')}" for name in (*READING, "checkpoint", "folder", "color") if name != "reader"}
OWN |= {"n_jobs": "--jobs", "n_components": "--size", "random_state": "--seed"}
# Parameters of open_table that the command line does not have.
NOT_HERE = [
    "array",
    "items",
    "labels",
    "layer",
    "max_bytes",
    "max_columns",
    "n_columns",
    "nan",
    "packed",
    "part_bytes",
    "reals",
    "storage_options",
]
TEXT = r"'[^']*'|\"[^\"]*\""
INSIDE = rf"\{{(?:{TEXT}|[^{{}}'\"])*\}}|\[(?:{TEXT}|[^\]'\"])*\]"
VALUE = rf"\{{(?:{TEXT}|{INSIDE}|[^{{}}'\"])*\}}|\[(?:{TEXT}|[^\]'\"])*\]|{TEXT}|-?\w+(?:\.\w+)*"
OPTION = re.compile(rf"(?<![\w'\"`.\-=:])([a-z]+(?:_[a-z]+)*)=({VALUE})?")


def in_options(text: str) -> str:
    """Return a message with command-line options in place of Python parameters.

    Where the command line has no such option, the message says so.

    Examples
    --------
    >>> in_options("Choose one with key=, or leave it out with drop=['my age'].")
    "Choose one with --key, or leave it out with --drop 'my age'."
    """
    text = re.sub(r"open_table\(\.\.\., ([^()]*)\)", r"\1", text)
    text = text.replace(" Pass the options below to open_table(X, ...), and fit the table that it returns.", "")
    # scikit-learn's message for a parameter that is out of range
    text = re.sub(r"The '(\w+)' parameter of \w+", lambda found: f"The value of {OWN.get(found[1]) or found[1]}", text)
    others = [name for name, _ in OPTION.findall(text) if name not in OWN and name not in READER]
    of_models = _settings() if others else frozenset()
    said = OPTION.sub(lambda found: _option(found[1], found[2], of_models) or found[0], text)
    left = ", ".join(f"{name}=" for name in dict.fromkeys(others) if name in NOT_HERE)
    return f"{said} (The command line has no {left}: use open_table in Python.)" if left else said


def _option(name: str, value: str, settings: frozenset[str]) -> str | None:
    """Return the command-line option, with its value if there is one; None if there is no such option."""
    if name == "names" and value:
        return "--names FILE, a file with one name per line"
    if name in OWN or name in READER:
        given: Any = ()
        if value:
            try:
                given = ast.literal_eval(value)
            except (ValueError, SyntaxError):
                given = value
        if name == "header" and isinstance(given, bool):
            return "--header" if given else "--no-header"
        each = option_values(name, given)
        if name in READER:
            return " ".join(f"--reader {shell_word(f'{name}={one}')}" for one in each) or f"--reader {name}=..."
        return " ".join(f"{OWN[name]} {shell_word(one)}" for one in each) or OWN[name]
    return f"--set {name}={value or ''}" if name in settings and name not in NOT_HERE else None


def option_values(name: str, given: Any) -> list[str]:
    """Return a parameter of `open_table` as the values of the option of the same name, which is repeated for each.

    Examples
    --------
    >>> option_values("recode", {"q1": {"yes": 1, "no": 0}}), option_values("missing", [])
    (['q1:yes=1', 'q1:no=0'], ['none'])
    """
    if isinstance(given, dict):
        return [word for column, said in given.items() for word in _of_column(name, column, said)]
    if name == "missing" and given == []:
        return ["none"]
    each = given if isinstance(given, (list, tuple)) else (given,)
    return [_written(value) if name == "missing" else str(value) for value in each]


def _of_column(option: str, column: str, said: Any) -> list[str]:
    """Return what is said about one column as the values of an option."""
    if isinstance(said, dict):
        return [f"{column}:{_written(value)}={bit}" for value, bit in said.items()]
    if option == "missing":
        return [f"{column}:{_written(value)}" for value in said] or [f"{column}:none"]
    return [f"{column}:{_written(said)}"]


def _written(value: Any) -> str:
    r"""Return a value as options have it: a colon in it is written as \:, because a colon ends the column."""
    return "..." if value is ... else str(value).replace(":", chr(92) + ":")


@cache
def _settings() -> frozenset[str]:
    """Return the parameter names of all models."""
    import hiddenbits
    from hiddenbits.cli.models import all_families

    return frozenset(name for one in all_families() for name in getattr(hiddenbits, one.name)().get_params())
