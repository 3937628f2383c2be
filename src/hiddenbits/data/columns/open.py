"""From columns, whatever they were read from, to a Table: look, what the user said, coding, bits."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hiddenbits.data.cell_checks import bad_cell, check_distinct
from hiddenbits.data.columns.cells import ColumnCells
from hiddenbits.data.columns.choices import ABOVE, ONE_HOT, Choices, Said, numbers_of
from hiddenbits.data.columns.coding import FRAMES, LEVELS, CodedColumn, Coding, How, ReadColumns
from hiddenbits.data.columns.describe import ColumnLook, described
from hiddenbits.data.columns.gather import cells_of_array, cells_of_frame
from hiddenbits.data.columns.message import (
    ColumnsCodedWarning,
    ColumnsLeftOutWarning,
    are_pairs,
    needs_a_word,
    said_of_coded,
    said_of_left_out,
)
from hiddenbits.data.columns.shape import counts_rows, pairs, refuse_totals
from hiddenbits.data.columns.vocabulary import Key, key_of
from hiddenbits.data.inputs.arrays import as_array
from hiddenbits.data.inputs.arrays import open_array as open_plain_array
from hiddenbits.data.inputs.frames import open_frame as open_plain_frame
from hiddenbits.data.inputs.frames import opened_frame
from hiddenbits.data.request import Request
from hiddenbits.data.table import MemorySource, Table, TableError
from hiddenbits.quoting import quoted

OF_LEVELS: dict[str, How] = {"ordered": "ordinal", "nominal": "nominal"}  # by what a look takes a column for


def open_frame(X: Any, request: Request, *, of_file: bool = False) -> Table:
    """Open a frame: as bits, where it holds nothing else; if not, or if something was said about columns, by a look.

    What is made from the table is a frame of the same kind, unless it was read from a file.
    """
    if not request.choices and request.coding is None and (request.threshold is None or request.plain_only):
        try:
            return open_plain_frame(X, request)
        except TableError:
            if request.plain_only:
                raise
    frame = opened_frame(X)
    check_distinct([str(name) for name in frame.columns])
    if not all(frame.shape):
        return open_plain_frame(X, request)
    cells = cells_of_frame(frame)
    kind = None if of_file else frame.implementation.value
    if request.threshold is None or request.choices or request.coding is not None or request.names is not None:
        return open_cells(cells, request, frame=kind)
    # Numbers above a threshold are cut in the type that they have, after a look for ids and codes for missing.
    coding, looks, guessed, left = decide(cells, [Said()] * len(cells), request)
    if guessed:
        return open_cells(cells, request, frame=kind)
    inside = [j for j, column in enumerate(cells) if column.name in _names(coding)]
    table = open_plain_frame(frame[:, inside].to_native(), request)
    if not left:
        return table
    warnings.warn(said_of_left_out(left), ColumnsLeftOutWarning, stacklevel=4)
    out = {column.name: column for column in cells if column.name in coding.left_out}
    order = tuple(column.name for column in cells)
    return replace(table, read_as=ReadColumns(coding, order, out, tuple(looks)))


def open_array(X: Any, request: Request) -> Table:
    """Open an array or a list of rows of text, or about whose columns something was said."""
    request = replace(request, levels=False)  # in an array 0 and 1 are binary; all else has its type in column_types=
    array = as_array(X)
    if array.ndim == 2 and not array.size:
        return open_plain_array(array.astype(float), request)
    cells = cells_of_array(array)
    if request.plain_only:
        request = replace(request, coding=Coding(tuple(CodedColumn(column.name) for column in cells), named=False))
        return replace(open_cells(cells, request, named=False), read_as=None)
    return open_cells(cells, request, named=False)


def open_cells(
    cells: Sequence[ColumnCells], request: Request, *, named: bool = True, frame: str | None = None
) -> Table:
    """Return a table from columns of any values: by the coding of a fit, or a look and what the user said.

    Parameters
    ----------
    cells : sequence of ColumnCells
        The columns as they were read.
    request : Request
        How the table is to be read.
    named : bool
        Whether the columns have names of their own.
    frame : str, optional
        The kind of frame that the columns come from, such as "pandas"; None for a file.
    """
    if request.names is not None:
        check_names(request.names, len(cells))
        cells = [replace(column, name=name) for column, name in zip(cells, request.names, strict=True)]
        named = True
    order = tuple(column.name for column in cells)
    if isinstance(request.coding, Coding):
        return _table(cells, request.coding, (), request, order, named=named)
    refuse_totals(cells, offers=offers_of(request))
    cells, coding, looks, _ = planned(cells, request, named=named)
    coding = replace(coding, frame=frame if frame in FRAMES else None)
    return _table(cells, coding, looks, request, order, named=named)


def planned(
    cells: Sequence[ColumnCells], request: Request, *, named: bool = True
) -> tuple[Sequence[ColumnCells], Coding, list[ColumnLook], bool]:
    """Return columns in the order in which they enter, how they become bits, what was seen, and whether 1 was guessed.

    What was guessed and left out is said; `cells` need only know how often each value occurs.
    """
    order = tuple(column.name for column in cells)
    choices = choices_of(request)
    said = choices.about(order)
    if choices.columns is not None and not choices.only_bits(order):  # in the order in which they were named
        first = numbers_of(order, choices.columns, "columns")
        places = [*first, *(j for j in range(len(cells)) if j not in set(first))]
        cells, said = [cells[j] for j in places], [said[j] for j in places]
    coding, looks, guessed, left = decide(cells, said, request, named=named)
    if guessed:
        warnings.warn(said_of_coded(guessed), ColumnsCodedWarning, stacklevel=5)
    if left:
        warnings.warn(said_of_left_out(left), ColumnsLeftOutWarning, stacklevel=5)
    return cells, coding, looks, bool(guessed)


def _table(
    cells: Sequence[ColumnCells],
    coding: Coding,
    looks: Sequence[ColumnLook],
    request: Request,
    order: tuple[str, ...],
    *,
    named: bool,
) -> Table:
    by_name = {column.name: column for column in cells}
    bits = coding.encode(by_name, request.blank)
    # numbers are kept where code= cut them; with a threshold for all of them the table is one of bits
    keeps = ("values", "one-hot", "above", *LEVELS) if request.threshold is None else ("values", "one-hot", *LEVELS)
    coded = {column.name for column in coding.columns if column.how in keeps}
    kept = {name: column for name, column in by_name.items() if name in coded or name not in _names(coding)}
    read_as = ReadColumns(coding.applied_to(list(by_name)), order, kept, tuple(looks))
    one_each = coding.named and named
    return Table(MemorySource(*bits), coding.labels if one_each else None, read_as=read_as)


def offers_of(request: Request) -> tuple[str, ...]:
    """Return the options of the file's reader that a message may name."""
    return getattr(request, "offers", ())


