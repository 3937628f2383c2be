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
from hiddenbits.data.errors import TableError
from hiddenbits.quoting import message_of, printable, told

KEYS = ("columns", "drop", "id", "code", "missing", "sample_weight")
MOST_BYTES = 1 << 24


def read_recipe(path: str | os.PathLike[str]) -> Choices:
    """Read a recipe; whatever is not one is refused with the file's name."""
    shown = printable(path)
    try:
        if Path(path).stat().st_size > MOST_BYTES:
            raise TableError(f"{shown}: this is too large for a recipe.")
        said = tomllib.loads(Path(path).read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise TableError(f"{shown}: the recipe cannot be read ({error.strerror}).") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise TableError(f"{shown}: this is not a recipe in TOML ({told(error)}).") from error
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
    [code."q1"]
    "no" = 0
    "yes" = 1
    <BLANKLINE>
    """
    said = (choices or Choices()).about([look.name for look in looks])
    pairs = list(zip(looks, said, strict=True))
    of = f" {printable(source)}" if source is not None else " a table"
    lines = [f"# How{of} is read. Change what is not right; the other commands take this file with --recipe."]
    ids = [look.name for look, one in pairs if one.is_id or (look.taken == "id" and not one.out and one.code is None)]
    out = [
        (look.name, look.taken) for look, one in pairs if look.name not in ids and (one.out or _stays_out(look, one))
    ]
    if choices is not None and choices.sample_weight is not None:
        lines.append(f"sample_weight = {_text(choices.sample_weight)}")
        out = [one for one in out if one[0] != choices.sample_weight]
    if ids:
        lines.append(f"id = [{', '.join(map(_text, ids))}]")
    if out:
        lines += ["drop = [", *(f"  {_text(name)},  # {taken}" for name, taken in out), "]"]
    unread = [look for look, one in pairs if not one.out and one.code is None and look.needs_a_word]
    lines += _missing_lines(choices, unread)
    inside = [(look, one) for look, one in pairs if not one.out and look.name not in ids]
    words = [f"{_text(look.name)} = {_text(one.code)}" for look, one in inside if isinstance(one.code, str)]
    lines += ["", "[code]", *words] if words else []
    for look, one in inside:
        if isinstance(one.code, Mapping):
            lines += _code(look.name, one.code)
        elif look.taken == "two values" and not look.suspects and one.code is None:
            lines += _code(look.name, {look.zero: 0, look.one: 1})
    for look in unread:
        code = suggested(look).get("code", {}).get(look.name)
        if code is not None:
            shown = ", ".join(_value(value) for value, _ in look.values[:12])
            lines += ["", f"# {_text(look.name)} has {shown}{' and blanks' if look.n_blank else ''}: which are 1?"]
            lines += [f"# {line}" for line in _code(look.name, code)[1:]]
    return "\n".join([*lines, ""])


def _missing_lines(choices: Choices | None, unread: Sequence[ColumnLook]) -> list[str]:
    """Return what a recipe says about codes for missing: what was said, and in comments what may be."""
    said = None if choices is None else choices.missing
    if said == {}:
        return ["missing = []"]
    lines = [f"{_text(name)} = [{', '.join(map(_value, values))}]" for name, values in (said or {}).items()]
    maybe = [look for look in unread if look.suspects]
    found = [f"# {_text(a.name)} = [{', '.join(map(_value, a.suspects))}]  # codes for missing?" for a in maybe]
    return ["", "[missing]" if lines else "# [missing]", *lines, *found] if lines or found else []


def _stays_out(look: ColumnLook, said: Any) -> bool:
    return bool(look.left_out and said.code is None and not said.asked)


def _code(name: str, code: Mapping[Any, int]) -> list[str]:
    return ["", f"[code.{_text(name)}]", *(f"{_text(str(value))} = {bit}" for value, bit in code.items())]


def _text(text: str) -> str:
    """Return a text as TOML has it: a JSON text, but for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    return _text(value) if isinstance(value, str) else json.dumps(value)
