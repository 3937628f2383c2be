"""Files of imputed rows: observed cells as they were, missing values filled."""

from __future__ import annotations

from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

from hiddenbits.cli.outputs import write_rows
from hiddenbits.cli.tables import OpenedTable


def write_completed(out: Path, data: OpenedTable, pieces: Iterator[Any], *, bits: bool) -> tuple[int, str]:
    """Write imputed rows; return their number, and a sentence about the missing values that were imputed.

    With `bits` the more probable of 0 and 1 is written in place of P(x = 1).
    """
    table, is_numpy = data.table, out.suffix.lower() == ".npz"
    read_as, types = table.read_as, {}
    if read_as is None or is_numpy:
        names = data.names
        pieces = ((piece > 0.5).astype("uint8") for piece in pieces) if bits else pieces
    else:
        names, types = read_as.names, read_as.types()
        pieces = _in_own_values(pieces, read_as, types, bits)
    rows = write_rows(out, names, pieces, types=types)
    from hiddenbits import evaluate

    summary = evaluate.describe(table)
    first = slice(None) if read_as is None else [own.start for own in read_as.coding.bits_of()]
    n_missing = summary.n_rows - summary.observed[first]
    note = " In 0/1 columns they are P(x = 1); --bits writes 0 or 1." if n_missing.any() and not bits else ""
    return rows, _sentence(n_missing.tolist()) + (note if len(types) < len(names) else "")


def _in_own_values(pieces: Any, read_as: Any, own: Container[str], bits: bool) -> Iterator[list[list[Any]]]:
    """Yield imputed rows as all columns of the file. Columns that are not in `own` are coded 0/1."""
    start = 0
    for piece in pieces:
        columns = read_as.in_order(piece, start)
        for name in columns:
            if bits and name not in own:
                columns[name] = [int(p > 0.5) for p in columns[name]]
        yield list(columns.values())
        start += len(piece)


def _sentence(n_missing: list[int]) -> str:
    """Return how many missing values were imputed, in words, from the number of each column."""
    cells, columns = sum(n_missing), sum(number > 0 for number in n_missing)
    if not cells:
        return "There were no missing values."
    where = "one column" if columns == 1 else f"{columns:,} columns"
    return f"{cells:,} missing {'value' if cells == 1 else 'values'} in {where} imputed."
