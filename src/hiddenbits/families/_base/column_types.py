"""Columns that are not binary: what estimators that take them are told, and what they show."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.utils._param_validation import StrOptions

from hiddenbits.array_types import AnyArray
from hiddenbits.data import Block
from hiddenbits.data.columns.coding import Coding

ColumnType = Literal["auto", "binary", "nominal", "ordinal"]
ColumnTypes = ColumnType | dict[str, ColumnType]
COLUMN_TYPES: list[object] = [StrOptions({"auto", "binary", "nominal", "ordinal"}), dict]


def column_sizes(estimator: Any) -> tuple[int, ...] | None:
    """Return the bits of each column of the fit; None where every column is binary."""
    coding: Coding | None = getattr(estimator, "coding_", None)
    return None if coding is None or not coding.has_levels else coding.sizes


def level_names(estimator: Any) -> list[str]:
    """Return the names of the bits of the fit: of binary columns, and "column=level"."""
    coding: Coding | None = getattr(estimator, "coding_", None)
    return estimator._column_names() if coding is None or not coding.has_levels else list(coding.labels)


def observed_cells(block: Block, sizes: tuple[int, ...] | None) -> AnyArray:
    """Return where the cells of bits were recorded; of a level that is missing no bit of its column was."""
    observed = block.observed.to_dense()
    if sizes is None:
        return observed
    many = np.repeat(np.array(sizes) > 1, sizes)
    starts = np.cumsum([0, *sizes[:-1]])
    sums = np.repeat(np.add.reduceat(block.x.to_dense(), starts, axis=1), sizes, axis=1)
    return np.where(many, sums, observed)
