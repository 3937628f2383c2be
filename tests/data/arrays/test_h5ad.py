"""AnnData's .h5ad files against the table in memory."""

from __future__ import annotations

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse

from hiddenbits.data import open_table
from hiddenbits.exceptions import TableError
from tests.data.tables import assert_reads, bits, holes

h5py = pytest.importorskip("h5py", reason="the files extra is not installed")

NAMES = tuple(f"gène {j}" for j in range(7))
STORAGE = {
    "plain": {},
    "gzip": {"compression": "gzip"},
    "lzf": {"compression": "lzf"},
    "all": {"compression": "gzip", "shuffle": True, "fletcher32": True},
    "lzf, shuffled": {"compression": "lzf", "shuffle": True},
    "checksum": {"fletcher32": True},
    "chunks": {"chunks": (11, 3)},
}


def write(path, table, *, names=NAMES, libver=None, replaced=None, chunks=None, **storage):
    """Write what AnnData writes, with h5py alone; arrays of a sparse table can be replaced by others."""

    def put(group, name, array):
        array = np.asarray(array)
        options = dict(storage) if array.size else {}
        if options or (chunks is not None and array.size):
            options["chunks"] = tuple(min(c, max(n, 1)) for c, n in zip(chunks or (11, 3), array.shape, strict=False))
        return group.create_dataset(name, data=array, **options)

    with h5py.File(path, "w", libver=libver) as file:
        file.attrs["encoding-type"] = "anndata"
        if sparse.issparse(table):
            x = file.create_group("X")
            x.attrs["encoding-type"] = f"{table.format}_matrix"
            x.attrs["shape"] = table.shape
            for part in ("indptr", "indices", "data"):
                put(x, part, (replaced or {}).get(part, getattr(table, part)))
        else:
            put(file, "X", table).attrs["encoding-type"] = "array"
        var = file.create_group("var")
        var.attrs["_index"] = "gene"
        if names is not None:
            options = {**storage, "chunks": (min(3, len(names)),)} if storage else {}
            options.pop("fletcher32", None)  # not for text, says HDF5
            var.create_dataset("gene", data=np.array(names, object), dtype=h5py.string_dtype(), **options)
        file.create_group("layers")
    return path


@pytest.mark.thin(3)
@pytest.mark.parametrize("storage", STORAGE)
@pytest.mark.parametrize("libver", [None, "latest"])
def test_every_storage(tmp_path, storage, libver):
    path = tmp_path / "x.h5ad"
    for i, dtype in enumerate(["u1", "bool", ">i4", "f2", "f4", "f8"] if libver is None else ["u1", "f4"]):
        values = holes(bits(60, seed=i), 0.05) if dtype in ("f4", "f8") else bits(60, seed=i)
        write(path, values.astype(dtype), libver=libver, **STORAGE[storage])
        table = open_table(path, part_bytes=100)
        assert_reads(table, values)
        assert table.names == NAMES
        assert not table.source.resident
    for kind in ("csr", "csc"):
        matrix = sparse.csr_array(bits(60).astype("f4")).asformat(kind)
        table = open_table(write(path, matrix, libver=libver, **STORAGE[storage]), part_bytes=200)
        assert_reads(table, bits(60))
        assert table.names == NAMES
        assert table.source.resident == (kind == "csc")


@pytest.mark.parametrize("seed", range(10))
def test_any_shape(tmp_path, seed):
    rng = np.random.default_rng([0x45, seed])
    shape = int(rng.integers(1, 90)), int(rng.integers(1, 12))
    names = [f"c{j}" for j in range(shape[1])]
    values = holes(bits(*shape, seed, rng.random()), rng.choice([0, 0.03, 0.5, 0.95]), seed)
    storage = {name: value for name, value in STORAGE[rng.choice([*STORAGE])].items() if name != "chunks"}
    chunks = tuple(int(rng.integers(1, n + 1)) for n in shape)
    path = write(tmp_path / "x.h5ad", values, names=names, chunks=chunks, **storage)
    assert_reads(open_table(path), values)
    assert_reads(open_table(path, empty="zero"), np.nan_to_num(values))
    stored = sparse.csr_array(np.nan_to_num(values))
    path = write(tmp_path / "y.h5ad", stored, names=names, chunks=(int(rng.integers(1, 40)),), **storage)
    table = open_table(path, part_bytes=int(rng.integers(1, 300)))
    assert_reads(table, np.nan_to_num(values))
    assert_reads(open_table(path, empty="missing"), open_table(stored, empty="missing").to_float())
    grid = table.grid(7)
    blocks = [block.to_float() for i in range(grid.n_parts) for block in grid.load(i).blocks()]
    np.testing.assert_array_equal(np.concatenate(blocks), np.nan_to_num(values))


