"""What becomes of each column, from its profile and from what the user said: the coding of a table, or one question."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from hiddenbits.data.cell_checks import bad_cell
from hiddenbits.data.coding.cells import ColumnCells
from hiddenbits.data.coding.choices import ABOVE, ONE_HOT, Choices, Said, numbers_of
from hiddenbits.data.coding.coded_columns import HAVE_BITS, CodedColumn, Coding, How
from hiddenbits.data.coding.vocabulary import key_of, plain_number
from hiddenbits.data.columns.describe import MOST_NOMINAL, ColumnLook, described
from hiddenbits.data.columns.look import ColumnProfile, is_infinite
from hiddenbits.data.columns.message import are_pairs, coded_message, left_out_message, needs_a_word
from hiddenbits.data.columns.shape import counts_rows, pairs
from hiddenbits.data.request import Request
from hiddenbits.exceptions import ExcludedColumnsWarning, RecodedColumnsWarning, TableError
from hiddenbits.quoting import quoted

OF_LEVELS: dict[str, How] = {"ordered": "ordinal", "nominal": "nominal"}  # by what a look takes a column for


@dataclass(frozen=True)
class Plan:
    """What becomes of the columns of a table.

    Attributes
    ----------
    coding : Coding
        How columns enter.
    looks : tuple of ColumnLook
        What was seen in each column, in the order in which they enter.
    guessed, left_out : tuple of ColumnLook
        Of these, those of two values of which it was guessed which is 1, and those that do not enter, unasked.
    """

    coding: Coding
    looks: tuple[ColumnLook, ...]
    guessed: tuple[ColumnLook, ...]
    left_out: tuple[ColumnLook, ...]

    def say(self, *, levels: bool) -> None:
        """Warn of what was left out, and which value is 1, which is all the same to a model that takes levels."""
        if self.guessed and not levels:
            warnings.warn(coded_message(self.guessed, self.looks), RecodedColumnsWarning, stacklevel=5)
        if self.left_out:
            message = left_out_message(self.left_out, self.looks, levels=levels)
            warnings.warn(message, ExcludedColumnsWarning, stacklevel=5)


def plan(
    profiles: Mapping[str, ColumnProfile],
    request: Request,
    *,
    named: bool = True,
    held: Mapping[str, ColumnCells] = MappingProxyType({}),
) -> Plan:
    """Return what becomes of columns; all that need a word are refused in one message.

    Parameters
    ----------
    profiles : mapping of str to ColumnProfile
        How often each value occurs, by the name of the column.
    request : Request
        What the user said.
    named : bool
        Whether the columns have names of their own.
    held : mapping of str to ColumnCells
        The columns, where they are in memory: whether one counts rows can be told from all of them only.
    """
    names = list(profiles)
    choices = request.choices or Choices()
    about = dict(zip(names, choices.about(names), strict=True))
    if choices.columns is not None and not choices.only_bits(names):  # in the order in which they were named
        first = [names[j] for j in numbers_of(names, choices.columns, "columns")]
        names = list(dict.fromkeys([*first, *names]))
    looks = _looks([profiles[name] for name in names], about, request, held)
    if all(not (said.out or said.asked) for said in about.values()) and (both := pairs(looks)) is not None:
        raise are_pairs(*both, looks, offers=request.offers)
    guessed: list[ColumnLook] = []
    left: list[ColumnLook] = []
    asked: list[ColumnLook] = []
    coded: list[CodedColumn] = []
    out: list[str] = []
    ids: list[str] = []
    only_bits = choices.only_bits(names)
    for number, (name, one) in enumerate(zip(names, looks, strict=True)):
        said, profile = about[name], profiles[name]
        if said.out:
            out.append(name)
            ids += [name] if said.is_id else []
            continue
        infinite = [word for word, key in profile.keys.items() if isinstance(key, str)]
        if len(infinite) == 1 and is_infinite(infinite[0]):  # an infinite number, also in a word among numbers
            raise bad_cell(infinite[0], profile.infinite, number, tuple(names), request.threshold)
        if only_bits and (one.taken != "bits" or one.suspects):
            out.append(name)
            continue
        found = _coded(profile, one, said, request)
        if found is not None:
            coded.append(found)
            guessed += [one] if found.how == "values" and one.taken == "two values" and said.recode is None else []
        elif one.needs_a_word or said.asked:
            asked.append(one)
        else:
            out.append(name)
            left.append(one)
    if asked:
        raise needs_a_word(asked, looks, offers=request.offers, levels=request.levels)
    if not coded and not left:
        raise TableError("No column is left to read. Keep at least one.")
    if not coded:
        kinds = ", ".join(f"{look.name!r} ({look.taken})" for look in looks[:10]) + (", ..." if len(looks) > 10 else "")
        raise TableError(
            f"No column can be read as bits: {kinds}. Say with recode= which values are 1, or with threshold= above "
            "which number."
        )
    coding = Coding(tuple(coded), tuple(out), tuple(ids), named)
    _check_counted(coding, profiles)
    return Plan(coding, tuple(looks), tuple(guessed), tuple(left))


def _looks(
    profiles: Sequence[ColumnProfile], about: Mapping[str, Said], request: Request, held: Mapping[str, ColumnCells]
) -> list[ColumnLook]:
    """Return what is seen in each column, and which of them seem to count rows."""
    looks = []
    for profile in profiles:
        said = about[profile.name]
        cut = request.threshold is not None or (isinstance(said.recode, str) and said.recode != ONE_HOT)
        looks.append(described(profile.name, profile.counts, form=profile.form, missing=said.missing, threshold=cut))
    cells = [held[profile.name] for profile in profiles] if held else []
    return [replace(look, unclear="counts") if held and counts_rows(look, cells, looks) else look for look in looks]


def _check_counted(coding: Coding, profiles: Mapping[str, ColumnProfile]) -> None:
    """Refuse to code many values one by one: not all of them were counted."""
    for column in coding.columns:
        profile = profiles[column.name]
        if profile.cut and column.how in ("values", *HAVE_BITS):
            raise TableError(
                f"column {column.name!r} has more than {profile.cut:,} different values, too many to code one by one "
                "in a table that stays on disk. Merge rare values, or leave the column out with drop=."
            )


def _coded(profile: ColumnProfile, look: ColumnLook, said: Said, request: Request) -> CodedColumn | None:
    """Return how a column becomes bits; None where it needs a word, or stays out."""
    if said.recode is not None:
        column = _as_said(look, said.recode)
    elif said.type is not None:
        many = look.taken in ("id", "date", "text", "constant") or len(look.values) > MOST_NOMINAL
        column = None if look.suspects or (said.of_all and many) else _of_type(look, said.type)
    elif look.suspects or look.unclear:
        column = None
    elif request.threshold is not None and profile.is_numeric and look.taken not in ("id", "date", "text"):
        column = CodedColumn(look.name, "above", threshold=request.threshold)
    elif look.taken == "one value or blank" and request.empty != "auto":
        zero = 0 if request.empty == "zero" else None
        column = CodedColumn(look.name, "values", (look.values[0][0],), blank=zero)
    elif request.levels and look.taken in OF_LEVELS:
        column = CodedColumn(look.name, OF_LEVELS[look.taken], tuple(value for value, _ in look.values))
    else:
        column = _binary(look)
    missing = tuple(plain_number(key) if isinstance(key, float) else key for key in said.missing or ())
    return None if column is None else replace(column, missing=missing)


def _binary(look: ColumnLook) -> CodedColumn | None:
    """Return a column of bits, or of two values; None for any other."""
    if look.taken == "bits":
        return CodedColumn(look.name)
    return CodedColumn(look.name, "values", (look.one,), (look.zero,)) if look.taken == "two values" else None


def _of_type(look: ColumnLook, type_: Any) -> CodedColumn:
    """Return a column of the type that the user gave."""
    values = tuple(value for value, _ in look.values)
    if not isinstance(type_, str):
        levels = set(map(key_of, type_))
        if odd := [value for value in values if key_of(value) not in levels]:
            raise TableError(
                f"column_types= for column {look.name!r} lacks {', '.join(map(quoted, odd[:8]))}, which occurs. "
                "Name every level, or say with missing= that it means not observed."
            )
        return CodedColumn(look.name, "ordinal", tuple(type_))
    if type_ == "binary":
        if (column := _binary(look)) is not None:
            return column
        raise TableError(
            f"column {look.name!r} is to be binary, but has {len(values)} values: {_some(values)}. Say which of them "
            "are 1 with recode=, or make it nominal or ordinal."
        )
    if len(values) < 2:
        raise TableError(
            f"column {look.name!r} is to be {type_}, but has {'only one' if values else 'no'} value. Leave it out, "
            f"or list its levels: column_types={{{look.name!r}: [...]}}."
        )
    return CodedColumn(look.name, "nominal" if type_ == "nominal" else "ordinal", values)


def _as_said(look: ColumnLook, code: Any) -> CodedColumn | None:
    """Return a column with the code that the user gave; None where that leaves a code for missing open."""
    spelled = {key_of(value): value for value, _ in look.values}
    suspects = set(map(key_of, look.suspects))
    if isinstance(code, str):
        if suspects:
            return None
        if code == ONE_HOT:
            return CodedColumn(look.name, "one-hot", tuple(spelled.values()))
        above = ABOVE.match(code)
        assert above is not None  # noqa: S101  (Choices has checked it)
        return CodedColumn(look.name, "above", threshold=float(above[1]))
    bits = {key_of(value): bit for value, bit in code.items() if value != ""}
    if suspects - set(bits):
        return None
    if bits and not set(bits) & set(spelled):
        raise TableError(
            f"recode= for column {look.name!r} names {quoted(next(value for value in code if value != ''))}, which "
            f"does not occur. Its values are {_some(list(spelled.values()))}."
        )
    others = [key for key in spelled if key not in bits]
    if others and len(set(code.values())) == 2:
        raise TableError(
            f"recode= for column {look.name!r} does not say what {', '.join(quoted(spelled[key]) for key in others[:8])} "
            f"is: 1, 0, or missing={{{look.name!r}: [...]}}. Name every value, or only those that are 1."
        )
    named = spelled | {key_of(value): value for value in code if key_of(value) not in spelled}
    bits |= dict.fromkeys(others, 1 - next(iter(code.values())))
    ones, zeros = (tuple(named[key] for key, one in bits.items() if one == bit) for bit in (1, 0))
    return CodedColumn(look.name, "values", ones, zeros, blank=code.get(""))


def _some(values: Sequence[Any]) -> str:
    return ", ".join(map(quoted, values[:8])) + (", ..." if len(values) > 8 else "")
