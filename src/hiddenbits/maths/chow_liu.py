"""Trees over columns: the gain of each link, and the maximum-weight forest (Chow & Liu 1968).

Given the counts of a class, the maximum log-likelihood of a tree is that of independent columns plus, for each link,
the total count x the mutual information of its two columns. So the best tree has maximum weight, whatever its root.

Pairs of columns (i, j), i < j, are stored in one array: the upper triangle, row by row.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.data.declared import Range
from hiddenbits.data.kernels import compiled_twin
from hiddenbits.maths.numerics import CHUNK_NUMBERS

Parents = NDArray[np.int32]

SMALLEST_COUNT = 1e-300  # replaces 0; its x ln x is negligible


def n_pairs(d: int) -> int:
    """Return the number of pairs of d columns."""
    return d * (d - 1) // 2


def pair_number(i: Any, j: Any, d: int) -> Any:
    """Return the position of the pair of columns i and j; i and j may be arrays, in any order."""
    first, second = np.minimum(i, j), np.maximum(i, j)
    return first * (2 * d - first - 1) // 2 + second - first - 1


@lru_cache(maxsize=2)
def _columns_of_pairs(d: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the first and the second column of every pair."""
    first, second = np.triu_indices(d, 1)
    return first.astype(np.int32), second.astype(np.int32)


def link_gains(both: Floats, ones: Floats, total: float, step: float) -> Floats:
    """Return the gain of each link: total x mutual information, from numbers of rows with both, and each, equal to 1.

    Gains are rounded to multiples of `step`, so that equal gains stay equal. Some pairs are processed at a time:
    allocating memory for all would take longer than the logarithms.
    """
    first, second = _columns_of_pairs(len(ones))
    column_terms, total_term = _x_log_x(ones) + _x_log_x(total - ones), float(_x_log_x(np.array(total)))
    gains = np.empty(len(both))
    for start in range(0, len(both), CHUNK_NUMBERS):
        chunk = slice(start, start + CHUNK_NUMBERS)
        i, j, one_one = first[chunk], second[chunk], both[chunk]
        ones_i, count = ones[i], ones[j]
        gain = _x_log_x(one_one)
        gain += _x_log_x(ones_i - one_one)
        count -= one_one  # rows in which i is 0 and j is 1
        gain += _x_log_x(count)
        np.subtract(total, count, out=count)
        count -= ones_i  # rows in which both are 0
        gain += _x_log_x(count)
        gain -= column_terms[i]
        gain -= column_terms[j]
        gain += total_term
        gain /= step
        np.rint(gain, out=gain)
        np.multiply(gain, step, out=gains[chunk])
    return gains


def _x_log_x(x: Floats) -> Floats:
    """Return x ln x, and 0 for counts that are below 0 by rounding."""
    x = np.maximum(x, SMALLEST_COUNT)
    return np.asarray(x * np.log(x))


def heaviest_forest(gains: Floats, d: int, penalty: float = 0.0) -> Parents:
    """Return each column's parent (-1: none) in the forest with the largest sum of (gain - penalty).

    Prim's algorithm; of equal links it takes the one between lower columns. The root of each tree is its lowest column.
    """
    square = np.zeros((d, d))
    parents = np.full(d, -1, np.int32)
    kernels = fast_kernels()
    if kernels is not None:
        kernels.fill_square(gains, square)
        kernels.find_forest(square, penalty, parents)
        return parents
    first, second = _columns_of_pairs(d)
    square[first, second] = square[second, first] = gains
    best_gain, best_parent, free = np.full(d, penalty), np.full(d, -1, np.int32), np.ones(d, bool)
    for _ in range(d):
        j = int(np.argmax(np.where(free, best_gain, -np.inf)))
        free[j] = False
        parents[j] = best_parent[j]
        better = free & (square[j] > best_gain)
        best_gain[better] = square[j, better]
        best_parent[better] = j
    return parents


def forest_gain(gains: Floats, parents: Parents, penalty: float) -> float:
    """Return the sum of (gain - penalty) over the links of a forest."""
    children = np.flatnonzero(parents >= 0)
    return float(np.sum(gains[pair_number(children, parents[children].astype(np.int64), len(parents))] - penalty))


def top_down(parents: Parents) -> Rows:
    """Return the columns of one forest, parents before children; columns on a cycle are left out."""
    d = len(parents)
    depth = np.where(parents < 0, 0, -1)
    for level in range(1, d + 1):
        children = (depth < 0) & (np.where(parents >= 0, depth[parents], -1) == level - 1)
        if not children.any():
            break
        depth[children] = level
    order = np.argsort(depth, kind="stable")
    return order[depth[order] >= 0]


def _are_forests(parents: AnyArray) -> bool:
    columns = np.all((parents >= -1) & (parents < len(parents)) & (parents == np.floor(parents)))
    forests = parents.reshape(len(parents), -1).T
    return bool(columns) and all(len(top_down(forest.astype(np.int32))) == len(parents) for forest in forests)


FORESTS = Range(_are_forests, "must be columns, or -1, and form trees: without a cycle")  # along the first axis

fast_kernels = compiled_twin("hiddenbits.maths.trees_numba")
