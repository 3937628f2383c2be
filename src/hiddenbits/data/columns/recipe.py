"""Recipes: the user's options for columns, in a small TOML file."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hiddenbits.data.coding.choices import Choices
from hiddenbits.data.columns.describe import ColumnDescription
from hiddenbits.data.columns.message import suggested_options
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import message_of, printable, redacted

KEYS = ("columns", "drop", "id", "recode", "missing", "sample_weight")


def read_recipe(path: str | os.PathLike[str]) -> Choices:
    """Read a recipe; raise an error with the file's name if it is not one."""
    shown = printable(path)
    try:
        options = tomllib.loads(Path(path).read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise TableError(f"{shown}: the recipe cannot be read ({error.strerror}).") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise TableError(f"{shown}: this is not a recipe in TOML ({redacted(error)}).") from error
    unknown = [key for key in options if key not in KEYS]
    if unknown:
        raise TableError(f"{shown}: {unknown[0]!r} is not an option of a recipe. Its options are {', '.join(KEYS)}.")
    try:
        return Choices.of(**options)
    except TypeError as error:
        raise TableError(f"{shown}: {message_of(error)}") from error


def recipe_text(columns: Sequence[ColumnDescription], choices: Choices | None = None, source: object = None) -> str:
    """Return a recipe that reads a table as described; ambiguous columns are in comments, with suggestions.

    Examples
    --------
    >>> from hiddenbits.data.columns.describe import describe_column
    >>> counts = {"q1": {"yes": 2, "no": 3}, "age": {20.5: 1, 31: 1, 47: 1, 48: 1}}
    >>> print(recipe_text([describe_column(name, counts[name]) for name in counts]))
    # How a table is read. Correct it, and pass it to the other commands with --recipe.
    drop = [
      "age",  # continuous
    ]
    <BLANKLINE>
    [recode."q1"]
    "no" = 0
    "yes" = 1
    <BLANKLINE>
    """
    choices = choices or Choices()
    ids: list[str] = []
    excluded: list[str] = []
    thresholds: list[str] = []
    codes: list[str] = []
    ambiguous: list[ColumnDescription] = []
    for column, options in zip(columns, choices.by_column([c.name for c in columns]), strict=True):
        if column.name == choices.sample_weight:
            continue
        if options.is_id or (column.inferred_type == "id" and not options.is_excluded and options.recode is None):
            ids.append(column.name)
        elif options.is_excluded or (column.is_excluded and not options.is_named):
            excluded.append(f"  {_toml(column.name)},  # {column.inferred_type}")
        elif isinstance(options.recode, str):
            thresholds.append(f"{_toml(column.name)} = {_toml(options.recode)}")
        elif options.recode is not None:
            codes += _code(column.name, options.recode)
        elif column.is_ambiguous:
            ambiguous.append(column)
        elif column.inferred_type == "two values":
            codes += _code(column.name, {column.negative: 0, column.positive: 1})
    table = "a table" if source is None else printable(source)
    lines = [f"# How {table} is read. Correct it, and pass it to the other commands with --recipe."]
    lines += [f"sample_weight = {_toml(choices.sample_weight)}"] if choices.sample_weight is not None else []
    lines += [f"id = {_toml(ids)}"] if ids else []
    lines += ["drop = [", *excluded, "]"] if excluded else []
    lines += _missing_lines(choices.missing, ambiguous)
    lines += ["", "[recode]", *thresholds] if thresholds else []
    lines += codes
    for column in ambiguous:
        code = suggested_options(column).get("recode", {}).get(column.name)
        if code is not None:
            shown = ", ".join(_toml(value) for value, _ in column.values[:12])
            missing = " and missing values" if column.n_missing else ""
            lines += ["", f"# {_toml(column.name)} has {shown}{missing}: which are 1?"]
            lines += [f"# {line}" for line in _code(column.name, code)[1:]]
    return "\n".join([*lines, ""])


def _missing_lines(missing: Mapping[str, Sequence[Any]] | None, ambiguous: Sequence[ColumnDescription]) -> list[str]:
    """Return the lines about codes for missing values: the user's, and in comments the suspected ones."""
    if missing == {}:
        return ["missing = []"]
    lines = [f"{_toml(name)} = {_toml(values)}" for name, values in (missing or {}).items()]
    suspected = [(column.name, column.suspected_codes) for column in ambiguous if column.suspected_codes]
    comments = [f"# {_toml(name)} = {_toml(codes)}  # codes for missing values?" for name, codes in suspected]
    return ["", "[missing]" if lines else "# [missing]", *lines, *comments] if lines or comments else []


def _code(name: str, code: Mapping[Any, int]) -> list[str]:
    return ["", f"[recode.{_toml(name)}]", *(f"{_toml(str(value))} = {bit}" for value, bit in code.items())]


def _toml(value: Any) -> str:
    """Return a text, a number or a list of them in TOML, which differs from JSON in one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
