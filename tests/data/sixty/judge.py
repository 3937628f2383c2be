"""What is right to find in a table, and whether it was found."""

import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hiddenbits import open_table
from hiddenbits.exceptions import ExcludedColumnsWarning, RecodedColumnsWarning, TableError

READ, REFUSED, WRONG = "read rightly", "refused, and the option worked", "WRONG"


@dataclass(frozen=True)
class Case:
    """A table, and what is right to find in it.

    Attributes
    ----------
    name : str
        What kind of table it is.
    make : function of a folder
        Writes the file and returns its path, or returns an object.
    bits : dict
        The bits of each column, as text: "-" for a cell that was not observed.
    ones : dict
        Of columns with two values: which is 1. It must be said, and with it that the other is 0.
    left_out : dict
        Columns that do not enter, and what they are taken for. It must be said of every one.
    asks : tuple of str
        The columns that the message must name; empty: the table must be read at once.
    say : tuple of str
        Options that the message must give in these words, and with which the table is then read.
    told : tuple of str
        More words that the message, or a warning, must have.
    given : dict
        Options with which the table is opened in the first place.
    """

    name: str
    make: Callable[[Path], Any]
    bits: Mapping[str, str]
    ones: Mapping[str, Any] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    asks: tuple[str, ...] = ()
    say: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict)


def judged(case: Case) -> tuple[str, str]:
    """Return the verdict on a table, and the reason where it is wrong, or else what was said."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        data = case.make(Path(folder))
        said = _opened(data, **case.given)
        if not case.say:
            return _verdict(case, said, READ)
        message = said[0]
        if not isinstance(message, str):
            return WRONG, f"read, but should have been refused: {shown(message)}"
        unsaid = [word for word in (*map(repr, case.asks), *case.say, *case.told) if word not in message]
        if unsaid:
            return WRONG, f"the message lacks {unsaid}: {message}"
        verdict, why = _verdict(case, _opened(data, **case.given, **options(case.say)), REFUSED)
        return verdict, why if verdict == WRONG else message


def options(texts: tuple[str, ...]) -> dict[str, Any]:
    """Return options from the words of a message, such as ``missing=[-99]``; dicts by column are joined."""
    found: dict[str, Any] = {}
    for text in texts:
        for name, value in eval(f"dict({text})", {"__builtins__": {"dict": dict}}).items():
            both = isinstance(value, dict) and isinstance(found.get(name), dict)
            lists = isinstance(value, list) and isinstance(found.get(name), list)
            found[name] = found[name] | value if both else found[name] + value if lists else value
    return found


def _opened(data: Any, **given: Any) -> tuple[Any, list[Any]]:
    """Return the table, or the message where it was refused, and the warnings."""
    with warnings.catch_warnings(record=True, action="always") as said:
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            return open_table(data, **given), said
        except TableError as error:
            return str(error), said


def _verdict(case: Case, found: tuple[Any, list[Any]], right: str) -> tuple[str, str]:
    table, said = found
    if isinstance(table, str):
        return WRONG, f"refused: {table}"
    texts = {kind: [str(one.message) for one in said if one.category is kind] for kind in {w.category for w in said}}
    bits = as_text(table)
    if bits != dict(case.bits):
        return WRONG, f"other bits: {bits}"
    coding = table.coding
    taken = {} if coding is None else {one.name: one.inferred_type for one in table.read_as.descriptions}
    out = {} if coding is None else {name: taken.get(name, "") for name in coding.excluded}
    named = "".join(texts.get(ExcludedColumnsWarning, ()))
    for name, kind in case.left_out.items():
        if out.get(name) != kind:
            return WRONG, f"column {name!r} is {out.get(name)}, not {kind}"
    unsaid = [name for name in case.left_out if repr(name) not in named and name.strip() and right == READ]
    if unsaid or set(out) - set(case.left_out) - set(case.asks):
        return WRONG, f"left out are {out}, and {unsaid} without a word"
    coded = "".join(texts.get(RecodedColumnsWarning, ()))
    for name, one in case.ones.items():
        column = next(column for column in coding.columns if column.name == name)
        if column.ones != (one,):
            return WRONG, f"{column.ones} is 1 in column {name!r}, not {one!r}"
        if f"{one} = 1" not in coded.replace("'", "") or repr(name) not in coded:
            return WRONG, f"which value is 1 in {name!r} was not said"
    silent = [word for word in case.told if right == READ and not any(word in t for ts in texts.values() for t in ts)]
    if silent:
        return WRONG, f"{silent} was not said, but {texts}"
    return right, " ".join(text for each in texts.values() for text in each)


def as_text(table: Any) -> dict[str, str]:
    """Return the bits of a table by column, as in a `Case`."""
    cells = table.to_float()
    names = table.names or tuple(map(str, range(cells.shape[1])))
    return {
        name: "".join("-" if np.isnan(cell) else str(int(cell)) for cell in cells[:, j]) for j, name in enumerate(names)
    }


def shown(table: Any) -> str:
    """Return a table in a few words."""
    return f"{as_text(table)}" + ("" if table.coding is None else f", left out {table.coding.excluded}")
