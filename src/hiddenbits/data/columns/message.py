"""Messages about columns: one error for all that need a decision, and warnings of what was recoded and excluded."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Sequence
from fnmatch import fnmatchcase
from os import path
from typing import Any, TypeVar

from hiddenbits.data.coding.vocabulary import key_of
from hiddenbits.data.columns.describe import ColumnDescription
from hiddenbits.exceptions import AmbiguousColumnsError, ExcludedColumnsWarning, TableError
from hiddenbits.quoting import name_of, quoted, values_hidden

MAX_NAMED_COLUMNS = 3  # columns that a message names one by one; more are named by a pattern, if one fits
MAX_SHOWN = 12  # values that a message shows, and columns of one type
MAX_LINES = 20  # of a message about columns; further columns are only named, in its last line
USE_OPTIONS = "Pass the options below to open_table(X, ...), and fit the table that it returns."
USE_OPTIONS_LEVELS = USE_OPTIONS.replace("X, ...", "X, column_types='auto', ...")
KEEP_LEVELS = "LatentClassAnalysis models columns of every type as they are: column_types='auto'."
T = TypeVar("T")
MAX_TEXT = 80  # characters of a value; longer ones are cut, also in options
LOSS_OF_VALUES = "With recode=, values that are not listed become 0, and all other differences between values are lost."
Columns = Sequence[ColumnDescription]


def ambiguous_columns_error(
    ambiguous: Columns, columns: Columns, *, offers: Collection[str] = (), levels: bool = False
) -> AmbiguousColumnsError:
    """Return the error that lists all columns that need a decision; columns with the same question share a line.

    `offers` are the options that the reader of the file has; `levels`: columns may be nominal or ordinal.
    """
    groups = _groups([c for c in ambiguous if c.suspected_codes], lambda c: _keys(c.suspected_codes))
    questions = [(_missing_question(group, columns, levels=levels), group) for group in groups]
    if len(groups) > 1 and not values_hidden():
        codes = {name: _shorten(group[0].suspected_codes) for group in groups for name in _patterns(group, columns)}
        questions.append((f"- If all of these are codes for missing values: missing={codes!r}.", []))
    clear_types = ("binary", "two values", "continuous", "id", *(("ordinal", "nominal") if levels else ()))
    undecided = [c for c in ambiguous if not c.suspected_codes or c.inferred_type not in clear_types]
    for group in _groups(undecided, _question_of):
        questions.append((f"- {_names(group, columns)}: {_values_question(group, columns, offers=offers)}", group))
    lines = [line for line, _ in questions]
    if len(lines) > MAX_LINES:
        others = [c for _, group in questions[MAX_LINES - 1 :] for c in group]
        lines[MAX_LINES - 1 :] = [
            f"- {len(others):,} more: {_names(others, columns)}. `hiddenbits look TABLE --write-recipe recipe.toml` "
            "writes a suggestion for every column to a file. Correct it, and set recipe='recipe.toml'."
        ]
    count = len(ambiguous)
    first_line = f"{count} columns need a decision" if count > 1 else "One column needs a decision"
    binary, use_options = ("", USE_OPTIONS_LEVELS) if levels else (" as binary data", USE_OPTIONS)
    first_line += f" before this table can be read{binary}. {use_options}"
    if any(c.inferred_type in ("ordinal", "nominal", "several codes") for c in undecided):
        lines.append(LOSS_OF_VALUES)
    if not levels and any(c.inferred_type in ("ordinal", "nominal") for c in ambiguous):
        lines.append(KEEP_LEVELS)
    if any(c.ambiguity != "counts" for c in ambiguous):
        names = [name for group in _groups(ambiguous, _question_of) for name in _patterns(group, columns)]
        pronoun, stays = ("them", "they stay") if count > 1 else ("it", "it stays")
        lines.append(f"To exclude {pronoun} from the model ({stays} with the rows): drop={names!r}.")
    return AmbiguousColumnsError("\n".join([first_line, *lines]), columns, [c.name for c in ambiguous])


def unordered_columns_error(unordered: Columns, columns: Columns) -> AmbiguousColumnsError:
    """Return the error about ordinal columns whose levels are words of no known scale."""
    first = unordered[0]
    levels = "" if values_hidden() else f" (its levels are {_list_values(_valid_values(first))})"
    return AmbiguousColumnsError(
        f"The order of the levels of {_names(unordered, columns)} is not known. List them, or make the columns "
        f"nominal: column_types={{{first.name!r}: [lowest, ..., highest]}}{levels}.",
        columns,
        [c.name for c in unordered],
    )


def pairs_error(row: str, item: str, columns: Columns, *, offers: Collection[str]) -> AmbiguousColumnsError:
    """Return the error about a table that has a line for each pair of a row and an item."""
    remedy = (
        f"set row={row!r} and item={item!r}"
        if "row" in offers
        else f"pass this instead of the frame: frame.groupby({row!r})[{item!r}].agg(set).tolist()"
    )
    return AmbiguousColumnsError(
        f"This table seems to have a line for each pair of a row ({row!r}) and an item ({item!r}). If so, {remedy}. If "
        f"each line is a row of its own, set id={[row]!r}.",
        columns,
    )


def suggested_options(column: ColumnDescription) -> dict[str, Any]:
    """Return options of `open_table` with which one column can be read."""
    options: dict[str, Any] = {}
    if column.suspected_codes:
        options["missing"] = {column.name: list(column.suspected_codes)}
    values = _valid_values(column)
    if column.ambiguity == "counts":
        options["sample_weight"] = column.name
    elif column.ambiguity:
        options["drop"] = [column.name]
    elif column.separator:
        options["split"] = {column.name: column.separator}
    elif column.inferred_type == "ordinal":
        options["recode"] = {column.name: dict.fromkeys(values[len(values) - len(values) // 2 :], 1)}
    elif column.inferred_type == "nominal":
        options["recode"] = {column.name: {values[0]: 1}}
    elif column.inferred_type == "one value or missing":
        options["recode"] = {column.name: {values[0]: 1, **({"": 0} if column.n_missing else {})}}
    return options


def _keys(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(map(key_of, values))


def _valid_values(column: ColumnDescription) -> list[Any]:
    """Return the values of a column without suspected codes for missing values."""
    codes = set(_keys(column.suspected_codes))
    return [value for value, _ in column.values if key_of(value) not in codes]


def _question_of(column: ColumnDescription) -> Any:
    """Return what must be equal for columns to share a line of a message."""
    if column.ambiguity or column.separator:
        return column.ambiguity, column.separator
    return column.inferred_type, tuple(sorted(map(str, _keys(_valid_values(column)))))


def without_ambiguous(error: AmbiguousColumnsError, open_without: Callable[[tuple[str, ...]], T], fewest: int = 3) -> T:
    """Return the table without the columns that need a decision, with a warning; raise the error if few are left.

    Parameters
    ----------
    error : AmbiguousColumnsError
        What opening the table raised.
    open_without : function
        Opens the table without the columns with the given names; returns the table, or an object with it as `table`.
    fewest : int, default=3
        Fewest columns that must be left.

    Returns
    -------
    opened : object
        What `open_without` returns.

    Examples
    --------
    >>> import warnings, pandas
    >>> from hiddenbits import exceptions, open_table
    >>> from hiddenbits.tables import without_ambiguous
    >>> frame = pandas.DataFrame({"size": ["s", "m", "l"], "a": [0, 1, 1], "b": [1, 0, 1], "c": [1, 1, 0]})
    >>> warnings.simplefilter("ignore")
    >>> try:
    ...     open_table(frame)
    ... except exceptions.AmbiguousColumnsError as error:
    ...     print(without_ambiguous(error, lambda names: open_table(frame, drop=names)).names)
    ('a', 'b', 'c')
    """
    try:
        opened = open_without(error.ambiguous)
    except TableError:
        raise error from None
    table: Any = getattr(opened, "table", opened)
    if table.shape[1] < fewest:
        raise error
    excluded = [column for column in error.profiles if column.name in error.ambiguous]
    warnings.warn(
        f"Excluded because they can be recoded as 0 and 1 in several ways: {_names(excluded, error.profiles)}. "
        "`hiddenbits look TABLE` lists the options that include them.",
        ExcludedColumnsWarning,
        stacklevel=3,
    )
    return opened


def _groups(columns: Columns, by: Callable[[ColumnDescription], Any]) -> list[list[ColumnDescription]]:
    groups: dict[Any, list[ColumnDescription]] = {}
    for column in columns:
        groups.setdefault(by(column), []).append(column)
    return list(groups.values())


def _names(group: Columns, columns: Columns) -> str:
    """Return a few columns by name, many by patterns and their number."""
    if len(group) <= MAX_NAMED_COLUMNS:
        return ", ".join(_name(c.name) for c in group)
    listed = _patterns(group, columns)
    dots = ", ..." if len(listed) > MAX_SHOWN else ""
    return f"{', '.join(map(_name, listed[:MAX_SHOWN]))}{dots} ({len(group):,} columns)"


def _name(name: str) -> str:
    return repr(name_of(name)) if name.strip() else "a column without a name"


def _patterns(group: Columns, columns: Columns) -> list[str]:
    """Return patterns or names that match these columns and no others: a pattern for many with a common beginning."""
    group_names = [c.name for c in group]
    if (pattern := _pattern(group_names, columns)) is not None:
        return [pattern]
    stems: dict[str, list[str]] = {}  # up to the first digit: q1, q2, ..., a1, a2, ...
    for name in group_names:
        stems.setdefault(re.split(r"\d", name, maxsplit=1)[0], []).append(name)
    patterns = []
    for names in stems.values():
        patterns += names if (pattern := _pattern(names, columns)) is None else [pattern]
    return patterns


def _pattern(group_names: Sequence[str], columns: Columns) -> str | None:
    pattern = f"{path.commonprefix(list(group_names))}*"  # noqa: RUF071  (of texts, not of paths)
    fits = len(group_names) > MAX_NAMED_COLUMNS and pattern != "*" and not any(c in pattern[:-1] for c in "*?[")
    matched = {c.name for c in columns if fnmatchcase(c.name, pattern)} if fits else set()
    return pattern if matched == set(group_names) else None


def _by_column(option: str, group: Columns, columns: Columns, value: Any) -> str:
    """Return an option that is the same for all columns of a group."""
    value = _shorten_code(value) if isinstance(value, dict) else value
    return f"{option}={dict.fromkeys(_patterns(group, columns), value)!r}"


def _shorten_code(code: dict[Any, int]) -> dict[Any, int]:
    """Return a recoding with long values cut: a message shows little of a cell."""
    return {quoted(v)[1:-1] if isinstance(v, str) and len(v) > MAX_TEXT else v: bit for v, bit in code.items()}


def _shorten(values: Sequence[Any]) -> list[Any]:
    return list(_shorten_code(dict.fromkeys(values, 1)))


def _list_values(values: Sequence[Any]) -> str:
    return ", ".join(map(quoted, values[:MAX_SHOWN])) + (", ..." if len(values) > MAX_SHOWN else "")


def _missing_question(group: Columns, columns: Columns, *, levels: bool) -> str:
    first, codes = group[0], set(_keys(group[0].suspected_codes))
    count = sum(count for c in group for value, count in c.values if key_of(value) in codes)
    suspicion = "looks like a code for missing values" if len(codes) == 1 else "look like codes for missing values"
    cells = f"{count:,} {'cells' if count > 1 else 'cell'}"
    statement = f"- {_names(group, columns)}: {_list_values(first.suspected_codes)} ({cells}) {suspicion}."
    if values_hidden():
        return f"{statement} If so, list it in missing=. Values are not shown because HIDDENBITS_HIDE_VALUES is set."
    recode = "" if levels or first.inferred_type == "continuous" else ", and recode= with the values that are 1"
    group_names = {c.name for c in group}
    is_elsewhere = any(key_of(value) in codes for c in columns if c.name not in group_names for value, _ in c.values)
    missing = _by_column("missing", group, columns, _shorten(first.suspected_codes))
    missing = missing if is_elsewhere else f"missing={_shorten(first.suspected_codes)!r}"
    none_missing = _by_column("missing", group, columns, [])
    return f"{statement} If so, set {missing}. If it is a valid answer, set {none_missing}{recode}."


def _values_question(group: Columns, columns: Columns, *, offers: Collection[str]) -> str:
    """Return the question about columns with the same values, and the options that answer it."""
    first, values = group[0], _valid_values(group[0])
    if first.ambiguity == "counts":
        return (
            f"seems to count how often each row occurs. If so, set sample_weight={first.name!r}; otherwise each row "
            f"would count once. If not, set drop={[first.name]!r}."
        )
    if first.ambiguity:
        return _numbers_question(first, offers=offers)
    if first.separator:
        return _codes_question(group, columns, offers=offers)
    if values_hidden():
        return f"{first.inferred_type} (values are hidden). List the values that are 1 in recode=."
    code = _by_column("recode", group, columns, suggested_options(first).get("recode", {}).get(first.name))
    if first.inferred_type in ("ordinal", "nominal"):
        are_long = any(len(str(value)) > MAX_TEXT for value in values)
        remedy = "List those that are 1 in recode=" if are_long else f"Choose those that are 1, such as {code}"
        return f"{first.inferred_type} values {_list_values(values)}. {remedy}."
    if first.inferred_type == "one value or missing":
        value_is_1, missing = _by_column("recode", group, columns, {values[0]: 1}), sum(c.n_missing for c in group)
        if not missing:
            return f"{_list_values(values)} is the only other value. If it is 1, set {value_is_1}."
        return (
            f"{_list_values(values)} or missing ({missing:,} cells). If missing means no, set {code}. If it means that "
            f"nobody asked or answered, set {value_is_1}."
        )
    if first.inferred_type == "continuous":
        return (
            f"continuous. Set a threshold above which it is 1, such as {_by_column('recode', group, columns, '> 0')}."
        )
    reasons = {"id": "identifies rows", "date": "holds dates", "text": "holds text", "constant": "has only one value"}
    reason = reasons.get(first.inferred_type, "is not binary")
    return f"{reason}, so it cannot be read as binary. Remove it from columns= and recode=."


def _codes_question(group: Columns, columns: Columns, *, offers: Collection[str]) -> str:
    """Return the question about columns with several codes in a cell."""
    first, values = group[0], _valid_values(group[0])
    shown = "" if values_hidden() else f", such as {quoted(next(v for v in values if first.separator in str(v)))}"
    remedy = (
        f"set split={dict.fromkeys((c.name for c in group), first.separator)!r}"
        if "split" in offers
        else f"open frame.drop(columns={first.name!r})"
        f".join(frame[{first.name!r}].str.get_dummies({first.separator!r})), in which a missing value counts as no code"
    )
    return (
        f"several codes in a cell{shown}. For a binary column per code, {remedy}. If each cell is one value, choose "
        f"those that are 1, such as {_by_column('recode', [first], columns, {values[0]: 1})}."
    )


def _numbers_question(column: ColumnDescription, *, offers: Collection[str]) -> str:
    """Return the question about numbers that can be read in two ways."""
    comma = next((value for value, _ in column.values if isinstance(value, str) and "," in value), "1,5")
    if column.ambiguity == "signs":
        point = next((value for value, _ in column.values if isinstance(value, float)), 1.5)
        return (
            f"numbers with a decimal comma ({quoted(comma)}) and with a decimal point ({quoted(point)}). Use the same "
            "sign in all cells, or exclude the column."
        )
    if "decimal" in offers:
        remedy = "If it is a decimal comma, set decimal=','; if it separates thousands, remove it from the file."
    else:
        series = f"frame[{column.name!r}].str.replace"
        remedy = f"Use {series}(',', '.').astype(float) if it is a decimal comma; {series}(',', '') if not."
    return f"numbers with a comma ({quoted(comma)}). {remedy}"


def excluded_message(excluded: Columns, columns: Columns, *, levels: bool = False) -> str:
    """Return the warning about excluded columns; `levels`: columns of categories and numbers are not among them."""
    groups = _groups(excluded, lambda c: c.inferred_type)
    parts = [f"{_names(group, columns)} ({group[0].inferred_type})" for group in groups]
    drop = [name for group in groups for name in _patterns(group, columns)]
    reason = "of their types" if levels else "they are not binary"
    message = f"Excluded from the model because {reason}: {'; '.join(parts)}. They stay with the rows."
    number = next((c.name for c in excluded if c.inferred_type == "continuous"), None)
    if number is not None:
        message += f" To make a continuous column binary, set a threshold, such as recode={{{number!r}: '> 0'}}."
    shown = f"drop={drop!r}" if len(drop) <= MAX_SHOWN else "drop= with their names"
    return f"{message} To exclude them without this warning, set {shown}."


def recoded_message(recoded: Columns, columns: Columns) -> str:
    """Return the warning about which of two values is 1; columns with the same two values share a part."""
    if values_hidden():
        return f"Recoded as 0 and 1: {_names(recoded, columns)}. To choose the value that is 1, set recode=."
    groups = sorted(_groups(recoded, lambda c: _keys((c.positive, c.negative))), key=len, reverse=True)
    shown = groups if len(groups) <= MAX_SHOWN else groups[: MAX_SHOWN - 1]
    parts = [f"{_word(g[0].positive)} = 1, {_word(g[0].negative)} = 0 in {_names(g, columns)}" for g in shown]
    if len(shown) < len(groups):
        parts.append(f"and so on in {sum(map(len, groups[len(shown) :])):,} more columns")
    example_column = next((c for c in recoded if not c.by_meaning), recoded[0])
    example = {example_column.name: _shorten_code({example_column.negative: 1})}
    return f"Recoded as 0 and 1: {'; '.join(parts)}. To change this, set recode=, such as recode={example!r}."


def _word(value: Any) -> str:
    return quoted(value)[1:-1] if isinstance(value, str) and value.strip() and not value.isdigit() else quoted(value)
