"""Groups of columns of which exactly one is 1 in every row, such as the answers to one question as indicator columns.

The counts of pairs show them: columns that are never 1 together, and whose 1s add up to the number of rows, have
exactly one 1 in every row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats

TOLERANCE = 1e-11  # counts below this share of the rows are rounding errors: weights need not be whole numbers
MAX_STEPS = 200  # of the search for the group of one column: disjoint columns have very many combinations


def exclusive_groups(both: Floats, seen: Floats) -> list[tuple[int, ...]]:
    """Return the groups of two or more columns of which exactly one is 1 in every row in which they were observed.

    The rule is exact: two columns of a group are never 1 together, they are missing in the same rows, and their 1s add
    up to the number of rows. A column is in at most one group. If several groups are possible, those with the largest
    counts of 1s come first. Constant columns are in no group.

    Parameters
    ----------
    both : ndarray of shape (columns, columns)
        Rows in which both columns are 1.
    seen : ndarray of shape (columns, columns), or (1, 1) if nothing is missing
        Rows in which both columns were observed.

    Returns
    -------
    groups : list of tuples of int
        The columns of each group, in order; groups in the order of their first columns.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits.diagnostics import exclusive_groups
    >>> answers = np.array([0, 2, 1, 1, 0, 2, 2])
    >>> X = np.column_stack([answers == 0, [0, 1, 1, 0, 0, 1, 1], answers == 1, answers == 2]).astype(float)
    >>> exclusive_groups(X.T @ X, np.full((1, 1), 7.0))
    [(0, 2, 3)]
    """
    d = len(both)
    n_both = np.broadcast_to(seen, (d, d))
    ones, rows = np.diagonal(both), np.diagonal(n_both)
    tolerance = TOLERANCE * rows
    same_rows = (np.abs(n_both - rows) <= tolerance) & (np.abs(n_both - rows[:, None]) <= tolerance)
    free = (ones > tolerance) & (rows - ones > tolerance)
    disjoint = same_rows & (both <= tolerance) & free & free[:, None]
    groups = []
    for first in np.argsort(-ones, kind="stable"):
        if not free[first]:
            continue
        group = _complete_group(disjoint, ones, float(rows[first]), int(first), np.flatnonzero(disjoint[first] & free))
        if group is not None:
            groups.append(tuple(sorted(group)))
            free[list(group)] = False
    return sorted(groups)


def _complete_group(
    disjoint: NDArray[np.bool_], ones: Floats, rows: float, first: int, others: NDArray[np.intp]
) -> tuple[int, ...] | None:
    """Return `first` and other columns whose 1s add up to the number of rows, or None; depth first, largest first."""
    candidates = others[np.lexsort((np.abs(others - first), -ones[others]))]  # of equal columns the nearest
    stack: list[tuple[tuple[int, ...], float, NDArray[np.intp]]] = [((first,), rows - float(ones[first]), candidates)]
    for _ in range(MAX_STEPS):
        if not stack:
            return None
        group, missing, remaining = stack.pop()
        if missing <= TOLERANCE * rows:
            return group
        remaining = remaining[ones[remaining] <= missing + TOLERANCE * rows]
        if ones[remaining].sum() < missing - TOLERANCE * rows:
            continue
        column, others = int(remaining[0]), remaining[1:]
        stack.append((group, missing, others))
        stack.append(((*group, column), missing - float(ones[column]), others[disjoint[column, others]]))
    return None
