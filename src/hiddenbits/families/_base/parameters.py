"""Hyperparameters that every estimator has, with the values they may take."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Literal

from sklearn.utils._param_validation import Interval, StrOptions

MOST_NODES = 1_000_000  # of a grid: a table of them with the columns is held in memory
DRAWS = [Interval(Integral, 2, 100_000, closed="both")]  # draws for each row, all held at once

N_INIT: list[object] = [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})]  # more on small tables

COMMON: dict[str, list[object]] = {
    "online_passes": [Interval(Integral, 0, None, closed="left")],
    "n_init": [Interval(Integral, 1, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
    "threshold": [Interval(Real, None, None, closed="neither"), None],
    "random_state": ["random_state"],
}


# Columns that are not binary: what estimators that take them are told, and what they show.

ColumnType = Literal["auto", "binary", "nominal", "ordinal"]
ColumnTypes = ColumnType | dict[str, ColumnType]
COLUMN_TYPES: list[object] = [StrOptions({"auto", "binary", "nominal", "ordinal"}), dict]


@dataclass(frozen=True)
class HiddenParts:
    """What a hyperparameter counts, and what it needs.

    Attributes
    ----------
    word : str
        What the parts are called, in the plural.
    need : {"rows", "columns"}
        What a part needs one of.
    parameter : str
        The hyperparameter: a number, or several of layers. Other values, such as words, are not checked.
    each : int
        How many parts one row can support.
    """

    word: str
    need: Literal["rows", "columns"] = "rows"
    parameter: str = "n_components"
    each: int = 1
