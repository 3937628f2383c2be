"""Files of strangers, read by another process under limits: the same table, or one sentence; nothing is left behind."""

from __future__ import annotations

import gc
import gzip
import json
import pickle
import tempfile

import numpy as np
import pytest
from scipy import sparse

from hiddenbits import BernoulliMixture, ReadLimits
from hiddenbits.data import TableError, open_table
from hiddenbits.data.readers import DuplicateItemsWarning, guarded
from hiddenbits.data.readers.handover import HandedRows, hand_over, take_over
from tests.contracts.test_same_bits import same
from tests.data.readers import forked
from tests.data.readers.test_readers import (
    assert_reads,
    bits,
    frame,
    fuzz,
    holes,
    write_baskets,
    write_csv,
    write_parquet,
)

core = pytest.mark.core


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Temporary folders are made here, and none may be left."""
    here = tmp_path / "temporary"
    here.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(here))
    yield lambda: list(here.glob("hiddenbits-*"))
    gc.collect()
    assert list(here.glob("hiddenbits-*")) == []


def tables(folder):
    """Return (path, options) of the same rows in every format that is installed."""
    x = holes(bits(), 0.05)
    np.save(folder / "x.npy", np.packbits(bits(), axis=1))
    sparse.save_npz(folder / "x.npz", sparse.csr_array(bits()))
    write_csv(folder / "x.csv", x, [f"c{j}" for j in range(7)])
    write_baskets(folder / "x.dat", bits())
    found = [("x.npy", {"packed": True, "n_columns": 7}), ("x.npz", {}), ("x.csv", {}), ("x.dat", {})]
    try:
        import h5py  # noqa: F401
        import pyarrow  # noqa: F401
        import zarr  # noqa: F401
    except ImportError:
        return found
    from tests.data.readers.arrays.test_h5ad import write
    from tests.data.readers.arrays.test_zarr import write as write_zarr

    write(folder / "x.h5ad", sparse.csr_array(bits()), compression="gzip")
    write_zarr(folder / "x.zarr", x, chunks=(20, 7))
    write_parquet(folder / "x.parquet", frame(x, "uint8"))
    write_parquet(folder / "lists.parquet", {"l": [[0, 1], [2], []]})
    lists = ("lists.parquet", {})
    mixed = ("mixed.parquet", {"kinds": "auto"})
    columns = {"size": ["s", "m", "l", None] * 5, "age": [0.5, 2.0, None, 1.0] * 5, "bit": [0, 1, 1, None] * 5}
    write_parquet(folder / "mixed.parquet", columns)
    return [*found, ("x.h5ad", {}), ("x.zarr", {}), ("x.parquet", {"blank": "zero"}), lists, mixed]


@pytest.mark.slow
def test_every_format_reads_as_without(tmp_path, folders, monkeypatch, short):
    monkeypatch.setattr(guarded, "_run", forked.run)
    for name, options in tables(tmp_path)[:: 3 if short else 1]:
        plain = open_table(tmp_path / name, **options)
        table = open_table(tmp_path / name, guarded=True, part_bytes=100, **options)
        assert table.names == plain.names
        assert table.shape == plain.shape
        assert table.part_bytes == 100
        assert type(table) is type(plain)
        assert table.source.resident == plain.source.resident
        assert table.source.row_cells == plain.source.row_cells
        for start, stop in ((0, plain.shape[0]), (3, 9), (5, 5)):
            for one, other in zip(table.source.read(start, stop), plain.source.read(start, stop), strict=True):
                assert type(one) is type(other)
                np.testing.assert_array_equal(one.to_dense(), other.to_dense())
        assert table.n_missing == plain.n_missing
        assert len(folders()) == (not plain.source.resident)
        again = pickle.loads(pickle.dumps(table))  # as it travels to another process of this machine
        np.testing.assert_array_equal(again.to_float(), plain.to_float())
        del table, again
        gc.collect()
        assert folders() == []


@pytest.mark.slow
@core
def test_a_process_of_its_own(tmp_path, folders):
    """The real thing once: this Python is started again; files of several parts, names, repeated items."""
    (tmp_path / "a.dat").write_text("0 1 1\n2\n")
    (tmp_path / "b.dat").write_text("0\n")
    with pytest.warns(DuplicateItemsWarning, match=r"a\.dat.*item 1"):
        table = open_table([tmp_path / "a.dat", tmp_path / "b.dat"], names=["x", "y", "z"], guarded=True)
    assert table.names == ("x", "y", "z")
    assert_reads(table, [[1, 1, 0], [0, 0, 1], [1, 0, 0]])
    with pytest.raises(TableError, match=r"none\.csv: there is no such file"):
        open_table(tmp_path / "none.csv", guarded=True)


def test_warnings_about_rows(tmp_path, folders, monkeypatch):
    """Lists in Parquet files show their repeated items only when the rows are read."""
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(guarded, "_run", forked.run)
    path = write_parquet(tmp_path / "x.parquet", {"l": [[0], [2, 1, 2]]})
    with pytest.warns(DuplicateItemsWarning, match=r"x\.parquet, row 1: item 2 occurs twice"):
        table = open_table(path, guarded=True)
    assert_reads(table, [[1, 0, 0], [0, 1, 1]], 3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_same_fit(tmp_path, folders, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(guarded, "_run", forked.run)
    path = write_parquet(tmp_path / "x.parquet", frame(holes(bits(400, 12), 0.05), "uint8"))
    model = BernoulliMixture(2, n_init=1, max_iter=5, random_state=0)
    assert same(model.fit(open_table(path)).params_, model.fit(open_table(path, guarded=True)).params_)


@pytest.mark.slow
def test_limits(tmp_path, folders, monkeypatch):
    monkeypatch.setattr(guarded, "_run", forked.run)
    np.save(tmp_path / "x.npy", bits(3000))
    for limits, message in [
        (
            ReadLimits(memory=1 << 24),
            r"x\.npy: reading it took more than 16777216 bytes of memory.*ReadLimits\(memory=",
        ),
        (ReadLimits(bytes=20_000), r"x\.npy: the table comes to more than 20000 bytes.*ReadLimits\(bytes="),
        (ReadLimits(seconds=0.001), r"x\.npy: reading it took more than 0\.001 seconds.*ReadLimits\(seconds="),
    ]:
        with pytest.raises(TableError, match=message):
            open_table(tmp_path / "x.npy", guarded=limits)
    assert open_table(tmp_path / "x.npy", guarded=ReadLimits(bytes=30_000)).shape == (3000, 7)
    # Long lines: the reader gets through them sooner.
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress((b"0,1," * 2500 + b"0\n") * 1800))
    with pytest.raises(TableError, match=r"bomb\.csv\.gz.*gzip bomb|bomb\.csv\.gz: .*times its size"):
        open_table(tmp_path / "bomb.csv.gz", guarded=ReadLimits(memory=1 << 30))


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", r"crashed \(SIGSEGV\).*memory="),
        ("os.kill(os.getpid(), signal.SIGABRT)", r"crashed \(SIGABRT\)"),
        ("os.kill(os.getpid(), signal.SIGXCPU)", "more than 20 seconds"),
        ("sys.exit('no such module')", "ended with status 1: no such module"),
        ("time.sleep(100)", "took more than 1 seconds"),
    ],
)
@core
def test_a_process_that_dies(tmp_path, folders, monkeypatch, code, message):
    monkeypatch.setattr(guarded, "CHILD", f"import os, signal, sys, time\n{code}")
    write_csv(tmp_path / "x.csv", bits())
    with pytest.raises(TableError, match=rf"x\.csv: .*{message}"):
        open_table(tmp_path / "x.csv", guarded=ReadLimits(seconds=1 if "sleep" in code else 20))


@core
def test_what_cannot_be_guarded(tmp_path, folders):
    with pytest.raises(TypeError, match="guarded= is for files"):
        open_table(bits(), guarded=True)
    with pytest.raises(TypeError, match="guarded='yes': give True, or"):
        open_table(tmp_path / "x.csv", guarded="yes")
    with pytest.raises(TypeError, match="guarded= hands all options to another process"):
        open_table(tmp_path / "x.csv", guarded=True, tell=lambda rows: None)
    for wrong in ({"memory": 0}, {"seconds": -1}, {"bytes": True}, {"seconds": float("nan")}):
        with pytest.raises(ValueError, match=r"is not a limit\. Give a positive number"):
            ReadLimits(**wrong)


@pytest.mark.slow
@core
def test_errors_of_the_process(tmp_path, folders):
    write_csv(tmp_path / "x.csv", [[0, 5]])
    with pytest.raises(TypeError, match="colour= is not an option of the csv reader"):
        open_table(tmp_path / "x.csv", guarded=True, colour="red")


@core
@pytest.mark.parametrize("storage", ["dense", "packed", "pattern"])
def test_rows_that_were_written_over_are_refused(tmp_path, storage):
    """A library that wrote over the memory of the other process must not make this one crash."""
    data = {"dense": bits(), "packed": np.packbits(bits(), axis=1), "pattern": sparse.csr_array(bits())}[storage]
    table = open_table(data, **({"packed": True, "n_columns": 7} if storage == "packed" else {}))
    hand_over(table, tmp_path, 10**6)
    header = json.loads((tmp_path / "table.json").read_text())
    assert_reads(take_over(tmp_path, header), bits())
    source = HandedRows(tmp_path, (tmp_path / "table.json").read_text())
    for file in sorted(tmp_path.glob("x.*")):
        good = file.read_bytes()
        for raw in (good[:-3], b"\xff" * len(good), good[:40] + b"\x99\x99\x99\x19" + good[44:]):
            file.write_bytes(raw)
            with pytest.raises(TableError, match=r"damaged|is not a bit|padding|beyond|bits"):
                source.read(0, 60)
        file.unlink()
        with pytest.raises(TableError, match=r"are gone.*convert --guarded"):
            source.read(0, 60)
        file.write_bytes(good)
    source.read(0, 60)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["uint8.parquet", "lists.parquet", "csr.npz", "x.csv.gz"])
def test_damaged_files(tmp_path, folders, monkeypatch, short, kind):
    """Refused with the file's name, or a valid table; those of HDF5 and Zarr are tested with their readers."""
    monkeypatch.setattr(guarded, "_run", forked.run)
    path = tmp_path / kind
    if kind.endswith("parquet"):
        pytest.importorskip("pyarrow")
        write_parquet(path, {"l": [[0, 1], [2], []] * 20} if kind[0] == "l" else frame(bits(), "uint8"))
    elif kind == "csr.npz":
        sparse.save_npz(path, sparse.csr_array(bits()))
    else:
        write_csv(path, holes(bits()), [f"c{j}" for j in range(7)])
    times = 10 if short else 100
    assert fuzz(path, 5, False, times, guarded=ReadLimits(seconds=20, memory=1 << 30)) > times // 5
