"""`morph`: one row turned into another along the line between their hidden points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data import Table, TableError
from hiddenbits.families._base.inputs import as_table


class MorphVerb:
    """What `ClippedPCA` can do with two rows."""

    if TYPE_CHECKING:
        posterior: Any
        inverse_transform: Any

        @property
        def components_(self) -> Floats: ...  # noqa: D102

        @property
        def intercepts_(self) -> Floats: ...  # noqa: D102

    def morph(self, a: Any, b: Any, steps: int = 9, *, soft: bool = False) -> AnyArray:
        """Turn one row into another along the straight line between their hidden points.

        Each bit changes at most once on the way. The two ends are what the model makes of the rows, which is not quite
        the rows themselves: `transform`, then which side of each threshold the point is on.

        Parameters
        ----------
        a, b : array of shape (columns,), or table of one row
            The rows; blanks are left out.
        steps : int, default=9
            Number of rows to return, both ends among them.
        soft : bool, default=False
            Return P(bit = 1) on the way instead of bits.

        Returns
        -------
        rows : ndarray of shape (steps, columns)
            Of uint8, or of float64 with `soft`.

        Examples
        --------
        >>> import numpy as np
        >>> from hiddenbits import ClippedPCA
        >>> place = np.random.default_rng(0).standard_normal((500, 1))
        >>> X = (place + 0.3 * np.random.default_rng(1).standard_normal((500, 5)) > [-1, -0.5, 0, 0.5, 1]).astype(int)
        >>> ClippedPCA(1).fit(X).morph([0, 0, 0, 0, 0], [1, 1, 1, 1, 1], steps=6)
        array([[0, 0, 0, 0, 0],
               [1, 0, 0, 0, 0],
               [1, 1, 0, 0, 0],
               [1, 1, 1, 0, 0],
               [1, 1, 1, 1, 0],
               [1, 1, 1, 1, 1]], dtype=uint8)
        """
        if steps < 2:
            raise ValueError(f"steps={steps}: a way from one row to another has at least 2.")
        ends = np.concatenate([self.posterior(self._one_row(row, name)) for row, name in ((a, "a"), (b, "b"))])
        along = np.linspace(0.0, 1.0, steps)[:, None]
        if soft:
            return np.asarray(self.inverse_transform(ends[:1] + along * (ends[1:] - ends[:1])))
        # Not from points on the way: sums of products could round a bit there and back again.
        first, last = ends @ self.components_ + self.intercepts_
        return np.asarray(first + along * (last - first) > 0.0, np.uint8)

    def _one_row(self, row: Any, name: str) -> Table:
        """Return one row as a table."""
        check_is_fitted(self, "params_")
        table = as_table(self, np.asarray(row)[None] if np.ndim(row) == 1 else row, reset=False)
        if table.shape[0] != 1:
            raise TableError(f"{name} has {table.shape[0]} rows. Give one row.")
        return table
