"""What the table itself shows of two columns: whether they go together, and whether blanks of one follow the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hiddenbits.array_types import AnyArray, Floats

BLANKS, SHIFT = 4.0, 0.05  # standard errors, and share of ones, by which blanks follow another column


def associations(cells: Floats) -> Floats:
    """Return phi sqrt(n - 1) of each pair of columns, a normal deviate if they are independent; (columns, columns).

    Each pair rests on the n rows that have both; 0 where one of them does not vary there, and on the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> cells = np.array([[0, 0, np.nan], [1, 1, 0], [1, 1, 1], [0, 0, 1], [1, 1, 0]])
    >>> associations(cells).round(2)
    array([[ 0.,  2., -1.],
           [ 2.,  0., -1.],
           [-1., -1.,  0.]])
    """
    ones, seen = np.nan_to_num(cells), (~np.isnan(cells)).astype(np.float64)
    both, n, first = ones.T @ ones, seen.T @ seen, ones.T @ seen
    second = first.T
    spread = first * (n - first) * second * (n - second)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (n * both - first * second) * np.sqrt((n - 1.0) / spread)
    z[~(spread > 0.0)] = 0.0
    np.fill_diagonal(z, 0.0)
    return np.asarray(z)


def blanks_follow(cells: Floats) -> AnyArray:
    """Return for each pair of columns whether blanks of one depend on the other's value.

    Then the rows that have both are no fair sample, and how often both are 1 among them says little of the table.
    """
    ones, seen = np.nan_to_num(cells), (~np.isnan(cells)).astype(np.float64)
    here = ones.T @ seen, seen.T @ seen  # ones of the first, and its cells, where the second is recorded
    there = ones.sum(axis=0)[:, None] - here[0], seen.sum(axis=0)[:, None] - here[1]
    p, q = ((x + 0.5) / (n + 1.0) for x, n in (here, there))
    error = np.sqrt(p * (1.0 - p) / (here[1] + 1.0) + q * (1.0 - q) / (there[1] + 1.0))
    found = (np.abs(p - q) > np.maximum(BLANKS * error, SHIFT)) & (there[1] > 0.0)
    return np.asarray(found | found.T)


def supported(columns: Sequence[int], signs: Floats, links: Floats, least: float) -> list[int]:
    """Return the columns whose signs the pairs of the table support, in the same order.

    A model may put columns side by side that have nothing to do with each other, or oppose columns that go together.
    Columns are taken in their order. One stays if it does not contradict those that stay: its strongest association
    with them, if it is at least `least`, has the sign that the model gives the pair. And it has to be linked, by an
    association of that sign and size, to more than half of those on its own side, or as the first of its side to that
    of all columns with which it is associated most strongly.
    """
    places = np.asarray(columns, np.int64)
    sign = signs[places]
    agree = links[np.ix_(places, places)] * np.outer(sign, sign)
    kept: list[int] = []
    for j in range(len(places)):
        own = [k for k in kept if sign[k] == sign[j]]
        strongest = agree[j, np.argmax(np.abs(agree[j]))]
        linked = 2 * (agree[j, own] >= least).sum() > len(own) if own else strongest >= least
        if linked and (not kept or agree[j, max(kept, key=lambda k: abs(agree[j, k]))] > -least):
            kept.append(j)
    return [int(places[j]) for j in kept] if len(kept) > 1 else []
