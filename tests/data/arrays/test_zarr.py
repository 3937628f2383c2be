"""Zarr stores against the numbers that were written into them."""

from __future__ import annotations

import pickle
import shutil
import warnings
import zipfile

import numpy as np
import pytest
from scipy import sparse

from hiddenbits.data import AllOnes, Complement, Dense, Pattern, open_table
from hiddenbits.exceptions import TableError
from tests.data.tables import assert_reads, bits, holes

zarr = pytest.importorskip("zarr", reason="the files extra is not installed")
numcodecs = pytest.importorskip("numcodecs")
codecs = zarr.codecs


def write(path, values, **options):
    """Write an array with zarr, whose warnings are about types that have no standard yet."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array = zarr.create_array(path, shape=values.shape, dtype=values.dtype, overwrite=True, **options)
        array[...] = values
    return path


STORAGE = {
    "format 2": {"zarr_format": 2, "compressors": numcodecs.Blosc(), "order": "F"},
    "format 3": {"compressors": [codecs.GzipCodec(), codecs.Crc32cCodec()]},
    "shards": {"shards": (16, 6), "filters": [codecs.TransposeCodec(order=(1, 0))]},
}


@pytest.mark.parametrize("storage", STORAGE)
@pytest.mark.parametrize("dtype", ["bool", "i1", ">i4", "f2", "<f4"])
def test_dense(tmp_path, storage, dtype):
    values = bits() if dtype[-2] != "f" else holes(bits(), 0.05)
    path = write(tmp_path / "x.zarr", values.astype(dtype), chunks=(8, 3), **STORAGE[storage])
    table = open_table(path, part_bytes=100)
    assert_reads(table, values)
    assert not table.source.resident
    assert_reads(open_table(path, empty="zero"), np.nan_to_num(values))
    assert_reads(pickle.loads(pickle.dumps(table)), values)


@pytest.mark.parametrize(("share", "kind"), [(0.0, Complement), (0.05, Complement), (0.5, Dense), (0.97, Pattern)])
def test_the_mask_has_one_storage(tmp_path, share, kind):
    values = holes(bits(90), share)
    write(tmp_path / "x.zarr", values, chunks=(8, 3))
    assert isinstance(open_table(tmp_path / "x.zarr").source.read(0, 5)[1], kind)
    write(tmp_path / "x.zarr", bits(), chunks=(8, 3))
    assert isinstance(open_table(tmp_path / "x.zarr").source.read(0, 5)[1], AllOnes)
    assert isinstance(open_table(tmp_path / "x.zarr", empty="zero").source.read(0, 5)[1], AllOnes)


@pytest.mark.slow
def test_groups_thresholds_names_and_several_stores(tmp_path):
    for i, part in enumerate((bits(30), bits(25, seed=3), bits(1, seed=4))):
        group = zarr.create_group(tmp_path / f"part{i + 9}.zarr", overwrite=True)
        group.create_array("inner/gray", data=part * 200, chunks=(7, 7))
        group.create_array("inner/x", data=part, chunks=(4, 3))
    whole = np.concatenate([bits(30), bits(25, seed=3), bits(1, seed=4)])
    table = open_table(tmp_path / "part*.zarr", array="inner/x", names="abcdefg")
    assert_reads(table, whole, 60)
    assert table.names == tuple("abcdefg")
    assert_reads(open_table(tmp_path / "part*.zarr", array="inner/gray", threshold=127), whole)
    assert_reads(open_table([tmp_path / "part10.zarr"], array="/inner/x/"), whole[30:55])
    path = tmp_path / "part9.zarr"
    shutil.copytree(path, tmp_path / "copy")
    assert_reads(open_table(tmp_path / "copy", array="inner/x", format="zarr"), whole[:30])
    for options, message in [
        ({}, r"part9\.zarr: the group '/' is not what AnnData writes: it holds 'inner'.*array="),
        ({"array": "inner"}, r"the group 'inner' is not what AnnData writes: it holds 'gray', 'x'"),
        ({"array": "inner/y"}, "there is no array or group 'inner/y', .* The file holds 'inner'"),
        ({"array": "../part9.zarr/inner/x"}, "is not a path within the file"),
        ({"array": "inner/x", "layer": "counts"}, "layer='counts', but this is one table"),
        ({"array": "inner/gray"}, r"part9\.zarr: row 0, column \d: 200 is not a bit.*threshold="),
        ({"array": "inner/x", "names": "abc"}, "3 names were given for 7 columns"),
        ({"array": "inner/x", "max_columns": 6}, "declares 7 columns, above max_columns=6"),
        ({"array": "inner/x", "max_bytes": 11}, "a chunk of the array 'inner/x' declares 12 bytes, above max_bytes=11"),
    ]:
        with pytest.raises(TableError, match=message):
            open_table(path, **options).to_float()
    with pytest.raises(TypeError, match="color= is not an option of the zarr reader, which has: array, layer, max_b"):
        open_table(path, color="red")
    zarr.create_group(tmp_path / "one.zarr").create_array("x", data=bits(5, 8), chunks=(2, 2))
    assert_reads(open_table(tmp_path / "one.zarr"), bits(5, 8))  # the only array of its group
    narrow = write(tmp_path / "narrow.zarr", bits(5, 6))
    with pytest.raises(TableError, match=r"narrow\.zarr: 6 columns, but one\.zarr has 8"):
        open_table([tmp_path / "one.zarr", narrow])


def zipped(folder, path, how=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", how) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(folder).as_posix())
    return path


@pytest.mark.slow
@pytest.mark.thin(2)
@pytest.mark.parametrize("how", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_zip_archives(tmp_path, how):
    values = holes(bits(50))
    store = write(tmp_path / "x.zarr", values, chunks=(6, 3), shards=(12, 6), compressors=[codecs.GzipCodec()])
    path = zipped(store, tmp_path / "x.zarr.zip", how)
    table = open_table(path)
    assert_reads(table, values, 40)
    assert_reads(pickle.loads(pickle.dumps(table)), values)
    assert_reads(open_table([store, path]), np.concatenate([values, values]))
    group = zarr.create_group(tmp_path / "g.zarr", zarr_format=2)
    group.create_array("a", data=bits(), chunks=(9, 7))
    assert_reads(open_table(zipped(tmp_path / "g.zarr", tmp_path / "g.zip", how), format="zarr", array="a"), bits())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("note", "later")
    with pytest.raises(TableError, match=r"x\.zarr\.zip: the file has changed since the table was opened"):
        table.source.read(0, 5)


def test_only_needed_chunks_are_read(tmp_path):
    write(tmp_path / "x.zarr", bits(50), chunks=(10, 7))
    table = open_table(tmp_path / "x.zarr")
    (tmp_path / "x.zarr/c/3/0").write_bytes(b"damaged")
    np.testing.assert_array_equal(table.source.read(0, 30)[0].to_dense(), bits(50)[:30])
    np.testing.assert_array_equal(table.source.read(40, 50)[0].to_dense(), bits(50)[40:])
    with pytest.raises(TableError, match=r"x\.zarr: cannot be read .*damaged"):
        table.source.read(39, 41)


@pytest.mark.full
def test_large_chunks_go_slab_by_slab(tmp_path, monkeypatch):
    values = holes(bits(200))
    write(tmp_path / "x.zarr", values, chunks=(64, 3))
    for slab in (100, 64 * 7 * 8 * 2 + 8):
        monkeypatch.setattr("hiddenbits.data.arrays.stored.SLAB_BYTES", slab)
        assert_reads(open_table(tmp_path / "x.zarr"), values)


# What AnnData writes ---------------------------------------------------------------------------------------------


def write_sparse(path, matrix, kind="csr", version=3, names=None, chunk=11, **replaced):
    """Write what AnnData writes; arrays can be replaced by others."""
    matrix = matrix.asformat(kind)
    group = zarr.create_group(path, overwrite=True, zarr_format=version, attributes={"encoding-type": "anndata"})
    x = group.create_group("X", attributes={"encoding-type": f"{kind}_matrix", "shape": list(matrix.shape)})
    for part in ("indptr", "indices", "data"):
        array = replaced.get(part, getattr(matrix, part))
        x.create_array(part, data=np.asarray(array), chunks=(max(1, min(chunk, len(array))),))
    var = group.create_group("var", attributes={"encoding-type": "dataframe", "_index": "gene"})
    names = [f"gène {j}" for j in range(matrix.shape[1])] if names is None else names
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        index = var.create_array("gene", shape=(len(names),), dtype=str, chunks=(5,))
        index[:] = np.array(names, dtype=object)
    return path


@pytest.mark.slow
@pytest.mark.thin(3)
@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("kind", ["dense", "csr", "csc"])
def test_what_anndata_writes(tmp_path, version, kind):
    ad = pytest.importorskip("anndata")
    pd = pytest.importorskip("pandas")
    names = tuple(f"gène {j}" for j in range(7))
    cells = bits().astype("f4") if kind == "dense" else getattr(sparse, f"{kind}_matrix")(bits().astype("f4"))
    data = ad.AnnData(cells, var=pd.DataFrame({"n": range(7)}, index=names))
    data.layers["counts"], data.layers["holes"] = sparse.csr_matrix(bits() * 5), holes(bits())
    path = tmp_path / "x.zarr"
    with warnings.catch_warnings(), ad.settings.override(zarr_write_format=version):
        warnings.simplefilter("ignore")
        data.write_zarr(path, chunks=(13, 7))
    for place in (path, zipped(path, tmp_path / "x.zarr.zip")):
        assert_reads(open_table(place), bits())
        assert open_table(place).names == names
        assert_reads(open_table(place, layer="counts", threshold=0), bits())
        assert_reads(open_table(place, layer="holes"), holes(bits()))


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize(("kind", "dtype"), [("csr", "bool"), ("csr", "f2"), ("csr", ">f8"), ("csc", "f4")])
def test_sparse(tmp_path, version, kind, dtype):
    x = bits(80, 13, density=0.2)
    x[[0, 7, 8, 79]] = 0
    matrix = sparse.csr_array(x.astype("f4")).asformat(kind)
    path = write_sparse(tmp_path / "x.zarr", matrix, kind, version, data=matrix.data.astype(dtype))
    table = open_table(path, part_bytes=200)
    assert_reads(table, x, 60)
    assert table.names == tuple(f"gène {j}" for j in range(13))
    assert table.source.resident == (kind == "csc")
    assert {type(one) for one in table.source.read(3, 9)} == {Pattern, AllOnes}
    assert table.source.read(5, 5)[0].shape == (0, 13)
    assert_reads(pickle.loads(pickle.dumps(table)), x)
    assert_reads(open_table(path, empty="missing"), np.where(x, 1, np.nan))
    assert_reads(open_table([path, zipped(path, tmp_path / "y.zarr.zip")]), np.concatenate([x, x]), 60)
    counts = write_sparse(tmp_path / "n.zarr", sparse.csr_array(x * 3.0), kind, version)
    assert_reads(open_table(counts, threshold=2), x)
    with pytest.raises(TableError, match=r"n\.zarr: row 1, column \d+ \('gène \d+'\): 3\.0 is not a bit"):
        open_table(counts).to_float()


def test_sparse_rows_of_errors_are_rows_of_the_file(tmp_path):
    matrix = sparse.csr_array(bits(60).astype(float))
    matrix.data[matrix.indptr[41]] = 7
    path = write_sparse(tmp_path / "x.zarr", matrix)
    column = matrix.indices[matrix.indptr[41]]
    with pytest.raises(TableError, match=rf"x\.zarr: row 41, column {column} \('gène {column}'\): 7.0 is not a bit"):
        open_table(path, empty="zero").source.read(35, 60)


@pytest.mark.slow
@pytest.mark.thin(2)
@pytest.mark.parametrize("position", [0, 150])
def test_stored_nan(tmp_path, position, monkeypatch):
    monkeypatch.setattr("hiddenbits.data.arrays.source.SAMPLE_CELLS", 100)
    matrix = sparse.csr_array(bits(60, 12).astype("f4"))
    matrix.data[position] = np.nan
    path = write_sparse(tmp_path / "x.zarr", matrix)
    expected = open_table(matrix).to_float()
    assert np.isnan(expected).sum() == 1
    assert_reads(open_table(path, nan=True), expected)
    assert isinstance(open_table(path, nan=True).source.read(0, 1)[1], Complement)
    assert_reads(open_table(path, empty="zero"), np.nan_to_num(expected))
    assert_reads(open_table(path, empty="missing"), open_table(matrix, empty="missing").to_float())
    if position == 0:
        assert_reads(open_table(path), expected)
    else:  # beyond the sample: parts must not change their storage
        with pytest.raises(TableError, match=r"x\.zarr: a cell is missing.*nan=True"):
            open_table(path).to_float()


def test_anndata_groups(tmp_path):
    path = write_sparse(tmp_path / "x.zarr", sparse.csr_array(bits()))
    group = zarr.open_group(path, mode="r+")
    group.create_group("layers", attributes={"encoding-type": "dict"})
    group.create_array("layers/dense", data=holes(bits()), chunks=(9, 9))
    assert_reads(open_table(path, layer="dense"), holes(bits()))
    assert open_table(path, layer="dense").names[0] == "gène 0"
    assert_reads(open_table(path, array="X"), bits())
    assert open_table(path, array="X").names is None
    assert_reads(open_table(path, array="layers/dense"), holes(bits()))
    for layer in ("raw", "", "dense/x"):
        with pytest.raises(
            TableError, match=rf"x\.zarr: there is no 'layers/?{layer}' in the file. The layers are: 'd"
        ):
            open_table(path, layer=layer)
    group["X"].attrs["encoding-type"] = "dataframe"
    with pytest.raises(TableError, match="'X' is stored as 'dataframe', not as an array, a csr_matrix or a csc_matrix"):
        open_table(path)
    shutil.rmtree(path / "X")
    with pytest.raises(TableError, match=r"there is no 'X' in the file. The layers are: 'dense'"):
        open_table(path)


def test_names_of_other_kinds(tmp_path):
    matrix = sparse.csr_array(bits())
    path = write_sparse(tmp_path / "x.zarr", matrix)
    var = zarr.open_group(path, mode="r+")["var"]
    shutil.rmtree(path / "var/gene")
    with pytest.raises(TableError, match=r"there are no 7 column names at 'var/gene'. Give them with names="):
        open_table(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        var.create_array("gene", data=np.array([*"abcdefg"], "U3"), chunks=(3,))
    assert open_table(path).names == tuple("abcdefg")
    var.create_array("gene", data=np.arange(7), overwrite=True)
    with pytest.raises(TableError, match="'var/gene' does not hold the columns' names as text"):
        open_table(path)
    shutil.rmtree(path / "var/gene")
    nullable = var.create_group("gene", attributes={"encoding-type": "nullable-string-array"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nullable.create_array("values", data=np.array([*"abcdefg"], "U3"))
    assert open_table(path).names == tuple("abcdefg")
    with pytest.raises(TableError, match=r"x\.zarr: Two columns are called 'a'"):
        open_table(write_sparse(path, matrix, names=[*"abcdefa"]))
    var = zarr.open_group(path, mode="r+")["var"]
    for outside in ("../../y.zarr/var/gene", "..", "/etc/passwd", "gene/../gene"):
        var.attrs["_index"] = outside
        with pytest.raises(TableError, match=r"is not a path within the file|no 7 column names at"):
            open_table(path)
    assert open_table(path, names="abcdefg").shape == (60, 7)


def test_stores_that_differ(tmp_path):
    first = write_sparse(tmp_path / "a.zarr", sparse.csr_array(bits()))
    second = write_sparse(tmp_path / "b.zarr", sparse.csr_array(bits()), "csc")
    third = write_sparse(tmp_path / "c.zarr", sparse.csr_array(bits()), names=[*"abcdefg"])
    with pytest.raises(TableError, match=r"b\.zarr: stored as csc, not as csr as in a\.zarr"):
        open_table([first, second])
    with pytest.raises(TableError, match=r"c\.zarr: its column names differ from those in a\.zarr"):
        open_table([first, third])
    assert open_table([first, third], names="abcdefg").shape == (120, 7)


def test_too_large_for_one_part_or_for_columns(tmp_path):
    matrix = sparse.csr_array(bits())
    path = write_sparse(tmp_path / "x.zarr", matrix)
    with pytest.raises(TableError, match=r"rows 0 to 59 hold \d+ cells, above max_bytes=500.*part_bytes="):
        open_table(path, max_bytes=500).to_float()
    assert open_table(path, max_bytes=500, part_bytes=300).n_missing == 0
    path = write_sparse(tmp_path / "x.zarr", matrix, "csc")
    with pytest.raises(TableError, match=r"above max_bytes=500 .*stored by columns \(CSC\) is loaded whole"):
        open_table(path, max_bytes=500)
