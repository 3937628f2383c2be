"""From the user's X to a checked Table, by scikit-learn's rules for names, shapes and weights."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from hiddenbits.array_types import AnyArray
from hiddenbits.data import MemorySource, Table
from hiddenbits.data.coding.choices import Choices
from hiddenbits.data.columns.gather import opened_frame
from hiddenbits.data.layout import layout_of
from hiddenbits.data.openers import find_opener
from hiddenbits.data.request import Request
from hiddenbits.exceptions import SmallWeightsWarning, TableError
from hiddenbits.families._base.columns import column_sizes
from hiddenbits.families._base.protocol import Estimator
from hiddenbits.model_api import Key
from hiddenbits.quoting import discreet, printable

A = TypeVar("A", bound=AnyArray)
SMALL_MEAN_WEIGHT = 0.1  # weights whose mean (without zeros) is below this are small
SHUFFLED_CELLS = 1 << 27  # largest number of cells (1s, if sparse) of a table that is shuffled in memory


@discreet()
def as_table(estimator: Estimator, X: Any, *, reset: bool, sample_weight: Any = None) -> Table:
    """Return X as a Table with row weights; set or check the names, number and coding of its columns.

    With `reset`, for a fit, they are set; otherwise the estimator must be fitted, and they are checked. `sample_weight`
    multiplies the weights of a Table; a string is the name of the column of weights.
    """
    if not reset:
        check_is_fitted(estimator, "_params")
    names_checked = False
    if isinstance(X, Table):
        table = X
    else:
        request = _request(estimator, sample_weight, reset=reset)
        opener = find_opener(X, request)
        if opener.form == "frame":
            X = opened_frame(X).to_native()  # scikit-learn cannot read the names of a lazy frame
        coding = request.coding
        if coding is not None and not coding.named and isinstance(X, np.ndarray) and X.ndim == 2:
            _check_sklearn_names(estimator, X, reset=False)
        table = opener.open(X, request)
        names_checked = opener.form != "other" and table.coding is None
        if names_checked:
            _check_sklearn_names(estimator, X, reset=reset)
    _refuse_column_types(estimator, table)
    if not names_checked:
        check_table_names(estimator, table, reset=reset)
    if reset:
        estimator.coding_, estimator._table_version = table.coding, table.version
    else:
        _check_coding(estimator, table)
    if sample_weight is None or isinstance(sample_weight, str):
        return table.with_sample_weight(sample_weight)
    weights = _check_sample_weight(sample_weight, table, dtype=np.float64, ensure_non_negative=True)
    return table.with_sample_weight(weights)


def _request(estimator: Estimator, sample_weight: Any, *, reset: bool) -> Request:
    """Return how to read a table: for a fit (`reset`), or for a method of a fitted estimator."""
    coding = None if reset else estimator._coding
    if estimator._takes_reals:
        request = Request(reals=True)
    else:
        types = estimator.column_types if reset else None
        choices = None if types is None or types == "auto" else Choices.of(column_types=types)
        levels = estimator.column_types is not None
        request = Request(threshold=estimator.threshold, levels=levels, choices=choices)
    if isinstance(sample_weight, str):  # the name of a column that is not part of the model
        request = replace(request, choices=replace(request.choices or Choices(), sample_weight=sample_weight))
    return replace(request, coding=coding, handle_unknown=estimator.handle_unknown, plain_only=not (reset or coding))


def _refuse_column_types(estimator: Estimator, table: Table) -> None:
    """Refuse a table whose columns have a type that the estimator does not support."""
    reals, name = estimator._takes_reals, type(estimator).__name__
    if table.only_bits and reals:
        raise TableError("This table has binary columns. Open it with open_table(..., reals=True) for real numbers.")
    if not (table.only_bits or reals):
        raise TableError(f"{name} needs binary columns, but this is a table of real numbers.")
    if table.coding_of_levels is not None and estimator.column_types is None:
        raise TableError(
            f"{name} needs binary columns, but this table has others. Specify which values are 1 with "
            "recode=, or use LatentClassAnalysis or ItemResponseModel."
        )


def _check_coding(estimator: Estimator, table: Table) -> None:
    """Refuse a table whose values were read differently from the fit, or whose columns have other levels."""
    coding, remedy = estimator._coding, "open_table(..., recode=model), where model is the fitted one."
    name = None if coding is None or table.coding is None else coding.conflict(table.coding)
    if name is not None:
        raise TableError(f"column {name!r} was read differently from the fit. Open the table with {remedy}")
    n_numbers = 0 if coding is None else len(coding.number_columns)
    if (table.layout, table.n_numbers) != (
        layout_of(column_sizes(estimator), table.shape[1]),
        n_numbers,
    ):  # such as an array after a fit to a frame
        raise TableError(
            f"{type(estimator).__name__} was fitted to columns with other levels. Use a frame or file with the "
            f"columns of the fit, or open it with {remedy}"
        )


def _check_sklearn_names(estimator: Estimator, X: Any, *, reset: bool) -> None:
    """Let scikit-learn set or check the names and number of columns; make the names in its errors printable."""
    try:
        validate_data(estimator, X, skip_check_array=True, reset=reset)
    except ValueError as error:
        message = str(error)
        input_names = getattr(X, "column_names", getattr(X, "columns", ()))  # Arrow has `column_names`
        names = {str(name) for name in [*input_names, *getattr(estimator, "feature_names_in_", ())]}
        for name in sorted(names, key=len, reverse=True):  # a name may contain a newline
            message = message.replace(name, printable(name))
        raise ValueError(printable(message, keep="\n")) from None


def check_table_names(estimator: Estimator, table: Table, *, reset: bool) -> None:
    """Set or check names and number of columns of a Table, as scikit-learn does for arrays and frames."""
    names = None if table.column_names is None else np.array(table.column_names, dtype=object)
    if reset:
        estimator.n_features_in_ = table.n_columns
        if names is not None:
            estimator.feature_names_in_ = names
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        return
    if table.n_columns != estimator.n_features_in_:
        raise TableError(
            f"The table has {table.n_columns} columns, but {type(estimator).__name__} was fitted to "
            f"{estimator.n_features_in_}. Use a table with the columns of the fit."
        )
    fitted = getattr(estimator, "feature_names_in_", None)
    if fitted is not None and names is not None and not np.array_equal(fitted, names):
        j = int(np.flatnonzero(fitted != names)[0])
        raise TableError(
            f"Column {j} is {names[j]!r}, but it was {fitted[j]!r} when {type(estimator).__name__} was fitted. "
            "Use the names and the order of the fit."
        )


def total_weight(table: Table) -> float:
    """Return the sum of the weights of the rows."""
    return float(table.shape[0] if table.weights is None else table.weights.sum())


def warn_of_small_weights(table: Table) -> None:
    """Warn if the weights of a table are so small that the prior, in pseudo-rows of weight 1, may outweigh the rows.

    Large weights are ordinary: they are counts of equal rows.
    """
    if table.weights is None:
        return
    total, rows = float(table.weights.sum()), int(np.count_nonzero(table.weights))
    if total < SMALL_MEAN_WEIGHT * rows:
        warnings.warn(
            f"The weights of {rows:,} rows add up to {total:.3g}. The data count as that few rows, and the prior "
            "may outweigh them. Scale survey weights to a mean of 1 first: w * len(w) / w.sum().",
            SmallWeightsWarning,
            stacklevel=3,
        )


def seed_of(random_state: Any) -> int:
    """Return random_state as an integer seed, drawn from it if it is a generator or None."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def rows_of(blocks: Iterable[A], n_rows: int) -> A:
    """Return the results of consecutive blocks as one array."""
    results: Any = None
    start = 0
    for block in blocks:
        if results is None:
            results = np.empty((n_rows, *block.shape[1:]), block.dtype)
        results[start : start + len(block)] = block
        start += len(block)
    if results is None or start != n_rows:
        raise RuntimeError(f"{start} of {n_rows} rows were returned: please report this as a bug.")
    return results  # type: ignore[no-any-return]


def shuffled(table: Table, seed: int) -> Table:
    """Return a table with its rows shuffled, in memory: on a sorted table stochastic steps are biased.

    A table of more than `SHUFFLED_CELLS` is returned unchanged, in memory or not, so that a table and its file give the
    same fit.
    """
    source, n_rows = table.source, table.shape[0]
    if n_rows * source.row_cells > SHUFFLED_CELLS:
        return table
    order = Key(seed).stream("row order").rng().permutation(n_rows)
    weights = None if table.weights is None else table.weights[order]
    x, observed = source.read(0, n_rows)
    return replace(table, source=MemorySource(x.take(order), observed.take(order)), weights=weights)
