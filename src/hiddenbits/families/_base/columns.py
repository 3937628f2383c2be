"""The columns of a fit: their names, and the number of binary columns that each is coded as."""

from __future__ import annotations

from collections.abc import Mapping

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.display import SummaryTable
from hiddenbits.families._base.protocol import Estimator


def column_sizes(estimator: Estimator) -> tuple[int, ...] | None:
    """Return how many binary columns each column of the fit has; None if every column is binary, and before a fit."""
    coding = estimator._coding
    return None if coding is None or not coding.has_levels else coding.sizes


def numbers_of_columns(estimator: Estimator) -> tuple[int, int]:
    """Return how many columns of the fit are continuous, and how many are counts."""
    names = number_names(estimator)
    return len(names["continuous"]), len(names["count"])


def number_names(estimator: Estimator) -> dict[str, list[str]]:
    """Return the names of the continuous columns of the fit, and of the counts."""
    coding, names = estimator._coding, {"continuous": list[str](), "count": list[str]()}
    for column in () if coding is None else coding.number_columns:
        names[column.how].append(column.name if coding is None or coding.named else f"x{column.name}")
    return names


def column_names(estimator: Estimator) -> list[str]:
    """Return the names of the columns of the fit."""
    names = getattr(estimator, "feature_names_in_", None)
    return [f"x{j}" for j in range(estimator.n_features_in_)] if names is None else [str(name) for name in names]


def level_names(estimator: Estimator) -> list[str]:
    """Return the name of each binary column, and "column=level" for each level of nominal and ordinal columns."""
    coding = estimator._coding
    if coding is None or not coding.has_levels:
        return column_names(estimator)
    return [label if coding.named else f"x{label}" for label in coding.labels]


def table_by_column(
    estimator: Estimator, title: str, values: Mapping[str, AnyArray], weight: Floats | None = None
) -> SummaryTable:
    """Return a table with one line per column of the fit, or per level."""
    coding = estimator._coding
    if coding is None or not coding.has_levels:
        return SummaryTable(title, {"column": column_names(estimator), **values}, "columns", weight)
    columns, levels = [column for column, _ in coding.levels], [level for _, level in coding.levels]
    return SummaryTable(title, {"column": columns, "level": levels, **values}, "levels", weight)
