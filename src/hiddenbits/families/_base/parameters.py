"""Hyperparameters that all estimators share, with their valid values."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Literal

from sklearn.utils._param_validation import Interval, StrOptions

MOST_NODES = 1_000_000  # nodes of a grid: an array of nodes x columns is held in memory
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

ColumnType = Literal["auto", "binary", "nominal", "ordinal"]
ColumnTypes = ColumnType | dict[str, ColumnType]
COLUMN_TYPES: list[object] = [StrOptions({"auto", "binary", "nominal", "ordinal"}), dict]


@dataclass(frozen=True)
class HiddenParts:
    """A size of the latent structure (such as the number of classes), and what a table needs to support it.

    Attributes
    ----------
    word : str
        What is counted, in the plural: "classes".
    need : {"rows", "columns"}
        What the table needs as many of.
    parameter : str
        The hyperparameter: a number, or one per layer. Other values, such as strings, are not checked.
    each : int
        How many of them one row can support.
    """

    word: str
    need: Literal["rows", "columns"] = "rows"
    parameter: str = "n_components"
    each: int = 1
