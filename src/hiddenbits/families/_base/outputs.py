"""A frame in, a frame out: completed tables look like the table that was handed in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.utils._set_output import _get_output_config

from hiddenbits.array_types import AnyArray
from hiddenbits.data import Table
from hiddenbits.data.bits import Dense
from hiddenbits.data.cell_checks import observed_from_missing
from hiddenbits.data.coding.coded_columns import Coding
from hiddenbits.data.columns.gather import is_frame, opened_frame
from hiddenbits.data.table import memory_table
from hiddenbits.families._base.columns import column_names
from hiddenbits.families._base.protocol import Estimator


def like(X: Any, values: AnyArray, names: Sequence[str] | None = None) -> Any:
    """Return `values` as a frame of X's kind, with its column names and index; as it is when X is no frame.

    Where the columns of the model are not those of the frame, `names` are theirs.
    """
    if not is_frame(X):
        return values
    frame = nw.from_native(X)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    columns = {name: np.ascontiguousarray(values[:, j]) for j, name in enumerate(names or frame.columns)}
    made = nw.from_dict(columns, backend=frame.implementation).to_native()
    if frame.implementation.is_pandas():
        made.index = frame.to_native().index
    return made


def in_own_values(X: Any, table: Table, completed: AnyArray) -> Any:
    """Return the frame X with its blanks filled in the user's own values; columns of bits hold P(bit = 1).

    Of a file, or anything else that has columns and is no frame, a dict of its columns; of an array an array.
    """
    if table.read_as is None or not ((coding := table.read_as.coding).named or coding.has_levels):
        return completed
    if not is_frame(X):
        columns = table.read_as.in_order(completed)
        return columns if coding.named else _as_array(columns)
    frame = opened_frame(X)
    labels = {str(name): name for name in frame.columns}
    for name, cells in table.read_as.decoded(completed).items():
        given = frame[:, list(labels).index(name)]
        before, after = given.to_list(), cells
        if name in table.read_as.cells and all(a is b or a == b for a, b in zip(before, after, strict=True)):
            continue  # nothing was filled in: the column keeps its type
        made = nw.new_series(name, _one_type(after), backend=frame.implementation)  # "4 or 5" may be among numbers
        if given.dtype == nw.Categorical or (
            isinstance(given.dtype, nw.Enum) and {*after} <= {*given.dtype.categories}
        ):
            made = made.cast(given.dtype)
        if frame.implementation.is_pandas():
            native = frame.to_native().copy(deep=False)
            native[labels[name]] = made.to_native().array
            frame = nw.from_native(native)
        else:
            frame = frame.with_columns(made.alias(labels[name]))
    return frame.to_native()


def drawn_values(estimator: Estimator, bits: AnyArray) -> Any:
    """Return drawn bits in the user's own values, where the fit coded them: as the table of the fit, of a file a dict.

    Of columns with a bit for each value, a row has one value. Where the draw has several or none, it is the most
    probable of those drawn, or of all, given the rest of the row.
    """
    coding = estimator._coding
    if coding is None or coding.only_binary or estimator.threshold is not None:
        return in_container(estimator, bits)
    chances = _one_each(estimator, coding, bits)
    columns: dict[str, Any] = {}
    for column, place in zip(coding.columns, coding.bits_of(), strict=True):
        drawn = column.decode(chances[:, place])
        columns[column.name] = [int(bit) for bit in drawn] if column.how == "binary" else _one_type(drawn)
    if coding.frame is not None:
        backend: Any = coding.frame
        return nw.from_dict(columns, backend=backend).to_native()
    return columns if coding.named else _as_array(columns)


def in_container(estimator: Estimator, values: AnyArray) -> Any:
    """Return rows as what `set_output` asks for: an array, or a frame with the names of the fit."""
    wanted: Any = _get_output_config("transform", estimator)["dense"]
    if wanted == "default":
        return values
    columns = {name: np.ascontiguousarray(values[:, j]) for j, name in enumerate(column_names(estimator))}
    return nw.from_dict(columns, backend=wanted).to_native()


def _as_array(columns: dict[str, list[Any]]) -> AnyArray:
    """Return columns as an array, of numbers where all cells are."""
    cells = np.array(list(columns.values()), dtype=object).T
    return cells if any(isinstance(cell, str) for cell in cells.flat) else cells.astype(np.float64)


def _one_each(estimator: Estimator, coding: Coding, bits: AnyArray) -> AnyArray:
    """Return drawn bits as numbers; in columns with a bit for each value, the largest is at the value of the row."""
    values = bits.astype(np.float64)
    hidden = np.zeros(bits.shape, bool)
    for column, place in zip(coding.columns, coding.bits_of(), strict=True):
        if column.how == "one-hot":
            hidden[:, place] = (bits[:, place].sum(axis=1) != 1)[:, None]
    rows = np.flatnonzero(hidden.any(axis=1))
    if not len(rows):
        return values
    seen = observed_from_missing(hidden[rows].astype(np.uint8))
    table = memory_table(Dense(np.where(hidden[rows], 0, bits[rows]).astype(np.uint8)), seen)
    values[rows] += np.where(hidden[rows], estimator.complete(table), 0.0)  # a bit that was drawn stays the larger
    return values


def _one_type(cells: list[Any]) -> list[Any]:
    """Return cells as text where some are text and some are not."""
    types = {type(cell) for cell in cells if cell is not None}
    return [None if cell is None else str(cell) for cell in cells] if str in types and len(types) > 1 else cells
