"""Groups of columns of which exactly one is 1 in every row: the answers to one question, coded as a column each.

They can be read from the counts of pairs. Columns that are never 1 together, and whose ones add up to the number of
rows, have exactly one 1 in every row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats

TRACE = 1e-11  # share of the rows below which a count is rounding: weights need not be whole numbers
MOST_STEPS = 200  # of the search for the group of one column: disjoint columns may be combined in very many ways


def exclusive_groups(both: Floats, seen: Floats) -> list[tuple[int, ...]]:
    """Return the groups of two or more columns of which exactly one is 1 in every row in which they were observed.

    The rule is exact: two columns of a group are never 1 together, they are blank in the same rows, and their ones
    add up to the rows. A column is in one group at most. Where several groups are possible, those with the largest
    counts of ones are found first. Columns that do not vary are in none.

    Parameters
    ----------
    both : ndarray of shape (columns, columns)
        Rows in which both columns are 1.
    seen : ndarray of shape (columns, columns), or (1, 1) where nothing is missing
        Rows in which both were observed.

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
    seen = np.broadcast_to(seen, (d, d))
    ones, rows = np.diagonal(both), np.diagonal(seen)
    trace = TRACE * rows
    together = (np.abs(seen - rows) <= trace) & (np.abs(seen - rows[:, None]) <= trace)
    free = (ones > trace) & (rows - ones > trace)
    apart = together & (both <= trace) & free & free[:, None]
    groups = []
    for first in np.argsort(-ones, kind="stable"):
        if not free[first]:
            continue
        group = _completed(apart, ones, float(rows[first]), int(first), np.flatnonzero(apart[first] & free))
        if group is not None:
            groups.append(tuple(sorted(group)))
            free[list(group)] = False
    return sorted(groups)


def _completed(
    apart: NDArray[np.bool_], ones: Floats, rows: float, first: int, others: NDArray[np.intp]
) -> tuple[int, ...] | None:
    """Return `first` and those of the others that make up the rows with it, or None: depth first, largest first."""
    largest_first = others[np.lexsort((np.abs(others - first), -ones[others]))]  # of equal columns the nearest
    ways: list[tuple[tuple[int, ...], float, NDArray[np.intp]]] = [((first,), rows - float(ones[first]), largest_first)]
    for _ in range(MOST_STEPS):
        if not ways:
            return None
        group, missing, left = ways.pop()
        if missing <= TRACE * rows:
            return group
        left = left[ones[left] <= missing + TRACE * rows]
        if ones[left].sum() < missing - TRACE * rows:
            continue
        taken, later = int(left[0]), left[1:]
        ways.append((group, missing, later))
        ways.append(((*group, taken), missing - float(ones[taken]), later[apart[taken, later]]))
    return None
