"""How values of columns become bits or numbers, as decided at the fit, and back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import AnyArray, Bytes, Floats
from hiddenbits.data.coding.cells import Category, KeptColumn, common_type, is_category
from hiddenbits.data.coding.meaning import Meaning, sentence
from hiddenbits.data.coding.vocabulary import Key, key_of, means_yes
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import quoted

Method = Literal["binary", "values", "one-hot", "above", "nominal", "ordinal", "quantiles", "continuous", "count"]
ALL_METHODS: tuple[Method, ...] = get_args(Method)
FRAMES = ("pandas", "polars", "pyarrow", "modin", "cudf")
LEVELS = ("nominal", "ordinal", "quantiles")  # a column of levels: one group of bits, of which a recorded cell has one
NUMBERS = ("continuous", "count")  # columns that stay numbers
MULTI_BIT = ("one-hot", *LEVELS)  # methods with a bit for each value
VALUE_METHODS = ("values", *MULTI_BIT)  # methods that list the values of a column
BIT_KEYS: dict[Key, int] = {0.0: 0, 1.0: 1, "false": 0, "true": 1}
MISSING, UNKNOWN = 2, 3  # codes of a cell other than 0 and 1
MAX_LEVELS = 1000
MAX_SHOWN_CODES = 6  # codes that a meaning lists
# From a slice of rows to the bits of a column, (bits, rows), and which rows are missing (None: none).
BitCoder = Callable[[slice], tuple[Bytes, NDArray[np.bool_] | None]]
WEIGHT_CHUNK_ROWS = 1 << 22  # rows


@dataclass(frozen=True)
class CodedColumn:
    """How one column becomes bits or numbers.

    Attributes
    ----------
    name : str
        Its name in the table.
    how : str
        "binary": cells are bits already; "values": `ones` and `zeros` list the values; "one-hot": a binary column for
        each value; "above": 1 above the threshold; "nominal", "ordinal": levels of one column, lowest first;
        "quantiles": numbers as levels between `cuts`; "continuous", "count": numbers.
    ones, zeros : tuple
        The values that are 1 and 0; if each value has its own bit, `ones` are all values.
    missing : tuple
        Values that mean "not observed".
    if_missing : {0, 1} or None
        The bit of an empty cell; None: not observed.
    threshold : float or None
        For "above".
    cuts : tuple of float
        For "quantiles": the largest number of each level but the last.
    """

    name: str
    how: Method = "binary"
    ones: tuple[Category, ...] = field(default=(), repr=False)  # values of cells, which may be hidden
    zeros: tuple[Category, ...] = field(default=(), repr=False)
    missing: tuple[Category, ...] = field(default=(), repr=False)
    if_missing: int | None = None
    threshold: float | None = None
    cuts: tuple[float, ...] = ()

    @property
    def is_consistent(self) -> bool:
        """Whether a column read from a file is consistent."""
        values = (*self.ones, *self.zeros, *self.missing)
        has_values = {"values": bool(self.ones or self.zeros)}
        has_values |= dict.fromkeys(MULTI_BIT, bool(self.ones) and not self.zeros)
        return (
            self.how in ALL_METHODS
            and self.if_missing in (None, 0, 1)
            and (self.how == "above") == (isinstance(self.threshold, float) and abs(self.threshold) < float("inf"))
            and (self.how == "above") == (self.threshold is not None)
            and len(self.cuts) == (len(self.ones) - 1 if self.how == "quantiles" else 0)
            and list(self.cuts) == sorted(set(self.cuts))
            and has_values.get(self.how, not (self.ones or self.zeros))
            and all(map(is_category, values))
            and len(set(map(key_of, values))) == len(values)
            and len(self.ones) <= MAX_LEVELS
        )

    @property
    def labels(self) -> list[str]:
        """Names of the bits."""
        if self.how in NUMBERS:
            return []
        return [f"{self.name}={value}" for value in self.ones] if self.how in MULTI_BIT else [self.name]

    @property
    def levels(self) -> list[str]:
        """For each bit the value that a 1 stands for."""
        if self.how in NUMBERS:
            return []
        return [str(value) for value in (self.ones if self.how in MULTI_BIT else (self.value_names[1] or 1,))]

    @cached_property
    def _codes(self) -> dict[Key, int]:
        """The code of each known value: 0, 1 or `MISSING`; if each value has a bit, numbers after `UNKNOWN`."""
        if self.how in MULTI_BIT:
            values = () if self.how == "quantiles" else self.ones
            codes = {key_of(value): UNKNOWN + 1 + k for k, value in enumerate(values)}
        elif self.how == "values":
            codes = {key_of(value): bit for bit, values in ((1, self.ones), (0, self.zeros)) for value in values}
        else:
            codes = dict(BIT_KEYS) if self.how == "binary" else {}
        return codes | {key_of(value): MISSING for value in self.missing}

    def code_of(self, key: Key | None, number: Any = float) -> int:
        """Return the code of a value, None for a missing one; numbers are compared with a threshold as `number`."""
        if key is None:
            return MISSING if self.if_missing is None else self.if_missing
        if self.how == "above" and isinstance(key, float) and key not in self._codes:
            with np.errstate(over="ignore"):  # a threshold beyond the range of the type becomes infinite
                return int(number(key) > number(self.threshold))
        if self.how == "quantiles" and isinstance(key, float) and key not in self._codes:
            return UNKNOWN + 1 + int(np.searchsorted(self.cuts, key))
        return self._codes.get(key, UNKNOWN)

    def numbers(self, values: AnyArray) -> Floats:
        """Return the numbers of a column of numbers, NaN where missing, from its values as numbers."""
        numbers = np.array(np.ma.filled(values.astype(np.float64), np.nan))
        if self.if_missing is not None:
            numbers[np.isnan(numbers)] = self.if_missing
        if self.missing:
            numbers[np.isin(numbers, [key for key in map(key_of, self.missing) if isinstance(key, float)])] = np.nan
        return numbers

    def levels_of(self, values: AnyArray) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
        """Return the codes of the levels between cut points, and for each row the number of its level."""
        numbers, n_levels = self.numbers(values), len(self.cuts) + 1
        codes = np.append(np.arange(UNKNOWN + 1, UNKNOWN + 1 + n_levels), MISSING).astype(np.int32)
        return codes, np.where(np.isnan(numbers), n_levels, np.searchsorted(self.cuts, numbers))

    def bit_coder(self, codes: NDArray[np.int32], rows: AnyArray) -> BitCoder:
        """Return a function of the bits, from codes of the distinct values, and for each row the number of its value.

        A missing cell of a column of levels has none of its bits set, and needs no mask.
        """
        missing = codes == MISSING
        has_mask = self.how not in LEVELS and bool(missing.any())
        levels = np.arange(UNKNOWN + 1, UNKNOWN + 1 + len(self.ones)) if self.how in MULTI_BIT else np.ones(1)
        bits = (codes == levels[:, None]).view(np.uint8)
        single_value = int(np.argmax(bits[0])) if self.how not in MULTI_BIT and bits.sum() == 1 else None

        def bits_of_rows(selected: slice) -> tuple[Bytes, NDArray[np.bool_] | None]:
            row_values = rows[selected]  # comparing is faster than indexing
            row_bits = bits[:, row_values] if single_value is None else (row_values == single_value).view(np.uint8)
            return row_bits, missing[row_values] if has_mask else None

        return bits_of_rows

    def decode(self, bits: AnyArray) -> list[Any]:
        """Return the most probable of the user's values for each row, from P(bit = 1), (rows, bits).

        If a bit stands for several values, the result names all of them: "4 or 5", "> 40". Probabilities of binary
        columns stay as they are.
        """
        if self.how == "binary" or self.how in NUMBERS:
            return [float(p) for p in bits[:, 0]]
        if self.how in MULTI_BIT:
            return [self.ones[k] for k in bits.argmax(axis=1).tolist()]
        value_names = self.value_names
        return [value_names[int(p > 0.5)] for p in bits[:, 0]]

    @property
    def decoded_values(self) -> tuple[Any, ...]:
        """The values that `decode` can return."""
        return self.ones if self.how in MULTI_BIT else () if self.how in ("binary", *NUMBERS) else self.value_names

    @property
    def value_names(self) -> tuple[Any, Any]:
        """The values that the bits 0 and 1 stand for."""
        if self.how == "above":
            return f"<= {self.threshold:g}", f"> {self.threshold:g}"
        return _named(self.zeros, self.if_missing == 0), _named(self.ones, self.if_missing == 1)

    @property
    def meanings(self) -> tuple[Meaning, ...]:
        """The meanings of 1 and 0 in each bit."""
        if self.how in NUMBERS:
            return ()
        if self.how == "binary":
            return (Meaning(self.name),)
        if self.how in MULTI_BIT:
            values = zip(self.labels, self.ones, strict=True)
            return tuple(Meaning(label, "level", str(value), "another value") for label, value in values)
        negative, positive = ("missing" if word is None else str(word) or "another value" for word in self.value_names)
        if self.how == "above":
            return (Meaning(self.name, "above", positive, negative),)
        ones, zeros = ([key_of(value) for value in values] for values in (self.ones, self.zeros))
        if set(ones) <= {1.0, "true"} and set(zeros) <= {0.0, "false"} and self.if_missing != 1:
            return (Meaning(self.name),)
        numbers = [key for key in (*ones, *zeros) if isinstance(key, float)]
        if len(numbers) == len(ones) + len(zeros):
            codes = [f"{number:.15g}" for number in sorted(numbers)]
            codes = codes if len(codes) <= MAX_SHOWN_CODES else [*codes[:2], "...", codes[-1]]
            return (Meaning(self.name, "codes", positive, negative, tuple(codes)),)
        yes = bool(ones) and self.if_missing != 1 and all(means_yes(key, zeros) for key in ones)
        return (Meaning(self.name, "yes" if yes else "word", positive, negative),)


def _named(values: Sequence[Category], or_missing: bool) -> Any:
    """Return the value that a bit stands for; None for a missing value."""
    if len(values) == 1:
        return values[0]
    return " or ".join(map(str, values)) if values else None if or_missing else ""


@dataclass(frozen=True)
class Coding:
    """How the columns of a table become bits or numbers: fitted, and kept in the estimator and its file.

    Attributes
    ----------
    columns : tuple of CodedColumn
        The columns that enter the model.
    excluded : tuple of str
        Columns that do not enter.
    ids : tuple of str
        The excluded columns that name the rows, according to the user.
    named : bool
        Whether the columns have names; otherwise they are identified by position.
    frame : str or None
        The library of the frame that the table came from, such as "pandas"; None for a file or an array.

    Examples
    --------
    >>> coding = Coding((CodedColumn("q1", "values", ("yes",), ("no",)),), excluded=("who",))
    >>> coding.labels, Coding.from_plain(coding.to_plain()) == coding
    (('q1',), True)
    """

    columns: tuple[CodedColumn, ...]
    excluded: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    named: bool = True
    frame: str | None = None

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Names of the bits."""
        return tuple(label for column in self.columns for label in column.labels)

    @property
    def has_levels(self) -> bool:
        """Whether a column is not binary: it has levels, or holds numbers."""
        return any(column.how in (*LEVELS, *NUMBERS) for column in self.columns)

    @cached_property
    def number_columns(self) -> tuple[CodedColumn, ...]:
        """The columns of numbers in the order in which blocks hold them: continuous ones, then counts."""
        return tuple(column for how in NUMBERS for column in self.columns if column.how == how)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Bits of each column of bits of a model: 1 for a binary one, else the number of its levels."""
        return tuple(size for c in self.columns for size in ([len(c.ones)] if c.how in LEVELS else [1] * len(c.labels)))

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns of a model; a column of levels has one name; columns of numbers come last."""
        of_bits = (name for c in self.columns for name in ([c.name] if c.how in LEVELS else c.labels))
        return (*of_bits, *(column.name for column in self.number_columns))

    @property
    def levels(self) -> list[tuple[str, str]]:
        """For each bit the name of the column, and the value that a 1 stands for."""
        prefix = "" if self.named else "x"
        return [(prefix + column.name, level) for column in self.columns for level in column.levels]

    @property
    def meanings(self) -> tuple[Meaning, ...]:
        """The meanings of 1 and 0 in each bit."""
        return tuple(meaning for column in self.columns for meaning in column.meanings)

    def sentence(self, quoted: Callable[[str], str] = repr, option: str = "recode=") -> str:
        """Return a sentence that says which values are 1; "" if every 1 is a 1 of the table.

        Parameters
        ----------
        quoted : function
            Puts names and values in quotes.
        option : str
            The option that changes the value that is 1.

        Returns
        -------
        text : str

        Examples
        --------
        >>> Coding((CodedColumn("q1", "values", ("yes",), ("no",)), CodedColumn("q2"))).sentence()
        "1 means 'yes' in 'q1' and 1 as in the table in 'q2'."
        """
        return sentence([m for c in self.columns if c.how not in LEVELS for m in c.meanings], quoted, option)

    def check_columns(self, names: Collection[str]) -> None:
        """Raise an error if the table lacks columns."""
        absent = [column.name for column in self.columns if column.name not in names]
        if absent:
            listed = ", ".join(map(repr, absent[:8])) + (", ..." if len(absent) > 8 else "")
            noun = "a column" if len(absent) == 1 else "columns"
            raise TableError(
                f"The table lacks {noun} of the fit: {listed}. Add them; a column that was not recorded may hold "
                "missing values only."
            )

    def applied_to(self, names: Sequence[str]) -> Coding:
        """Return the coding of a table with these columns; columns that it does not name are excluded."""
        in_model = {column.name for column in self.columns}
        excluded = tuple(name for name in names if name not in in_model)
        return replace(self, excluded=excluded, ids=tuple(name for name in self.ids if name in excluded))

    def bits_of(self) -> list[slice]:
        """Return the bits of each column; a column of numbers has a position after all bits."""
        ends = np.cumsum([len(column.labels) for column in self.columns]).tolist()
        slices = [slice(end - len(column.labels), end) for end, column in zip(ends, self.columns, strict=True)]
        for number, column in enumerate(self.number_columns, len(self.labels)):
            slices[self.columns.index(column)] = slice(number, number + 1)
        return slices

    @property
    def only_binary(self) -> bool:
        """Whether the columns held only bits and codes for missing values."""
        return all(column.how == "binary" for column in self.columns)

    def conflict(self, other: Coding) -> str | None:
        """Return the first column that the two codings read differently; None if they agree on all shared columns."""
        by_name = {column.name: column for column in other.columns}
        for column in self.columns:
            match = by_name.get(column.name)
            if match is None or match.how == column.how == "binary":
                continue
            mine, theirs = ((c.how, c.threshold, c.cuts, c.if_missing, c.labels) for c in (column, match))
            if mine != theirs or any(column._codes.get(key, code) != code for key, code in match._codes.items()):
                return column.name
        return None

    def to_plain(self) -> dict[str, Any]:
        """Return the coding in types that JSON knows."""
        columns = [
            [c.name, c.how, list(c.ones), list(c.zeros), list(c.missing), c.if_missing, c.threshold, list(c.cuts)]
            for c in self.columns
        ]
        return {
            "columns": columns,
            "excluded": list(self.excluded),
            "ids": list(self.ids),
            "named": self.named,
            "frame": self.frame,
        }

    @classmethod
    def from_plain(cls, plain: Any) -> Coding:
        """Build from what `to_plain` returned; raise a ValueError for anything else."""
        with suppress(AttributeError, KeyError, TypeError, ValueError):
            columns = tuple(
                CodedColumn(name, how, tuple(ones), tuple(zeros), tuple(missing), if_missing, threshold, tuple(cuts))
                for name, how, ones, zeros, missing, if_missing, threshold, cuts in plain["columns"]
            )
            coding = cls(columns, tuple(plain["excluded"]), tuple(plain["ids"]), plain["named"], plain["frame"])
            if coding.to_plain() == plain and coding._is_consistent():
                return coding
        raise ValueError("the coding of its columns is damaged")

    def _is_consistent(self) -> bool:
        names = [*(column.name for column in self.columns), *self.excluded]
        return (
            len(self.columns) > 0
            and all(isinstance(name, str) for name in names)
            and all(column.is_consistent for column in self.columns)
            and len(set(names)) == len(names)
            and len(set(self.labels)) == len(self.labels)
            and set(self.ids) <= set(self.excluded)
            and isinstance(self.named, bool)
            and self.frame in (None, *FRAMES)
        )


