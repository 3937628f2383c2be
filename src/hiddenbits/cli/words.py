"""Rewrite the library's messages for the command line: options in place of Python parameters."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import Any

from hiddenbits.cli.reading import OPTION_SPECS, READER
from hiddenbits.commands import shell_word

OTHER_OPTIONS = ("checkpoint", "color", "folder", "n_components", "n_jobs", "random_state")
FLAGS = {name: f"--{name.replace('_', '-')}" for name in (*OPTION_SPECS, *OTHER_OPTIONS) if name != "reader"}
# Parameters of open_table that the command line does not have.
ONLY_IN_PYTHON = [
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

    A parameter without such an option is noted at the end.

    Examples
    --------
    >>> in_options("Choose one with key=, or exclude it with drop=['my age'].")
    "Choose one with --key, or exclude it with --drop 'my age'."
    """
    text = re.sub(r"open_table\(\.\.\., ([^()]*)\)", r"\1", text)
    text = text.replace(" Pass the options below to open_table(X, ...), and fit the table that it returns.", "")
    # scikit-learn's message for a parameter that is out of range
    text = re.sub(r"The '(\w+)' parameter of \w+", lambda match: f"The value of {FLAGS.get(match[1], match[1])}", text)
    parameters = [name for name, _ in OPTION.findall(text) if name not in FLAGS and name not in READER]
    of_models = _settings() if parameters else frozenset()
    translated = OPTION.sub(lambda match: _option(match[1], match[2], of_models) or match[0], text)
    untranslated = ", ".join(f"{name}=" for name in dict.fromkeys(parameters) if name in ONLY_IN_PYTHON)
    note = f" (The command line has no {untranslated}: use open_table in Python.)"
    return translated + note if untranslated else translated


def _option(name: str, value: str, settings: frozenset[str]) -> str | None:
    """Return the command-line option, with its value if it has one; None if there is no such option."""
    if name == "names" and value:
        return "--names FILE, a file with one name per line"
    if name in FLAGS or name in READER:
        python_value: Any = ()
        if value:
            try:
                python_value = ast.literal_eval(value)
            except (ValueError, SyntaxError):
                python_value = value
        if name == "header" and isinstance(python_value, bool):
            return "--header" if python_value else "--no-header"
        texts = option_values(name, python_value)
        if name in READER:
            return " ".join(f"--reader {shell_word(f'{name}={text}')}" for text in texts) or f"--reader {name}=..."
        return " ".join(f"{FLAGS[name]} {shell_word(text)}" for text in texts) or FLAGS[name]
    return f"--set {name}={value or ''}" if name in settings and name not in ONLY_IN_PYTHON else None


def option_values(name: str, python_value: Any) -> list[str]:
    """Return the value of a parameter of `open_table` as values of the option, which is repeated for each.

    Examples
    --------
    >>> option_values("recode", {"q1": {"yes": 1, "no": 0}}), option_values("missing", [])
    (['q1:yes=1', 'q1:no=0'], ['none'])
    """
    if isinstance(python_value, dict):
        return [text for column, of_column in python_value.items() for text in _column_values(name, column, of_column)]
    if name == "missing" and python_value == []:
        return ["none"]
    values = python_value if isinstance(python_value, (list, tuple)) else (python_value,)
    return [_escaped(value) if name == "missing" else str(value) for value in values]


def _column_values(option: str, column: str, python_value: Any) -> list[str]:
    """Return the value of a parameter for one column as values of an option."""
    if isinstance(python_value, dict):
        return [f"{column}:{_escaped(value)}={bit}" for value, bit in python_value.items()]
    if option == "missing":
        return [f"{column}:{_escaped(value)}" for value in python_value] or [f"{column}:none"]
    return [f"{column}:{_escaped(python_value)}"]


def _escaped(value: Any) -> str:
    r"""Return a value with colons escaped as \:, because a colon ends the column."""
    return "..." if value is ... else str(value).replace(":", chr(92) + ":")


@cache
def _settings() -> frozenset[str]:
    """Return the parameter names of all models."""
    import hiddenbits
    from hiddenbits.cli.models import all_families

    return frozenset(name for known in all_families() for name in getattr(hiddenbits, known.name)().get_params())
