"""Strict JSON: refuses content with which a hostile file could attack the standard parser."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, TypeAlias

from hiddenbits.quoting import redacted

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"

DAMAGED = "the file is damaged; restore a copy or fit again"
RAISE_LIMIT = "if the file can be trusted, pass larger limits; otherwise restore a copy or fit again"

# Enough for the 128-bit state of a random generator (39 digits); Python converts very long integers slowly.
MAX_INT_DIGITS = 40


class Flaw(ValueError):  # noqa: N818
    """An error with its remedy, which becomes a `FileError` once the file's name is known."""

    def __init__(self, what: str, remedy: str = DAMAGED) -> None:
        super().__init__(what, remedy)
        self.what = what
        self.remedy = remedy


def parse(text: str, *, what: str, max_values: int, max_containers: int) -> Any:
    """Parse JSON, refusing duplicate keys, NaN, infinities, long integers and too many values.

    Parameters
    ----------
    text : str
        The JSON text.
    what : str
        Name of the text in error messages, as in "the header".
    max_values : int
        Largest number of commas and opening brackets, which bounds the memory of the parsed value.
    max_containers : int
        Largest number of opening brackets: parsed, ``{},{},`` takes about thirty times its length in memory.

    Returns
    -------
    object
        Dicts, lists, strings, finite numbers, booleans and None.
    """
    containers = text.count("[") + text.count("{")
    if containers > max_containers:
        raise Flaw(f"{what} holds more than the limit of {max_containers} lists and objects", RAISE_LIMIT)
    if text.count(",") + containers > max_values:
        raise Flaw(f"{what} holds more than the limit of {max_values} values", RAISE_LIMIT)
    try:
        return json.loads(
            text,
            object_pairs_hook=_no_duplicates,
            parse_int=_short_int,
            parse_float=_finite_float,
            parse_constant=_no_constant,
        )
    except Flaw as flaw:
        raise Flaw(f"{what} {flaw.what}", flaw.remedy) from None
    except RecursionError:
        raise Flaw(f"{what} is nested too deeply") from None
    except ValueError as error:
        raise Flaw(f"{what} is not valid JSON ({redacted(error)})") from None


def dump(value: JSON) -> str:
    """Return JSON in a canonical form: sorted keys, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, allow_nan=False, separators=(",", ":"))


def refuse_strange(value: Any, *, what: str, max_depth: int) -> None:
    """Refuse a parsed value that is nested too deeply or has text that is not valid Unicode; nothing is copied."""

    def check(value: Any, depth: int) -> None:
        if depth > max_depth:
            raise Flaw(f"{what} is nested deeper than {max_depth} levels")
        for item in value if isinstance(value, list) else (*value, *value.values()):
            if isinstance(item, str):
                if not item.isascii():
                    valid(item)
            elif isinstance(item, (list, dict)):
                check(item, depth + 1)

    def valid(text: str) -> None:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise Flaw(f"{what} holds text that is not valid Unicode") from None

    check(value if isinstance(value, (list, dict)) else [value], 1)


def plain(value: object, *, what: str, max_depth: int, remedy: str = DAMAGED) -> JSON:
    """Copy a value as plain JSON types, or refuse it; tuples become lists.

    The bound on the depth also refuses values that contain themselves.
    """

    def bad(problem: str) -> Flaw:
        return Flaw(f"{what} {problem}", remedy)

    def copy(value: object, depth: int) -> JSON:
        if depth > max_depth:
            raise bad(f"is nested deeper than {max_depth} levels")
        match value:
            case None | bool():
                return value
            case int():
                if abs(value) >= 10**MAX_INT_DIGITS:
                    raise bad(f"holds an integer of more than {MAX_INT_DIGITS} digits")
                return int(value)
            case float():
                if not math.isfinite(value):
                    raise bad("holds a number that is NaN or infinite")
                return float(value)
            case str():
                return text(value)
            case list() | tuple():
                return [copy(item, depth + 1) for item in value]
            case Mapping():
                if not all(isinstance(key, str) for key in value):
                    raise bad("holds a key that is not a string")
                return {text(key): copy(item, depth + 1) for key, item in value.items()}
        raise bad(f"holds a {type(value).__name__}, which JSON cannot represent")

    def text(value: str) -> str:
        try:
            value.encode()
        except UnicodeEncodeError:
            raise bad("holds text that is not valid Unicode") from None
        return str.__str__(value)

    return copy(value, 1)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise Flaw("has the same key twice")
    return content


def _short_int(digits: str) -> int:
    if len(digits) > MAX_INT_DIGITS + digits.startswith("-"):
        raise Flaw(f"holds an integer of more than {MAX_INT_DIGITS} digits")
    return int(digits)


def _finite_float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):  # "1e999" is valid JSON and reads as infinity
        raise Flaw("holds a number too large for a float")
    return value


def _no_constant(name: str) -> Any:
    raise Flaw(f"holds {name}, which is not JSON")