@dataclass(frozen=True, eq=False)
class ReadColumns:
    """The columns that a table was read from: how they were coded, and their original values.

    Attributes
    ----------
    coding : Coding
        How values became bits.
    order : tuple of str
        Names of all columns, in the order of the file or frame.
    cells : dict of str to ColumnCells or another KeptColumn
        The columns that did not enter or were recoded; columns of tables on disk stay in the files, and their rows are
        read when needed.
    descriptions : tuple of ColumnDescription
        The description of each column; empty if nothing had to be inferred.
    """

    coding: Coding
    order: tuple[str, ...]
    cells: Mapping[str, KeptColumn]
    descriptions: tuple[Any, ...] = field(default=(), repr=False)

    def beside(self, start: int = 0, stop: int | None = None) -> dict[str, list[Any]]:
        """Return the cells of the columns that did not enter; columns that name rows come first."""
        return {name: self.cells[name].listed(start, stop) for name in self.names_beside}

    def weights(self, name: str, n_rows: int) -> Floats:
        """Return the numbers of a column that did not enter, as weights of the rows; none may be missing."""
        if name not in self.names_beside:
            listed = ", ".join(map(repr, self.names_beside[:10])) or "none"
            raise TableError(
                f"sample_weight={name!r} must name a column that does not enter the model. Such columns of this table: "
                f"{listed}."
            )
        weights = np.empty(n_rows)
        for start in range(0, n_rows, WEIGHT_CHUNK_ROWS):
            cells = self.cells[name].part(start, min(start + WEIGHT_CHUNK_ROWS, n_rows))
            known = cells.key_numbers()
            weights[start : start + len(cells.rows)] = known[cells.rows]
            if (invalid := np.flatnonzero(np.isnan(known)[cells.rows])).size:
                value = cells.values[cells.rows[invalid[0]]]
                shown = "a missing value" if value is None else quoted(value)
                raise TableError(
                    f"row {start + invalid[0]}, column {name!r}: {shown} is not a weight. Every row needs a number; 0 "
                    "ignores a row."
                )
        return weights

    @property
    def names_beside(self) -> list[str]:
        """Names of the columns that did not enter; columns that name rows come first."""
        names = dict.fromkeys((*self.coding.ids, *self.coding.excluded))
        return [name for name in names if name in self.cells]

    @property
    def names(self) -> list[str]:
        """Names of all columns whose cells are known, in the order of the file or frame."""
        in_model = {column.name for column in self.coding.columns}
        return [name for name in self.order if name in in_model or name in self.cells]

    def in_order(self, completed: AnyArray, start: int = 0) -> dict[str, list[Any]]:
        """Return completed rows, from row `start` on, as all columns of the file, in the order of the file."""
        columns = {**self.decoded(completed, start), **self.beside(start, start + len(completed))}
        return {name: columns[name] for name in self.names}

    def types(self) -> dict[str, type]:
        """Return the type (bool, int, float, str) of each column whose cells are the user's own values."""
        decoded = {column.name: column.decoded_values for column in self.coding.columns}
        decoded |= {column.name: (0.5,) for column in self.coding.number_columns}  # means, also of whole numbers
        return {name: common_type([*cells.examples(), *decoded.get(name, ())]) for name, cells in self.cells.items()}

    def decoded(self, completed: AnyArray, start: int = 0) -> dict[str, list[Any]]:
        """Return completed rows, with P(bit = 1) in every cell, in the user's values; observed cells stay the same."""
        stop, decoded = start + len(completed), {}
        for column, bits in zip(self.coding.columns, self.coding.bits_of(), strict=True):
            p = completed[:, bits]
            as_bits = column.how == "above" and column.name not in self.cells  # one threshold for all columns
            cells = p[:, 0].tolist() if as_bits else column.decode(p)
            if column.name in self.cells and column.how not in NUMBERS:  # numbers are complete already
                originals = self.cells[column.name].part(start, stop)
                missing = [column.code_of(key) in (MISSING, UNKNOWN) for key in originals.keys]
                if any(isinstance(value, str) for value in originals.values):
                    cells = [value if value is None else str(value) for value in cells]
                cells = originals.filled(cells, missing)
            decoded[column.name] = cells
        return decoded