def choices_of(request: Request) -> Choices:
    """Return what the user said about columns."""
    return Choices() if request.choices is None else request.choices


def check_names(names: Sequence[str], n_columns: int) -> None:
    """Refuse names that are not one for each column."""
    if len(names) != n_columns:
        raise TableError(f"{len(names)} names were given for {n_columns} columns. Give one name for each column.")


def category_of(key: Key) -> Any:
    """Return a value as a coding keeps it: a whole number as an int."""
    return int(key) if isinstance(key, float) and key.is_integer() else key


def _names(coding: Coding) -> set[str]:
    return {column.name for column in coding.columns}


def decide(
    cells: Sequence[ColumnCells], about: Sequence[Said], request: Request, *, named: bool = True
) -> tuple[Coding, list[ColumnLook], list[ColumnLook], list[ColumnLook]]:
    """Return how columns become bits, what was seen in each, and of these: which is 1 was guessed; left out unasked.

    All columns that need a word are refused in one message.
    """
    names = [column.name for column in cells]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise TableError(f"Two columns are called {twice!r}. Give each column a unique name.")
    looks = _looks(cells, about, request)
    if all(not (said.out or said.asked) for said in about) and (both := pairs(looks)) is not None:
        raise are_pairs(*both, looks, offers=offers_of(request))
    guessed: list[ColumnLook] = []
    left: list[ColumnLook] = []
    asked: list[ColumnLook] = []
    coded: list[CodedColumn] = []
    out: list[str] = []
    ids: list[str] = []
    only_bits = choices_of(request).only_bits(names)
    for number, (column, look, said) in enumerate(zip(cells, looks, about, strict=True)):
        if said.out:
            out.append(column.name)
            ids += [column.name] if said.is_id else []
            continue
        _refuse_infinite(column, number, request)
        if only_bits and (look.taken != "bits" or look.suspects):
            out.append(column.name)
            continue
        found = _coded(column, look, said, request)
        if found is not None:
            coded.append(found)
            guessed += [look] if found.how == "values" and look.taken == "two values" and said.code is None else []
        elif look.needs_a_word or said.asked:
            asked.append(look)
        else:
            out.append(column.name)
            left.append(look)
    if asked:
        raise needs_a_word(asked, looks, offers=offers_of(request))
    if not coded and not left:
        raise TableError("No column is left to read. Keep at least one.")
    if not coded:
        kinds = ", ".join(f"{look.name!r} ({look.taken})" for look in looks[:10]) + (", ..." if len(looks) > 10 else "")
        raise TableError(
            f"No column can be read as bits: {kinds}. Say with code= which values are 1, or with threshold= above "
            "which number."
        )
    return Coding(tuple(coded), tuple(out), tuple(ids), named), looks, guessed, left


def _looks(cells: Sequence[ColumnCells], about: Sequence[Said], request: Request) -> list[ColumnLook]:
    """Return what is seen in each column, and which of them seem to count rows."""
    looks = []
    for column, said in zip(cells, about, strict=True):
        cut = request.threshold is not None or (isinstance(said.code, str) and said.code != ONE_HOT)
        looks.append(described(column.name, column.counts, form=column.form, missing=said.missing, threshold=cut))
    return [replace(look, unclear="counts") if counts_rows(look, cells, looks) else look for look in looks]


