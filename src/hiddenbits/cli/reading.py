"""The options of all commands that say how a table is read, each described once: parameters of `open_table`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

TABLE, FILE = "The table", "The file, where it is not read rightly"
# Options of the readers of files, which --reader takes.
READER = ("column", "format", "keep_empty", "quote", "separator", "skip_end", "skip_top")
COLON = re.compile(r"(?<!\\):")


def codes(texts: tuple[str, ...]) -> dict[str, Any]:
    """Return codes from texts such as q3:yes=1, q3:one-hot and age:>40."""
    found: dict[str, Any] = {}
    for text in texts:
        left, equals, bit = text.rpartition("=")
        column, value = _at_colon(left)
        if column and equals and bit in ("0", "1"):
            code = found.setdefault(column, {})
            if not isinstance(code, dict):
                raise ValueError(f"--recode {text}: another code was given for {column!r}, too.")
            code[value] = int(bit)
            continue
        column, value = _at_colon(text)
        if not column or not (value == "one-hot" or value.startswith(">")):
            raise ValueError(f"--recode {text}: write column:value=1 or column:'>40'.")
        found[column] = value
    return found


def _at_colon(text: str) -> tuple[str, str]:
    r"""Return (column, value) of a text such as q3:yes, cut at the last colon that is not written as \:."""
    parts = COLON.split(text)
    return ":".join(parts[:-1]).replace("\\:", ":"), parts[-1].replace("\\:", ":")


def _missing(texts: tuple[str, ...]) -> dict[str, list[str]]:
    """Return codes for missing from texts such as -99 and q3:9; 'none' says that there are none."""
    found: dict[str, list[str]] = {}
    for text in texts:
        column, value = _at_colon(text)
        values = found.setdefault(column or "*", [])
        values += [] if value == "none" else [value]
    return {} if found == {"*": []} else found


def _types(texts: tuple[str, ...]) -> dict[str, Any]:
    """Return types from texts such as nominal, q3:ordinal and q3:low,middle,high."""
    found: dict[str, Any] = {}
    for text in texts:
        column, type_ = _at_colon(text)
        found[column or "*"] = type_.split(",") if "," in type_ else type_
    return found


def _split(texts: tuple[str, ...]) -> str | dict[str, str]:
    """Return what is between codes, from texts such as ; and codes:; (one without a column is for all)."""
    found: dict[str, str] = {}
    for text in texts:
        column, mark = _at_colon(text)
        if not column:
            return mark or ":"
        found[column] = mark
    return found


def _delimiter(text: str) -> str:
    return "\t" if text in ("tab", "\\t") else text


def _sheet(text: str) -> str | int:
    return int(text) if text.isdecimal() else text


def _names(path: Path) -> list[str]:
    if not path.is_file():
        raise ValueError(f"--names {path}: this is not a file. Give a text file with one name per line.")
    return path.read_text(encoding="utf-8").splitlines()


def _reader(texts: tuple[str, ...]) -> dict[str, Any]:
    """Return options of a reader from texts such as skip_top=1 and keep_empty=true."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not value:
            raise ValueError(f"--reader {text!r}: write name=value, where the name is one of {', '.join(READER)}.")
        if name not in READER:
            raise ValueError(f"--reader {text!r}: there is no option {name!r}. The options are {', '.join(READER)}.")
        if value.lower() in ("true", "false"):
            found[name] = value.lower() == "true"
        else:
            found[name] = int(value) if value.isdigit() and name in ("skip_top", "skip_end") else value
    return found


class Reading(NamedTuple):
    """An option of all commands that says how a table is read: a parameter of `open_table` of the same name.

    Attributes
    ----------
    help : str
        What it says.
    type : type
        What is typed; a list where it can be repeated.
    parse : function, optional
        Turns that into the argument of `open_table`.
    panel : str
        Where the help lists it.
    flags : tuple of str
        How it is typed, if not by its name.
    default : Any
        What stands for nothing.
    """

    help: str
    type: Any = str | None
    parse: Callable[[Any], Any] | None = None
    panel: str = TABLE
    flags: tuple[str, ...] = ()
    default: Any = None


MANY = list[str] | None
READING = {
    "empty": Reading(
        "What an empty cell means: 'zero', 'missing' (not observed), or 'auto': 0 in baskets and sparse files, missing in "
        "others.",
        str,
        default="auto",
    ),
    "threshold": Reading("Numbers above it become 1, others 0.", float | None),
    "columns": Reading("A column that enters the model; others do not. Can be repeated.", MANY, list),
    "drop": Reading("A column to leave out, or a pattern such as 'x*'. Can be repeated.", MANY, list),
    "id": Reading("A column that names the rows. Can be repeated.", MANY, list),
    "recode": Reading(
        "Which values are 1: q3:yes=1 (others are 0), or age:'>40'. q3:one-hot makes a bit of each value; such bits "
        "exclude each other, which breaks the assumption of latent class models. Can be repeated.",
        MANY,
        codes,
    ),
    "missing": Reading(
        "A code for missing, such as -99, or of one column, q3:9; 'none' if there are none. Can be repeated.",
        MANY,
        _missing,
    ),
    "column_types": Reading(
        "What columns are taken for by models of more than two values: 'binary', 'nominal' or 'ordinal', or one of "
        "them: q3:ordinal, or its levels, q3:low,middle,high; q3:metadata leaves it out. Can be repeated.",
        MANY,
        _types,
    ),
    "sample_weight": Reading("A column of weights of the rows, such as counts of equal rows; it does not enter."),
    "recipe": Reading("A file that says all this, as made by 'hiddenbits look --write-recipe'.", Path | None),
    "reader": Reading(
        "A further option of the file's reader, as name=value: skip_top=1 leaves out a title, skip_end=1 a row of "
        "totals. Can be repeated.",
        MANY,
        _reader,
    ),
    "names": Reading("A text file with the column names, one per line.", Path | None, _names),
    "key": Reading("Which array to read from an .npz file with several."),
    "header": Reading("Whether the first line holds names.", bool | None, panel=FILE, flags=("--header/--no-header",)),
    "delimiter": Reading("The character between cells, such as ';' or tab.", parse=_delimiter, panel=FILE),
    "decimal": Reading("The decimal sign: '.' or ','.", panel=FILE),
    "encoding": Reading("The encoding of the text, such as cp1252.", panel=FILE),
    "sheet": Reading("The sheet of a spreadsheet, by name or number from 0.", parse=_sheet, panel=FILE),
    "split": Reading(
        "What is between several codes in a cell, such as ';', or of one column, 'codes:;'. Can be repeated.",
        MANY,
        _split,
        FILE,
    ),
    "row": Reading(
        "Of a file with a line for each pair, such as order,product: the column that names the row.", panel=FILE
    ),
    "item": Reading("And the column that names the item.", panel=FILE),
    "value": Reading("And the column that says what was seen, if there is one.", panel=FILE),
}
