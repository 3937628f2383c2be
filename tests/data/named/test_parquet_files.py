"""Parquet files of bits: types, several files, threads and processes, what is refused."""

from __future__ import annotations

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from hiddenbits.data import AllOnes, Complement, Dense, Pattern, open_table
from hiddenbits.exceptions import TableError
from tests.data.tables import assert_reads, bits, frame, holes, write_parquet

PLAIN = SimpleNamespace(coding_=None)  # stands for a model that was fitted to bits: nothing is guessed


@pytest.mark.parametrize(
    ("dtype", "share"),
    [("bool", 0.0), ("uint8", 0.0), ("int8", 0.03), ("int64", 0.5), ("uint32", 0.97), ("float", 0.03), ("double", 0.0)],
)
def test_parquet(tmp_path, dtype, share):
    pytest.importorskip("pyarrow")
    x = holes(bits(90), share)
    for i, (start, stop) in enumerate([(0, 40), (40, 41), (41, 90)]):
        write_parquet(tmp_path / f"{i}.parquet", frame(x[start:stop], dtype))
    table = open_table(tmp_path / "*.parquet")
    assert_reads(table, x)
    assert table.names == tuple(f"c{j}" for j in range(7))
    assert not table.source.resident
    exact = dtype not in ("float", "double")
    kinds = {0.0: AllOnes if exact else Complement, 0.03: Complement, 0.5: Dense, 0.97: Pattern}
    assert isinstance(table.source.read(40, 41)[1], kinds[share])
    zero = open_table(tmp_path / "*.parquet", empty="zero")
    assert_reads(zero, np.nan_to_num(x))
    assert isinstance(zero.source.read(0, 5)[1], AllOnes)
    assert_reads(open_table(tmp_path / "2.parquet", columns=["c3", "c1"]), x[41:, [3, 1]])
    assert_reads(open_table(tmp_path / "2.parquet", drop=["c3"]), np.delete(x[41:], 3, 1))


def test_parquet_nan_threshold_and_silent_metadata(tmp_path):
    x = holes(bits())
    assert_reads(open_table(write_parquet(tmp_path / "nan.pq", frame(x, "nan"))), x)
    silent = write_parquet(tmp_path / "silent.pq", frame(x, "uint8"), write_statistics=False)
    assert_reads(open_table(silent), x)
    assert isinstance(open_table(silent).source.read(0, 1)[1], Dense)
    assert_reads(open_table(write_parquet(tmp_path / "t.pq", frame(x * 9 - 4, "int32")), threshold=-1), x)
    pa = pytest.importorskip("pyarrow")
    blank = write_parquet(tmp_path / "none.pq", {"a": pa.nulls(5), "b": [1, 0, 1, 0, 1]})
    assert_reads(open_table(blank), np.column_stack([[np.nan] * 5, [1, 0, 1, 0, 1]]))


def test_parquet_names_with_dots(tmp_path):
    path = write_parquet(tmp_path / "x.parquet", {"a": [0, 1], "a.b": [1, 1], "b": [0, 0]})
    assert_reads(open_table(path, columns=["b", "a"]), [[0, 0], [0, 1]])
    assert_reads(open_table(path, columns=["a.b"]), [[1], [1]])


def test_parquet_batches_smaller_than_row_groups(tmp_path, monkeypatch):
    monkeypatch.setattr("hiddenbits.data.named.parquet.files.BATCH_ROWS", (13, 13))
    x = holes(bits(200))
    for i in range(2):
        write_parquet(tmp_path / f"{i}.parquet", frame(x[100 * i : 100 * i + 100], "uint8"), group=70)
    assert_reads(open_table(tmp_path / "*.parquet"), x, 25)


def test_parquet_is_read_by_threads_and_other_processes(tmp_path):
    x = holes(bits(500))
    table = open_table(write_parquet(tmp_path / "x.parquet", frame(x, "uint8"), group=64))
    source = pickle.loads(pickle.dumps(table.source))
    assert source.read(480, 530)[0].shape == (20, 7)  # as a slice would
    with ThreadPoolExecutor(8) as pool:
        starts = range(0, 500, 3)
        for start, part in zip(starts, pool.map(lambda i: source.read(i, i + 50), starts), strict=True):
            np.testing.assert_array_equal(part[0].to_dense(), np.nan_to_num(x[start : start + 50]))
    grid = open_table(tmp_path / "x.parquet", part_bytes=1000).grid(32)
    assert grid.n_parts > 3
    np.testing.assert_array_equal(
        np.concatenate([block.to_float() for i in range(grid.n_parts) for block in grid.load(i).blocks()]), x
    )


def test_parquet_errors(tmp_path):
    path = tmp_path / "x.parquet"

    def fails(data, message, **options):
        write_parquet(path, data)
        with pytest.raises(TableError, match=message):
            open_table(path, **options).to_float()

    party = {"a": [0, 1], "party": ["D", "R"]}
    fails(party, r"x\.parquet: row 0, column 1 \('party'\): 'D' is not a bit", recode=PLAIN)
    fails({"a": [0, 1], "l": [[0], [1]]}, r"column 'l' holds list<.*column='l'")
    five = {"a": [0, 1] * 20, "b": [0, 1] * 19 + [5, 1]}
    fails(five, r"x\.parquet: row 38, column 1 \('b'\): 5 is not a bit", recode=PLAIN)
    fails(five, r"x\.parquet: One column needs a decision(.|\n)*'b': ordinal values 0, 1, 5(.|\n)*drop=\['b'\]")
    fails({"a": [0, -1]}, r"row 1, column 0 \('a'\): -1 is not a bit", recode=PLAIN)
    fails({"a": [0, 1]}, "column= names 'z', but the columns are 'a'", column="z")
    fails({"a": []}, r"x\.parquet: (The table has 0 rows|column 'a' holds null)")
    fails({}, r"x\.parquet: The table has 0 rows and 0 columns")
    write_parquet(path, {"a": [0, 1]})
    write_parquet(tmp_path / "y.parquet", {"b": [0, 1]})
    with pytest.raises(TableError, match=r"y\.parquet: the columns differ from those of x\.parquet \('a', 'b'\)"):
        open_table([path, tmp_path / "y.parquet"])
    table = open_table(path)
    write_parquet(path, {"a": [0, 1, 0, 0, 1], "b": [1, 1, 1, 1, 1]})
    with pytest.raises(TableError, match=r"x\.parquet: the file has changed"):
        table.source.read(0, 1)
    path.write_bytes(b"PAR1 this is not Parquet")
    with pytest.raises(TableError, match=r"x\.parquet: the file is not a complete Parquet file"):
        open_table(path)


def test_parquet_that_lies_about_nulls(tmp_path):
    """A table opened as complete refuses nulls that turn up later: parts must not change their storage."""
    path = write_parquet(tmp_path / "x.parquet", frame(holes(bits(30)), "uint8"), compression="none")
    lying = replace(open_table(path).source, mask="none", share=0.0)
    with pytest.raises(
        TableError, match="has missing values, but had none when the table was opened, or none according to the meta"
    ):
        lying.read(0, 30)


@pytest.mark.core
def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    (tmp_path / "x.parquet").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'hiddenbits\[files\]'"):
        open_table(tmp_path / "x.parquet")
