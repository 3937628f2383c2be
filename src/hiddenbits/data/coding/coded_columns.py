"""How values of columns become bits, as it was decided at the fit, and back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import AnyArray, Bytes, Floats
from hiddenbits.data.coding.cells import Beside, Category, common_type, is_category
from hiddenbits.data.coding.meaning import Meaning, sentence
from hiddenbits.data.coding.vocabulary import Key, key_of, says_yes
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import quoted

How = Literal["bits", "values", "one-hot", "above", "nominal", "ordinal"]
HOW: tuple[How, ...] = ("bits", "values", "one-hot", "above", "nominal", "ordinal")
FRAMES = ("pandas", "polars", "pyarrow", "modin", "cudf")
LEVELS = ("nominal", "ordinal")  # a column of levels: one group of bits, of which a recorded cell has one
HAVE_BITS = ("one-hot", *LEVELS)  # a bit for each value
BIT_KEYS: dict[Key, int] = {0.0: 0, 1.0: 1, "false": 0, "true": 1}
MISSING, UNKNOWN = 2, 3  # codes of a cell besides 0 and 1
MOST_LEVELS = 1000
MOST_CODES = 6  # that are listed
# Of some rows: the bits of a column, (bits, rows), and which rows are not observed, if any.
Coded = Callable[[slice], tuple[Bytes, NDArray[np.bool_] | None]]
WEIGHTS_AT_ONCE = 1 << 22  # rows


@dataclass(frozen=True)
class CodedColumn:
    """How one column becomes bits.

    Attributes
    ----------
    name : str
        Its name in the table.
    how : {"bits", "values", "one-hot", "above", "nominal", "ordinal"}
        As it is; by a list of values for 1 and one for 0; a binary column for each value; 1 for numbers above a
        threshold; levels of one column, in this order where it is ordinal.
    ones, zeros : tuple
        The values for 1 and 0; where values have bits of their own, `ones` are these values.
    missing : tuple
        Values that mean "not observed".
    blank : {0, 1} or None
        What a blank is; None: not observed.
    threshold : float or None
        Of "above".
    """

    name: str
    how: How = "bits"
    ones: tuple[Category, ...] = field(default=(), repr=False)  # values of cells, which may be hidden
    zeros: tuple[Category, ...] = field(default=(), repr=False)
    missing: tuple[Category, ...] = field(default=(), repr=False)
    blank: int | None = None
    threshold: float | None = None

    @property
    def is_sound(self) -> bool:
        """Whether such a column can have been written to a file."""
        values = (*self.ones, *self.zeros, *self.missing)
        has_values = {"values": bool(self.ones or self.zeros)}
        has_values |= dict.fromkeys(HAVE_BITS, bool(self.ones) and not self.zeros)
        return (
            self.how in HOW
            and self.blank in (None, 0, 1)
            and (self.how == "above") == (isinstance(self.threshold, float) and abs(self.threshold) < float("inf"))
            and (self.how == "above") == (self.threshold is not None)
            and has_values.get(self.how, not (self.ones or self.zeros))
            and all(map(is_category, values))
            and len(set(map(key_of, values))) == len(values)
            and len(self.ones) <= MOST_LEVELS
        )

    @property
    def labels(self) -> list[str]:
        """Names of the bits."""
        return [f"{self.name}={value}" for value in self.ones] if self.how in HAVE_BITS else [self.name]

    @property
    def levels(self) -> list[str]:
        """The value that a 1 of each bit stands for."""
        return [str(one) for one in (self.ones if self.how in HAVE_BITS else (self.words[1] or 1,))]

    @cached_property
    def _codes(self) -> dict[Key, int]:
        """The code of each known value: 0, 1, `MISSING`; of bits for each value 3 and up, in their order."""
        if self.how in HAVE_BITS:
            codes = {key_of(value): UNKNOWN + 1 + k for k, value in enumerate(self.ones)}
        elif self.how == "values":
            codes = {key_of(value): bit for bit, values in ((1, self.ones), (0, self.zeros)) for value in values}
        else:
            codes = dict(BIT_KEYS) if self.how == "bits" else {}
        return codes | {key_of(value): MISSING for value in self.missing}

    def code_of(self, key: Key | None, number: Any = float) -> int:
        """Return the code of a value; `number` is the type in which it is compared with a threshold."""
        if key is None:
            return MISSING if self.blank is None else self.blank
        if self.how == "above" and isinstance(key, float) and key not in self._codes:
            with np.errstate(over="ignore"):  # a threshold beyond the range of a type is infinite there
                return int(number(key) > number(self.threshold))
        return self._codes.get(key, UNKNOWN)

    def coded(self, codes: NDArray[np.int32], rows: AnyArray) -> Coded:
        """Return the bits of a column, from the codes of its distinct values and which of them each row has.

        A cell without any of the levels of its column is missing, and needs no mask.
        """
        gone, missing = codes == MISSING, self.how not in LEVELS and bool((codes == MISSING).any())
        levels = np.arange(UNKNOWN + 1, UNKNOWN + 1 + len(self.ones)) if self.how in HAVE_BITS else np.ones(1)
        bits = (codes == levels[:, None]).view(np.uint8)
        only = int(np.argmax(bits[0])) if self.how not in HAVE_BITS and bits.sum() == 1 else None

        def some_of(some: slice) -> tuple[Bytes, NDArray[np.bool_] | None]:
            here = rows[some]  # a comparison is quicker than to pick bits by their numbers
            found = bits[:, here] if only is None else (here == only).view(np.uint8)
            return found, gone[here] if missing else None

        return some_of

    def decode(self, bits: AnyArray) -> list[Any]:
        """Return the more probable of the user's own values for P(bit = 1) of some rows, (rows, bits).

        Where a bit stands for several values, all of them are named: "4 or 5", "> 40". Bits stay as they are.
        """
        if self.how == "bits":
            return [float(p) for p in bits[:, 0]]
        if self.how in HAVE_BITS:
            return [self.ones[k] for k in bits.argmax(axis=1).tolist()]
        words = self.words
        return [words[int(p > 0.5)] for p in bits[:, 0]]

    @property
    def fills(self) -> tuple[Any, ...]:
        """What `decode` may return."""
        return self.ones if self.how in HAVE_BITS else () if self.how == "bits" else self.words

    @property
    def words(self) -> tuple[Any, Any]:
        """What a bit of 0 and one of 1 stand for."""
        if self.how == "above":
            return f"<= {self.threshold:g}", f"> {self.threshold:g}"
        return _named(self.zeros, self.blank == 0), _named(self.ones, self.blank == 1)

    @property
    def meanings(self) -> tuple[Meaning, ...]:
        """What 1 and 0 stand for in each bit."""
        if self.how == "bits":
            return (Meaning(self.name),)
        if self.how in HAVE_BITS:
            values = zip(self.labels, self.ones, strict=True)
            return tuple(Meaning(label, "level", str(value), "another value") for label, value in values)
        zero, one = ("blank" if word is None else str(word) or "another value" for word in self.words)
        if self.how == "above":
            return (Meaning(self.name, "above", one, zero),)
        ones, zeros = ([key_of(value) for value in values] for values in (self.ones, self.zeros))
        if set(ones) <= {1.0, "true"} and set(zeros) <= {0.0, "false"} and self.blank != 1:
            return (Meaning(self.name),)
        numbers = [key for key in (*ones, *zeros) if isinstance(key, float)]
        if len(numbers) == len(ones) + len(zeros):
            codes = [f"{number:.15g}" for number in sorted(numbers)]
            codes = codes if len(codes) <= MOST_CODES else [*codes[:2], "...", codes[-1]]
            return (Meaning(self.name, "codes", one, zero, tuple(codes)),)
        yes = bool(ones) and self.blank != 1 and all(says_yes(key, zeros) for key in ones)
        return (Meaning(self.name, "yes" if yes else "word", one, zero),)


def _named(values: Sequence[Category], or_blank: bool) -> Any:
    """Return the value that a bit stands for; None for a blank."""
    if len(values) == 1:
        return values[0]
    return " or ".join(map(str, values)) if values else None if or_blank else ""


@dataclass(frozen=True)
class Coding:
    """How the columns of a table become bits: fitted, and kept in the estimator and its file.

    Attributes
    ----------
    columns : tuple of CodedColumn
        The columns that enter the model.
    left_out : tuple of str
        Columns that do not.
    ids : tuple of str
        Of these, those that the user named as the names of rows.
    named : bool
        Whether the columns have names; if not, they are known by their places.
    frame : str or None
        The kind of frame that the table was, such as "pandas"; None for a file or an array.

    Examples
    --------
    >>> coding = Coding((CodedColumn("q1", "values", ("yes",), ("no",)),), left_out=("who",))
    >>> coding.labels, Coding.from_plain(coding.to_plain()) == coding
    (('q1',), True)
    """

    columns: tuple[CodedColumn, ...]
    left_out: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    named: bool = True
    frame: str | None = None

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Names of the bits."""
        return tuple(label for column in self.columns for label in column.labels)

    @property
    def has_levels(self) -> bool:
        """Whether a column is nominal or ordinal."""
        return any(column.how in LEVELS for column in self.columns)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Bits of each column of a model: 1 of a binary one, of others the number of their levels."""
        return tuple(size for c in self.columns for size in ([len(c.ones)] if c.how in LEVELS else [1] * len(c.labels)))

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns of a model: those with levels have one name."""
        return tuple(name for c in self.columns for name in ([c.name] if c.how in LEVELS else c.labels))

    @property
    def levels(self) -> list[tuple[str, str]]:
        """Of each bit the column's name, and the value that a 1 stands for."""
        prefix = "" if self.named else "x"
        return [(prefix + column.name, level) for column in self.columns for level in column.levels]

    @property
    def meanings(self) -> tuple[Meaning, ...]:
        """What 1 and 0 stand for in each bit."""
        return tuple(meaning for column in self.columns for meaning in column.meanings)

    def sentence(self, quoted: Callable[[str], str] = repr, option: str = "recode=") -> str:
        """Return in words which values are 1; "" where every 1 is a 1 of the table.

        Parameters
        ----------
        quoted : function
            Puts names and values in quotes.
        option : str
            What changes the value that is 1.

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
        """Refuse a table that lacks columns."""
        absent = [column.name for column in self.columns if column.name not in names]
        if absent:
            listed = ", ".join(map(repr, absent[:8])) + (", ..." if len(absent) > 8 else "")
            what = "a column" if len(absent) == 1 else "columns"
            raise TableError(
                f"The table lacks {what} of the fit: {listed}. Use a table with all columns of the "
                "fit; one that was not asked may hold nothing but missing values."
            )

    def applied_to(self, names: Sequence[str]) -> Coding:
        """Return the coding as one of a table with these columns: all that it does not name are left out."""
        inside = {column.name for column in self.columns}
        left_out = tuple(name for name in names if name not in inside)
        return replace(self, left_out=left_out, ids=tuple(name for name in self.ids if name in left_out))

    def bits_of(self) -> list[slice]:
        """Return which bits belong to each column."""
        ends = np.cumsum([len(column.labels) for column in self.columns]).tolist()
        return [slice(end - len(column.labels), end) for end, column in zip(ends, self.columns, strict=True)]

    @property
    def only_bits(self) -> bool:
        """Whether the columns held nothing but bits and codes for missing."""
        return all(column.how == "bits" for column in self.columns)

    def conflict(self, other: Coding) -> str | None:
        """Return the first column that the two read differently; None where they agree on all that both have."""
        theirs = {column.name: column for column in other.columns}
        for column in self.columns:
            one = theirs.get(column.name)
            if one is None or one.how == column.how == "bits":
                continue
            mine, yours = ((c.how, c.threshold, c.blank, c.labels) for c in (column, one))
            if mine != yours or any(column._codes.get(key, code) != code for key, code in one._codes.items()):
                return column.name
        return None

    def to_plain(self) -> dict[str, Any]:
        """Return the coding in types that JSON knows."""
        columns = [
            [c.name, c.how, list(c.ones), list(c.zeros), list(c.missing), c.blank, c.threshold] for c in self.columns
        ]
        return {
            "columns": columns,
            "left_out": list(self.left_out),
            "ids": list(self.ids),
            "named": self.named,
            "frame": self.frame,
        }

    @classmethod
    def from_plain(cls, plain: Any) -> Coding:
        """Build from what `to_plain` returned; a ValueError where it is anything else."""
        with suppress(AttributeError, KeyError, TypeError, ValueError):
            columns = tuple(
                CodedColumn(name, how, tuple(ones), tuple(zeros), tuple(missing), blank, threshold)
                for name, how, ones, zeros, missing, blank, threshold in plain["columns"]
            )
            found = cls(columns, tuple(plain["left_out"]), tuple(plain["ids"]), plain["named"], plain["frame"])
            if found.to_plain() == plain and found._is_sound():
                return found
        raise ValueError("the coding of its columns is damaged")

    def _is_sound(self) -> bool:
        names = [*(column.name for column in self.columns), *self.left_out]
        return (
            len(self.columns) > 0
            and all(isinstance(name, str) for name in names)
            and all(column.is_sound for column in self.columns)
            and len(set(names)) == len(names)
            and len(set(self.labels)) == len(self.labels)
            and set(self.ids) <= set(self.left_out)
            and isinstance(self.named, bool)
            and self.frame in (None, *FRAMES)
        )


@dataclass(frozen=True, eq=False)
class ReadColumns:
    """What a table knows of the columns that it was made of: how they were coded, and the cells that are no bits.

    Attributes
    ----------
    coding : Coding
        How values became bits.
    order : tuple of str
        Names of all columns, in the order of the file or frame.
    cells : dict of str to ColumnCells or another Beside
        The columns that did not enter, and those whose values became bits by a coding; of tables on disk they stay in
        the files, and are read for the rows that are asked for.
    looks : tuple of ColumnLook
        What was seen in each column; empty where nothing had to be guessed.
    """

    coding: Coding
    order: tuple[str, ...]
    cells: Mapping[str, Beside]
    looks: tuple[Any, ...] = field(default=(), repr=False)

    def beside(self, start: int = 0, stop: int | None = None) -> dict[str, list[Any]]:
        """Return the cells of the columns that did not enter: those that name rows first."""
        return {name: self.cells[name].listed(start, stop) for name in self.names_beside}

    def weights(self, name: str, n_rows: int) -> Floats:
        """Return the numbers of a column that did not enter, as weights of the rows; none may be missing."""
        if name not in self.names_beside:
            listed = ", ".join(map(repr, self.names_beside[:10])) or "none"
            raise TableError(
                f"sample_weight={name!r} must name a column that does not enter the model; those of this table are: "
                f"{listed}."
            )
        found = np.empty(n_rows)
        for start in range(0, n_rows, WEIGHTS_AT_ONCE):
            cells = self.cells[name].part(start, min(start + WEIGHTS_AT_ONCE, n_rows))
            known = np.array([key if isinstance(key, float) else np.nan for key in cells.keys])
            found[start : start + len(cells.rows)] = known[cells.rows]
            if (odd := np.flatnonzero(np.isnan(known)[cells.rows])).size:
                value = cells.values[cells.rows[odd[0]]]
                shown = "a missing value" if value is None else quoted(value)
                raise TableError(
                    f"row {start + odd[0]}, column {name!r}: {shown} is "
                    "no weight. Every row needs a number; give 0 to a row that is not to count."
                )
        return found

    @property
    def names_beside(self) -> list[str]:
        """Names of the columns that did not enter: those that name rows first."""
        names = dict.fromkeys((*self.coding.ids, *self.coding.left_out))
        return [name for name in names if name in self.cells]

    @property
    def names(self) -> list[str]:
        """Names of all columns whose cells are known, in the order of the file or frame."""
        inside = {column.name for column in self.coding.columns}
        return [name for name in self.order if name in inside or name in self.cells]

    def in_order(self, completed: AnyArray, start: int = 0) -> dict[str, list[Any]]:
        """Return completed rows, of which the first is row `start`, as all columns of the file, in its order."""
        columns = {**self.decoded(completed, start), **self.beside(start, start + len(completed))}
        return {name: columns[name] for name in self.names}

    def types(self) -> dict[str, type]:
        """Return the type (bool, int, float, str) of each column whose cells are the user's own values."""
        fills = {column.name: column.fills for column in self.coding.columns}
        return {name: common_type([*cells.examples(), *fills.get(name, ())]) for name, cells in self.cells.items()}

    def decoded(self, completed: AnyArray, start: int = 0) -> dict[str, list[Any]]:
        """Return completed rows, P(bit = 1) in every cell, in the user's own values: seen cells as they were."""
        stop, out = start + len(completed), {}
        for column, bits in zip(self.coding.columns, self.coding.bits_of(), strict=True):
            p = completed[:, bits]
            as_bits = column.how == "above" and column.name not in self.cells  # of a threshold for all columns
            filled = p[:, 0].tolist() if as_bits else column.decode(p)
            if column.name in self.cells:
                cells = self.cells[column.name].part(start, stop)
                unseen = [column.code_of(key) == MISSING for key in cells.keys]
                if any(isinstance(value, str) for value in cells.values):
                    filled = [new if new is None else str(new) for new in filled]
                filled = cells.filled(filled, unseen)
            out[column.name] = filled
        return out
