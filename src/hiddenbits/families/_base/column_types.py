"""Columns that are not binary: what estimators that take them are told, and what they show."""

from __future__ import annotations

from typing import Any, Literal

from sklearn.utils._param_validation import StrOptions

from hiddenbits.data.coding.coded_columns import Coding

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
    if coding is None or not coding.has_levels:
        return list(estimator._column_names())
    return [label if coding.named else f"x{label}" for label in coding.labels]


def bit_labels(estimator: Any) -> dict[str, list[str]]:
    """Return what stands before the bits of the fit in a table: the column, and where some have several, the level."""
    coding: Coding | None = getattr(estimator, "coding_", None)
    if coding is None or not coding.has_levels:
        return {"column": estimator._column_names()}
    columns, levels = zip(*coding.levels, strict=True)
    return {"column": list(columns), "level": list(levels)}