@pytest.mark.full
def test_what_anndata_writes(tmp_path):
    ad = pytest.importorskip("anndata")
    pd = pytest.importorskip("pandas")
    x = bits(70)
    for kind in ("dense", "csr", "csc"):
        cells = x.astype("f4") if kind == "dense" else getattr(sparse, f"{kind}_matrix")(x.astype("f4"))
        data = ad.AnnData(cells, var=pd.DataFrame({"n": range(7)}, index=NAMES))
        data.layers["counts"] = sparse.csr_matrix(x * 5)
        data.layers["holes"] = holes(x)
        for compression in (None, "gzip", "lzf"):
            path = tmp_path / "x.h5ad"
            data.write_h5ad(path, compression=compression)
            assert_reads(open_table(path), x)
            assert open_table(path).names == NAMES
            assert_reads(open_table(path, layer="counts", threshold=0), x)
            assert_reads(open_table(path, layer="holes"), holes(x))
            with pytest.raises(TableError, match=r"x\.h5ad: row 0, column \d \('gène \d'\): 5 is not a bit"):
                open_table(path, layer="counts").to_float()
        for name in ("raw", "", "..", "counts/x"):
            with pytest.raises(TableError, match=r"there is no 'layers|is not a path within the file"):
                open_table(path, layer=name)


@pytest.mark.slow
def test_several_files_pickles_and_threads(tmp_path):
    x = bits(200)
    for i, (start, stop) in enumerate([(0, 90), (90, 91), (91, 200)]):
        write(tmp_path / f"{i + 9}.h5ad", sparse.csr_array(x[start:stop]), compression="gzip")
    table = open_table(tmp_path / "*.h5ad", part_bytes=500)
    assert_reads(table, x, 60)
    source = pickle.loads(pickle.dumps(table.source))
    with ThreadPoolExecutor(8) as pool:
        for start, (part, _) in enumerate(pool.map(lambda i: source.read(i, i + 50), range(150))):
            np.testing.assert_array_equal(part.to_dense(), x[start : start + 50])
    write(tmp_path / "12.h5ad", x)
    with pytest.raises(TableError, match=r"12\.h5ad: stored as dense, not as csr as in 9\.h5ad"):
        open_table(tmp_path / "*.h5ad")
    write(tmp_path / "12.h5ad", sparse.csr_array(x), names=[*"abcdefg"])
    with pytest.raises(TableError, match=r"12\.h5ad: its column names differ from those in 9\.h5ad"):
        open_table(tmp_path / "*.h5ad")
    (tmp_path / "10.h5ad").write_bytes(b"nothing")
    with pytest.raises(TableError, match=r"10\.h5ad: cannot be read \(OSError"):
        open_table(tmp_path / "*.h5ad")


def test_a_file_that_has_changed(tmp_path):
    path = write(tmp_path / "x.h5ad", bits(60))
    table = open_table(path)
    write(path, bits(90))
    with pytest.raises(TableError, match=r"x\.h5ad: the file has changed since the table was opened"):
        table.source.read(0, 5)
    first = write(path, bits(60), chunks=(30, 7)).stat().st_size
    table = open_table(path)
    assert write(path, bits(61), chunks=(31, 7)).stat().st_size - first <= 7 * 2
    path.write_bytes(path.read_bytes()[:first].ljust(first, b"\0"))
    with pytest.raises(TableError, match=r"x\.h5ad: "):
        table.source.read(0, 5)
    path.unlink()
    with pytest.raises(TableError, match=r"x\.h5ad: "):
        table.source.read(0, 5)


def test_without_h5py(tmp_path, monkeypatch):
    write(tmp_path / "x.h5ad", bits())
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match=r"pip install 'hiddenbits\[files\]'"):
        open_table(tmp_path / "x.h5ad")
