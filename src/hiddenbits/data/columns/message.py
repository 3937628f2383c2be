"""What is said about columns: one message that lists all that need a word, and what was read and left out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from fnmatch import fnmatchcase
from os import path
from typing import Any, TypeVar

from hiddenbits.data.coding.vocabulary import key_of
from hiddenbits.data.columns.describe import ColumnLook
from hiddenbits.data.errors import TableError
from hiddenbits.quoting import name_of, printable, quoted, values_hidden

FEW = 3  # columns for which an option names each; for more a pattern, where one fits
SHOWN = 12  # values that a message shows, and columns of one kind
MOST_LINES = 20  # of a message about columns; of more columns it has the names
WHERE = "Give the options to open_table(X, ...), and fit what it returns."
WHERE_LEVELS = WHERE.replace("X, ...", "X, column_types='auto', ...")
AS_THEY_ARE = "For LatentClassAnalysis, which takes nominal and ordinal columns as they are: column_types='auto'."
T = TypeVar("T")
LONG = 80  # characters; longer values are cut in options, too
OTHERS = "the others are then 0, and all other differences between values are lost"


class ColumnsLeftOutWarning(UserWarning):
    """Columns that cannot be bits (numbers, dates, text, ids, constants) do not enter the model; rows keep them.

    Examples
    --------
    >>> import warnings, hiddenbits, pandas
    >>> frame = pandas.DataFrame({"name": ["Ann", "Bo", "Cy", "Di", "Ed"], "a": [0, 1, 1, 0, 1]})
    >>> with warnings.catch_warnings(record=True, action="always") as said:
    ...     table = hiddenbits.open_table(frame)
    >>> table.names, said[0].category is hiddenbits.ColumnsLeftOutWarning
    (('a',), True)
    """


class ColumnsCodedWarning(UserWarning):
    """Columns of two values were read as bits, and it was guessed which value is 1; `code=` says so, and is silent.

    Examples
    --------
    >>> import warnings, hiddenbits, pandas
    >>> with warnings.catch_warnings(record=True, action="always") as said:
    ...     table = hiddenbits.open_table(pandas.DataFrame({"q1": ["yes", "no", "yes"]}))
    >>> print(said[0].message)
    Read as bits: yes = 1, no = 0 in 'q1'. To change that, set code=, such as code={'q1': {'no': 1}}.
    """


class ColumnsError(TableError):
    """Columns need a decision from the user; the message says which, and the options that give it.

    Parameters
    ----------
    message : str
        The message.
    looks : tuple of ColumnLook
        All columns of the table.
    asked : tuple of str
        The names of those that need a decision.

    Examples
    --------
    >>> import hiddenbits, pandas
    >>> frame = pandas.DataFrame({"size": ["s", "m", "l", "xl"] * 5, "a": [0, 1, 1, 0] * 5})
    >>> try:
    ...     hiddenbits.open_table(frame)
    ... except hiddenbits.ColumnsError as error:
    ...     print(error.asked)
    ('size',)
    """

    def __init__(self, message: str, looks: Sequence[ColumnLook] = (), asked: Sequence[str] = ()) -> None:
        ValueError.__init__(self, printable(message, keep="\n"))
        self.looks, self.asked = tuple(looks), tuple(asked)

    def at(self, path: object) -> ColumnsError:
        """Return the error with the file before it."""
        return ColumnsError(f"{printable(path)}: {self}", self.looks, self.asked)

    def left_out(self, opened: Callable[[tuple[str, ...]], T], fewest: int = 3) -> T:
        """Return the table without the columns that need a decision, with a warning; raise if too few are left.

        `opened` opens the table without the columns that it is given, and returns it or what has it as `table`.
        """
        try:
            found = opened(self.asked)
        except TableError:
            raise self from None
        table: Any = getattr(found, "table", found)
        if table.shape[1] < fewest:
            raise self
        shown = [f"'{printable(name)}'" for name in self.asked[:6]]
        more = f" and {len(self.asked) - 6} more" if len(self.asked) > 6 else ""
        warnings.warn(
            f"Left out, because there is more than one way to make bits of them: {', '.join(shown)}{more}. "
            "`hiddenbits look TABLE` lists the options that take them in.",
            ColumnsLeftOutWarning,
            stacklevel=3,
        )
        return found


def needs_a_word(
    asked: Sequence[ColumnLook], looks: Sequence[ColumnLook], *, offers: Collection[str] = (), levels: bool = False
) -> ColumnsError:
    """Return the error that lists all columns that need a word.

    `offers` are the options that the reader of the file has; `levels` says that columns may be nominal or ordinal.
    """
    names = [look.name for look in looks]
    lines, concerned = [], []
    groups = _groups([one for one in asked if one.suspects], lambda look: tuple(map(key_of, look.suspects)))
    lines += [_about_missing(group, looks, levels=levels) for _, group in groups]
    concerned += [group for _, group in groups]
    if len(groups) > 1 and not values_hidden():
        every_code = {look.name: _cut(look.suspects) for _, group in groups for look in group}
        lines.append(f"- If all of these mean that there is no answer: missing={every_code!r}.")
        concerned.append([])
    clear = ("bits", "two values", "number", "id", *(("ordered", "nominal") if levels else ()))
    rest = [look for look in asked if not look.suspects or look.taken not in clear]
    for _, group in _groups(rest, _in_common):
        lines.append(_about_values(group, names, offers=offers))
        concerned.append(group)
    if len(lines) > MOST_LINES:
        rest = [look for group in concerned[MOST_LINES - 1 :] for look in group]
        lines[MOST_LINES - 1 :] = [
            f"- {len(rest):,} more: {_names(rest)}. `hiddenbits look TABLE --write-recipe recipe.toml` writes down a "
            "choice for every column; change what is not right, and say recipe='recipe.toml'."
        ]
    many = len(asked)
    head = f"{many} columns need a decision" if many > 1 else "One column needs a decision"
    as_bits, where = ("", WHERE_LEVELS) if levels else (" as bits (0 and 1)", WHERE)
    head += f" from you before this table can be read{as_bits}. {where}"
    if not levels and any(look.taken in ("ordered", "nominal") for look in asked):
        lines.append(AS_THEY_ARE)
    if any(look.unclear != "counts" for look in asked):
        it, stays = ("them", "they stay") if many > 1 else ("it", "it stays")
        lines.append(f"To leave {it} out ({stays} with the rows): drop={_listed(asked, names, all_of_them=True)}.")
    return ColumnsError("\n".join([head, *lines]), looks, [look.name for look in asked])


def are_pairs(row: str, item: str, looks: Sequence[ColumnLook], *, offers: Collection[str]) -> ColumnsError:
    """Return the error about a table that has a line for each pair of a row and an item."""
    option = f"row={row!r} and item={item!r}"
    do = (
        f"say {option}"
        if "row" in offers
        else f"pass this instead of the frame: frame.groupby({row!r})[{item!r}].agg(set).tolist()"
    )
    return ColumnsError(
        f"This table seems to have a line for each pair of a row ({row!r}) and an item ({item!r}). If so, {do}. If "
        f"each line is a row of its own, say id={[row]!r}.",
        looks,
    )


def _in_common(look: ColumnLook) -> Any:
    """Return what columns must have in common to be spoken of together."""
    if look.unclear or look.mark:
        return look.unclear, look.mark
    return look.taken, tuple(sorted(str(key_of(value)) for value in _proper(look)))


def suggested(look: ColumnLook) -> dict[str, Any]:
    """Return options for one column, as `open_table` takes them, that would do."""
    options: dict[str, Any] = {}
    if look.suspects:
        options["missing"] = {look.name: list(look.suspects)}
    values = _proper(look)
    if look.unclear:
        options["drop"] = [look.name]
    elif look.mark:
        options["split"] = {look.name: look.mark}
    elif look.taken == "ordered":
        options["code"] = {look.name: dict.fromkeys(values[len(values) - len(values) // 2 :], 1)}
    elif look.taken == "nominal":
        options["code"] = {look.name: {values[0]: 1}}
    elif look.taken == "one value or blank":
        options["code"] = {look.name: {values[0]: 1, **({"": 0} if look.n_blank else {})}}
    return options


def _proper(look: ColumnLook) -> list[Any]:
    """Return the values of a column without codes for missing."""
    codes = {key_of(value) for value in look.suspects}
    return [value for value, _ in look.values if key_of(value) not in codes]


def _groups(looks: Sequence[ColumnLook], by: Any) -> list[tuple[Any, list[ColumnLook]]]:
    found: dict[Any, list[ColumnLook]] = {}
    for look in looks:
        found.setdefault(by(look), []).append(look)
    return list(found.items())


def _names(group: Sequence[ColumnLook]) -> str:
    return ", ".join(repr(name_of(look.name)) if look.name.strip() else "a column without a name" for look in group)


def _listed(group: Sequence[ColumnLook], names: Sequence[str], *, all_of_them: bool = False) -> str:
    pattern = None if len(group) <= FEW and all_of_them else _pattern(group, names)
    return repr([pattern] if pattern else [look.name for look in group])


def _pattern(group: Sequence[ColumnLook], names: Sequence[str]) -> str | None:
    """Return a pattern that stands for many columns, and for no others."""
    inside = [look.name for look in group]
    pattern = f"{path.commonprefix(inside)}*"  # noqa: RUF071  (of texts, not of paths)
    fits = len(group) > FEW and pattern != "*" and not any(one in pattern[:-1] for one in "*?[")
    return pattern if fits and [name for name in names if fnmatchcase(name, pattern)] == inside else None


def _by_column(option: str, group: Sequence[ColumnLook], names: Sequence[str], value: Any) -> str:
    """Return an option that says the same about all columns of a group."""
    pattern = _pattern(group, names)
    value = _short(value) if isinstance(value, dict) else value
    return f"{option}={dict.fromkeys([pattern] if pattern else [look.name for look in group], value)!r}"


def _short(code: dict[Any, int]) -> dict[Any, int]:
    """Return a code in which long texts are cut: a message shows little of a cell."""
    return {quoted(v)[1:-1] if isinstance(v, str) and len(v) > LONG else v: bit for v, bit in code.items()}


def _cut(values: Sequence[Any]) -> list[Any]:
    return list(_short(dict.fromkeys(values, 1)))


def _shown(values: Sequence[Any]) -> str:
    return ", ".join(map(quoted, values[:SHOWN])) + (", ..." if len(values) > SHOWN else "")


def _about_missing(group: Sequence[ColumnLook], looks: Sequence[ColumnLook], *, levels: bool) -> str:
    look, names = group[0], [one.name for one in looks]
    count = sum(count for one in group for value, count in one.values if key_of(value) in {*map(key_of, look.suspects)})
    what = "looks like a code for missing" if len(look.suspects) == 1 else "look like codes for missing"
    said = f"- {_names(group)}: {_shown(look.suspects)} ({count:,} {'cells' if count > 1 else 'cell'}) {what}."
    if values_hidden():
        return f"{said} If so, name it with missing=. Values are not shown because HIDDENBITS_HIDE_VALUES is set."
    code = "" if levels or look.taken == "number" else ", and with code= which values are 1"
    none = _by_column("missing", group, names, [])
    inside, codes = {one.name for one in group}, {*map(key_of, look.suspects)}
    elsewhere = any(key_of(value) in codes for one in looks if one.name not in inside for value, _ in one.values)
    given = (
        _by_column("missing", group, names, _cut(look.suspects)) if elsewhere else f"missing={_cut(look.suspects)!r}"
    )
    return f"{said} If so, say {given}. If it is a real answer, say {none}{code}."


def _about_values(group: Sequence[ColumnLook], names: Sequence[str], *, offers: Collection[str]) -> str:
    look, values = group[0], _proper(group[0])
    head = f"- {_names(group)}: "
    if look.unclear:
        return head + _about_numbers(group, names, offers=offers)
    if look.mark:
        shown = "" if values_hidden() else f", such as {quoted(next(v for v in values if look.mark in str(v)))}"
        split = f"split={dict.fromkeys((one.name for one in group), look.mark)!r}"
        alone = _by_column("code", [look], names, {values[0]: 1})
        do = (
            f"say {split}"
            if "split" in offers
            else f"open frame.drop(columns={look.name!r}).join(frame[{look.name!r}].str.get_dummies({look.mark!r})), "
            "in which a blank counts as no code"
        )
        return (
            f"{head}several codes in a cell{shown}. For a bit of each code {do}. If each cell is one value, say "
            f"which count as 1, such as {alone}; {OTHERS}."
        )
    if values_hidden():
        return f"{head}{look.taken} (values are hidden). Say with code= which values are 1."
    code = _by_column("code", group, names, suggested(look).get("code", {}).get(look.name))
    if look.taken == "ordered":
        return f"{head}ordered values {_shown(values)}. Say which count as 1, such as {code}; {OTHERS}."
    if look.taken == "nominal":
        if any(len(str(value)) > LONG for value in values):
            return f"{head}categories {_shown(values)}. Say with code= which count as 1; {OTHERS}."
        return f"{head}categories {_shown(values)}. Say which count as 1, such as {code}; {OTHERS}."
    if look.taken == "one value or blank":
        alone = _by_column("code", group, names, {values[0]: 1})
        blanks = sum(one.n_blank for one in group)
        if not blanks:
            return f"{head}only {_shown(values)} besides. Say {alone} if it is 1."
        return (
            f"{head}{_shown(values)} or blank ({blanks:,} blanks). If a blank means no, say {code}; if it means that "
            f"nobody asked or answered, say {alone}."
        )
    if look.taken == "number":
        return f"{head}numbers. Say above which they are 1, such as {_by_column('code', group, names, '> 0')}."
    why = {
        "id": "tells rows apart",
        "date": "holds dates",
        "text": "holds text",
        "constant": "has the same value in every row",
    }
    return f"{head}{why.get(look.taken, 'is not bits')}, so it cannot be bits. Take it out of columns= and code=."


def _about_numbers(group: Sequence[ColumnLook], names: Sequence[str], *, offers: Collection[str]) -> str:
    """Return what is said about numbers that can be read in two ways."""
    look = group[0]
    if look.unclear == "counts":
        return (
            "seems to say how often each line occurs. If so, say "
            f"drop={_listed(group, names, all_of_them=True)}, and give the column to fit() as sample_weight=, without "
            "which each line would count once. If not, that drop= is enough."
        )
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


def said_of_left_out(looks: Sequence[ColumnLook], *, levels: bool = False) -> str:
    """Return the sentence about columns that were left out; `levels`: of a table that may have nominal columns."""
    parts = [f"{_names(group)} ({taken})" for taken, group in _groups(looks, lambda look: look.taken)]
    drop = f"drop={[look.name for look in looks]!r}" if len(looks) <= SHOWN else "drop= with their names"
    what = "neither binary, nominal nor ordinal" if levels else "not bits"
    said = f"Left out of the model, because they are {what}: {'; '.join(parts)}. They stay with the rows."
    number = next((look.name for look in looks if look.taken == "number"), None)
    if number is not None:
        said += f" To make bits of numbers, say above which they are 1, such as code={{{number!r}: '> 0'}}."
    return f"{said} If it is right to leave them out, {drop} says so and silences this."


def said_of_coded(looks: Sequence[ColumnLook]) -> str:
    """Return the sentence about columns of two values: which is 1."""
    if values_hidden():
        return f"Columns of two values were read as bits: {_names(looks)}. To say which value is 1, set code=."
    groups = _groups(looks, lambda look: (key_of(look.one), key_of(look.zero)))
    parts = [f"{_word(group[0].one)} = 1, {_word(group[0].zero)} = 0 in {_names(group)}" for _, group in groups]
    unsure = next((look for look in looks if not look.by_meaning), looks[0])
    example = {unsure.name: _short({unsure.zero: 1})}
    return f"Read as bits: {'; '.join(parts)}. To change that, set code=, such as code={example!r}."


def _word(value: Any) -> str:
    return quoted(value)[1:-1] if isinstance(value, str) and value.strip() and not value.isdigit() else quoted(value)
