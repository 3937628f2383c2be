"""From what a user hands in to a checked table of real numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from hiddenbits.data import Table, TableError
from hiddenbits.data.inputs.frames import collected, is_frame
from hiddenbits.data.mixed.cells import MixedTable
from hiddenbits.data.mixed.encode import encode, inferred_layout, raw_columns
from hiddenbits.data.mixed.reals import open_reals
from hiddenbits.data.open import is_dask
from hiddenbits.families._base.inputs import check_frame_names, check_table_names, first_text
from hiddenbits.quoting import quoted


def as_reals(estimator: Any, X: Any, *, reset: bool) -> Table:
    """Return X as a table of real numbers; set (`reset`) or check the names and columns of the estimator."""
    X = collected(X)
    if isinstance(X, MixedTable):
        other = [column for column in X.layout.columns if column.kind != "real"]
        if other:
            raise TableError(f"column {other[0].name!r} is {other[0].kind}, and here all columns are real numbers.")
        check_table_names(estimator, X, reset=reset)
        return X
    if isinstance(X, Table):
        raise TableError('This is a table of bits. Open it with open_table(..., kinds="real") for real numbers.')
    if is_dask(X):
        raise TableError(
            "Real numbers are not read from dask collections. Write them to Parquet files, and open those with "
            'open_table(..., kinds="real"): their rows may be more than memory holds, on a cluster too.'
        )
    if is_frame(X):
        raw, frame = raw_columns(X)
        table = encode(raw, inferred_layout(raw, frame, "real"))
        check_frame_names(estimator, X, reset=reset)
        return table
    if issparse(X):
        raise TypeError("Sparse data was passed, and real numbers that add up are dense. Use X.toarray().")
    if (text := first_text(X)) is not None:
        (row, column), value = text
        raise TableError(f"row {row}, column {column}: {quoted(value)} is not a number.")
    masked = np.ma.getmaskarray(X) if np.ma.isMaskedArray(X) else None
    checked = validate_data(
        estimator, X, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite=False, order="C"
    )
    return open_reals(checked if masked is None else np.ma.MaskedArray(checked, masked))
