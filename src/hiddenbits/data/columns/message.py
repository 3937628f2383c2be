"""Messages about columns: one that lists all that need a decision, and warnings of what was read and left out."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Sequence
from fnmatch import fnmatchcase
from os import path
from typing import Any, TypeVar

from hiddenbits.data.coding.vocabulary import key_of
from hiddenbits.data.columns.describe import ColumnLook
from hiddenbits.exceptions import AmbiguousColumnsError, ExcludedColumnsWarning, TableError
from hiddenbits.quoting import name_of, quoted, values_hidden

FEW = 3  # columns for which an option names each; for more a pattern, where one fits
SHOWN = 12  # values that a message shows, and columns of one kind
MOST_LINES = 20  # of a message about columns; of more columns it has the names
WHERE = "Give the options to open_table(X, ...), and fit what it returns."
WHERE_LEVELS = WHERE.replace("X, ...", "X, column_types='auto', ...")
AS_THEY_ARE = "For LatentClassAnalysis, which takes nominal and ordinal columns as they are: column_types='auto'."
T = TypeVar("T")
LONG = 80  # characters; longer values are cut in options, too
OTHERS = "Values that are not named in recode= are then 0, and all other differences between values are lost."


def needs_a_word(
    asked: Sequence[ColumnLook], looks: Sequence[ColumnLook], *, offers: Collection[str] = (), levels: bool = False
) -> AmbiguousColumnsError:
    """Return the error that lists all columns that need a decision, those with the same question in one line.

    `offers` are the options that the reader of the file has; `levels` says that columns may be nominal or ordinal.
    """
    groups = _groups([one for one in asked if one.suspects], lambda look: tuple(map(key_of, look.suspects)))
    parts = [(_about_missing(group, looks, levels=levels), group) for group in groups]
    if len(groups) > 1 and not values_hidden():
        codes = {name: _cut(group[0].suspects) for group in groups for name in _patterns(group, looks)}
        parts.append((f"- If all of these mean that there is no answer: missing={codes!r}.", []))
    clear = ("bits", "two values", "number", "id", *(("ordered", "nominal") if levels else ()))
    rest = [look for look in asked if not look.suspects or look.taken not in clear]
    for group in _groups(rest, _in_common):
        parts.append((f"- {_names(group, looks)}: {_about_values(group, looks, offers=offers)}", group))
    lines = [line for line, _ in parts]
    if len(lines) > MOST_LINES:
        more = [look for _, group in parts[MOST_LINES - 1 :] for look in group]
        lines[MOST_LINES - 1 :] = [
            f"- {len(more):,} more: {_names(more, looks)}. `hiddenbits look TABLE --write-recipe recipe.toml` writes "
            "down a choice for every column; change what is not right, and say recipe='recipe.toml'."
        ]
    many = len(asked)
    head = f"{many} columns need a decision" if many > 1 else "One column needs a decision"
    as_bits, where = ("", WHERE_LEVELS) if levels else (" as bits (0 and 1)", WHERE)
    head += f" from you before this table can be read{as_bits}. {where}"
    if any(look.taken in ("ordered", "nominal", "codes") for look in rest):
        lines.append(OTHERS)
    if not levels and any(look.taken in ("ordered", "nominal") for look in asked):
        lines.append(AS_THEY_ARE)
    if any(look.unclear != "counts" for look in asked):
        it, stays = ("them", "they stay") if many > 1 else ("it", "it stays")
        out = [name for group in _groups(asked, _in_common) for name in _patterns(group, looks)]
        lines.append(f"To leave {it} out ({stays} with the rows): drop={out!r}.")
    return AmbiguousColumnsError("\n".join([head, *lines]), looks, [look.name for look in asked])


def are_pairs(row: str, item: str, looks: Sequence[ColumnLook], *, offers: Collection[str]) -> AmbiguousColumnsError:
    """Return the error about a table that has a line for each pair of a row and an item."""
    option = f"row={row!r} and item={item!r}"
    do = (
        f"say {option}"
        if "row" in offers
        else f"pass this instead of the frame: frame.groupby({row!r})[{item!r}].agg(set).tolist()"
    )
    return AmbiguousColumnsError(
        f"This table seems to have a line for each pair of a row ({row!r}) and an item ({item!r}). If so, {do}. If "
        f"each line is a row of its own, say id={[row]!r}.",
        looks,
    )


def suggested(look: ColumnLook) -> dict[str, Any]:
    """Return options for one column, as `open_table` takes them, that would do."""
    options: dict[str, Any] = {}
    if look.suspects:
        options["missing"] = {look.name: list(look.suspects)}
    values = _proper(look)
    if look.unclear == "counts":
        options["sample_weight"] = look.name
    elif look.unclear:
        options["drop"] = [look.name]
    elif look.mark:
        options["split"] = {look.name: look.mark}
    elif look.taken == "ordered":
        options["recode"] = {look.name: dict.fromkeys(values[len(values) - len(values) // 2 :], 1)}
    elif look.taken == "nominal":
        options["recode"] = {look.name: {values[0]: 1}}
    elif look.taken == "one value or blank":
        options["recode"] = {look.name: {values[0]: 1, **({"": 0} if look.n_blank else {})}}
    return options


def _proper(look: ColumnLook) -> list[Any]:
    """Return the values of a column without codes for missing."""
    codes = {key_of(value) for value in look.suspects}
    return [value for value, _ in look.values if key_of(value) not in codes]


def _in_common(look: ColumnLook) -> Any:
    """Return what columns must have in common to be spoken of together."""
    if look.unclear or look.mark:
        return look.unclear, look.mark
    return look.taken, tuple(sorted(str(key_of(value)) for value in _proper(look)))


def without_ambiguous(error: AmbiguousColumnsError, open_without: Callable[[tuple[str, ...]], T], fewest: int = 3) -> T:
    """Return the table without the columns that need a decision, with a warning; raise if too few columns are left.

    Parameters
    ----------
    error : AmbiguousColumnsError
        What opening the table raised.
    open_without : function
        Opens the table without the columns whose names it is given; returns it, or what has it as `table`.
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
    excluded = [look for look in error.profiles if look.name in error.ambiguous]
    warnings.warn(
        "Left out, because there is more than one way to make bits of them: "
        f"{_names(excluded, error.profiles)}. `hiddenbits look TABLE` lists the options that take them in.",
        ExcludedColumnsWarning,
        stacklevel=3,
    )
    return opened


