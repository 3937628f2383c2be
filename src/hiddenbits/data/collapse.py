"""Equal rows collapsed into one row with a weight: in real binary data many rows are equal.

This saves time and changes no result: sums over rows differ only by rounding. Choices that depend on the position or
number of rows (the rows on which the fit of a long table begins) are made from all rows, which `Grid.given` keeps.

Rows are equal when their 1s and their missing cells are the same; tables with numbers are not collapsed. The distinct
rows keep the order of their first appearance; weights add; the inverse index restores per-row results.
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

MAX_DISTINCT_SHARE = 0.8  # collapse only if at most this share of the rows is distinct
HEAD_FACTOR = 2  # the first HEAD_FACTOR * limit rows are checked before all rows


def collapse(table: Table, limit: int = 0) -> tuple[Table, NDArray[np.int64] | None]:
    """Return (table of distinct rows with weights, index of each row's distinct row).

    Only for tables in memory, not for memory maps. If few rows are repeated, and `limit` or more are distinct, the
    table is returned unchanged, with None.
    """
    source = table.source
    if not isinstance(source, MemorySource) or source.mapped or source.n_rows < 2 or source.n_numbers:
        return table, None
    first, inverse = distinct_rows(source.x, source.observed)
    if len(first) > MAX_DISTINCT_SHARE * source.n_rows and len(first) >= limit:
        return table, None
    weights = np.bincount(inverse, weights=table.weights, minlength=len(first)).astype(np.float64)
    small = MemorySource(source.x.take(first), source.observed.take(first))
    return Table(small, table.names, weights, table.part_bytes, levels=table.coding_of_levels), inverse


def collapsed(grid: Grid, limit: int = 0, reduce: Callable[[Callable[[Block], Any], Grid], Any] | None = None) -> Grid:
    """Return the grid with equal rows collapsed if that is worthwhile; `given` then has all rows.

    A table with fewer than `limit` distinct rows is always collapsed. If it is on disk, `reduce`, the engine's sum over
    blocks, reads it once for this, unless the first rows already have `limit` distinct ones.
    """
    table = grid.table
    if isinstance(table.source, MemorySource) and not table.source.mapped:
        small, inverse = collapse(table, limit)
        return grid if inverse is None else replace(small.grid(grid.height), given=grid)
    if reduce is None or table.shape[0] < limit or not table.only_bits or table.n_numbers:
        return grid
    if _begins_with_many(table, limit):
        return grid
    distinct: DistinctRows = reduce(partial(_distinct_of_block, limit), grid)
    if distinct.rows is None:
        return grid
    small = distinct.rows.table(float(distinct.rows.weights.sum()))
    small = replace(small, names=table.names, part_bytes=table.part_bytes, levels=table.coding_of_levels)
    return replace(small.grid(grid.height), given=grid)


def _begins_with_many(table: Table, limit: int) -> bool:
    """Return whether the first rows of a table have at least `limit` distinct ones, too many to collapse it."""
    head = table.source.read(0, min(HEAD_FACTOR * limit, table.shape[0])) if limit else None
    return head is None or len(distinct_rows(*head)[0]) >= limit


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The distinct rows of some blocks with their weights, in order of first appearance; None if `limit` is reached."""

    rows: SomeRows | None
    limit: int

    def __iadd__(self, other: Self) -> Self:
        if self.rows is None or other.rows is None:
            return type(self)(None, self.limit)
        rows = self.rows
        rows += other.rows
        first, inverse = distinct_rows(Dense(rows.x), Dense(rows.observed))
        if len(first) >= self.limit:
            return type(self)(None, self.limit)
        weights = np.bincount(inverse, weights=rows.weights).astype(np.float64)
        return type(self)(SomeRows(rows.x[first], rows.observed[first], weights, rows.sparse), self.limit)


def _distinct_of_block(limit: int, block: Block) -> DistinctRows:
    first, inverse = distinct_rows(block.x, block.observed)
    if len(first) >= limit:
        return DistinctRows(None, limit)
    x, observed = block.x.take(first).to_dense(), block.observed.take(first).to_dense()
    weights = np.bincount(inverse, weights=block.weights).astype(np.float64)
    return DistinctRows(SomeRows(x, observed, weights, isinstance(block.x, Pattern)), limit)


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
    """Return a 64-bit key per row: equal rows have equal keys, and different ones hardly ever do."""
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
            keys[start : start + step] = hash_words(_packed_words(rows), word_keys(bits.shape[1])[stream])
    return keys


def _packed_words(bits: Bits) -> NDArray[np.uint64]:
    """Return rows packed into 64-bit words."""
    return words_of(bits.packed if isinstance(bits, Packed) else np.packbits(bits.to_dense(), axis=1))


def _split_collisions(
    x: Bits, observed: Bits, first: NDArray[np.int64], inverse: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Give different rows with the same key different numbers, so that equality is exact."""
    repeated_rows = np.flatnonzero(first[inverse] != np.arange(len(inverse)))
    collisions: list[int] = []
    step = max(1, (1 << 22) // max(x.shape[1], 1))
    for start in range(0, len(repeated_rows), step):
        rows = repeated_rows[start : start + step]
        for bits in (x,) if isinstance(observed, AllOnes) else (x, observed):
            row_bits, first_bits = bits.take(rows), bits.take(first[inverse[rows]])
            collisions.extend(rows[_differing_rows(row_bits, first_bits)].tolist())
    if collisions:
        inverse = inverse.copy()
        numbers: dict[bytes, int] = {}
        for row in sorted(set(collisions)):
            one_row = np.array([row])
            key = x.take(one_row).to_dense().tobytes() + observed.take(one_row).to_dense().tobytes()
            inverse[row] = numbers.setdefault(key, len(first) + len(numbers))
    return inverse


def _differing_rows(a: Bits, b: Bits) -> NDArray[np.bool_]:
    """Return which rows of two equally shaped matrices differ."""
    if isinstance(a, Complement) and isinstance(b, Complement):
        return _differing_rows(a.of, b.of)
    if not isinstance(a, Pattern):
        return np.asarray((_packed_words(a) != _packed_words(b)).any(axis=1))
    (a_indptr, a_indices), (b_indptr, b_indices) = a.ones(), b.ones()
    a_length, b_length = np.diff(a_indptr), np.diff(b_indptr)
    differ = a_length != b_length
    same_length = ~differ
    in_a, in_b = np.repeat(same_length, a_length), np.repeat(same_length, b_length)
    unequal = a_indices[in_a] != b_indices[in_b]
    row_of = np.repeat(np.arange(len(same_length)), np.where(same_length, a_length, 0))
    differ[row_of[unequal]] = True
    return np.asarray(differ)
