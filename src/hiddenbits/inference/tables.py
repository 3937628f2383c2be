"""From what a user hands in to a table, and back to frames of the user's own kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from hiddenbits import Table, open_table
from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.shown import library


def opened(model: Any, X: object, sample_weight: ArrayLike | None) -> Table:
    """Return X as the table that the fitted model would open, with weights."""
    check_is_fitted(model)
    table = X if isinstance(X, Table) else open_table(X, threshold=model.threshold, code=model)
    return table.with_sample_weight(sample_weight)


def codes_of(labels: ArrayLike | None, n_rows: int, name: str) -> Rows | None:
    """Return a number for each row's label, 0, 1, ...; None where there are no labels."""
    if labels is None:
        return None
    given = np.asarray(labels)
    if given.shape != (n_rows,):
        raise ValueError(f"{name} has shape {given.shape}, but the table has {n_rows} rows. Give one label a row.")
    if given.dtype == object:
        given = given.astype(str)
    return np.asarray(np.unique(given, return_inverse=True)[1])


def backend_of(X: object) -> Any:
    """Return the library of a frame; None where X is no frame."""
    frame = nw.from_native(X, pass_through=True)
    return getattr(frame, "implementation", None)


def as_frame(columns: dict[str, Any], backend: Any = None) -> Any:
    """Return columns as a frame of a library, or of the first that is installed."""
    return nw.from_dict(columns, backend=library(backend)).to_native()


def square_frame(names: Sequence[str], values: Floats, backend: Any = None) -> Any:
    """Return a square matrix as a frame with named columns; pandas has the names on the rows too."""
    made = as_frame({name: np.ascontiguousarray(values[:, j]) for j, name in enumerate(names)}, backend)
    if nw.from_native(made).implementation.is_pandas():
        made.index = list(names)
    return made


def labels_of(values: AnyArray, axes: tuple[str, ...], columns: Sequence[str]) -> list[dict[str, object]]:
    """Return what each number of an array belongs to: its class or dimension, and the name of its column."""
    return [
        {axis: columns[at] if axis == "column" else int(at) for axis, at in zip(axes, place, strict=True)}
        for place in np.ndindex(values.shape)
    ]
