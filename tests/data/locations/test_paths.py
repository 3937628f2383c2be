"""Paths, patterns and suffixes."""

from __future__ import annotations

import numpy as np
import pytest

from hiddenbits.data import open_table
from hiddenbits.data.locations.paths import natural_key
from hiddenbits.exceptions import TableError
from tests.data.tables import assert_reads, bits

pytestmark = pytest.mark.core


def test_globs_come_in_natural_order(tmp_path):
    x = bits(33)
    for i in range(11):
        np.save(tmp_path / f"part{i}.npy", x[3 * i : 3 * i + 3])
    assert_reads(open_table(tmp_path / "part*.npy"), x)
    backwards = [str(tmp_path / f"part{i}.npy") for i in (10, 2)]
    assert_reads(open_table(backwards), np.concatenate([x[30:33], x[6:9]]))
    mixed = [tmp_path / "part1?.npy", tmp_path / "part0.npy"]
    assert_reads(open_table(mixed), np.concatenate([x[30:33], x[:3]]))
    assert sorted(["b1", "a10", "a9", "a09b", "a"], key=natural_key) == ["a", "a9", "a09b", "a10", "b1"]


@pytest.mark.slow
def test_a_name_with_brackets_is_a_file(tmp_path):
    np.save(tmp_path / "x[1].npy", bits())
    assert_reads(open_table(tmp_path / "x[1].npy"), bits())


def test_path_errors(tmp_path):
    np.save(tmp_path / "a.npy", bits())
    (tmp_path / "a.csv").write_text("0,1\n")
    (tmp_path / "a.doc").write_text("0,1\n")
    (tmp_path / "a.npy.gz").write_bytes(b"")
    for paths, message in [
        (tmp_path / "none.npy", r"none\.npy: there is no such file"),
        (tmp_path / "none*.npy", r"none\*\.npy: there is no such file"),
        (tmp_path, r"this is a folder.*\*\.parquet"),
        ([tmp_path / "a.npy", tmp_path / "a.csv"], r"a\.csv: the files of one table must have one format"),
        ([tmp_path / "a.npy", tmp_path / "*.npy"], "given twice"),
        (tmp_path / "a.doc", r"'\.doc' is unknown.*\.npy, \.npz, \.parquet.*format="),
        (tmp_path / "a.npy.gz", r"'\.gz' is unknown.*\.csv\.gz"),
    ]:
        with pytest.raises(TableError, match=message):
            open_table(paths)
    assert_reads(open_table(tmp_path / "a.doc", format="csv"), [[0, 1]])
    with pytest.raises(
        TableError,
        match="format='excel' is not one of baskets, csv, feather, h5ad, jsonl, labeled, npy, npz, parquet, sheets",
    ):
        open_table(tmp_path / "a.doc", format="excel")
    with pytest.raises(TypeError, match=r"color= is not an option of the csv reader, which has: decimal, delim"):
        open_table(tmp_path / "a.csv", color="red")
    with pytest.raises(TypeError, match=r"packed=True is for arrays, \.npy and \.npz files, not for csv files"):
        open_table(tmp_path / "a.csv", packed=True, n_columns=2)
    with pytest.raises(TableError, match="n_columns=8 was given, but the table has 7 columns"):
        open_table(tmp_path / "a.npy", n_columns=8)
    with pytest.raises(TableError, match="empty='no' is not one of"):
        open_table(tmp_path / "a.npy", empty="no")
