"""From raw columns to a table of several kinds: by kinds that were given, or by a look at the columns."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hiddenbits.data.bits import Dense
from hiddenbits.data.columns.cells import ColumnCells
from hiddenbits.data.columns.choices import Choices, Said, numbers_of
from hiddenbits.data.columns.coding import CodedColumn, Coding, ReadColumns
from hiddenbits.data.columns.describe import ASKED, NEARLY_ALL, READ, ColumnLook, Taken, described
from hiddenbits.data.columns.message import (
    ColumnsCodedWarning,
    ColumnsLeftOutWarning,
    needs_a_word,
    said_of_kinds,
    said_of_left_out,
)
from hiddenbits.data.columns.shape import counts_rows, refuse_totals, says_counts, says_total
from hiddenbits.data.columns.vocabulary import Key, key_of, says_id
from hiddenbits.data.mixed.cells import Cells
from hiddenbits.data.mixed.encode import RawColumn, open_raw
from hiddenbits.data.mixed.layout import Layout
from hiddenbits.data.request import Request
from hiddenbits.data.table import MemorySource, Table, TableError


def offers_of(request: Request) -> tuple[str, ...]:
    """Return the options of the file's reader that a message may name."""
    return getattr(request, "offers", ())


def choices_of(request: Request) -> Choices:
    """Return what the user said about columns."""
    return Choices() if request.choices is None else request.choices


def guesses_kinds(request: Request) -> bool:
    """Whether kinds of some columns are to be found by a look: all of them, or those that a dict does not name."""
    return request.infers_kinds or isinstance(request.kinds, dict)


def open_of_kinds(raw: Sequence[RawColumn], request: Request, frame: str | None, *, named: bool = True) -> Table:
    """Return a table of several kinds; columns that were left out stay with the rows."""
    raw = _renamed(raw, request)
    names = tuple(column.name for column in raw)
    said, kinds = _said(names, request), request.kinds
    looks: list[ColumnLook] = []
    if guesses_kinds(request) and request.coding is None:
        if any(_is_total(column) for column in raw):
            refuse_totals([ColumnCells.of_raw(column) for column in raw], offers=offers_of(request))
        said, kinds, looks = _looked_through(raw, said, request)
    places = _places(names, said, request)
    kept = [without(raw[j], said[j].missing or ()) for j in places]
    named = named or request.names is not None
    table: Table = open_raw([replace(one, number=j) for j, one in enumerate(kept)], frame, kinds, named=named)
    cells = {column.name: ColumnCells.of_raw(column) for column, one in zip(raw, said, strict=True) if one.out}
    if table.only_bits and not isinstance(request.kinds, Layout):
        x, observed = table.source.read(0, table.shape[0])
        assert isinstance(x, Cells)  # noqa: S101
        table = Table(MemorySource(Dense(x.bits), observed), table.names)
    if not cells and not any(one.missing for one in said):
        return table
    return replace(table, read_as=ReadColumns(coding_of_kinds(names, said, places), names, cells, tuple(looks)))


def _said(names: Sequence[str], request: Request) -> list[Said]:
    """Return what was said of each column, or what a fit knew of it."""
    if choices_of(request).code:
        raise TypeError("code= makes bits of values, but kinds= keeps them. Give one of the two.")
    if request.coding is None:
        return choices_of(request).about(names)
    # of a fit: its columns and codes for missing, whatever else there is
    fitted = {column.name: tuple(map(key_of, column.missing)) for column in request.coding.columns}
    return [Said(out=name not in fitted, missing=fitted.get(name)) for name in names]


def _places(names: Sequence[str], said: Sequence[Said], request: Request) -> list[int]:
    """Return the numbers of the columns that enter, in their order."""
    wanted = choices_of(request).columns
    every = range(len(names)) if wanted is None else numbers_of(names, wanted, "columns")
    places = [j for j in every if not said[j].out]
    if not places:
        raise TableError("No column is left to read. Keep at least one.")
    return places


