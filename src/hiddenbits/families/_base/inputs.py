"""From what a user hands in to a checked Table, by scikit-learn's rules for names, shapes and weights."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, validate_data

from hiddenbits.data import Table, TableError, open_table
from hiddenbits.data.cell_checks import bad_cell
from hiddenbits.data.inputs.anndata import is_anndata
from hiddenbits.data.inputs.frames import collected, is_frame
from hiddenbits.data.open import is_dask
from hiddenbits.quoting import printable

SMALL_WEIGHTS = 0.1  # weights of rows are small when their mean, of those that are not 0, is below this


def as_table(estimator: Any, X: Any, *, reset: bool) -> Table:
    """Return X as a Table; set (`reset`) or check the estimator's `n_features_in_` and `feature_names_in_`."""
    X = collected(X)
    mixed: Table | None = estimator._mixed_table(X, reset=reset)
    if mixed is not None:
        return mixed
    threshold = estimator.threshold
    if is_dask(X) or is_anndata(X):
        X = open_table(X, threshold=threshold)
    if isinstance(X, Table):
        check_table_names(estimator, X, reset=reset)
        return X
    if is_frame(X):
        check_frame_names(estimator, X, reset=reset)
        return open_table(X, threshold=threshold)
    _refuse_text(X)
    masked = np.ma.getmaskarray(X) if np.ma.isMaskedArray(X) else None
    checked = validate_data(
        estimator, X, reset=reset, accept_sparse=True, dtype="numeric", ensure_all_finite=False, order="C"
    )
    if masked is not None:
        checked = np.ma.MaskedArray(checked, masked)
    return open_table(checked, threshold=threshold)


def check_frame_names(estimator: Any, X: Any, *, reset: bool) -> None:
    """Set or check names and number of columns by scikit-learn's rules; its errors repeat names as they are."""
    try:
        validate_data(estimator, X, skip_check_array=True, reset=reset)
    except ValueError as error:
        message = str(error)
        given = getattr(X, "column_names", getattr(X, "columns", ()))  # Arrow's and all others' word
        names = {str(name) for name in [*given, *getattr(estimator, "feature_names_in_", ())]}
        for name in sorted(names, key=len, reverse=True):
            if printable(name) != name:
                message = message.replace(name, printable(name))
        raise ValueError(printable(message, keep="\n")) from None


def _refuse_text(X: Any) -> None:
    """Refuse cells of text with their place; scikit-learn's own conversion would take "1" for 1 and not say where."""
    found = first_text(X)
    if found is not None:
        (row, column), value = found
        raise bad_cell(value, row, column, None, None)


def first_text(X: Any) -> tuple[tuple[int, ...], Any] | None:
    """Return the place and the content of the first cell of text, None where there is none."""
    array = np.asarray(X) if isinstance(X, (list, tuple)) and not _ragged(X) else X
    if array is not X and array.dtype.kind in "US":  # numbers beside text have become text, too
        array = np.asarray(X, dtype=object)
    if isinstance(array, np.ndarray) and array.ndim == 2 and array.dtype.kind in "OUS":
        return next((cell for cell in np.ndenumerate(array) if isinstance(cell[1], (str, bytes))), None)
    return None


def _ragged(rows: Any) -> bool:
    return len({len(row) if hasattr(row, "__len__") else -1 for row in rows}) > 1


def check_table_names(estimator: Any, table: Table, *, reset: bool) -> None:
    """Do for a Table what scikit-learn does for arrays and frames."""
    names = None if table.names is None else np.array(table.names, dtype=object)
    if reset:
        estimator.n_features_in_ = table.shape[1]
        if names is not None:
            estimator.feature_names_in_ = names
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        return
    if table.shape[1] != estimator.n_features_in_:
        raise TableError(
            f"The table has {table.shape[1]} columns, but {type(estimator).__name__} was fitted to "
            f"{estimator.n_features_in_}. Use a table with the columns of the fit."
        )
    fitted = getattr(estimator, "feature_names_in_", None)
    if fitted is not None and names is not None and not np.array_equal(fitted, names):
        at = int(np.flatnonzero(fitted != names)[0])
        raise TableError(
            f"Column {at} is {names[at]!r}, but {type(estimator).__name__} was fitted with {fitted[at]!r} there. "
            "Use the names and the order of the fit."
        )


def with_sample_weight(table: Table, sample_weight: Any) -> Table:
    """Return the table with row weights, on top of its own; refuse negative ones and weights that are all 0."""
    if sample_weight is None:
        return table
    weights = _check_sample_weight(sample_weight, table, dtype=np.float64, ensure_non_negative=True)
    return table.with_weights(weights if table.weights is None else weights * table.weights)


class SmallWeightsWarning(UserWarning):
    """The weights of the rows add up to much less than the number of rows, so that the prior outweighs the data.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from hiddenbits import BernoulliMixture, SmallWeightsWarning
    >>> X = np.random.default_rng(0).integers(0, 2, (50, 4))
    >>> with warnings.catch_warnings(record=True, action="always") as said:
    ...     model = BernoulliMixture(2, random_state=0).fit(X, sample_weight=np.full(50, 1 / 50))
    >>> said[0].category is SmallWeightsWarning
    True
    """


def warn_of_small_weights(table: Table) -> None:
    """Warn where the weights of a table are so small that the prior would outweigh its rows.

    Priors count in rows, and a row counts as much as its weight says. Weights that add up to more than the rows are
    ordinary: they stand for equal rows that were collapsed.
    """
    if table.weights is None:
        return
    total, rows = float(table.weights.sum()), int(np.count_nonzero(table.weights))
    if total < SMALL_WEIGHTS * rows:
        warnings.warn(
            f"The weights of {rows:,} rows add up to {total:.3g}: the data count as so many rows, and the prior may "
            "outweigh them. Weights from a survey are scaled to a mean of 1 first: w * len(w) / w.sum().",
            SmallWeightsWarning,
            stacklevel=3,
        )


def seed_of(random_state: Any) -> int:
    """Return an integer seed: the one given, or one drawn."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def rows_of(chunks: Any, n_rows: int) -> NDArray[Any]:
    """Put the results of consecutive blocks into one array."""
    out: NDArray[Any] | None = None
    start = 0
    for chunk in chunks:
        if out is None:
            out = np.empty((n_rows, *chunk.shape[1:]), chunk.dtype)
        out[start : start + len(chunk)] = chunk
        start += len(chunk)
    if out is None or start != n_rows:
        raise RuntimeError(f"{start} rows came back of {n_rows}: please report this as a bug.")
    return out