def _groups(looks: Sequence[ColumnLook], by: Callable[[ColumnLook], Any]) -> list[list[ColumnLook]]:
    found: dict[Any, list[ColumnLook]] = {}
    for look in looks:
        found.setdefault(by(look), []).append(look)
    return list(found.values())


def _names(group: Sequence[ColumnLook], looks: Sequence[ColumnLook]) -> str:
    """Return how columns are spoken of: a few by name, many by patterns and their number."""
    if len(group) <= FEW:
        return ", ".join(_name(look.name) for look in group)
    listed = _patterns(group, looks)
    return f"{', '.join(map(_name, listed[:SHOWN]))}{', ...' if len(listed) > SHOWN else ''} ({len(group):,} columns)"


def _name(name: str) -> str:
    return repr(name_of(name)) if name.strip() else "a column without a name"


def _patterns(group: Sequence[ColumnLook], looks: Sequence[ColumnLook]) -> list[str]:
    """Return what stands for some columns, and for no others: a pattern for many of a common beginning, or names."""
    inside = [look.name for look in group]
    if (pattern := _pattern(inside, looks)) is not None:
        return [pattern]
    stems: dict[str, list[str]] = {}  # what is before the first digit: q1, q2, ..., a1, a2, ...
    for name in inside:
        stems.setdefault(re.split(r"\d", name, maxsplit=1)[0], []).append(name)
    listed = []
    for names in stems.values():
        found = _pattern(names, looks)
        listed += names if found is None else [found]
    return listed