def _looked_through(
    raw: Sequence[RawColumn], said: Sequence[Said], request: Request
) -> tuple[list[Said], dict[str, Any], list[ColumnLook]]:
    """Leave out, aloud, columns that kinds= does not name and that no model can use; ask for codes for missing.

    Return what is said about columns, the kinds of those that stay as far as they need saying, and the looks.
    """
    given: dict[str, Any] = dict(request.kinds) if isinstance(request.kinds, dict) else {}
    looks = [_look_at_raw(column, one, named=column.name in given) for column, one in zip(raw, said, strict=True)]
    if any(says_counts(column.name) for column in raw):
        cells = [ColumnCells.of_raw(column) for column in raw]
        looks = [replace(look, unclear="counts") if counts_rows(look, cells, looks) else look for look in looks]
    after, left, asked = [], [], []
    for column, one, look in zip(raw, said, looks, strict=True):
        if not one.out and column.is_numeric and np.isinf(column.values).any():
            row = int(np.flatnonzero(np.isinf(column.values))[0])
            raise TableError(
                f"row {row}, column {column.number} ({column.name!r}): the number is infinite, or too large for a "
                "float. Correct the cell, or make it blank."
            )
        named = column.name in given
        if not one.out and not named and look.taken in UNUSABLE and not look.suspects:
            one = replace(one, out=True)
            left.append(look)
        elif not one.out and (look.suspects or ((look.mark or look.unclear) and not named)):
            asked.append(look)
        after.append(one)
    if asked:
        raise needs_a_word(asked, looks, of_kinds=True, offers=offers_of(request))
    if left:
        warnings.warn(said_of_left_out(left, of_kinds=True), ColumnsLeftOutWarning, stacklevel=5)
    guessed: dict[str, Any] = {}
    for column, one, look in zip(raw, after, looks, strict=True):
        if not one.out and column.name not in given:
            kind = _kind_of(without(column, one.missing or ()), look)
            guessed |= {} if kind is None else {column.name: kind}
    if any(kind != "binary" for kind in guessed.values()):
        by_type = {look.name: KIND_OF[look.taken] for look in looks if look.taken in KIND_OF}
        inside = {column.name for column, one in zip(raw, after, strict=True) if not one.out} - set(given)
        kinds = {name: kind for name, kind in (by_type | guessed).items() if name in inside and kind != "binary"}
        warnings.warn(
            said_of_kinds([one for one in looks if one.name in kinds], kinds), ColumnsCodedWarning, stacklevel=5
        )
    return after, given | guessed, looks


def said_with_kinds(
    names: Sequence[str], request: Request, cells: Callable[[], Sequence[ColumnCells]]
) -> tuple[list[Said], list[int]]:
    """Return what was said of each column where kinds= is given, and the numbers of those that enter, in their order.

    Of a dict by name, columns that it does not name are looked at (`cells`): those that are no property of rows stay
    out, and codes for missing are asked for.
    """
    said = _said(names, request)
    if isinstance(request.kinds, dict):
        said = _asked_through(cells(), said, request)
    return said, _places(names, said, request)


def coding_of_kinds(names: Sequence[str], said: Sequence[Said], places: Sequence[int]) -> Coding:
    """Return what a table of several kinds keeps of its columns: which did not enter, and codes for missing."""
    inside = [CodedColumn(names[j], missing=tuple(map(category_of, said[j].missing or ()))) for j in places]
    out = tuple(name for name, one in zip(names, said, strict=True) if one.out)
    return Coding(tuple(inside), out, tuple(name for name, one in zip(names, said, strict=True) if one.is_id))


def _asked_through(cells: Sequence[ColumnCells], said: Sequence[Said], request: Request) -> list[Said]:
    """Leave out, aloud, columns that kinds= does not name and that are no property of rows; ask for missing codes."""
    after, looks, left, asked = [], [], [], []
    for column, one in zip(cells, said, strict=True):
        look = described(column.name, column.counts, form=column.form, missing=one.missing, threshold=True)
        looks.append(look)
        stays = column.name in request.kinds or look.taken not in ("id", "date", "text", "constant")
        if not one.out and not stays:
            one = replace(one, out=True)
            left.append(look)
        elif not one.out and look.suspects:
            asked.append(replace(look, taken="bits"))
        after.append(one)
    if asked:
        raise needs_a_word(asked, looks)
    if left:
        warnings.warn(said_of_left_out(left), ColumnsLeftOutWarning, stacklevel=6)
    return after


