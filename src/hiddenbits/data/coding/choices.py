"""The user's options for columns: the same in Python, as flags of the command line, and in a recipe."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from hiddenbits.data.coding.cells import is_category
from hiddenbits.data.coding.vocabulary import Key, key_of
from hiddenbits.exceptions import TableError

ALL = "*"  # in missing=: all columns
THRESHOLD_RULE = re.compile(r"^>\s*([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)$")  # in recode=: "> 40"
ONE_HOT = "one-hot"
METADATA = "metadata"
TYPES = ("binary", "nominal", "ordinal", "continuous", "count", "quantiles", METADATA)


@dataclass(frozen=True)
class Choices:
    """The user's options for the columns of a table; none by default.

    Columns are given by their names in the table, or by a pattern such as ``"q*"``.

    Attributes
    ----------
    columns : tuple or None
        The columns that enter the model, by name or number; by default all that can be read. "binary": those that hold
        only 0, 1 and missing values.
    drop : tuple
        Columns that do not enter.
    id : tuple
        Columns that do not enter because they name the rows.
    recode : dict
        By column: which values are 1 and 0, as in ``{"yes": 1}`` (all others are then 0), with "" for a missing value;
        ``"> 40"``, 1 for numbers above 40; ``"one-hot"``, a binary column for each value. One-hot columns exclude each
        other, which violates the local independence of latent class models.
    missing : dict or None
        By column, ``"*"`` for all: values that mean "not observed". Columns listed here, even with no values, are not
        searched for codes.
    types : dict
        By column, ``"*"`` for all: "binary", "nominal", "ordinal", "continuous", "count", "quantiles" (numbers as five
        levels), or a list of levels, lowest first; "metadata" columns do not enter the model.
    sample_weight : str or None
        The column whose numbers are the weights of the rows; it does not enter the model.

    Examples
    --------
    >>> Choices.of(drop="note", missing=[-99]).missing
    {'*': (-99,)}
    """

    columns: tuple[str | int, ...] | None = None
    drop: tuple[str | int, ...] = ()
    id: tuple[str | int, ...] = ()
    recode: Mapping[str, Any] = field(default_factory=dict)
    missing: Mapping[str, tuple[Any, ...]] | None = None
    types: Mapping[str, Any] = field(default_factory=dict)
    sample_weight: str | None = None

    @classmethod
    def of(
        cls,
        columns: Any = None,
        drop: Any = None,
        id: Any = None,  # noqa: A002
        recode: Any = None,
        missing: Any = None,
        column_types: Any = None,
        sample_weight: Any = None,
    ) -> Choices:
        """Return choices as `open_table` takes them, checked."""
        if not (sample_weight is None or isinstance(sample_weight, str)):
            raise TypeError(f"sample_weight= takes the name of a column here, not {sample_weight!r}.")
        return cls(
            None if columns is None else _listed(columns, "columns"),
            _listed(drop, "drop"),
            _listed(id, "id"),
            _checked_recode({} if recode is None else recode),
            None if missing is None else _checked_missing(missing),
            _checked_types({} if column_types is None else column_types),
            sample_weight,
        )

    def __bool__(self) -> bool:
        return self != Choices()

    def completed_by(self, other: Choices) -> Choices:
        """Return these choices, completed by other choices; these have precedence."""
        missing = None
        if self.missing is not None or other.missing is not None:
            missing = {**(other.missing or {}), **(self.missing or {})}
        return Choices(
            other.columns if self.columns is None else self.columns,
            tuple(dict.fromkeys((*other.drop, *self.drop))),
            tuple(dict.fromkeys((*other.id, *self.id))),
            {**other.recode, **self.recode},
            missing,
            {**other.types, **self.types},
            self.sample_weight or other.sample_weight,
        )

    def only_binary(self, names: Sequence[str]) -> bool:
        """Whether the option is ``columns="binary"``: all columns that are not binary are excluded without an error."""
        return self.columns == ("binary",) and "binary" not in names

    def by_column(self, names: Sequence[str]) -> list[ColumnOptions]:
        """Return the options of each column; raise an error for names that no column has."""
        if self.columns is not None and self.drop:
            raise TableError("Both columns= and drop= were given. Use one of them.")
        all_enter = self.columns is None or self.only_binary(names)
        included = None if all_enter else set(numbers_of(names, self.columns or (), "columns"))
        dropped, ids = (set(numbers_of(names, getattr(self, option), option)) for option in ("drop", "id"))
        weights = set(numbers_of(names, [self.sample_weight], "sample_weight") if self.sample_weight else ())
        codes, missing = _by_number(names, self.recode, "recode"), _by_number(names, self.missing or {}, "missing")
        types = _by_number(names, self.types, "column_types")
        by_name = _by_number(names, {name: type_ for name, type_ in self.types.items() if name != ALL}, "column_types")
        options = []
        for j, name in enumerate(names):
            excluded = j in dropped | ids | weights or (included is not None and j not in included)
            excluded = excluded or types.get(j) == METADATA
            if j in codes and excluded:
                raise TableError(
                    f"column {name!r} is recoded by recode=, but excluded by drop=, id=, columns=, column_types= or "
                    "sample_weight=. Remove it from one of them."
                )
            named = (included is not None and j in included) or j in codes
            values = () if self.missing == {} else missing.get(j)
            keys = None if values is None else tuple(map(key_of, values))
            options.append(ColumnOptions(named, excluded, j in ids, codes.get(j), keys, types.get(j), j not in by_name))
        return options


@dataclass(frozen=True)
class ColumnOptions:
    """The options of one column: whether it enters or names the rows; its recoding, codes for missing values and type.

    `is_named`: columns= or recode= names the column, so it must enter. `type_of_all`: the user gave its type for all
    columns.
    """

    is_named: bool = False
    is_excluded: bool = False
    is_id: bool = False
    recode: Any = None
    missing: tuple[Key, ...] | None = None
    type: Any = None
    type_of_all: bool = False


def _listed(value: Any, option: str) -> tuple[str | int, ...]:
    if value is None:
        return ()
    listed = (value,) if isinstance(value, (str, int)) else tuple(value)
    for column in listed:
        if isinstance(column, bool) or not isinstance(column, (str, int)):
            raise TypeError(f"{option}= takes names or numbers of columns, not {column!r}.")
    return listed


def _checked_recode(recode: Any) -> dict[str, Any]:
    if not isinstance(recode, Mapping):
        raise TypeError(f"recode={recode!r} must be a dict by column, such as recode={{'q3': {{'yes': 1}}}}.")
    for name, code in recode.items():
        if isinstance(code, str) and (code == ONE_HOT or THRESHOLD_RULE.match(code)):
            continue
        valid = (
            isinstance(code, Mapping)
            and code
            and all(not isinstance(bit, float) and bit in (0, 1) and is_category(value) for value, bit in code.items())
        )
        if not valid:
            raise TypeError(
                f"recode= for column {name!r} must list the values that are 1 and 0, such as {{'yes': 1, 'no': 0}}, or "
                "give a threshold, such as '> 40'."
            )
        keys = [key_of(value) for value in code]
        if len(set(keys)) < len(keys):
            raise TypeError(f"recode= for column {name!r} lists a value twice.")
    return {str(name): code if isinstance(code, str) else dict(code) for name, code in recode.items()}


def _checked_types(types: Any) -> dict[str, Any]:
    """Return types by column, as `Choices` has them; a single word is the type of all columns, "auto" sets none."""
    by_column = dict(types) if isinstance(types, Mapping) else {ALL: types}
    for name, type_ in by_column.items():
        levels = isinstance(type_, (list, tuple)) and len(type_) > 1 and all(map(is_category, type_))
        if not levels and not (isinstance(type_, str) and type_ in (*TYPES, "auto")):
            raise ValueError(
                f"column_types= for column {name!r}: {type_!r} is not a column type. Use "
                f"{', '.join(map(repr, TYPES))}, or a list of at least two levels, lowest first."
            )
    return {str(name): type_ for name, type_ in by_column.items() if type_ != "auto"}


def _checked_missing(missing: Any) -> dict[str, tuple[Any, ...]]:
    if isinstance(missing, Mapping):
        return {str(name): _values(values) for name, values in missing.items()}
    values = _values(missing)
    return {ALL: values} if values else {}


def _values(values: Any) -> tuple[Any, ...]:
    listed = (values,) if isinstance(values, (str, int, float)) else tuple(values)
    for value in listed:
        if not is_category(value):
            raise TypeError(f"missing= takes values, such as missing=[-99, 'n.a.'], not {value!r}.")
    return listed


def numbers_of(names: Sequence[str], selected: Sequence[str | int], option: str) -> list[int]:
    """Return the numbers of the columns selected by name, number or pattern; each may be selected once."""
    number_of = {name: j for j, name in enumerate(names)}
    numbers: list[int] = []
    for key in selected:
        if isinstance(key, int):
            matches = [key] if 0 <= key < len(names) else []
        elif key in number_of:
            matches = [number_of[key]]
        else:
            matches = [j for j, name in enumerate(names) if "*" in key and fnmatchcase(name, key) and j not in numbers]
        if not matches:
            shown = ", ".join(repr(name) for name in names[:10]) + (", ..." if len(names) > 10 else "")
            raise TableError(f"{option}= names {key!r}, but the columns are {shown}.")
        for j in matches:
            if j in numbers:
                raise TableError(f"{option}= names column {key!r} twice.")
        numbers += matches
    return numbers


def _by_number(names: Sequence[str], by_name: Mapping[str, Any], option: str) -> dict[int, Any]:
    """Return an option by the number of the column; names are more specific than patterns, and override them."""
    by_number: dict[int, Any] = {}
    for name in sorted(by_name, key=lambda name: (name in names, name != ALL, len(name))):
        for j in range(len(names)) if name == ALL and ALL not in names else numbers_of(names, [name], option):
            by_number[j] = by_name[name]
    return by_number
