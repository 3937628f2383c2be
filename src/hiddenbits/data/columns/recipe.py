"""Recipes: what the user said about columns, in a small TOML file."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hiddenbits.data.coding.choices import Choices
from hiddenbits.data.columns.describe import ColumnLook
from hiddenbits.data.columns.message import suggested
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import message_of, printable, redacted

KEYS = ("columns", "drop", "id", "recode", "missing", "sample_weight")


def read_recipe(path: str | os.PathLike[str]) -> Choices:
    """Read a recipe; whatever is not one is refused with the file's name."""
    shown = printable(path)
    try:
        said = tomllib.loads(Path(path).read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise TableError(f"{shown}: the recipe cannot be read ({error.strerror}).") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise TableError(f"{shown}: this is not a recipe in TOML ({redacted(error)}).") from error
    unknown = [key for key in said if key not in KEYS]
    if unknown:
        raise TableError(f"{shown}: a recipe has no {unknown[0]!r}. It may have {', '.join(KEYS)}.")
    try:
        return Choices.of(**said)
    except TypeError as error:
        raise TableError(f"{shown}: {message_of(error)}") from error


def recipe_text(looks: Sequence[ColumnLook], choices: Choices | None = None, source: object = None) -> str:
    """Return a recipe that reads a table as it was looked at; columns that need a word are suggested in comments.

    Examples
    --------
    >>> from hiddenbits.data.columns.describe import described
    >>> print(recipe_text([described("q1", {"yes": 2, "no": 3}), described("age", {20.5: 1, 31: 1, 47: 1, 48: 1})]))
    # How a table is read. Change what is not right; the other commands take this file with --recipe.
    drop = [
      "age",  # number
    ]
    <BLANKLINE>
    [recode."q1"]
    "no" = 0
    "yes" = 1
    <BLANKLINE>
    """
    choices = choices or Choices()
    about = choices.about([look.name for look in looks])
    ids: list[str] = []
    out: list[str] = []
    words: list[str] = []
    codes: list[str] = []
    open_: list[ColumnLook] = []  # that need a word
    for look, said in zip(looks, about, strict=True):
        if look.name == choices.sample_weight:
            continue
        if said.is_id or (look.taken == "id" and not said.out and said.recode is None):
            ids.append(look.name)
        elif said.out or (look.left_out and not said.asked):
            out.append(f"  {_toml(look.name)},  # {look.taken}")
        elif isinstance(said.recode, str):
            words.append(f"{_toml(look.name)} = {_toml(said.recode)}")
        elif said.recode is not None:
            codes += _code(look.name, said.recode)
        elif look.needs_a_word:
            open_.append(look)
        elif look.taken == "two values":
            codes += _code(look.name, {look.zero: 0, look.one: 1})
    of = f" {printable(source)}" if source is not None else " a table"
    lines = [f"# How{of} is read. Change what is not right; the other commands take this file with --recipe."]
    lines += [f"sample_weight = {_toml(choices.sample_weight)}"] if choices.sample_weight is not None else []
    lines += [f"id = {_toml(ids)}"] if ids else []
    lines += ["drop = [", *out, "]"] if out else []
    lines += _missing_lines(choices.missing, open_)
    lines += ["", "[recode]", *words] if words else []
    lines += codes
    for look in open_:
        code = suggested(look).get("recode", {}).get(look.name)
        if code is not None:
            shown = ", ".join(_toml(value) for value, _ in look.values[:12])
            missing = " and missing values" if look.n_blank else ""
            lines += ["", f"# {_toml(look.name)} has {shown}{missing}: which are 1?"]
            lines += [f"# {line}" for line in _code(look.name, code)[1:]]
    return "\n".join([*lines, ""])


def _missing_lines(missing: Mapping[str, Sequence[Any]] | None, open_: Sequence[ColumnLook]) -> list[str]:
    """Return what a recipe says about codes for missing: what the user said, and in comments what may be."""
    if missing == {}:
        return ["missing = []"]
    given = [f"{_toml(name)} = {_toml(values)}" for name, values in (missing or {}).items()]
    maybe = [f"# {_toml(look.name)} = {_toml(look.suspects)}  # codes for missing?" for look in open_ if look.suspects]
    return ["", "[missing]" if given else "# [missing]", *given, *maybe] if given or maybe else []


def _code(name: str, code: Mapping[Any, int]) -> list[str]:
    return ["", f"[recode.{_toml(name)}]", *(f"{_toml(str(value))} = {bit}" for value, bit in code.items())]


def _toml(value: Any) -> str:
    """Return a text, a number or a list of them as TOML has it: as JSON does, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