def _refuse_infinite(column: ColumnCells, number: int, request: Request) -> None:
    """Refuse an infinite number, also one in words among numbers."""
    words = [k for k, key in enumerate(column.keys) if isinstance(key, str)]
    for k in words:
        value = column.values[k]
        infinite = value if isinstance(value, float) else str(value).strip().lower().lstrip("+-") in ("inf", "infinity")
        if infinite and len(words) == 1:
            error = bad_cell(value, column.first_row(k), 0, (column.name,), request.threshold)
            raise TableError(str(error).replace("column 0", f"column {number}", 1))


def _coded(column: ColumnCells, look: ColumnLook, said: Said, request: Request) -> CodedColumn | None:
    """Return how a column becomes bits; None where it needs a word, or stays out."""
    missing = tuple(category_of(key) for key in said.missing or ())
    if said.code is not None:
        return _as_said(column, look, said.code, missing)
    if said.type is not None:
        return _of_type(look, said.type, missing)
    if look.suspects or look.unclear:
        return None
    numeric = all(key is None or isinstance(key, float) for key in column.keys)
    if request.threshold is not None and numeric and look.taken not in ("id", "date", "text"):
        return CodedColumn(column.name, "above", missing=missing, threshold=request.threshold)
    if look.taken == "bits":
        return CodedColumn(column.name, missing=missing)
    if look.taken == "two values":
        return CodedColumn(column.name, "values", (look.one,), (look.zero,), missing)
    if look.taken == "one value or blank" and request.blank != "auto":
        zero = 0 if request.blank == "zero" else None
        return CodedColumn(column.name, "values", (look.values[0][0],), (), missing, zero)
    if request.levels and look.taken in OF_LEVELS:
        return CodedColumn(column.name, OF_LEVELS[look.taken], tuple(value for value, _ in look.values), (), missing)
    return None


def _of_type(look: ColumnLook, type_: Any, missing: tuple[Any, ...]) -> CodedColumn | None:
    """Return a column of the type that the user said; None where that leaves a code for missing open."""
    if look.suspects:
        return None
    values = tuple(value for value, _ in look.values)
    if isinstance(type_, str) and type_ != "binary":
        if len(values) < 2:
            raise TableError(
                f"column {look.name!r} is to be {type_}, but has {'only one' if values else 'no'} value. Leave it out, "
                f"or list its levels: column_types={{{look.name!r}: [...]}}."
            )
        return CodedColumn(look.name, "nominal" if type_ == "nominal" else "ordinal", values, (), missing)
    if not isinstance(type_, str):
        levels = {key_of(level): level for level in type_}
        if odd := [value for value in values if key_of(value) not in levels]:
            raise TableError(
                f"column_types= for column {look.name!r} lacks {', '.join(map(quoted, odd[:8]))}, which occurs. "
                "Name every level, or say with missing= that it means not observed."
            )
        return CodedColumn(look.name, "ordinal", tuple(type_), (), missing)
    if look.taken == "bits":
        return CodedColumn(look.name, missing=missing)
    if look.taken == "two values":
        return CodedColumn(look.name, "values", (look.one,), (look.zero,), missing)
    raise TableError(
        f"column {look.name!r} is to be binary, but has {len(values)} values: {', '.join(map(quoted, values[:8]))}"
        f"{', ...' if len(values) > 8 else ''}. Say which of them are 1 with code=, or make it nominal or ordinal."
    )


def _as_said(column: ColumnCells, look: ColumnLook, code: Any, missing: tuple[Any, ...]) -> CodedColumn | None:
    """Return a column coded as the user said; None where that leaves a code for missing open."""
    values = [value for value, _ in look.values]
    suspects = {key_of(value) for value in look.suspects}
    if isinstance(code, str):
        if suspects:
            return None
        if code == ONE_HOT:
            return CodedColumn(column.name, "one-hot", tuple(values), (), missing)
        above = ABOVE.match(code)
        assert above is not None  # noqa: S101  (Choices has checked it)
        return CodedColumn(column.name, "above", missing=missing, threshold=float(above[1]))
    given = {key_of(value): bit for value, bit in code.items() if value != ""}
    spelled = {key_of(value): value for value in values}
    if suspects - set(given):
        return None
    if given and not set(given) & set(spelled):
        raise TableError(
            f"code= for column {column.name!r} names {quoted(next(value for value in code if value != ''))}, which "
            f"does not occur. Its values are {', '.join(map(quoted, values[:8]))}{', ...' if len(values) > 8 else ''}."
        )
    bits = {0: [], 1: []}  # type: dict[int, list[Any]]
    for value in code:
        if value != "":
            bits[code[value]].append(spelled.get(key_of(value), value))
    others = [value for value in values if key_of(value) not in given]
    if others and len(set(code.values())) == 2:
        raise TableError(
            f"code= for column {column.name!r} does not say what {', '.join(map(quoted, others[:8]))} is: 1, 0, or "
            f"missing={{{column.name!r}: [...]}}. Name every value, or only those that are 1."
        )
    if others:
        bits[1 - next(iter(code.values()))] += others
    return CodedColumn(column.name, "values", tuple(bits[1]), tuple(bits[0]), missing, code.get(""))
