"""What users know of a model before a fit: parameters, in tables or from a fitted model, and classes of some rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats
from hiddenbits.data.columns.gather import cells_of_array, opened_frame
from hiddenbits.data.layout import Layout, layout_of
from hiddenbits.families._base.columns import column_sizes, level_names, number_names, table_by_column
from hiddenbits.families.nodes.columns.levels import normalize_levels
from hiddenbits.families.nodes.mixed import MixedParams
from hiddenbits.families.nodes.params import NodeParams
from hiddenbits.maths.numerics import class_shares, clip_probability
from hiddenbits.quoting import quoted

ROUNDING = 0.02  # shares and levels may add up to 1 with this error, because tables are rounded
MAX_NAMED = 5  # names that a message lists


def given_arrays(estimator: Any, option: str, *, complete: bool = False) -> dict[str, Floats]:
    """Return the parameters that a hyperparameter gives, by the names of their arrays; NaN where it gives none.

    Those of columns of numbers are in the user's units.

    Parameters
    ----------
    estimator : LatentClassAnalysis
        The estimator, of which the columns are known already.
    option : {"start", "fixed"}
        The name of the hyperparameter.
    complete : bool
        Whether all probabilities must be given; shares that are not given are then equal.
    """
    value, K = getattr(estimator, option), estimator.n_components
    if value is None:
        return {}
    if isinstance(getattr(value, "_params", None), NodeParams):
        params = value._params
        same_names = level_names(value) == level_names(estimator) and number_names(value) == number_names(estimator)
        if len(params.weights) != K or not same_names:
            raise ValueError(f"{option}= is a model of other classes or columns. Fit it to the columns of this table.")
        arrays = {"weights": params.weights, "probabilities": params.probabilities}
        if isinstance(params, MixedParams):
            if value.covariance_type != estimator.covariance_type:
                raise ValueError(f"{option}= is a model with covariance_type={value.covariance_type!r}.")
            arrays |= {"means": params.original_means, "covariances": params.original_covariances}
            arrays["rates"] = params.rates
        return arrays
    of_numbers = _tables_of_numbers(estimator)
    tables = ["classes", *["profiles"] * bool(level_names(estimator)), *of_numbers]
    if not isinstance(value, Mapping) or not value or not set(value) <= set(tables):
        raise ValueError(
            f"{option}= must be a fitted LatentClassAnalysis, or a dict of tables as summary() has them: "
            f"{', '.join(map(repr, tables))}."
        )
    names, layout = [f"class_{k + 1}" for k in range(K)], layout_of(column_sizes(estimator), estimator.n_features_in_)
    keys = table_by_column(estimator, "", {}).values()
    shares = _numbers(f"{option}=, table 'classes'", value.get("classes"), {"class": names}, ["share"])[:, 0]
    p = _numbers(f"{option}=, table 'profiles'", value.get("profiles"), keys, names)
    _check_sums(f"{option}=, table 'classes'", Layout((K,)), shares[:, None], ["share"], ["share"] * K)
    _check_sums(f"{option}=, table 'profiles'", layout, p, names, keys["column"])
    if complete and np.isnan(p).any():
        absent = [level_names(estimator)[j] for j in np.flatnonzero(np.isnan(p).any(axis=1))[:MAX_NAMED]]
        raise ValueError(f"{option}= lacks probabilities of {', '.join(map(repr, absent))}. Give them for all classes.")
    if not np.isnan(shares).any():
        shares = class_shares(shares, float(shares.sum()))
    elif complete:
        shares = np.full(K, 1.0 / K)
    arrays = {"weights": shares, "probabilities": normalize_levels(clip_probability(p), layout)}
    for table, (array, keys, positive) in of_numbers.items():
        label = f"{option}=, table {table!r}"
        numbers = _numbers(label, value.get(table), keys, names, positive=positive)
        if complete and np.isnan(numbers).any():
            raise ValueError(f"{label}: numbers are lacking. Give them for all columns and classes.")
        is_given = ~np.isnan(numbers)
        axis = 1 if estimator.covariance_type == "tied_diag" else 0 if estimator.covariance_type == "full" else None
        is_partial = (is_given.any(axis=axis) != is_given.all(axis=axis)).any()
        if array == "covariances" and estimator.covariance_type != "diag" and is_partial:
            raise ValueError(f"{label}: give all numbers of a class, and what classes share for all, or none.")
        if table == "covariances":
            a, b = np.tril_indices(len(arrays["means"]))
            lower, numbers = numbers, np.empty((len(arrays["means"]),) * 2 + (K,))
            numbers[a, b] = numbers[b, a] = lower
        arrays[array] = numbers[:, None] if table == "variances" else numbers
    return arrays


def _tables_of_numbers(estimator: Any) -> dict[str, tuple[str, dict[str, list[str]], bool | None]]:
    """Return by the name of a table its array, its columns of names, and whether its numbers are positive."""
    names = number_names(estimator)
    continuous, counts = names["continuous"], names["count"]
    tables: dict[str, tuple[str, dict[str, list[str]], bool | None]] = {}
    if continuous:
        tables["means"] = ("means", {"column": continuous}, None)
        if estimator.covariance_type in ("full", "tied"):
            pairs = [(a, b) for number, a in enumerate(continuous) for b in continuous[: number + 1]]
            labels = {"column": [a for a, _ in pairs], "with": [b for _, b in pairs]}
            tables["covariances"] = ("covariances", labels, None)
        else:
            tables["variances"] = ("covariances", {"column": continuous}, True)
    if counts:
        tables["rates"] = ("rates", {"column": counts}, True)
    return tables


def _numbers(
    name: str,
    table: Any,
    keys: Mapping[str, Sequence[Any]],
    columns: Sequence[str],
    *,
    positive: bool | None = False,
) -> Floats:
    """Return the numbers of a table, (lines, columns), NaN where it has none; `keys` are the columns of names.

    They must be probabilities, or `positive`; None: any numbers.
    """
    numbers = np.full((len(next(iter(keys.values()))), len(columns)), np.nan)
    if table is None:
        return numbers
    cells = table if isinstance(table, Mapping) else opened_frame(table).to_dict(as_series=False)
    if not set(keys) <= set(cells) <= {*keys, *columns}:
        expected = ", ".join(map(repr, [*keys, *columns]))
        raise ValueError(f"{name}: its columns are {', '.join(map(repr, cells))}, but should be {expected}.")
    positions = {key: number for number, key in enumerate(zip(*(map(str, keys[name]) for name in keys), strict=True))}
    lines = list(zip(*(map(str, cells[name]) for name in keys), strict=True))
    unknown = [line for line in lines if line not in positions]
    if unknown or len(set(lines)) < len(lines):
        problem = "it has a line twice" if not unknown else f"there is no {' = '.join(map(repr, unknown[0]))}"
        raise ValueError(f"{name}: {problem}. Name each line as summary().tables does, at most once.")
    for j, column in enumerate(columns):
        if column in cells:
            values = [np.nan if value is None else float(value) for value in cells[column]]
            numbers[[positions[line] for line in lines], j] = values
    low, high = (-np.inf, np.inf) if positive is None else (0.0, np.inf if positive else 1.0)
    outside = ~(np.isnan(numbers) | ((numbers >= low) & (numbers <= high) & np.isfinite(numbers)))
    if outside.any():
        wanted = "finite" if positive is None else "a positive number" if positive else "a probability"
        raise ValueError(f"{name}: {numbers[outside][0]:g} is not {wanted}.")
    return numbers


def _check_sums(name: str, layout: Layout, p: Floats, classes: Sequence[str], columns: Sequence[str]) -> None:
    """Refuse levels that do not add up to 1, or of which only some are given."""
    n_given, size = (layout.column_sums(numbers.astype(float)) for numbers in (~np.isnan(p), np.ones_like(p)))
    wrong = (size > 1) & (n_given > 0) & ~(np.abs(layout.column_sums(p) - 1.0) <= ROUNDING)
    if wrong.any():
        j, k = np.argwhere(wrong)[0]
        raise ValueError(f"{name}: {columns[j]!r} in {classes[k]!r} must add up to 1, or have no numbers at all.")


def known_classes(y: Any, n_classes: int, n_rows: int) -> NDArray[np.int32] | None:
    """Return the class of each row, -1 if it is not known; None if `y` has no missing values, or is None.

    Missing values are NaN, None and -1. A `y` without any is a target, which scikit-learn passes to every step of a
    pipeline: it is ignored.
    """
    if y is None or (array := np.asanyarray(y)).ndim != 1 or array.dtype.kind == "c":
        return None
    cells = cells_of_array(array[:, None])[0]
    values = {value for value, count in zip(cells.values, cells.counts(), strict=True) if count}
    if not values & {None, -1}:
        return None
    if len(array) != n_rows:
        raise ValueError(f"y has {len(array)} values, but the table has {n_rows} rows. Give one for each row.")
    wrong = [quoted(value) for value in values if value is not None and value not in range(-1, n_classes)]
    if wrong:
        valid = f"the class of each row, from 0 to {n_classes - 1}, and NaN, None or -1 where it is not known"
        raise ValueError(f"y has the value {wrong[0]}. Give {valid}.")
    if values == {-1, 1}:
        raise ValueError("y has only -1 and 1. Write NaN for classes that are not known, or leave out a target.")
    classes = np.array([-1 if value is None else int(value) for value in cells.values], np.int32)
    return np.asarray(classes[cells.rows])
