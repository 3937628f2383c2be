"""Columns of several kinds back into a frame like the one that was handed in, or into an array."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from hiddenbits.array_types import AnyArray
from hiddenbits.data.inputs.frames import is_frame
from hiddenbits.data.mixed.layout import Column, Layout

NUMBERS = {"bool": np.bool_, "int": np.int64, "float": np.float64}


def table_of(layout: Layout, columns: Mapping[int, AnyArray], X: Any = None) -> Any:
    """Return columns, by number, as a frame of X's kind (or that of the fit), or as an array where there is none.

    Columns with categories are given as codes, all others as they shall be.
    """
    backend = layout.frame
    if X is not None:
        backend = _backend(X)
    if backend is None:
        return _array(layout, columns)
    values = {layout.columns[j].name: _values(backend, layout.columns[j], columns[j]) for j in sorted(columns)}
    made = frame_of(backend, values)
    if X is not None and is_frame(X) and backend in ("pandas", "modin", "cudf"):
        made.index = X.index
    return made


def frame_of(backend: str, values: Mapping[str, Any]) -> Any:
    """Return a frame of columns by name."""
    library = _library(backend)
    return library.table(dict(values)) if backend == "pyarrow" else library.DataFrame(dict(values))


def _library(backend: str) -> Any:
    name = {"modin": "modin.pandas"}.get(backend, backend)
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f"The model was fitted to a frame of {backend}, which is not installed here.") from error


def _backend(X: Any) -> str | None:
    """Return the kind of frame that X is; None for an array."""
    return str(nw.from_native(X).implementation.value) if is_frame(X) else None


def _values(backend: str, column: Column, values: AnyArray) -> Any:
    """Return a column in the type that the frame of the fit had."""
    if not column.has_categories:
        return values
    if column.form in NUMBERS:
        return np.array(column.categories, NUMBERS[column.form])[values]
    labels = [column.categories[code] for code in values]
    library = _library(backend)
    if backend == "polars":
        types = {"enum": library.Enum(list(map(str, column.categories))), "categorical": library.Categorical}
        return library.Series(labels, dtype=types.get(column.form, library.String))
    if backend == "pyarrow":
        made = library.array(labels)
        if column.form == "text":
            return made
        codes = library.array(np.asarray(values, np.int32))
        return library.DictionaryArray.from_arrays(
            codes, library.array(list(column.categories)), ordered=column.kind == "ordered"
        )
    if column.form in ("categorical", "enum"):
        ordered = column.kind == "ordered"
        return library.Categorical.from_codes(values, list(column.categories), ordered=ordered)
    return np.array(labels, dtype=object)


def _array(layout: Layout, columns: Mapping[int, AnyArray]) -> AnyArray:
    """Return an array: of floats where every category is a number, of objects otherwise."""
    numeric = all(not isinstance(c, str) for j in columns for c in layout.columns[j].categories)
    out = np.empty((len(next(iter(columns.values()))), len(columns)), np.float64 if numeric else object)
    for at, j in enumerate(sorted(columns)):
        column = layout.columns[j]
        categories = np.array([*column.categories], out.dtype)
        out[:, at] = categories[columns[j]] if column.has_categories else columns[j]
    return out
