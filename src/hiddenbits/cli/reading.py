"""The options of reading a table, each defined once: parameters of `open_table`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

TABLE, FILE = "The table", "The file format, if it is not detected"
# Options of file readers, which are set by --reader.
READER = ("column", "format", "keep_empty", "quote", "separator", "skip_end", "skip_top")
COLON = re.compile(r"(?<!\\):")


def recode_values(texts: tuple[str, ...]) -> dict[str, Any]:
    """Return `recode=` of `open_table` from texts such as q3:yes=1, q3:one-hot and age:>40."""
    recode: dict[str, Any] = {}
    for text in texts:
        column_and_value, equals, bit = text.rpartition("=")
        column, value = _split_at_colon(column_and_value)
        if column and equals and bit in ("0", "1"):
            bit_of_value = recode.setdefault(column, {})
            if not isinstance(bit_of_value, dict):
                raise ValueError(f"--recode {text}: column {column!r} is already recoded in another way.")
            bit_of_value[value] = int(bit)
            continue
        column, value = _split_at_colon(text)
        if not column or not (value == "one-hot" or value.startswith(">")):
            raise ValueError(f"--recode {text}: write column:value=1 or column:'>40'.")
        recode[column] = value
    return recode


def _split_at_colon(text: str) -> tuple[str, str]:
    r"""Return (column, value) of a text such as q3:yes, cut at the last colon that is not written as \:."""
    parts = COLON.split(text)
    return ":".join(parts[:-1]).replace("\\:", ":"), parts[-1].replace("\\:", ":")


def _missing(texts: tuple[str, ...]) -> dict[str, list[str]]:
    """Return codes of missing values from texts such as -99 and q3:9; 'none' stands for no codes."""
    codes: dict[str, list[str]] = {}
    for text in texts:
        column, value = _split_at_colon(text)
        column_codes = codes.setdefault(column or "*", [])
        column_codes += [] if value == "none" else [value]
    return {} if codes == {"*": []} else codes


def _types(texts: tuple[str, ...]) -> dict[str, Any]:
    """Return column types from texts such as nominal, q3:ordinal and q3:low,middle,high."""
    types: dict[str, Any] = {}
    for text in texts:
        column, type_ = _split_at_colon(text)
        types[column or "*"] = type_.split(",") if "," in type_ else type_
    return types


def _split(texts: tuple[str, ...]) -> str | dict[str, str]:
    """Return separators from texts such as ; and codes:; (a separator without a column applies to all)."""
    separators: dict[str, str] = {}
    for text in texts:
        column, separator = _split_at_colon(text)
        if not column:
            return separator or ":"
        separators[column] = separator
    return separators


def _delimiter(text: str) -> str:
    return "\t" if text in ("tab", "\\t") else text


def _sheet(text: str) -> str | int:
    return int(text) if text.isdecimal() else text


def _names(path: Path) -> list[str]:
    if not path.is_file():
        raise ValueError(f"--names {path}: this is not a file. Give a text file with one name per line.")
    return path.read_text(encoding="utf-8").splitlines()


def _reader(texts: tuple[str, ...]) -> dict[str, Any]:
    """Return options of a file reader from texts such as skip_top=1 and keep_empty=true."""
    options: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not value:
            raise ValueError(f"--reader {text!r}: write name=value, where the name is one of {', '.join(READER)}.")
        if name not in READER:
            raise ValueError(f"--reader {text!r}: there is no option {name!r}. The options are {', '.join(READER)}.")
        if value.lower() in ("true", "false"):
            options[name] = value.lower() == "true"
        else:
            options[name] = int(value) if value.isdigit() and name in ("skip_top", "skip_end") else value
    return options


class OptionSpec(NamedTuple):
    """The definition of an option of reading, which is a parameter of `open_table` with the same name.

    Attributes
    ----------
    help : str
        Help text.
    type : type
        Type of the typed value; a list for options that can be repeated.
    parse : function, optional
        Converts the typed value to the argument of `open_table`.
    panel : str
        Section of the help text.
    flags : tuple of str
        The flags, if they differ from the name.
    default : Any
        Value of an option that is not typed.
    """

    help: str
    type: Any = str | None
    parse: Callable[[Any], Any] | None = None
    panel: str = TABLE
    flags: tuple[str, ...] = ()
    default: Any = None


REPEATED = list[str] | None
OPTION_SPECS = {
    "empty": OptionSpec(
        "Meaning of an empty cell: 'zero', 'missing', or 'auto': 0 in baskets and sparse files, otherwise missing.",
        str,
        default="auto",
    ),
    "threshold": OptionSpec("Numbers above this threshold become 1, others 0.", float | None),
    "columns": OptionSpec("A column to use; all others become metadata. Can be repeated.", REPEATED, list),
    "drop": OptionSpec("A column to exclude, or a pattern such as 'x*'. Can be repeated.", REPEATED, list),
    "id": OptionSpec("A column of row names. Can be repeated.", REPEATED, list),
    "recode": OptionSpec(
        "The values coded as 1: q3:yes=1 (others are 0), or age:'>40'. q3:one-hot makes one indicator per value; this "
        "violates the local independence that latent class models assume. Can be repeated.",
        REPEATED,
        recode_values,
    ),
    "missing": OptionSpec(
        "A code of missing values, such as -99, or in one column, q3:9; 'none' for no codes. Can be repeated.",
        REPEATED,
        _missing,
    ),
    "column_types": OptionSpec(
        "Column type: 'binary', 'nominal' or 'ordinal' for all columns, q3:ordinal for one, q3:low,middle,high with "
        "levels, q3:metadata to exclude it. Can be repeated.",
        REPEATED,
        _types,
    ),
    "sample_weight": OptionSpec("A column of row weights, such as counts of equal rows; no model uses it."),
    "recipe": OptionSpec("A file with these options, as written by 'hiddenbits look --write-recipe'.", Path | None),
    "reader": OptionSpec(
        "A further option of the file reader, as name=value: skip_top=1 skips a title, skip_end=1 a row of totals. Can "
        "be repeated.",
        REPEATED,
        _reader,
    ),
    "names": OptionSpec("A text file with the column names, one per line.", Path | None, _names),
    "key": OptionSpec("Which array to read from an .npz file with several."),
    "header": OptionSpec("Whether the first line is names.", bool | None, panel=FILE, flags=("--header/--no-header",)),
    "delimiter": OptionSpec("The character between cells, such as ';' or tab.", parse=_delimiter, panel=FILE),
    "decimal": OptionSpec("The decimal sign: '.' or ','.", panel=FILE),
    "encoding": OptionSpec("The encoding of the text, such as cp1252.", panel=FILE),
    "sheet": OptionSpec("The sheet of a spreadsheet, by name or number from 0.", parse=_sheet, panel=FILE),
    "split": OptionSpec(
        "The separator of several codes in a cell, such as ';', or in one column, 'codes:;'. Can be repeated.",
        REPEATED,
        _split,
        FILE,
    ),
    "row": OptionSpec(
        "In a file with one line per pair, such as order,product: the column that identifies the row.", panel=FILE
    ),
    "item": OptionSpec("In such a file: the column that identifies the item.", panel=FILE),
    "value": OptionSpec("In such a file: the column of values, if there is one.", panel=FILE),
}
