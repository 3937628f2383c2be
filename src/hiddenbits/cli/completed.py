"""Completed rows as files: the user's own cells, and blanks filled in."""

from __future__ import annotations

from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

from hiddenbits.cli.outputs import write_rows
from hiddenbits.cli.tables import Opened


def write_completed(out: Path, found: Opened, pieces: Iterator[Any], *, bits: bool) -> tuple[int, str]:
    """Write completed rows; return their number, and a sentence that says how many blanks were filled, and with what.

    With `bits` the more probable bit is written for P(bit = 1).
    """
    table, is_numpy = found.table, out.suffix.lower() == ".npz"
    read_as, types = table.read_as, {}
    if read_as is None or is_numpy:
        names = found.names
        pieces = ((piece > 0.5).astype("uint8") for piece in pieces) if bits else pieces
    else:
        names, types = read_as.names, read_as.types()
        pieces = _in_own_values(pieces, read_as, types, bits)
    rows = write_rows(out, names, pieces, types=types)
    from hiddenbits import evaluate

    seen = evaluate.describe(table)
    first = slice(None) if read_as is None else [own.start for own in read_as.coding.bits_of()]
    blank = seen.n_rows - seen.observed[first]
    more = " Those of 0/1 columns are P(bit = 1); --bits writes 0 or 1." if blank.any() and not bits else ""
    return rows, _said(blank.tolist()) + (more if len(types) < len(names) else "")


def _in_own_values(pieces: Any, read_as: Any, own: Container[str], bits: bool) -> Iterator[list[list[Any]]]:
    """Yield completed rows as all columns of the file. Columns that are not the user's `own` hold bits."""
    start = 0
    for piece in pieces:
        columns = read_as.in_order(piece, start)
        for name in columns:
            if bits and name not in own:
                columns[name] = [int(p > 0.5) for p in columns[name]]
        yield list(columns.values())
        start += len(piece)


def _said(blanks: list[int]) -> str:
    """Return the sentence that says how many cells were filled, from the number of each column."""
    cells, columns = sum(blanks), sum(many > 0 for many in blanks)
    if not cells:
        return "There was no blank to fill."
    where = "one column" if columns == 1 else f"{columns:,} columns"
    return f"{cells:,} {'blank' if cells == 1 else 'blanks'} in {where} filled."
