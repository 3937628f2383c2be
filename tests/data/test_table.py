"""One grid of blocks for a table, whatever the size of its parts."""

from __future__ import annotations

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hiddenbits.data import Arrays, Table, open_table
from hiddenbits.data.summary import summarize
from hiddenbits.exceptions import TableError

pytestmark = pytest.mark.core


def opened(storage: str, n: int, d: int, seed: int, part_bytes: int) -> tuple[Table, np.ndarray]:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 2, (n, d)).astype(float)
    if storage == "packed":
        packed = np.packbits(values.astype(np.uint8), axis=1)
        return open_table(packed, packed=True, n_columns=d, part_bytes=part_bytes), values
    if storage == "sparse":
        return open_table(sparse.csr_array(values), part_bytes=part_bytes), values
    values[rng.random((n, d)) < (0.4 if storage == "holes" else 0.05)] = np.nan
    return open_table(values, part_bytes=part_bytes), values


@pytest.mark.parametrize("storage", ["packed", "sparse", "holes", "few holes"])
@pytest.mark.parametrize("weighted", [False, True])
@given(
    n=st.integers(1, 60),
    d=st.integers(1, 12),
    seed=st.integers(0, 99),
    height=st.integers(1, 70),
    part_bytes=st.one_of(st.integers(0, 900), st.just(2**40)),
)
def test_grid(storage, weighted, n, d, seed, height, part_bytes):
    table, values = opened(storage, n, d, seed, part_bytes)
    weights = np.random.default_rng(seed).random(n) if weighted else np.ones(n)
    if weighted:
        table = table.with_weights(weights)
    assert table.n_missing == np.isnan(values).sum()
    grid = table.grid(height)
    parts = [grid.load(i) for i in range(grid.n_parts)]
    blocks = [block for part in parts for block in part.blocks()]
    # parts are whole blocks, as many as come to part_bytes, and cover the table
    assert grid.part_rows % height == 0
    assert grid.part_rows == height or grid.part_rows * table.source.row_bytes <= part_bytes
    # (a hair of slack: row_bytes is a fraction, and its products round)
    assert grid.part_rows >= n or (grid.part_rows + height) * table.source.row_bytes > part_bytes * (1 - 1e-12)
    assert [part.start for part in parts] == list(range(0, n, grid.part_rows))
    # blocks are numbered over the whole table
    assert len(blocks) == grid.n_blocks == -(-n // height)
    assert [block.number for block in blocks] == list(range(len(blocks)))
    assert [block.start for block in blocks] == list(range(0, n, height))
    assert [block.n_rows for block in blocks[:-1]] == [height] * (len(blocks) - 1)
    assert all(block.n_columns == d for block in blocks)
    np.testing.assert_array_equal(np.concatenate([block.to_float() for block in blocks]), values)
    np.testing.assert_array_equal(np.concatenate([block.weights for block in blocks]), weights)
    # any part, in any order, again
    i = seed % grid.n_parts
    for block, again in zip(parts[i].blocks(), grid.load(i).blocks(), strict=True):
        assert (block.number, block.start) == (again.number, again.start)
        np.testing.assert_array_equal(block.to_float(), again.to_float())
        np.testing.assert_array_equal(block.weights, again.weights)


@pytest.mark.parametrize("storage", ["packed", "sparse", "holes", "few holes"])
def test_pickle(storage):
    table, values = opened(storage, 33, 9, 1, 50)
    table = table.with_weights(np.arange(33.0))
    other = pickle.loads(pickle.dumps(table))
    np.testing.assert_array_equal(other.to_float(), values)
    np.testing.assert_array_equal(other.weights, table.weights)
    assert other.part_bytes == 50
    grid = pickle.loads(pickle.dumps(table.grid(4)))
    assert (grid.height, grid.part_rows, grid.n_parts) == (4, table.part_rows(4), table.grid(4).n_parts)
    part = pickle.loads(pickle.dumps(grid.load(1)))
    assert part.nbytes == table.grid(4).load(1).nbytes
    for block in part.blocks():
        rows = slice(block.start, block.start + block.n_rows)
        np.testing.assert_array_equal(block.to_float(), values[rows])
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(block)).to_float(), values[rows])


def test_names_and_weights():
    table = open_table([[0, 1], [1, 1]], names=("a", 2))
    assert table.names == ("a", "2")
    assert table.weights is None
    heavy = table.with_weights([1, 3])
    assert heavy.weights.dtype == np.float64
    assert heavy.names == table.names
    assert heavy.with_weights(None).weights is None
    assert table.weights is None
    assert open_table(table) is table
    for wrong in ([1.0], [1.0, 2.0, 3.0], [[1.0], [2.0]]):
        with pytest.raises(TableError, match=r"Weights of shape .* were given for 2 rows. Give one for each row"):
            table.with_weights(wrong)


def test_sample_weights_multiply_the_tables_own():
    table = open_table([[0, 1], [1, 1]])
    assert table.with_sample_weight(None) is table
    heavy = table.with_sample_weight([1, 3])
    np.testing.assert_array_equal(heavy.weights, [1.0, 3.0])
    np.testing.assert_array_equal(heavy.with_sample_weight([2, 0.5]).weights, [2.0, 1.5])
    with pytest.raises(TableError, match=r"The weight of row 1 is -1"):  # as given: their product is valid
        table.with_weights([1, 0]).with_sample_weight([1, -1])


def test_summary_adds_up_over_any_grid():
    table, values = opened("few holes", 50, 6, 3, 77)
    weights = np.random.default_rng(0).integers(0, 9, 50).astype(float)
    total = None
    for i in range(table.grid(7).n_parts):
        for block in table.with_weights(weights).grid(7).load(i).blocks():
            counted = summarize(block)
            total = counted if total is None else total.__iadd__(counted)
    assert total.weight == weights.sum()
    assert total.rows == 50
    np.testing.assert_array_equal(total.ones, weights @ (values == 1))
    np.testing.assert_array_equal(total.observed, weights @ ~np.isnan(values))


@dataclass(frozen=True, eq=False)
class Counts(Arrays):
    number: np.ndarray
    table: np.ndarray


def test_arrays_add_by_field_and_grow_where_they_broadcast():
    held = np.ones((1, 3))
    total = Counts(np.asarray(2.0), held)
    same = total
    total += Counts(np.asarray(3.0), np.full((1, 3), 5.0))
    assert total.number == 5.0
    np.testing.assert_array_equal(held, np.full((1, 3), 6.0))  # in place
    assert same.number == 2.0  # a number is a value
    total += Counts(np.asarray(0.0), np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(total.table, 6 + np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(held, np.full((1, 3), 6.0))
    half = total.scaled(0.5)
    np.testing.assert_array_equal(half.table, total.table / 2)
    back = Counts.from_arrays(half.to_arrays())
    assert list(back.to_arrays()) == ["number", "table"]
    assert back.number == 2.5
    with pytest.raises(KeyError):
        Counts.from_arrays({"number": np.asarray(1.0)})
