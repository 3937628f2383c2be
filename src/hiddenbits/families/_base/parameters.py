"""Hyperparameters that all estimators share, with their valid values."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Literal, get_args

from sklearn.utils._param_validation import Interval, StrOptions

DRAWS = [Interval(Integral, 2, 100_000, closed="both")]  # Monte Carlo draws per row, all in memory

N_INIT: list[object] = [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})]

COMMON: dict[str, list[object]] = {
    "online_passes": [Interval(Integral, 0, None, closed="left")],
    "n_init": [Interval(Integral, 1, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
    "threshold": [Interval(Real, None, None, closed="neither"), None],
    "random_state": ["random_state"],
}


# Types of columns, for estimators that support columns that are not binary.

ColumnType = Literal["auto", "binary", "nominal", "ordinal", "continuous", "count", "quantiles"]
ColumnTypes = ColumnType | dict[str, ColumnType]
COLUMN_TYPES: list[object] = [StrOptions(set(get_args(ColumnType))), dict]
HANDLE_UNKNOWN: list[object] = [StrOptions({"error", "missing"})]


@dataclass(frozen=True)
class HiddenParts:
    """Classes, dimensions or the like, whose number a table limits.

    Attributes
    ----------
    plural : str
        Their name, in the plural: "classes".
    limited_by : {"rows", "columns"}
        Whether the rows or the columns of a table limit their number.
    parameter : str
        The hyperparameter: a number, or one per layer. Other values, such as strings, are not checked.
    per_row : int
        How many of them one row can support.
    """

    plural: str
    limited_by: Literal["rows", "columns"] = "rows"
    parameter: str = "n_components"
    per_row: int = 1
