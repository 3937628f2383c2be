"""Results in the form of X: an array for an array, a frame for a frame."""

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


def like_input(X: Any, values: AnyArray, names: Sequence[str] | None = None) -> Any:
    """Return `values` as a frame of X's library, with X's column names and index; unchanged if X is no frame.

    `names` replaces the column names, if the model's columns are not those of X.
    """
    if not is_frame(X):
        return values
    frame = nw.from_native(X)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    columns = {name: np.ascontiguousarray(values[:, j]) for j, name in enumerate(names or frame.columns)}
    result = nw.from_dict(columns, backend=frame.implementation).to_native()
    if frame.implementation.is_pandas():
        result.index = frame.to_native().index
    return result


def in_original_values(X: Any, table: Table, completed: AnyArray) -> Any:
    """Return X with its missing values imputed by original values; in columns of 0 and 1, by P(x = 1).

    For a frame a frame, for an array an array; for a file and anything else with named columns, a dict of them.
    """
    if table.read_as is None or not ((coding := table.read_as.coding).named or coding.has_levels):
        return completed
    if not is_frame(X):
        columns = table.read_as.in_order(completed)
        return columns if coding.named else _as_array(columns)
    frame = opened_frame(X)
    labels = {str(name): name for name in frame.columns}
    for name, cells in table.read_as.decoded(completed).items():
        column = frame[:, list(labels).index(name)]
        pairs = zip(column.to_list(), cells, column.is_null().to_list(), strict=True)
        if name in table.read_as.cells and all(a is b or (not is_null and a == b) for a, b, is_null in pairs):
            continue  # no value was imputed: the column keeps its type
        imputed = nw.new_series(
            name, _as_one_type(cells), backend=frame.implementation
        )  # numbers, or strings if one is "4 or 5"
        if column.dtype == nw.Categorical or (
            isinstance(column.dtype, nw.Enum) and {*cells} <= {*column.dtype.categories}
        ):
            imputed = imputed.cast(column.dtype)
        if frame.implementation.is_pandas():
            native = frame.to_native().copy(deep=False)
            native[labels[name]] = imputed.to_native().array
            frame = nw.from_native(native)
        else:
            frame = frame.with_columns(imputed.alias(labels[name]))
    return frame.to_native()


def sampled_values(estimator: Estimator, bits: AnyArray) -> Any:
    """Return sampled rows in the original values of a recoded fit: a frame like that of the fit, for a file a dict.

    A row has one value in each one-hot column. If several bits were sampled, it is the most probable of their values
    given the rest of the row; if none was, the most probable of all values.
    """
    coding = estimator._coding
    if coding is None or coding.only_binary or estimator.threshold is not None:
        return in_container(estimator, bits)
    values_of_bits = _with_one_hot_maximum(estimator, coding, bits)
    columns: dict[str, Any] = {}
    for column, positions in zip(coding.columns, coding.bits_of(), strict=True):
        values = column.decode(values_of_bits[:, positions])
        are_whole = column.how in ("binary", "count")
        columns[column.name] = [int(value) for value in values] if are_whole else _as_one_type(values)
    if coding.frame is not None:
        backend: Any = coding.frame
        return nw.from_dict(columns, backend=backend).to_native()
    return columns if coding.named else _as_array(columns)


def in_container(estimator: Estimator, values: AnyArray) -> Any:
    """Return rows in the container of `set_output`: an array, or a frame with the names of the fit."""
    container: Any = _get_output_config("transform", estimator)["dense"]
    if container == "default":
        return values
    columns = {name: np.ascontiguousarray(values[:, j]) for j, name in enumerate(column_names(estimator))}
    return nw.from_dict(columns, backend=container).to_native()


def _as_array(columns: dict[str, list[Any]]) -> AnyArray:
    """Return columns as an array, of numbers if all cells are numbers."""
    cells = np.array(list(columns.values()), dtype=object).T
    return cells if any(isinstance(cell, str) for cell in cells.flat) else cells.astype(np.float64)


def _with_one_hot_maximum(estimator: Estimator, coding: Coding, bits: AnyArray) -> AnyArray:
    """Return sampled bits as numbers, the largest of which within each one-hot column is the row's value."""
    values = bits.astype(np.float64)
    ambiguous = np.zeros(bits.shape, bool)
    for column, positions in zip(coding.columns, coding.bits_of(), strict=True):
        if column.how == "one-hot":
            ambiguous[:, positions] = (bits[:, positions].sum(axis=1) != 1)[:, None]
    rows = np.flatnonzero(ambiguous.any(axis=1))
    if not len(rows):
        return values
    observed = observed_from_missing(ambiguous[rows].astype(np.uint8))
    table = memory_table(Dense(np.where(ambiguous[rows], 0, bits[rows]).astype(np.uint8)), observed)
    values[rows] += np.where(ambiguous[rows], estimator.complete(table), 0.0)  # a sampled 1 stays the larger
    return values


def _as_one_type(cells: list[Any]) -> list[Any]:
    """Return cells as they are; all as strings if only some are, all as floats if the others are whole numbers."""
    types = {type(cell) for cell in cells if cell is not None}
    one = str if str in types and len(types) > 1 else float if types == {int, float} else None
    return cells if one is None else [None if cell is None else one(cell) for cell in cells]
