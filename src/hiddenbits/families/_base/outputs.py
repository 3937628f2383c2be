"""A frame in, a frame out: completed tables look like the table that was handed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from hiddenbits.array_types import AnyArray
from hiddenbits.data.inputs.frames import is_frame


def like(X: Any, values: AnyArray) -> Any:
    """Return `values` as a frame of X's kind, with its column names and index; as it is when X is no frame."""
    if not is_frame(X):
        return values
    frame = nw.from_native(X)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    columns = {name: np.ascontiguousarray(values[:, j]) for j, name in enumerate(frame.columns)}
    made = nw.from_dict(columns, backend=frame.implementation).to_native()
    if frame.implementation.is_pandas():
        made.index = frame.to_native().index
    return made


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
