"""What the user said about columns: the same words in Python, as flags of the command line, and in a recipe."""

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
ABOVE = re.compile(r"^>\s*([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)$")  # in recode=: "> 40"
ONE_HOT = "one-hot"
METADATA = "metadata"
TYPES = ("binary", "nominal", "ordinal", METADATA)
NOT_YET = ("continuous", "count", "quantiles")


@dataclass(frozen=True)
class Choices:
    """What the user said about columns; nothing, by default.

    Columns are named as the table names them, or by a pattern such as ``"q*"``.

    Attributes
    ----------
    columns : tuple or None
        The columns that enter the model, by name or number; all that can be read, by default. "bits": those that hold
        nothing but bits.
    drop : tuple
        Columns that do not.
    id : tuple
        Columns that do not, because they name the rows.
    recode : dict
        By column: which values are 1 and 0, ``{"yes": 1}`` (all others are 0 then) with "" for a blank;
        ``"> 40"``, 1 for numbers above it; ``"one-hot"``, a bit for each value. Such bits exclude each other, which
        breaks the assumption of latent class models.
    missing : dict or None
        By column, ``"*"`` for all: values that mean "not observed". Columns for which it says something, if only that
        there are none, are not searched for codes.
    types : dict
        By column, ``"*"`` for all: "binary", "nominal", "ordinal", or a list of levels, lowest first; "metadata" does
        not enter the model.
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
            _checked_code({} if recode is None else recode),
            None if missing is None else _checked_missing(missing),
            _checked_types({} if column_types is None else column_types),
            sample_weight,
        )

    def __bool__(self) -> bool:
        return self != Choices()

    def over(self, other: Choices) -> Choices:
        """Return these choices, and where they say nothing those of another."""
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

    def only_bits(self, names: Sequence[str]) -> bool:
        """Whether ``columns="bits"`` was said: the columns of nothing but bits, and no questions about the others."""
        return self.columns == ("bits",) and "bits" not in names

    def about(self, names: Sequence[str]) -> list[Said]:
        """Return what was said about each column; names that no column has are refused."""
        if self.columns is not None and self.drop:
            raise TableError("columns= and drop= were both given. Give one of them.")
        every = self.columns is None or self.only_bits(names)
        wanted = None if every else set(numbers_of(names, self.columns or (), "columns"))
        dropped, ids = (set(numbers_of(names, getattr(self, one), one)) for one in ("drop", "id"))
        weights = set(numbers_of(names, [self.sample_weight], "sample_weight") if self.sample_weight else ())
        codes, missing = _by_number(names, self.recode, "recode"), _by_number(names, self.missing or {}, "missing")
        types = _by_number(names, self.types, "column_types")
        own = _by_number(names, {name: one for name, one in self.types.items() if name != ALL}, "column_types")
        said = []
        for j, name in enumerate(names):
            asked = (wanted is not None and j in wanted) or j in codes
            out = j in dropped | ids | weights or (wanted is not None and j not in wanted) or types.get(j) == METADATA
            if j in codes and out:
                raise TableError(
                    f"column {name!r} is named in recode=, but drop=, id=, columns=, column_types= or sample_weight= "
                    "leaves it out. Give one of the two."
                )
            values = () if self.missing == {} else missing.get(j)
            keys = None if values is None else tuple(map(key_of, values))
            said.append(Said(asked, out, j in ids, codes.get(j), keys, types.get(j), j not in own))
        return said


@dataclass(frozen=True)
class Said:
    """What was said about one column: whether it enters, that it names rows; recoding, codes for missing, its type.

    `of_all` says that the type was said of all columns.
    """

    asked: bool = False
    out: bool = False
    is_id: bool = False
    recode: Any = None
    missing: tuple[Key, ...] | None = None
    type: Any = None
    of_all: bool = False


def _listed(value: Any, option: str) -> tuple[str | int, ...]:
    if value is None:
        return ()
    listed = (value,) if isinstance(value, (str, int)) else tuple(value)
    for one in listed:
        if isinstance(one, bool) or not isinstance(one, (str, int)):
            raise TypeError(f"{option}= takes names or numbers of columns, not {one!r}.")
    return listed


def _checked_code(recode: Any) -> dict[str, Any]:
    if not isinstance(recode, Mapping):
        raise TypeError(f"recode={recode!r}: give a dict by column, such as recode={{'q3': {{'yes': 1}}}}.")
    for name, said in recode.items():
        if isinstance(said, str) and (said == ONE_HOT or ABOVE.match(said)):
            continue
        valid = (
            isinstance(said, Mapping)
            and said
            and all(not isinstance(bit, float) and bit in (0, 1) and is_category(value) for value, bit in said.items())
        )
        if not valid:
            raise TypeError(
                f"recode= for column {name!r}: say which values are 1 and 0, such as {{'yes': 1, 'no': 0}}, or '> 40' "
                "for numbers above 40."
            )
        keys = [key_of(value) for value in said]
        if len(set(keys)) < len(keys):
            raise TypeError(f"recode= for column {name!r} names a value twice.")
    return {str(name): said if isinstance(said, str) else dict(said) for name, said in recode.items()}


def _checked_types(types: Any) -> dict[str, Any]:
    """Return types by column, as `Choices` has them; one word stands for all columns, "auto" says nothing."""
    by_column = dict(types) if isinstance(types, Mapping) else {ALL: types}
    for name, one in by_column.items():
        if isinstance(one, str) and one in NOT_YET:
            raise ValueError(
                f"column_types= for column {name!r}: {one!r} columns cannot be modeled yet. Leave the column out with "
                f'"{METADATA}", or say which numbers make a bit with recode=.'
            )
        levels = isinstance(one, (list, tuple)) and len(one) > 1 and all(map(is_category, one))
        if not levels and not (isinstance(one, str) and one in (*TYPES, "auto")):
            raise ValueError(
                f"column_types= for column {name!r}: {one!r} is no type of columns. Give "
                f"{', '.join(map(repr, TYPES))}, or a list of at least two levels, lowest first."
            )
    return {str(name): one for name, one in by_column.items() if one != "auto"}


def _checked_missing(missing: Any) -> dict[str, tuple[Any, ...]]:
    if isinstance(missing, Mapping):
        return {str(name): _values(values) for name, values in missing.items()}
    values = _values(missing)
    return {ALL: values} if values else {}


def _values(values: Any) -> tuple[Any, ...]:
    listed = (values,) if isinstance(values, (str, int, float)) else tuple(values)
    for one in listed:
        if not is_category(one):
            raise TypeError(f"missing= takes values, such as missing=[-99, 'n.a.'], not {one!r}.")
    return listed


def numbers_of(names: Sequence[str], wanted: Sequence[str | int], option: str) -> list[int]:
    """Return the numbers of the columns that names, numbers or patterns stand for; each may be named once."""
    place = {name: j for j, name in enumerate(names)}
    found: list[int] = []
    for one in wanted:
        if isinstance(one, int):
            these = [one] if 0 <= one < len(names) else []
        elif one in place:
            these = [place[one]]
        else:
            these = [j for j, name in enumerate(names) if "*" in one and fnmatchcase(name, one) and j not in found]
        if not these:
            shown = ", ".join(repr(name) for name in names[:10]) + (", ..." if len(names) > 10 else "")
            raise TableError(f"{option}= names {one!r}, but the columns are {shown}.")
        for j in these:
            if j in found:
                raise TableError(f"{option}= names column {one!r} twice.")
        found += these
    return found


def _by_number(names: Sequence[str], said: Mapping[str, Any], option: str) -> dict[int, Any]:
    """Return what was said by the number of the column: first by patterns, then by names, which say more."""
    found: dict[int, Any] = {}
    for name in sorted(said, key=lambda name: (name in names, name != ALL, len(name))):
        for j in range(len(names)) if name == ALL and ALL not in names else numbers_of(names, [name], option):
            found[j] = said[name]
    return found
