"""Equal rows collapsed into one row with a weight: real tables of bits repeat themselves.

That saves time and changes no answer: what depends on places or on the number of rows (which rows a long table begins
on) is decided from all rows, which `Grid.given` keeps; and a sum over rows is the same sum, but for rounding.

Rows are equal when their ones and their missing cells are the same. The distinct rows keep the order of their first
appearance; weights add; the inverse index restores per-row results.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data.bits import AllOnes, Bits, Complement, Dense, Packed, Pattern
from hiddenbits.data.block import Block
from hiddenbits.data.hashing import hash_words, set_numbers, word_keys, words_of
from hiddenbits.data.row_sampling import SomeRows
from hiddenbits.data.table import Grid, MemorySource, Table

WORTH = 0.8  # collapse only if at most this share of the rows is distinct
HEAD = 2  # times `few` rows are looked at before all of them are


def collapse(table: Table, few: int = 0) -> tuple[Table, NDArray[np.int64] | None]:
    """Return (table of distinct rows with weights, index of each row's distinct row).

    Only for tables in memory, not for memory maps. When few rows repeat, and `few` or more are distinct, the table
    comes back as it is, with None.
    """
    source = table.source
    if not isinstance(source, MemorySource) or source.mapped or source.n_rows < 2:
        return table, None
    first, inverse = distinct_rows(source.x, source.observed)
    if len(first) > WORTH * source.n_rows and len(first) >= few:
        return table, None
    weights = np.bincount(inverse, weights=table.weights, minlength=len(first)).astype(np.float64)
    small = MemorySource(source.x.take(first), source.observed.take(first))
    return Table(small, table.names, weights, table.part_bytes, levels=table.coding_of_levels), inverse


def collapsed(grid: Grid, few: int = 0, reduce: Callable[[Callable[[Block], Any], Grid], Any] | None = None) -> Grid:
    """Return the grid with equal rows collapsed where that is worth it; `given` then has all rows.

    With fewer than `few` distinct rows it always is, wherever the rows are. For that `reduce`, the engine's sum over
    blocks, goes once through a table on disk, unless its first rows show that there are more.
    """
    table = grid.table
    if isinstance(table.source, MemorySource) and not table.source.mapped:
        small, inverse = collapse(table, few)
        return grid if inverse is None else replace(small.grid(grid.height), given=grid)
    if reduce is None or table.shape[0] < few or not table.only_bits or _many_at_first(table, few):
        return grid
    found: DistinctRows = reduce(partial(_distinct_of_block, few), grid)
    if found.rows is None:
        return grid
    small = found.rows.table(float(found.rows.weights.sum()))
    small = replace(small, names=table.names, part_bytes=table.part_bytes, levels=table.coding_of_levels)
    return replace(small.grid(grid.height), given=grid)


def _many_at_first(table: Table, few: int) -> bool:
    """Return whether so many of the first rows are distinct that a table is not collapsed."""
    head = table.source.read(0, min(HEAD * few, table.shape[0])) if few else None
    return head is None or len(distinct_rows(*head)[0]) >= few


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The distinct rows of some blocks with their weights, in order of first appearance; None where they are many."""

    rows: SomeRows | None
    few: int

    def __iadd__(self, other: Self) -> Self:
        if self.rows is None or other.rows is None:
            return type(self)(None, self.few)
        both = self.rows
        both += other.rows
        first, inverse = distinct_rows(Dense(both.x), Dense(both.observed))
        if len(first) >= self.few:
            return type(self)(None, self.few)
        weights = np.bincount(inverse, weights=both.weights).astype(np.float64)
        return type(self)(SomeRows(both.x[first], both.observed[first], weights, both.sparse), self.few)


def _distinct_of_block(few: int, block: Block) -> DistinctRows:
    first, inverse = distinct_rows(block.x, block.observed)
    if len(first) >= few:
        return DistinctRows(None, few)
    x, observed = block.x.take(first).to_dense(), block.observed.take(first).to_dense()
    weights = np.bincount(inverse, weights=block.weights).astype(np.float64)
    return DistinctRows(SomeRows(x, observed, weights, isinstance(block.x, Pattern)), few)


def distinct_rows(x: Bits, observed: Bits) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (first rows, inverse): row i equals row first[inverse[i]]; `first` ascends."""
    keys = _row_keys(x, 0)
    if not isinstance(observed, AllOnes):
        keys = keys + _row_keys(observed, 1)
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    inverse = _split_collisions(x, observed, first, inverse.astype(np.int64))
    _, first, inverse = np.unique(inverse, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order].astype(np.int64), rank[inverse].astype(np.int64)


def _row_keys(bits: Bits, stream: int) -> NDArray[np.uint64]:
    """Return a 64-bit key a row: equal rows have equal keys, and different ones hardly ever do."""
    if isinstance(bits, Complement):
        return _row_keys(bits.of, stream)
    keys = np.empty(bits.shape[0], np.uint64)
    step = max(1, (1 << 22) // max(bits.shape[1], 1))
    for start in range(0, bits.shape[0], step):
        rows = bits.rows(start, min(start + step, bits.shape[0]))
        if isinstance(rows, Pattern):
            numbers = set_numbers(bits.shape[1], [0xB175, stream])
            sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(numbers[rows.indices], dtype=np.uint64)])
            keys[start : start + step] = sums[rows.indptr[1:]] - sums[rows.indptr[:-1]]
        else:
            keys[start : start + step] = hash_words(_words(rows), word_keys(bits.shape[1])[stream])
    return keys


def _words(bits: Bits) -> NDArray[np.uint64]:
    """Return rows packed into 64-bit words."""
    return words_of(bits.packed if isinstance(bits, Packed) else np.packbits(bits.to_dense(), axis=1))


def _split_collisions(
    x: Bits, observed: Bits, first: NDArray[np.int64], inverse: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Give rows whose key is shared by a different row a class of their own, so that equality is exact."""
    others = np.flatnonzero(first[inverse] != np.arange(len(inverse)))
    strays: list[int] = []
    step = max(1, (1 << 22) // max(x.shape[1], 1))
    for start in range(0, len(others), step):
        rows = others[start : start + step]
        for bits in (x,) if isinstance(observed, AllOnes) else (x, observed):
            mine, theirs = bits.take(rows), bits.take(first[inverse[rows]])
            strays.extend(rows[_differ(mine, theirs)].tolist())
    if strays:
        inverse = inverse.copy()
        seen: dict[bytes, int] = {}
        for row in sorted(set(strays)):
            one = np.array([row])
            key = x.take(one).to_dense().tobytes() + observed.take(one).to_dense().tobytes()
            inverse[row] = seen.setdefault(key, len(first) + len(seen))
    return inverse


def _differ(a: Bits, b: Bits) -> NDArray[np.bool_]:
    """Return which rows of two equally shaped matrices differ."""
    if isinstance(a, Complement) and isinstance(b, Complement):
        return _differ(a.of, b.of)
    if not isinstance(a, Pattern):
        return np.asarray((_words(a) != _words(b)).any(axis=1))
    (a_indptr, a_indices), (b_indptr, b_indices) = a.ones(), b.ones()
    a_length, b_length = np.diff(a_indptr), np.diff(b_indptr)
    differ = a_length != b_length
    same = ~differ
    in_a, in_b = np.repeat(same, a_length), np.repeat(same, b_length)
    unequal = a_indices[in_a] != b_indices[in_b]
    row_of = np.repeat(np.arange(len(same)), np.where(same, a_length, 0))
    differ[row_of[unequal]] = True
    return np.asarray(differ)