def _pattern(inside: Sequence[str], looks: Sequence[ColumnLook]) -> str | None:
    pattern = f"{path.commonprefix(list(inside))}*"  # noqa: RUF071  (of texts, not of paths)
    fits = len(inside) > FEW and pattern != "*" and not any(one in pattern[:-1] for one in "*?[")
    matched = {look.name for look in looks if fnmatchcase(look.name, pattern)} if fits else set()
    return pattern if matched == set(inside) else None


def _by_column(option: str, group: Sequence[ColumnLook], looks: Sequence[ColumnLook], value: Any) -> str:
    """Return an option that says the same about all columns of a group."""
    value = _short(value) if isinstance(value, dict) else value
    return f"{option}={dict.fromkeys(_patterns(group, looks), value)!r}"


def _short(code: dict[Any, int]) -> dict[Any, int]:
    """Return a code in which long texts are cut: a message shows little of a cell."""
    return {quoted(v)[1:-1] if isinstance(v, str) and len(v) > LONG else v: bit for v, bit in code.items()}


def _cut(values: Sequence[Any]) -> list[Any]:
    return list(_short(dict.fromkeys(values, 1)))


def _shown(values: Sequence[Any]) -> str:
    return ", ".join(map(quoted, values[:SHOWN])) + (", ..." if len(values) > SHOWN else "")


def _about_missing(group: Sequence[ColumnLook], looks: Sequence[ColumnLook], *, levels: bool) -> str:
    look, codes = group[0], {key_of(value) for value in group[0].suspects}
    count = sum(count for one in group for value, count in one.values if key_of(value) in codes)
    what = "looks like a code for missing" if len(look.suspects) == 1 else "look like codes for missing"
    cells = f"{count:,} {'cells' if count > 1 else 'cell'}"
    found = f"- {_names(group, looks)}: {_shown(look.suspects)} ({cells}) {what}."
    if values_hidden():
        return f"{found} If so, name it with missing=. Values are not shown because HIDDENBITS_HIDE_VALUES is set."
    code = "" if levels or look.taken == "number" else ", and with recode= which values are 1"
    inside = {one.name for one in group}
    elsewhere = any(key_of(value) in codes for one in looks if one.name not in inside for value, _ in one.values)
    given = _by_column("missing", group, looks, _cut(look.suspects))
    given = given if elsewhere else f"missing={_cut(look.suspects)!r}"
    return f"{found} If so, say {given}. If it is a real answer, say {_by_column('missing', group, looks, [])}{code}."


def _about_values(group: Sequence[ColumnLook], looks: Sequence[ColumnLook], *, offers: Collection[str]) -> str:
    """Return what there is to decide about columns with the same values."""
    look, values = group[0], _proper(group[0])
    if look.unclear == "counts":
        return (
            f"seems to say how often each line occurs. If so, say sample_weight={look.name!r}, without which each line "
            f"would count once. If not, say drop={[look.name]!r}."
        )
    if look.unclear:
        return _about_numbers(look, offers=offers)
    if look.mark:
        return _about_codes(group, looks, offers=offers)
    if values_hidden():
        return f"{look.taken} (values are hidden). Say with recode= which values are 1."
    code = _by_column("recode", group, looks, suggested(look).get("recode", {}).get(look.name))
    if look.taken in ("ordered", "nominal"):
        what = "ordered values" if look.taken == "ordered" else "categories"
        long = any(len(str(value)) > LONG for value in values)
        do = "Say with recode= which count as 1" if long else f"Say which count as 1, such as {code}"
        return f"{what} {_shown(values)}. {do}."
    if look.taken == "one value or blank":
        alone, missing = _by_column("recode", group, looks, {values[0]: 1}), sum(one.n_blank for one in group)
        if not missing:
            return f"only {_shown(values)} besides. Say {alone} if it is 1."
        return (
            f"{_shown(values)} or missing ({missing:,} cells). If a missing value means no, say {code}; if it means "
            f"that nobody asked or answered, say {alone}."
        )
    if look.taken == "number":
        return f"numbers. Say above which they are 1, such as {_by_column('recode', group, looks, '> 0')}."
    why = {"id": "tells rows apart", "date": "holds dates", "text": "holds text", "constant": "has one value only"}
    return f"{why.get(look.taken, 'is not bits')}, so it cannot be bits. Take it out of columns= and recode=."