KIND_OF = {"number": "real", "nominal": "nominal"}  # of columns whose type tells their kind
UNUSABLE = ("id", "date", "text", "constant", "one value or blank")
MANY = 1000  # distinct numbers; a column with more is a number or an id


def _look_at_raw(column: RawColumn, said: Said, *, named: bool) -> ColumnLook:
    """Return what is seen in a column; of very many numbers only the smallest and largest are looked at.

    Where kinds= has `named` the column, only codes far from all other numbers are suspected.
    """
    if column.is_numeric:
        values = column.values[~np.isnan(column.values)]
        found = np.unique(values)
        if len(found) > MANY:
            counts = dict.fromkeys((*found[:50].tolist(), *found[-50:].tolist()), 1)
            look = described(column.name, counts, missing=said.missing, threshold=True)
            whole = bool((found == np.rint(found)).all())
            runs = whole and len(found) == len(values) == found[-1] - found[0] + 1
            is_id = runs or (says_id(column.name) and len(found) >= NEARLY_ALL * len(values))
            taken: Taken = "id" if is_id else "number"
            return replace(look, taken=taken, n_rows=len(column.values), n_blank=len(column.values) - len(values))
    cells = ColumnCells.of_raw(column)
    look = described(column.name, cells.counts, form=cells.form, missing=said.missing)
    if look.taken in READ + ASKED and not named:
        return look
    return described(column.name, cells.counts, form=cells.form, missing=said.missing, threshold=True)


def _kind_of(column: RawColumn, look: ColumnLook) -> Any:
    """Return the kind of a column that its type does not tell: whole numbers, and words of a known scale."""
    whole = column.is_numeric and column.form != "bool" and _are_whole(column.values)
    if whole and look.taken == "bits":
        return "binary" if column.form == "float" else None  # 0.0 and 1.0, as pandas writes bits with blanks
    if whole and len(look.values) > 2:
        return {"number": "real", "nominal": "nominal"}.get(look.taken, "ordered")
    if whole:
        return "nominal"
    if look.taken == "ordered" and not column.is_numeric and column.categories is None:
        spelled = {key_of(value): value for value in column.values if value is not None}
        same = len(spelled) == len({value for value in column.values if value is not None})
        return [spelled[key_of(value)] for value, _ in look.values] if same else None
    return None


def with_own_cells(table: Table, cells: Sequence[ColumnCells], request: Request) -> Table:
    """Return a table of several kinds that keeps its cells as they are written, for completed rows."""
    if table.only_bits or table.names is None:
        return table
    order = [column.name for column in cells] if request.names is None else list(request.names)
    own = dict(zip(order, cells, strict=True))
    coding = Coding(tuple(CodedColumn(name) for name in table.names))
    read_as = ReadColumns(coding, tuple(order), {}) if table.read_as is None else table.read_as
    return replace(table, read_as=replace(read_as, cells=own))


def _are_whole(values: Any) -> bool:
    seen = values[~np.isnan(values)]
    return bool((seen == np.rint(seen)).all())


def _is_total(column: RawColumn) -> bool:
    """Whether the last cell of a column says that it is one of totals."""
    return not column.is_numeric and len(column.values) > 0 and says_total(column.values[-1])


def _renamed(raw: Sequence[RawColumn], request: Request) -> Sequence[RawColumn]:
    if request.names is None:
        return raw
    check_names(request.names, len(raw))
    return [replace(column, name=name) for column, name in zip(raw, request.names, strict=True)]


def check_names(names: Sequence[str], n_columns: int) -> None:
    """Refuse names that are not one for each column."""
    if len(names) != n_columns:
        raise TableError(f"{len(names)} names were given for {n_columns} columns. Give one name for each column.")


def without(raw: RawColumn, missing: Sequence[Key]) -> RawColumn:
    """Return a column in which codes for missing are blanks."""
    if not missing:
        return raw
    if raw.is_numeric:
        codes = [key for key in missing if isinstance(key, float)]
        return replace(raw, values=np.where(np.isin(raw.values, codes), np.nan, raw.values))
    values = raw.values.copy()
    values[[value is not None and key_of(value) in missing for value in values]] = None
    return replace(raw, values=values)


def category_of(key: Key) -> Any:
    """Return a value as a coding keeps it: a whole number as an int."""
    return int(key) if isinstance(key, float) and key.is_integer() else key
