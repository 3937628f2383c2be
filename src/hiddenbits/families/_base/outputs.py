"""A frame in, a frame out: completed tables look like the table that was handed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from hiddenbits.array_types import AnyArray
from hiddenbits.data import Table
from hiddenbits.data.inputs.frames import is_frame, opened_frame


def like(X: Any, values: AnyArray, names: Sequence[str] | None = None) -> Any:
    """Return `values` as a frame of X's kind, with its column names and index; as it is when X is no frame.

    Where the columns of the model are not those of the frame, `names` are theirs.
    """
    if not is_frame(X):
        return values
    frame = nw.from_native(X)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    columns = {name: np.ascontiguousarray(values[:, j]) for j, name in enumerate(names or frame.columns)}
    made = nw.from_dict(columns, backend=frame.implementation).to_native()
    if frame.implementation.is_pandas():
        made.index = frame.to_native().index
    return made


def in_own_values(X: Any, table: Table, completed: AnyArray) -> Any:
    """Return the frame X with its blanks filled in the user's own values; columns of bits hold P(bit = 1)."""
    frame = opened_frame(X)
    labels = {str(name): name for name in frame.columns}
    assert table.read_as is not None  # noqa: S101
    for name, cells in table.read_as.decoded(completed).items():
        given = frame[:, list(labels).index(name)]
        before, after = given.to_list(), cells
        if name in table.read_as.cells and all(a is b or a == b for a, b in zip(before, after, strict=True)):
            continue  # nothing was filled in: the column keeps its type
        types = {type(cell) for cell in after if cell is not None}
        if str in types and len(types) > 1:  # "4 or 5" among numbers
            after = [None if cell is None else str(cell) for cell in after]
        made = nw.new_series(name, after, backend=frame.implementation)
        if frame.implementation.is_pandas():
            native = frame.to_native().copy(deep=False)
            native[labels[name]] = made.to_native().to_numpy()
            frame = nw.from_native(native)
        else:
            frame = frame.with_columns(made.alias(labels[name]))
    return frame.to_native()


@dataclass(frozen=True)
class SquareFrame:
    """Makes frames of columns x columns, such as correlations, of the kind of a frame that came in.

    Attributes
    ----------
    names : tuple
        Column names, as that frame has them.
    implementation : narwhals.Implementation
        The frame's library.
    """

    names: tuple[Any, ...]
    implementation: Any

    @classmethod
    def of(cls, frame: Any) -> SquareFrame:
        """Return what makes frames like this one, which narwhals has opened."""
        return cls(tuple(frame.columns), frame.implementation)

    def __call__(self, values: AnyArray) -> Any:
        """Return a square matrix as a frame; pandas has the names on the rows too."""
        columns = {name: np.ascontiguousarray(values[:, j]) for j, name in enumerate(self.names)}
        made = nw.from_dict(columns, backend=self.implementation).to_native()
        if self.implementation.is_pandas():
            made.index = made.columns
        return made
