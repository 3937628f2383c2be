"""How each column is read, from its profile and the user's options: the coding of a table, or one error for all."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from hiddenbits.data.cell_checks import bad_cell
from hiddenbits.data.coding.cells import ColumnCells
from hiddenbits.data.coding.choices import ONE_HOT, THRESHOLD_RULE, Choices, ColumnOptions, numbers_of
from hiddenbits.data.coding.coded_columns import MULTI_BIT, NUMBERS, CodedColumn, Coding
from hiddenbits.data.coding.vocabulary import is_id_name, key_of, plain_number
from hiddenbits.data.columns.describe import MAX_NOMINAL_VALUES, ColumnDescription, describe_column
from hiddenbits.data.columns.message import (
    ambiguous_columns_error,
    excluded_message,
    pairs_error,
    recoded_message,
    unordered_columns_error,
)
from hiddenbits.data.columns.profiles import ColumnProfile, is_infinite
from hiddenbits.data.columns.protocol import Columns
from hiddenbits.data.columns.shape import counts_rows, row_and_item
from hiddenbits.data.request import Request
from hiddenbits.exceptions import ExcludedColumnsWarning, RecodedColumnsWarning, TableError
from hiddenbits.quoting import quoted

NUMERIC = (*NUMBERS, "quantiles")  # types of columns of numbers
N_QUANTILES = 5
MIN_OWN_LEVEL = 0.05  # share of the rows above which a value is a level of its own
MAX_QUANTILE_ROWS = 1 << 20  # rows, evenly spaced, from which cut points are computed


@dataclass(frozen=True)
class Plan:
    """How the columns of a table are read.

    Attributes
    ----------
    coding : Coding
        How values become bits.
    descriptions : tuple of ColumnDescription
        All columns, in the order in which they enter.
    recoded, excluded : tuple of ColumnDescription
        The columns of two values for which we chose the value that is 1, and the columns that we excluded.
    """

    coding: Coding
    descriptions: tuple[ColumnDescription, ...]
    recoded: tuple[ColumnDescription, ...]
    excluded: tuple[ColumnDescription, ...]

    def warn(self, *, levels: bool) -> None:
        """Warn about excluded columns, and about which value is 1, which is irrelevant to a model of levels."""
        if self.recoded and not levels:
            warnings.warn(recoded_message(self.recoded, self.descriptions), RecodedColumnsWarning, stacklevel=5)
        if self.excluded:
            message = excluded_message(self.excluded, self.descriptions, levels=levels)
            warnings.warn(message, ExcludedColumnsWarning, stacklevel=5)


def plan(
    profiles: Mapping[str, ColumnProfile],
    columns: Columns,
    request: Request,
    *,
    named: bool = True,
    held: Mapping[str, ColumnCells] = MappingProxyType({}),
) -> Plan:
    """Return how columns are read; raise one error for all that are ambiguous.

    Parameters
    ----------
    profiles : mapping of str to ColumnProfile
        How often each value occurs, by the name of the column.
    columns : Columns
        The rows, from which cut points of quantiles are computed.
    request : Request
        The user's options.
    named : bool
        Whether the columns have names of their own.
    held : mapping of str to ColumnCells
        The columns, if they are in memory: only all of them show whether one counts rows.
    """
    names = list(profiles)
    choices = request.choices or Choices()
    options_of = dict(zip(names, choices.by_column(names), strict=True))
    if choices.columns is not None and not choices.only_binary(names):  # in the order in which they were named
        selected_first = [names[j] for j in numbers_of(names, choices.columns, "columns")]
        names = list(dict.fromkeys([*selected_first, *names]))
    descriptions = _descriptions([(profiles[name], options_of[name]) for name in names], request, held)
    all_by_default = not any(options.is_excluded or options.is_named for options in options_of.values())
    if all_by_default and (pair := row_and_item(descriptions)) is not None:
        raise pairs_error(*pair, descriptions, offers=request.offers)
    coded: list[CodedColumn] = []
    recoded: list[ColumnDescription] = []
    excluded: list[ColumnDescription] = []
    ambiguous: list[ColumnDescription] = []
    unordered: list[ColumnDescription] = []
    excluded_names: list[str] = []
    ids: list[str] = []
    only_binary = choices.only_binary(names)
    for number, (name, column) in enumerate(zip(names, descriptions, strict=True)):
        options, profile = options_of[name], profiles[name]
        if options.is_excluded:
            excluded_names.append(name)
            ids += [name] if options.is_id else []
            continue
        words = [word for word, key in profile.keys.items() if isinstance(key, str)]
        if len(words) == 1 and is_infinite(words[0]):  # an infinite number, perhaps as text
            if options.type in NUMERIC or (request.levels and options.type is None):
                raise TableError(
                    f"row {profile.first_infinite}, column {name!r}: {words[0]} is not a finite number. Correct the "
                    "cell or make it missing."
                )
            raise bad_cell(words[0], profile.first_infinite, number, tuple(names), request.threshold)
        if only_binary and (column.inferred_type != "binary" or column.suspected_codes):
            excluded_names.append(name)
            continue
        code = _code_column(profile, column, options, request)
        if code is not None:
            coded.append(_cut_at_quantiles(code, columns) if code.how == "quantiles" else code)
            unordered += [column] if options.type == "ordinal" and _has_unknown_order(column) else []
            if code.how == "values" and column.inferred_type == "two values" and options.recode is None:
                recoded.append(column)
        elif column.is_ambiguous or options.is_named:
            ambiguous.append(column)
        else:
            excluded_names.append(name)
            excluded.append(column)
    if unordered:
        raise unordered_columns_error(unordered, descriptions)
    if ambiguous:
        raise ambiguous_columns_error(ambiguous, descriptions, offers=request.offers, levels=request.levels)
    if not coded and not excluded:
        raise TableError("All columns are excluded. Include at least one.")
    if not coded:
        types = ", ".join(f"{column.name!r} ({column.inferred_type})" for column in descriptions[:10])
        raise TableError(
            f"No column can be read as binary: {types}{', ...' if len(descriptions) > 10 else ''}. Choose the values "
            "that are 1 with recode=, or a threshold above which numbers are 1 with threshold=."
        )
    coding = Coding(tuple(coded), tuple(excluded_names), tuple(ids), named)
    _refuse_uncounted_values(coding, profiles)
    return Plan(coding, tuple(descriptions), tuple(recoded), tuple(excluded))


def _descriptions(
    columns: Sequence[tuple[ColumnProfile, ColumnOptions]], request: Request, held: Mapping[str, ColumnCells]
) -> list[ColumnDescription]:
    """Describe each column; for columns in memory, also find out whether they seem to count rows."""
    described = []
    for profile, options in columns:
        has_threshold = request.threshold is not None or (isinstance(options.recode, str) and options.recode != ONE_HOT)
        has_threshold |= options.type in NUMERIC or (request.levels and options.type is None)
        details: dict[str, Any] = {"form": profile.form, "missing": options.missing, "threshold": has_threshold}
        described.append(describe_column(profile.name, profile.counts, **details))
    cells = [held[profile.name] for profile, _ in columns] if held else []
    return [replace(c, ambiguity="counts") if held and counts_rows(c, cells, described) else c for c in described]


def _refuse_uncounted_values(coding: Coding, profiles: Mapping[str, ColumnProfile]) -> None:
    """Refuse to code values one by one if there are so many that not all of them were counted."""
    for column in coding.columns:
        limit = profiles[column.name].max_counted
        if limit and column.how in ("values", *MULTI_BIT) and column.how != "quantiles":
            raise TableError(
                f"column {column.name!r} has more than {limit:,} different values, too many to recode one by one in a "
                "table that stays on disk. Merge rare values, or exclude the column with drop=."
            )


def _code_column(
    profile: ColumnProfile, column: ColumnDescription, options: ColumnOptions, request: Request
) -> CodedColumn | None:
    """Return how a column becomes bits; None if it is ambiguous, or excluded."""
    inferred_type, values = column.inferred_type, tuple(value for value, _ in column.values)
    if options.recode is not None:
        code = _code_as_recoded(column, options.recode)
    elif options.type is not None:
        is_numeric = _has_numbers(profile, options)
        unfit = inferred_type in ("id", "date", "text", "constant") or len(values) > MAX_NOMINAL_VALUES
        if options.type in NUMERIC:
            unfit = not is_numeric or is_id_name(column.name)
        fits = not column.suspected_codes and not (options.type_of_all and unfit)
        code = _code_typed(column, options.type, is_numeric=is_numeric) if fits else None
    elif column.suspected_codes or column.ambiguity:
        code = None
    elif request.threshold is not None and profile.is_numeric and inferred_type not in ("id", "date", "text"):
        code = CodedColumn(column.name, "above", threshold=request.threshold)
    elif inferred_type == "one value or missing" and request.empty != "auto":
        code = CodedColumn(column.name, "values", values[:1], if_missing=0 if request.empty == "zero" else None)
    elif request.levels and inferred_type in ("nominal", "ordinal"):
        code = CodedColumn(column.name, inferred_type, values)
    elif request.levels and inferred_type == "continuous" and _has_numbers(profile, options):
        code = CodedColumn(column.name, "continuous")
    else:
        code = _code_as_binary(column)
    missing = tuple(plain_number(key) if isinstance(key, float) else key for key in options.missing or ())
    return None if code is None else replace(code, missing=missing)


def _has_unknown_order(column: ColumnDescription) -> bool:
    """Whether the levels of a column are words of no known scale."""
    words = any(not isinstance(key_of(value), float) for value, _ in column.values)
    return words and column.inferred_type != "ordinal" and len(column.values) > 2


def _has_numbers(profile: ColumnProfile, options: ColumnOptions) -> bool:
    """Whether a column holds only numbers, and values that mean "not observed"."""
    missing = options.missing or ()
    return not profile.form and all(
        key is None or isinstance(key, float) or key in missing for key in profile.keys.values()
    )


def _code_as_binary(column: ColumnDescription) -> CodedColumn | None:
    """Return the code of a binary column, or of one of two values; None for any other."""
    if column.inferred_type == "binary":
        return CodedColumn(column.name)
    if column.inferred_type == "two values":
        return CodedColumn(column.name, "values", (column.positive,), (column.negative,))
    return None


def _code_typed(column: ColumnDescription, type_: Any, *, is_numeric: bool) -> CodedColumn:
    """Return the code of a column of the type that the user gave."""
    values = tuple(value for value, _ in column.values)
    if type_ in NUMERIC:
        if is_numeric:
            return CodedColumn(column.name, type_)
        words = [value for value in values if not isinstance(key_of(value), float)]
        raise TableError(
            f"column {column.name!r} cannot be of type {type_!r}: {_first_few(words)} "
            f'{"is not a number" if len(words) == 1 else "are not numbers"}. List values that mean "not observed" in '
            "missing=, or give the column another type."
        )
    if not isinstance(type_, str):
        levels = set(map(key_of, type_))
        if absent := [value for value in values if key_of(value) not in levels]:
            raise TableError(
                f"column_types= for column {column.name!r} lacks {', '.join(map(quoted, absent[:8]))}, which occurs. "
                'List every level, or list values that mean "not observed" in missing=.'
            )
        return CodedColumn(column.name, "ordinal", tuple(type_))
    if type_ == "binary":
        if (code := _code_as_binary(column)) is not None:
            return code
        raise TableError(
            f"column {column.name!r} cannot be binary: it has {len(values)} values, {_first_few(values)}. Choose those "
            "that are 1 with recode=, or make it nominal or ordinal."
        )
    if len(values) < 2:
        raise TableError(
            f"column {column.name!r} cannot be {type_}: it has {'only one' if values else 'no'} value. Exclude it, or "
            f"list its levels: column_types={{{column.name!r}: [...]}}."
        )
    return CodedColumn(column.name, "nominal" if type_ == "nominal" else "ordinal", values)


def _cut_at_quantiles(column: CodedColumn, columns: Columns) -> CodedColumn:
    """Return a column of numbers as at most `N_QUANTILES` levels of about equal size, from the rows of the fit.

    A value held by more than `MIN_OWN_LEVEL` of the rows is a level of its own, such as 0 in a column of expenses.
    """
    step = -(-columns.n_rows // MAX_QUANTILE_ROWS)
    parts = []
    for batch in columns.batches(0, columns.n_rows, [column.name]):
        values = batch.numbers(column.name)
        if values is None:
            cells = batch.cells(column.name)
            values = cells.key_numbers()[cells.rows]
        parts.append(column.numbers(values)[-batch.first_row % step :: step])  # wherever batches begin
    numbers = np.concatenate(parts)
    distinct, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    own = counts > MIN_OWN_LEVEL * counts.sum()
    others = np.cumsum(np.where(own, 0, counts))
    shares = np.arange(1, N_QUANTILES) / N_QUANTILES if counts[~own].any() else ()
    cuts = {float(distinct[i]) for k in np.flatnonzero(own) for i in (k - 1, k) if 0 <= i < len(distinct) - 1}
    for share in shares:
        cuts.add(float(distinct[min(np.searchsorted(others, share * others[-1]), len(distinct) - 1)]))
    inner = sorted(cut for cut in cuts if cut < distinct[-1]) if len(distinct) else []
    if not inner:
        raise TableError(f"column {column.name!r} cannot be cut at quantiles: it has one value. Exclude it.")
    levels = np.searchsorted(inner, distinct)
    ends = [(distinct[levels == level][0], distinct[levels == level][-1]) for level in range(len(inner) + 1)]
    labels = tuple(f"{low:.15g}" if low == high else f"{low:.15g} to {high:.15g}" for low, high in ends)
    return replace(column, ones=labels, cuts=tuple(inner))


def _code_as_recoded(column: ColumnDescription, code: Any) -> CodedColumn | None:
    """Return a column with the user's recoding; None if it does not list suspected codes for missing values."""
    spelled = {key_of(value): value for value, _ in column.values}
    suspected = set(map(key_of, column.suspected_codes))
    if isinstance(code, str):
        if suspected:
            return None
        if code == ONE_HOT:
            return CodedColumn(column.name, "one-hot", tuple(spelled.values()))
        rule = THRESHOLD_RULE.match(code)
        assert rule is not None  # noqa: S101  (Choices has checked it)
        return CodedColumn(column.name, "above", threshold=float(rule[1]))
    bits = {key_of(value): bit for value, bit in code.items() if value != ""}
    if suspected - set(bits):
        return None
    if bits and not set(bits) & set(spelled):
        raise TableError(
            f"recode= for column {column.name!r} names {quoted(next(value for value in code if value != ''))}, which "
            f"does not occur. Its values are {_first_few(list(spelled.values()))}."
        )
    unlisted = [key for key in spelled if key not in bits]
    if unlisted and len(set(code.values())) == 2:
        raise TableError(
            f"recode= for column {column.name!r} lacks {', '.join(quoted(spelled[key]) for key in unlisted[:8])}. List "
            f"every value as 1, 0 or in missing={{{column.name!r}: [...]}}; or list only those that are 1."
        )
    spelled |= {key_of(value): value for value in code if key_of(value) not in spelled}
    bits |= dict.fromkeys(unlisted, 1 - next(iter(code.values())))
    ones, zeros = (tuple(spelled[key] for key, bit in bits.items() if bit == wanted) for wanted in (1, 0))
    return CodedColumn(column.name, "values", ones, zeros, if_missing=code.get(""))


def _first_few(values: Sequence[Any]) -> str:
    return ", ".join(map(quoted, values[:8])) + (", ..." if len(values) > 8 else "")
