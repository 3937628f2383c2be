"""From what a user hands in to the rows of a table, and back to frames of the user's own kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from typing import Any, TypeVar

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from hiddenbits import open_table
from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data.hashing import keyed_rng
from hiddenbits.tables import Piece, Table, map_pieces

PIECE_CELLS = 1 << 22  # cells that are worked on together

T = TypeVar("T")


def opened(model: Any, X: object, sample_weight: ArrayLike | None = None) -> Table:
    """Return X as a table of bits, opened as the fitted model would open it, with weights."""
    check_is_fitted(model)
    if getattr(model, "visible", "bits") != "bits":
        raise ValueError("This is for models and tables of bits, but the model was fitted to other columns.")
    table = X if isinstance(X, Table) else open_table(X, threshold=model.threshold, recode=model)
    return table.with_sample_weight(sample_weight)


def total(function: Callable[[Piece], AnyArray], table: Table) -> AnyArray:
    """Return the sum of function(piece) over all rows, in their order, where the engine in force runs."""
    found = map_pieces(function, table, max(1, PIECE_CELLS // table.shape[1]))
    first = next(found)
    return sum(found, first)


def cells(piece: Piece) -> tuple[Floats, Floats]:
    """Return the bits of a piece, 0 where not observed, and which of them were observed."""
    x = piece.table.to_float()
    seen = (~np.isnan(x)).astype(np.float64)
    return np.nan_to_num(x, copy=False), seen


def refuse_blanks(table: Table, what: str) -> None:
    """Refuse a table with missing cells where a statistic is defined for complete rows."""
    if missing := table.n_missing:
        raise ValueError(
            f"{what} is defined for complete rows, and {missing} cells of this table are missing. Drop rows with "
            "blanks first, if they are few."
        )


def like(X: object, columns: dict[str, AnyArray]) -> Any:
    """Return columns as a frame of X's library; as a structured array if X is no frame."""
    frame: Any = nw.from_native(X, pass_through=True)
    if isinstance(frame, (nw.DataFrame, nw.LazyFrame)):
        plain = {key: values.tolist() for key, values in columns.items()}
        return nw.from_dict(plain, backend=frame.implementation).to_native()
    made = np.empty(len(next(iter(columns.values()))), [(key, values.dtype) for key, values in columns.items()])
    for key, values in columns.items():
        made[key] = values
    return made


# Tables that are drawn from a fitted model, to which models are fitted again: what a true model would show.


def drawn_tables(model: Any, table: Table, n: int, seed: int, stream: int) -> Iterator[Table]:
    """Yield n tables drawn from a model, as large as the table and with its blanks; keyed by their number."""
    if table.weights is not None:
        raise ValueError("Simulated rows are drawn one by one: repeat rows in place of giving them weights.")
    blank = np.isnan(table.to_float()) if table.n_missing else None
    bare = copy(model)
    bare.coding_ = bare.threshold = None  # bits are drawn, not the values that they stand for
    for number in range(n):
        rows = bare.sample(table.shape[0], random_state=int(keyed_rng(seed, stream, number).integers(2**31 - 1)))
        if blank is not None:
            rows = np.where(blank, np.where(table.layout.is_level, 0.0, np.nan), rows)
        yield replace(open_table(rows), levels=table.coding_of_levels)
