"""Messages of the library in the command line's words: its options instead of Python's."""

from __future__ import annotations

import ast
import re
import shlex
from functools import cache
from typing import Any

OWN = {
    "blank": "--blank",
    "threshold": "--threshold",
    "drop": "--drop",
    "names": "--names",
    "key": "--key",
    "n_jobs": "--jobs",
    "checkpoint": "--checkpoint",
    "n_components": "--size",
    "random_state": "--seed",
    "folder": "--folder",
    "colour": "--colour",
}
# Of reading tables, in Python alone.
READING = [
    "array",
    "column",
    "columns",
    "delimiter",
    "format",
    "header",
    "item",
    "items",
    "kinds",
    "layer",
    "max_bytes",
    "max_columns",
    "n_columns",
    "nan",
    "packed",
    "part_bytes",
    "row",
    "storage_options",
    "value",
]
VALUE = r"\[[^\]]*\]|'[^']*'|\"[^\"]*\"|-?\w+(?:\.\w+)*"
OPTION = re.compile(rf"(?<![\w'\"`.\-=])([a-z]+(?:_[a-z]+)*)=({VALUE})?")


def in_options(text: str) -> str:
    """Return a message with the options of the command line in place of Python's.

    What the command line has no option for is said to be Python's.

    Examples
    --------
    >>> in_options("Choose one with key=, or leave it out with drop=['my age'].")
    "Choose one with --key, or leave it out with --drop 'my age'."
    """
    text = re.sub(r"open_table\(\.\.\., ([^()]*)\)", r"\1", text)
    # scikit-learn's words for a setting that is out of range
    text = re.sub(r"The '(\w+)' parameter of \w+", lambda found: f"The value of {OWN.get(found[1]) or found[1]}", text)
    others = [name for name, _ in OPTION.findall(text) if name not in OWN]
    of_models = _settings() if others else frozenset()
    said = OPTION.sub(lambda found: _option(found[1], found[2], of_models) or found[0], text)
    left = ", ".join(f"{name}=" for name in dict.fromkeys(others) if name in READING)
    return f"{said} (Python's open_table has {left}; the command line does not.)" if left else said


def _option(name: str, value: str, settings: frozenset[str]) -> str | None:
    """Return an option of the command line, with its value if there is one; None where there is no such option."""
    if name in OWN:
        given: Any = ()
        if value:
            try:
                given = ast.literal_eval(value)
            except (ValueError, SyntaxError):
                given = value
        each = given if isinstance(given, (list, tuple)) else (given,)
        return " ".join(f"{OWN[name]} {shlex.quote(str(one))}" for one in each) or OWN[name]
    return f"--set {name}={value or ''}" if name in settings and name not in READING else None


@cache
def _settings() -> frozenset[str]:
    """Return the names of all settings of models."""
    import hiddenbits
    from hiddenbits.cli.models import all_families

    return frozenset(name for one in all_families() for name in getattr(hiddenbits, one.name)().get_params())
