"""Tables from the user's data, results as data frames of the user's library, and simulated tables."""

from __future__ import annotations

from collections.abc import Callable
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

PIECE_CELLS = 1 << 22  # cells processed together

T = TypeVar("T")


def open_for(model: Any, X: object, sample_weight: ArrayLike | None = None) -> Table:
    """Return X as a binary table, opened as the fitted model opens it, with weights."""
    check_is_fitted(model)
    if getattr(model, "visible", "bits") != "bits":
        raise ValueError("This needs a model of binary data, but the model was fitted to continuous columns.")
    table = X if isinstance(X, Table) else open_table(X, threshold=model.threshold, recode=model)
    return table.with_sample_weight(sample_weight)


def sum_over_rows(function: Callable[[Piece], AnyArray], table: Table) -> AnyArray:
    """Return the sum of function(piece) over all rows, in their order, on the executor set by `run_on`."""
    parts = map_pieces(function, table, max(1, PIECE_CELLS // table.row_size))
    first = next(parts)
    return sum(parts, first)


def cells(piece: Piece) -> tuple[Floats, Floats]:
    """Return the bits of a piece, 0 where missing, and which of them were observed."""
    x = piece.table.to_float()[:, : piece.table.shape[1]]
    observed = (~np.isnan(x)).astype(np.float64)
    return np.nan_to_num(x, copy=False), observed


def column_names(model: Any, table: Table) -> list[str]:
    """Return the names of the columns, those of numbers last; `display.names_of` has one for each level instead."""
    names = table.column_names or getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(table.n_columns)] if names is None else [str(name) for name in names]


def require_complete_rows(table: Table, statistic: str) -> None:
    """Raise if values are missing, for a statistic that is defined for complete rows."""
    if missing := table.n_missing:
        raise ValueError(
            f"{statistic} is defined for complete rows, and {missing} cells of this table are missing. Drop rows with "
            "missing values first, if they are few."
        )


def frame_like(X: object, columns: dict[str, AnyArray]) -> Any:
    """Return columns as a data frame of X's library, or as a structured array if X is not a data frame."""
    frame: Any = nw.from_native(X, pass_through=True)
    if isinstance(frame, (nw.DataFrame, nw.LazyFrame)):
        plain = {key: values.tolist() for key, values in columns.items()}
        return nw.from_dict(plain, backend=frame.implementation).to_native()
    array = np.empty(len(next(iter(columns.values()))), [(key, values.dtype) for key, values in columns.items()])
    for key, values in columns.items():
        array[key] = values
    return array


def of_bits(model: Any) -> Any:
    """Return a model that samples bits, not the values that they encode."""
    uncoded = copy(model)
    uncoded.coding_ = uncoded.threshold = None
    return uncoded


# Tables simulated from a fitted model, to which models are fitted again: the results if the model is true.


def table_simulator(model: Any, table: Table, seed: int, stream: int) -> Callable[[int], Table]:
    """Return a function that samples the table of a number from a model, with the size and missing cells of `table`."""
    if table.weights is not None:
        raise ValueError("Simulated rows have no weights: repeat rows instead of weighting them.")
    missing = np.isnan(table.to_float()) if table.n_missing else None
    bits = of_bits(model)

    def simulate(number: int) -> Table:
        rows = bits.sample(table.shape[0], random_state=int(keyed_rng(seed, stream, number).integers(2**31 - 1)))
        if missing is not None:
            blank = np.append(np.where(table.layout.is_level, 0.0, np.nan), np.full(table.n_numbers, np.nan))
            rows = np.where(missing, blank, rows)
        simulated = Table._of_cells(rows, table.n_numbers) if table.n_numbers else open_table(rows)
        return replace(simulated, levels=table.coding_of_levels)

    return simulate
