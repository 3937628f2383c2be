"""Equal rows become one row with a weight, exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hiddenbits.data import Dense, Packed, Pattern, Table, collapse, memory_table, open_table
from hiddenbits.data.bits import pattern_of
from hiddenbits.data.cell_checks import observed_from_missing
from hiddenbits.data.collapse import collapsed, distinct_rows
from hiddenbits.engine import Local
from tests.contracts.conftest import NotResident
from tests.contracts.test_fit import structured_rows

pytestmark = pytest.mark.core
STORAGES = {
    "dense": Dense,
    "pattern": lambda x: Pattern(*pattern_of(x), x.shape[1]),
    "packed": lambda x: Packed(np.packbits(x, axis=1), x.shape[1]),
}
every_storage = pytest.mark.parametrize("storage", STORAGES)


@st.composite
def repeating(draw):
    """A table of floats with NaN, its rows drawn from a few."""
    n, d = draw(st.integers(1, 40)), draw(st.integers(1, 11))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kinds = rng.integers(0, 2, (draw(st.integers(1, 12)), d)).astype(float)
    kinds[rng.random(kinds.shape) < draw(st.sampled_from([0, 0.05, 0.5, 0.98]))] = np.nan
    return kinds[rng.integers(0, len(kinds), n)]


def table_of(values, storage: str, weights=None) -> Table:
    missing = np.isnan(values)
    x = STORAGES[storage](np.where(missing, 0, values).astype(np.uint8))
    observed = observed_from_missing(missing.astype(np.uint8)) if missing.any() else None
    return Table(memory_table(x, observed).source, tuple(f"c{j}" for j in range(values.shape[1]))).with_weights(weights)


def classes(values):
    """The definition: (rows of first appearance, class of each row), one row at a time."""
    seen: dict[tuple[float, ...], int] = {}
    first, inverse = [], []
    for i, row in enumerate(np.nan_to_num(values, nan=-1.0)):
        key = tuple(row.tolist())
        if key not in seen:
            seen[key] = len(first)
            first.append(i)
        inverse.append(seen[key])
    return np.array(first), np.array(inverse)


def assert_classes(values, storage) -> None:
    source = table_of(values, storage).source
    first, inverse = distinct_rows(source.x, source.observed)
    want_first, want_inverse = classes(values)
    np.testing.assert_array_equal(first, want_first)
    np.testing.assert_array_equal(inverse, want_inverse)
    assert first.dtype == inverse.dtype == np.int64


@every_storage
@given(values=repeating())
def test_distinct_rows(storage, values):
    assert_classes(values, storage)


@pytest.mark.thin(3)
@every_storage
@pytest.mark.parametrize("n_keys", [1, 2, 5])
@given(values=repeating())
def test_colliding_keys_change_nothing(storage, n_keys, values):
    def few_keys(bits, stream):
        rows = bits.to_dense().astype(np.uint64)  # equal rows have equal keys, and so have many others
        return (rows.sum(axis=1) + np.uint64(stream)) % np.uint64(n_keys)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(distinct_rows.__globals__, "_row_keys", few_keys)
        assert_classes(values, storage)


@every_storage
@pytest.mark.parametrize("weighted", [False, True])
@given(values=repeating(), seed=st.integers(0, 99))
def test_collapse(storage, weighted, values, seed):
    n = len(values)
    weights = np.random.default_rng(seed).integers(0, 64, n) / 8 if weighted else None  # sums are exact
    if weights is not None:
        weights[0] += 1 / 8  # not all of them 0
    table = table_of(values, storage, weights)
    small, inverse = collapse(table)
    first, want = classes(values)
    if n < 2 or len(first) > 0.8 * n:
        assert small is table
        assert inverse is None
        return
    np.testing.assert_array_equal(inverse, want)
    np.testing.assert_array_equal(small.to_float(), values[first])
    np.testing.assert_array_equal(small.to_float()[inverse], values)
    sums = np.zeros(len(first))
    np.add.at(sums, want, 1.0 if weights is None else weights)
    np.testing.assert_array_equal(small.weights, sums)
    assert small.names == table.names
    assert type(small.source.x) is type(table.source.x)
    assert table.shape[0] == n
    again, none = collapse(small)  # nothing is left to collapse
    assert again is small
    assert none is None


def test_the_missing_pattern_is_part_of_equality():
    values = np.array([[0, 1], [np.nan, 1], [0, 1], [0, np.nan], [np.nan, 1], [0, 1]])
    small, inverse = collapse(open_table(values))
    np.testing.assert_array_equal(small.to_float(), values[[0, 1, 3]])
    assert inverse.tolist() == [0, 1, 0, 2, 1, 0]
    assert small.weights.tolist() == [3, 2, 1]


def test_sparse_with_stored_zeros():
    matrix = sparse.csr_array(([1, 0, 1, 0, 1], [0, 1, 0, 1, 0], [0, 2, 4, 5]), shape=(3, 2))
    small, inverse = collapse(open_table(matrix))
    assert small.shape == (1, 2)
    assert inverse.tolist() == [0, 0, 0]
    small, inverse = collapse(open_table(matrix, empty="missing"))
    np.testing.assert_array_equal(small.to_float(), [[1, 0], [1, np.nan]])
    assert inverse.tolist() == [0, 0, 1]


def test_chunks_do_not_show():
    """Rows so wide that the keys and the comparison go through in many pieces."""
    rng = np.random.default_rng(0)
    d, n = 1_000_000, 40
    kinds = [np.unique(rng.integers(0, d, 5)) for _ in range(7)]
    picks = rng.integers(0, 7, n)
    rows = [kinds[i] for i in picks]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    table = open_table(sparse.csr_array((np.ones(indptr[-1]), np.concatenate(rows), indptr), shape=(n, d)))
    first, inverse = distinct_rows(table.source.x, table.source.observed)
    want_first, want = classes(picks[:, None].astype(float))
    np.testing.assert_array_equal(first, want_first)
    np.testing.assert_array_equal(inverse, want)


def test_tables_on_disk_stay_as_they_are():
    class Elsewhere:
        n_rows, n_columns, resident, row_bytes = 4, 2, False, 2.0

        def read(self, start, stop):
            raise AssertionError("read for nothing")

    table = Table(Elsewhere())
    assert collapse(table) == (table, None)


@pytest.mark.parametrize("missing", [False, True])
@every_storage
def test_few_distinct_rows_on_disk(storage, missing):
    """Those of the table in memory, in the same order and with the same weights; as many as `few` stay on disk."""
    rows, executor = structured_rows(np.random.default_rng(0), 2_000, 6, missing), Local(2)
    table = table_of(rows, storage, weights=np.random.default_rng(1).integers(0, 4, 2_000).astype(float))
    disk = replace(table, source=NotResident(table.source), part_bytes=3_000).grid(128)
    memory = collapsed(table.grid(128)).table
    n = memory.shape[0]
    found = collapsed(disk, n + 1, executor.reduce)
    assert found.given is disk
    np.testing.assert_array_equal(found.table.to_float(), memory.to_float())
    np.testing.assert_array_equal(found.table.weights, memory.weights)
    assert isinstance(found.table.source.x, Pattern) == (storage == "pattern")
    assert collapsed(disk, n, executor.reduce) is disk
    assert collapsed(disk, 10, None) is disk
    executor.close()


def test_the_first_rows_tell_that_many_are_distinct():
    """Then the rest of a table on disk is not read."""
    table = table_of(structured_rows(np.random.default_rng(0), 2_000, 12, missing=True), "dense")
    disk = replace(table, source=NotResident(table.source)).grid(128)

    def reduce(function, grid):
        raise AssertionError("it was read")

    assert collapsed(disk, 100, reduce) is disk
    with pytest.raises(AssertionError, match="it was read"):
        collapsed(disk, 2_000, reduce)


def test_in_memory_few_distinct_rows_are_collapsed_whatever_their_share():
    table = table_of(np.vstack([np.eye(9), np.zeros((1, 9))])[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9]], "dense")
    assert collapsed(table.grid(16), 10).given is None  # 10 of 11 are distinct
    assert collapsed(table.grid(16), 11).table.shape[0] == 10
