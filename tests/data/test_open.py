"""The one door: each opener accepts what it should and nothing else, and the way to it is short."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import hiddenbits
from hiddenbits import LatentClassAnalysis, open_table
from hiddenbits.data.coding.choices import Choices
from hiddenbits.data.openers import FORMATS, OPENERS, find_files, find_opener
from hiddenbits.data.request import Request
from hiddenbits.exceptions import TableError

X = np.random.default_rng(0).integers(0, 2, (30, 3))
NAMES = ["a", "b", "c"]
PACKED = Request(packed=True, n_columns=3)
TABLE, QUERY, DELTA, PATH, DASK, ANNDATA, DICT, DICTS, SETS, BITS, SPARSE, FRAME, TEXT, ARRAY = (
    opener.what for opener in OPENERS
)


class ArrayLike:
    """What NumPy can make an array of, and nothing more."""

    def __array__(self, dtype=None, copy=None):
        return X if dtype is None else X.astype(dtype)


def dask_array():
    return pytest.importorskip("dask.array").from_array(X, chunks=(10, 3))


def dask_frame():
    return pytest.importorskip("dask.dataframe").from_pandas(pandas_frame(), npartitions=2)


def pandas_frame():
    return pytest.importorskip("pandas").DataFrame(X, columns=NAMES)


def polars_lazy():
    return pytest.importorskip("polars").DataFrame(X, schema=NAMES).lazy()


def arrow_table():
    return pytest.importorskip("pyarrow").table(dict(zip(NAMES, X.T, strict=True)))


def delta_table():
    deltalake, folder = pytest.importorskip("deltalake"), tempfile.mkdtemp()
    deltalake.write_deltalake(folder, arrow_table())
    try:
        return deltalake.DeltaTable(folder)
    finally:
        shutil.rmtree(folder)


def anndata():
    return pytest.importorskip("anndata").AnnData(X.astype("f4"))


EXAMPLES = [
    (lambda: open_table(X), Request(), TABLE),
    (dask_array, Request(), DASK),
    (dask_array, PACKED, DASK),  # which refuses it
    (dask_frame, Request(), DASK),
    (polars_lazy, Request(), QUERY),
    (delta_table, Request(), DELTA),
    (lambda: "x.csv", Request(), PATH),
    (lambda: [Path("a.csv"), "b.csv"], Request(), PATH),
    (anndata, Request(), ANNDATA),
    (lambda: dict(zip(NAMES, X.T, strict=True)), Request(), DICT),
    (lambda: [{"a": 1}, {"b": 0}], Request(), DICTS),
    (lambda: [{"a", "b"}, {"b"}], Request(), SETS),
    (lambda: [["a", "b"], ["b"]], Request(), SETS),
    (lambda: np.packbits(X, axis=1), PACKED, BITS),
    (lambda: sparse.csr_array(X), PACKED, BITS),  # which refuses it
    (lambda: sparse.csr_array(X), Request(), SPARSE),
    (lambda: sparse.coo_matrix(X), Request(), SPARSE),
    (pandas_frame, Request(), FRAME),
    (arrow_table, Request(), FRAME),
    (lambda: X.astype(str), Request(), TEXT),
    (lambda: X, Request(choices=Choices.of(drop=[0])), TEXT),
    (lambda: [["yes", "no"], ["no", "no"]], Request(), TEXT),
    (lambda: X, Request(), ARRAY),
    (lambda: np.ma.masked_array(X), Request(), ARRAY),
    (X.tolist, Request(), ARRAY),
    (ArrayLike, Request(), ARRAY),
]


@pytest.mark.parametrize(("make", "request_", "what"), EXAMPLES)
def test_the_first_that_accepts_is_the_right_one(make, request_, what):
    assert find_opener(make(), request_).what == what


def test_every_opener_has_an_example():
    assert {what for _, _, what in EXAMPLES} == {opener.what for opener in OPENERS}


@pytest.mark.parametrize("file_format", FORMATS, ids=lambda file_format: file_format.name)
def test_files_are_told_by_suffix_or_name(file_format, tmp_path):
    for suffix in (*file_format.suffixes, *(f"{s}.gz" for s in file_format.suffixes if file_format.gzipped)):
        path = tmp_path / f"x{suffix}"
        path.touch()
        for given in (path, str(path), [path]):
            assert find_files(given, Request()) == (file_format, (path,), ())
    (tmp_path / "x").touch()
    assert find_files(tmp_path / "x", Request(options={"format": file_format.name}))[0] is file_format


def test_suffixes_and_names_are_distinct():
    suffixes = [suffix for file_format in FORMATS for suffix in file_format.suffixes]
    assert len(set(suffixes)) == len(suffixes)
    assert len({opener.what for opener in OPENERS}) == len(OPENERS)


@pytest.mark.parametrize(
    "unknown", [None, 1, {}, {"a": 1}, {1, 2}, object(), iter([[0, 1]])], ids=lambda thing: type(thing).__name__
)
def test_an_unknown_object_is_told_what_is_accepted(unknown):
    for take in (open_table, LatentClassAnalysis(2).fit):
        with pytest.raises(TableError) as caught:
            take(unknown)
        message = str(caught.value)
        assert message.startswith("Expected a table with rows and columns, got an object of type")
        for opener in OPENERS:
            assert opener.what in message


def test_an_open_table_stays_as_it_is():
    table = open_table(X, part_bytes=99)
    assert open_table(table) is table
    assert open_table(table, part_bytes=50).part_bytes == 50


def test_a_fit_takes_a_path(tmp_path):
    np.savetxt(tmp_path / "x.csv", X, fmt="%d", delimiter=",", header="a,b,c", comments="")
    model = LatentClassAnalysis(2, n_init=1, tol=0.1, random_state=0).fit(tmp_path / "x.csv")
    assert list(model.feature_names_in_) == NAMES
    np.testing.assert_array_equal(model.transform(str(tmp_path / "x.csv")), model.transform(open_table(X, names=NAMES)))


def files_on_the_way(data) -> list[str]:
    """Return the package's files from `fit` to the Table, both included.

    What an opener does with the cells is its own matter: its first file counts, and no further one.
    """
    root, seen, on_the_way = str(Path(hiddenbits.__file__).parent), {"families/_base/estimator.py": None}, False

    def watch(frame, event, _):
        nonlocal on_the_way
        code, caller = frame.f_code, frame.f_back
        if event != "call" or not code.co_filename.startswith(root):
            return
        on_the_way = on_the_way or code.co_name == "as_table"
        if on_the_way:
            seen[str(Path(code.co_filename).relative_to(root))] = None
        if code.co_name.startswith("open_") and caller is not None and caller.f_code.co_name == "open":
            sys.setprofile(None)

    model = LatentClassAnalysis(2, n_init=1, tol=0.1, random_state=0)
    model.fit(data)  # imports first
    sys.setprofile(watch)
    try:
        model.fit(data)
    finally:
        sys.setprofile(None)
    return [*seen, "data/table.py"]


@pytest.mark.parametrize(
    "make", [lambda: X, X.tolist, lambda: sparse.csr_array(X), pandas_frame, dask_array, dask_frame]
)
def test_the_way_from_fit_to_the_table_is_short(make):
    files = files_on_the_way(make())
    assert len(set(files)) <= (6 if "data/named/frames.py" in files else 5), files  # a frame is looked at if need be
    assert {"families/_base/inputs.py", "data/openers.py"} <= set(files)