def _about_codes(group: Sequence[ColumnLook], looks: Sequence[ColumnLook], *, offers: Collection[str]) -> str:
    """Return what there is to decide about columns with several codes in a cell."""
    look, values = group[0], _proper(group[0])
    shown = "" if values_hidden() else f", such as {quoted(next(v for v in values if look.mark in str(v)))}"
    do = (
        f"say split={dict.fromkeys((one.name for one in group), look.mark)!r}"
        if "split" in offers
        else f"open frame.drop(columns={look.name!r}).join(frame[{look.name!r}].str.get_dummies({look.mark!r})), "
        "in which a missing value counts as no code"
    )
    return (
        f"several codes in a cell{shown}. For a bit of each code {do}. If each cell is one value, say which count as "
        f"1, such as {_by_column('recode', [look], looks, {values[0]: 1})}."
    )


def _about_numbers(look: ColumnLook, *, offers: Collection[str]) -> str:
    """Return what there is to decide about numbers that can be read in two ways."""
    comma = next((value for value, _ in look.values if isinstance(value, str) and "," in value), "1,5")
    if look.unclear == "signs":
        point = next((value for value, _ in look.values if isinstance(value, float)), 1.5)
        return (
            f"numbers with a decimal comma ({quoted(comma)}) and with a decimal point ({quoted(point)}). Use one sign "
            "in all cells, or leave the column out."
        )
    if "decimal" in offers:
        do = "Set decimal=',' if it is a decimal sign; remove it if it marks thousands."
    else:
        series = f"frame[{look.name!r}].str.replace"
        do = f"If it is a decimal sign, take {series}(',', '.').astype(float); if it marks thousands, replace it by ''."
    return f"numbers with a comma ({quoted(comma)}). {do}"


def left_out_message(out: Sequence[ColumnLook], looks: Sequence[ColumnLook], *, levels: bool = False) -> str:
    """Return the sentence about columns that were left out; `levels`: of a table that may have nominal columns."""
    groups = _groups(out, lambda look: look.taken)
    parts = [f"{_names(group, looks)} ({group[0].taken})" for group in groups]
    drop = [name for group in groups for name in _patterns(group, looks)]
    what = "neither binary, nominal nor ordinal" if levels else "not bits"
    message = f"Left out of the model, because they are {what}: {'; '.join(parts)}. They stay with the rows."
    number = next((look.name for look in out if look.taken == "number"), None)
    if number is not None:
        message += f" To make bits of numbers, say above which they are 1, such as recode={{{number!r}: '> 0'}}."
    shown = f"drop={drop!r}" if len(drop) <= SHOWN else "drop= with their names"
    return f"{message} If it is right to leave them out, {shown} says so and silences this."


def coded_message(coded: Sequence[ColumnLook], looks: Sequence[ColumnLook]) -> str:
    """Return the sentence about columns of two values: which is 1, once for all columns with the same two."""
    if values_hidden():
        return f"Columns of two values were read as bits: {_names(coded, looks)}. To say which value is 1, set recode=."
    groups = sorted(_groups(coded, lambda look: (key_of(look.one), key_of(look.zero))), key=len, reverse=True)
    shown = groups if len(groups) <= SHOWN else groups[: SHOWN - 1]
    parts = [f"{_word(g[0].one)} = 1, {_word(g[0].zero)} = 0 in {_names(g, looks)}" for g in shown]
    if len(shown) < len(groups):
        parts.append(f"and so on in {sum(map(len, groups[len(shown) :])):,} columns more")
    unsure = next((look for look in coded if not look.by_meaning), coded[0])
    example = {unsure.name: _short({unsure.zero: 1})}
    return f"Read as bits: {'; '.join(parts)}. To change that, set recode=, such as recode={example!r}."


def _word(value: Any) -> str:
    return quoted(value)[1:-1] if isinstance(value, str) and value.strip() and not value.isdigit() else quoted(value)
