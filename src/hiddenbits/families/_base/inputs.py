"""From what a user hands in to a checked Table, by scikit-learn's rules for names, shapes and weights."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, validate_data

from hiddenbits.data import MemorySource, Table, TableError
from hiddenbits.data.cell_checks import bad_cell
from hiddenbits.data.coding.choices import Choices
from hiddenbits.data.columns.gather import opened_frame
from hiddenbits.data.layout import layout_of
from hiddenbits.data.openers import find_opener
from hiddenbits.data.request import Request
from hiddenbits.families._base.parameters import column_sizes
from hiddenbits.model_api import Key
from hiddenbits.quoting import discreet, printable, quoted

SMALL_WEIGHTS = 0.1  # weights of rows are small when their mean, of those that are not 0, is below this
SHUFFLED_CELLS = 1 << 27  # cells (ones, where it is sparse) of the longest table that is read into memory and shuffled


@discreet()
def as_table(estimator: Any, X: Any, *, reset: bool, sample_weight: Any = None) -> Table:
    """Return X as a Table with row weights; set or check the names and number of columns, and how they were read.

    With `reset` they are set. Weights are on top of those that a Table has; a text is the name of their column.

    The estimator says with `_request` how X is to be read, and with `_accept` whether it can work on the table. Names
    and shapes of arrays and frames are checked by scikit-learn before they are opened, those of all else afterwards.
    """
    if isinstance(X, Table):
        estimator._accept(X, reset=reset)
        check_table_names(estimator, X, reset=reset)
        _check_coding(estimator, X, reset=reset)
        _check_levels(estimator, X)
        return with_sample_weight(X, sample_weight)
    coding = None if reset else getattr(estimator, "coding_", None)
    request: Request = replace(estimator._request(reset=reset), coding=coding)
    request = replace(request, plain_only=not (reset or coding))
    if isinstance(sample_weight, str):  # a column that does not enter
        request = replace(request, choices=replace(request.choices or Choices(), sample_weight=sample_weight))
    opener = find_opener(X, request)
    if opener.form == "frame":
        X = opened_frame(X).to_native()  # a lazy one does not show its names to scikit-learn
        if coding is None:
            check_frame_names(estimator, X, reset=reset)
    elif opener.form == "array" and (coding is None or coding.named):
        X = _checked_array(estimator, X, request, reset=reset)
    table = opener.open(X, request)
    estimator._accept(table, reset=reset)
    if opener.form == "other" or table.coding is not None:
        check_table_names(estimator, table, reset=reset)
    if reset:
        estimator.coding_, estimator.table_version_ = table.coding, table.version
    _check_levels(estimator, table)
    return with_sample_weight(table, sample_weight)


def _check_levels(estimator: Any, table: Table) -> None:
    """Refuse a table whose columns have other bits than those of the fit, such as an array of numbers after a frame."""
    if table.layout != layout_of(column_sizes(estimator), table.shape[1]):
        raise TableError(
            f"{type(estimator).__name__} was fitted to columns with other levels. Hand in a frame or file with the "
            "columns of the fit, or open it with open_table(..., code=model), where model is the fitted one."
        )


def _check_coding(estimator: Any, table: Table, *, reset: bool) -> None:
    """Keep how an opened table was read; after a fit, refuse one whose values were read differently."""
    if reset:
        estimator.coding_, estimator.table_version_ = table.coding, table.version
        return
    fitted = getattr(estimator, "coding_", None)
    name = None if fitted is None or table.coding is None else fitted.conflict(table.coding)
    if name is not None:
        raise TableError(
            f"column {name!r} was read differently from the fit. Open the table with open_table(..., code=model), "
            "where model is the fitted one."
        )


class TakesTables:
    """What an estimator says to `as_table`: how tables are to be read, and which it can work on."""

    threshold: float | None
    _takes_levels: ClassVar[bool] = False  # whether columns may be nominal or ordinal, as `column_types` says

    @property
    def _takes_reals(self) -> bool:
        """Whether all columns are real numbers; otherwise they are bits."""
        return False

    def _request(self, *, reset: bool) -> Request:
        """Return how tables are to be read, for a fit (`reset`) or after one."""
        if self._takes_reals:
            return Request(reals=True)
        types = self.column_types if self._takes_levels and reset else "auto"  # type: ignore[attr-defined]
        choices = None if isinstance(types, str) and types == "auto" else Choices.of(column_types=types)
        return Request(threshold=self.threshold, levels=self._takes_levels, choices=choices)

    def _accept(self, table: Table, *, reset: bool) -> None:
        """Refuse a table that the estimator cannot work on."""
        if table.only_bits and self._takes_reals:
            raise TableError("This is a table of bits. Open it with open_table(..., reals=True) for real numbers.")
        if not (table.only_bits or self._takes_reals):
            raise TableError(f"{type(self).__name__} needs bits, but this is a table of real numbers.")
        if table.coding_of_levels is not None and not self._takes_levels:
            raise TableError(
                f"{type(self).__name__} needs binary columns, but this table has nominal or ordinal ones. Say with "
                "code= which values are 1, or use LatentClassAnalysis."
            )


def _checked_array(estimator: Any, X: Any, request: Request, *, reset: bool) -> Any:
    """Return an array after scikit-learn's checks."""
    _refuse_before_sklearn(X, reals=request.reals)
    masked = np.ma.getmaskarray(X) if np.ma.isMaskedArray(X) else None
    checked = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse=not request.reals,
        dtype=[np.float64, np.float32] if request.reals else "numeric",
        ensure_all_finite=False,
        order="C",
    )
    return checked if masked is None else np.ma.MaskedArray(checked, masked)


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


