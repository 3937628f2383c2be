"""Hyperparameters that every estimator has, with the values they may take."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

from sklearn.utils._param_validation import Interval, StrOptions

from hiddenbits.data.coding.coded_columns import Coding

MOST_NODES = 1_000_000  # of a grid: a table of them with the columns is held in memory
DRAWS = [Interval(Integral, 2, 100_000, closed="both")]  # draws for each row, all held at once

N_INIT: list[object] = [
    Interval(Integral, 1, None, closed="left"),
    StrOptions({"auto"}),
]  # where restarts have short runs

COMMON: dict[str, list[object]] = {
    "online_passes": [Interval(Integral, 0, None, closed="left")],
    "n_init": [Interval(Integral, 1, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
    "accelerate": ["boolean"],
    "threshold": [Interval(Real, None, None, closed="neither"), None],
    "random_state": ["random_state"],
}


# `ClosedForm`: estimators whose fit is no search, so that there is nothing to set about one.


class ClosedForm:
    """What the engine asks of every estimator, at values that mean nothing here."""

    online_passes = 0
    n_init: int | Literal["auto"] = 1
    max_iter = 100
    tol = 1e-6
    accelerate = True

    _constraints_in_common: ClassVar[dict[str, list[object]]] = {
        name: COMMON[name] for name in ("threshold", "random_state")
    }


# Columns that are not binary: what estimators that take them are told, and what they show.

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
