"""AnnData objects: X or a layer, in memory, on disk or as a Dask array."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from hiddenbits import LatentClassAnalysis
from hiddenbits.data import Dense, Pattern, open_table
from hiddenbits.data.openers import find_opener
from hiddenbits.data.request import Request
from hiddenbits.exceptions import TableError
from tests.data.tables import assert_reads, bits, holes

ad = pytest.importorskip("anndata", reason="anndata is not installed")
pd = pytest.importorskip("pandas")

NAMES = tuple(f"gène {j}" for j in range(7))


def made(cells, **layers):
    data = ad.AnnData(cells, var=pd.DataFrame(index=NAMES))
    for name, layer in layers.items():
        data.layers[name] = layer
    return data


@pytest.mark.parametrize("kind", ["dense", "csr_matrix", "csr_array", "csc_matrix", "csc_array"])
def test_in_memory(kind):
    cells = bits().astype("f4") if kind == "dense" else getattr(sparse, kind)(bits().astype("f4"))
    data = made(cells, counts=bits() * 3, holes=holes(bits()))
    table = open_table(data)
    assert_reads(table, bits())
    assert table.names == NAMES
    assert isinstance(table.source.x, Dense if kind == "dense" else Pattern)
    assert_reads(open_table(data, layer="counts", threshold=2), bits())
    assert_reads(open_table(data, layer="holes"), holes(bits()))
    assert_reads(open_table(data, layer="holes", empty="zero"), np.nan_to_num(holes(bits())))
    assert open_table(data, names="abcdefg", part_bytes=99).names == tuple("abcdefg")
    assert_reads(open_table(data[10:40, ::2]), bits()[10:40, ::2])  # a view
    assert open_table(data[10:40, ::2]).names == NAMES[::2]
    if kind != "dense":
        assert_reads(open_table(data, empty="missing"), np.where(bits(), 1, np.nan))


def test_refusals():
    data = made(bits() * 3, counts=bits())
    with pytest.raises(TableError, match=r"^row 0, column \d \('gène \d'\): 3 is not a bit"):
        open_table(data)
    with pytest.raises(TableError, match=r"^The AnnData has no layer 'raw'. Its layers are: 'counts'"):
        open_table(data, layer="raw")
    with pytest.raises(TypeError, match="color: option of a file reader, but the table is in memory"):
        open_table(data, color="red")
    with pytest.raises(TableError, match="n_columns=8 was given, but the table has 7 columns"):
        open_table(data, layer="counts", n_columns=8)
    twice = made(bits())
    twice.var_names = [*"abcdefa"]
    with pytest.raises(TableError, match="Two columns are called 'a'"):
        open_table(twice)
    empty = ad.AnnData(var=pd.DataFrame(index=NAMES), obs=pd.DataFrame(index=[*"xyz"]))
    with pytest.raises(TableError, match=r"The AnnData has no X\. Choose a layer with layer="):
        open_table(empty)
    with pytest.raises(TableError, match=r"The table has 0 rows and 7 columns"):
        open_table(made(bits(), counts=bits())[:0])


@pytest.mark.parametrize("kind", ["dense", "csr", "csc"])
def test_backed(tmp_path, kind):
    pytest.importorskip("h5py")
    cells = bits().astype("f4") if kind == "dense" else getattr(sparse, f"{kind}_matrix")(bits().astype("f4"))
    made(cells, counts=bits() * 3).write_h5ad(tmp_path / "any name")
    data = ad.read_h5ad(tmp_path / "any name", backed="r")
    try:
        table = open_table(data, part_bytes=200)
        assert_reads(table, bits())
        assert table.names == NAMES
        assert table.source.resident == (kind == "csc")
        assert_reads(open_table(data, layer="counts", threshold=0), bits())
        assert_reads(open_table(data[5:30]), bits()[5:30])
        data.var_names = [*"abcdefg"]  # in memory only
        assert open_table(data).names == tuple("abcdefg")
    finally:
        data.file.close()


def test_backed_for_writing(tmp_path):
    pytest.importorskip("h5py")
    made(bits().astype("f4")).write_h5ad(tmp_path / "x.h5ad")
    data = ad.read_h5ad(tmp_path / "x.h5ad", backed="r+")
    try:
        assert_reads(open_table(data), bits())  # HDF5 shares the file within a process
        opened = [
            sys.executable,
            "-c",
            "import sys, hiddenbits; hiddenbits.open_table(sys.argv[1])",
            tmp_path / "x.h5ad",
        ]
        other = subprocess.run(opened, capture_output=True, text=True)
        assert re.search(r"x\.h5ad: the file is open for writing, here or in another program", other.stderr)
    finally:
        data.file.close()
    assert_reads(open_table(tmp_path / "x.h5ad"), bits())


def test_what_is_no_anndata():
    class AnnData:
        """One of another package."""

        X = bits()

    assert find_opener(made(bits()), Request()).what == "an AnnData object"
    assert find_opener(bits(), Request()).what == "an array or a list of rows"
    with pytest.raises(TableError, match="rows and columns"):
        open_table(AnnData())


def test_anndata_is_not_imported():
    code = "import sys, hiddenbits; hiddenbits.open_table([[0, 1]]); print('anndata' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_dask(tmp_path):
    da = pytest.importorskip("dask.array")
    pytest.importorskip("hiddenbits.data.arrays.dask", reason="Dask arrays are not read yet")
    table = open_table(made(da.from_array(bits(), chunks=(13, 7))))
    assert_reads(table, bits())
    assert table.names == NAMES
    chunks = da.from_array(holes(bits()), chunks=(13, 7))
    assert_reads(open_table(made(bits(), lazy=chunks), layer="lazy"), holes(bits()))


def test_fit_takes_an_anndata_as_it_is():
    model = LatentClassAnalysis(2, n_init=1, tol=0.1, random_state=0).fit(made(bits()))
    assert tuple(model.feature_names_in_) == NAMES
    assert model.transform(made(bits())).shape == (len(bits()), 2)