def _refuse_before_sklearn(X: Any, *, reals: bool) -> None:
    """Refuse what scikit-learn would print cells of, and text, whose place it would not name, or take "1" for 1."""
    array = np.asarray(X) if isinstance(X, (list, tuple)) and not _ragged(X) else X
    if array is not X and array.dtype.kind in "US":  # numbers next to text have become text, too
        array = np.asarray(X, dtype=object)
    if not isinstance(array, np.ndarray):
        return
    if array.ndim != 2:
        raise TableError(
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data to rows and columns: "
            "X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one row."
        )
    if array.dtype.kind == "c":
        raise TableError("Complex data not supported. Cells must be 0, 1 or missing.")
    if array.dtype.kind not in "OUS":
        return
    for (row, column), value in np.ndenumerate(array):
        if isinstance(value, (str, bytes)):
            if reals:
                raise TableError(f"row {row}, column {column}: {quoted(value)} is not a number.")
            raise bad_cell(value, row, column, None, None)


def _ragged(rows: Any) -> bool:
    return len({len(row) if hasattr(row, "__len__") else -1 for row in rows}) > 1


def check_table_names(estimator: Any, table: Table, *, reset: bool) -> None:
    """Do for a Table what scikit-learn does for arrays and frames."""
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
        at = int(np.flatnonzero(fitted != names)[0])
        raise TableError(
            f"Column {at} is {names[at]!r}, but {type(estimator).__name__} was fitted with {fitted[at]!r} there. "
            "Use the names and the order of the fit."
        )


@discreet()
def with_sample_weight(table: Table, sample_weight: Any) -> Table:
    """Return the table with row weights, on top of its own; refuse negative ones and weights that are all 0."""
    if sample_weight is None or isinstance(sample_weight, str):
        return table.with_sample_weight(sample_weight)
    weights = _check_sample_weight(sample_weight, table, dtype=np.float64, ensure_non_negative=True)
    return table.with_sample_weight(weights)


class SmallWeightsWarning(UserWarning):
    """The weights of the rows add up to much less than the number of rows, so that the prior outweighs the data.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from hiddenbits import LatentClassAnalysis, SmallWeightsWarning
    >>> X = np.random.default_rng(0).integers(0, 2, (50, 4))
    >>> with warnings.catch_warnings(record=True, action="always") as said:
    ...     model = LatentClassAnalysis(2, random_state=0).fit(X, sample_weight=np.full(50, 1 / 50))
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
            f"The weights of {rows:,} rows add up to {total:.3g}, so the data count as that few rows and the prior "
            "may outweigh them. Scale survey weights to a mean of 1 first: w * len(w) / w.sum().",
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
        raise RuntimeError(f"{start} of {n_rows} rows were returned: please report this as a bug.")
    return out


def shuffled(table: Table, seed: int) -> Table:
    """Return a table with its rows shuffled, in memory: random steps go astray where a table is sorted.

    A table of more than `SHUFFLED_CELLS` comes back as it is, from a file or from memory: its size decides, and not
    where its rows are, so that the same rows give the same fit.
    """
    source, n_rows = table.source, table.shape[0]
    if n_rows * source.row_cells > SHUFFLED_CELLS:
        return table
    order = Key(seed).stream("row order").rng().permutation(n_rows)
    weights = None if table.weights is None else table.weights[order]
    x, observed = source.read(0, n_rows)
    return replace(table, source=MemorySource(x.take(order), observed.take(order)), weights=weights)
