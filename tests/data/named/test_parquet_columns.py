"""Parquet columns of any values: small tables in memory, larger ones coded as they are read, both as the frame is."""

import datetime
import pickle
import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from hiddenbits import LatentClassAnalysis, load, open_table
from hiddenbits.data.named.parquet import open as open_parquet
from hiddenbits.exceptions import AmbiguousColumnsError, ExcludedColumnsWarning, RecodedColumnsWarning, TableError
from hiddenbits.tables import look

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ROWS = 3000  # more than the values that are counted one by one


def survey(n=ROWS, seed=0):
    """A table as people have them."""
    rng = np.random.default_rng(seed)

    def some(values, share=0.1):
        return pa.array([values[k] for k in rng.integers(0, len(values), n)], mask=rng.random(n) < share)

    day = datetime.date(2024, 1, 1)
    return pa.table(
        {
            "who": [f"p{k:05}" for k in range(n)],
            "q1": some(["yes", "no"]),
            "q2": some([1, 2]),
            "q3": some(["Ja", "Nein"]).dictionary_encode(),
            "q4": some([0.0, 1.0]),
            "q5": some([True, False], 0.0),
            "day": [day + datetime.timedelta(k % 400) for k in range(n)],
            "mass": rng.normal(size=n),
        }
    )


def write(table, folder, n_files=3, group=700):
    cuts = np.linspace(0, len(table), n_files + 1).astype(int)
    for k, (start, stop) in enumerate(pairwise(cuts)):
        pq.write_table(table.slice(start, stop - start), folder / f"{k}.parquet", row_group_size=group)
    return f"{folder}/*.parquet"


@pytest.fixture(params=["memory", "disk"])
def where(request, monkeypatch):
    """Both ways of reading; the second by lowering what counts as small."""
    if request.param == "disk":
        monkeypatch.setattr(open_parquet, "SMALL_BYTES", 100)
    return request.param


def with_warnings(function):
    """What a function returns, and the warnings on the way."""
    with warnings.catch_warnings(record=True, action="always") as caught:
        result = function()
    return result, [(warning.category, str(warning.message)) for warning in caught]


def same(table, expected):
    """Whether two tables are the same, with all that is known of their columns."""
    np.testing.assert_array_equal(table.to_float(), expected.to_float())
    assert table.names == expected.names
    assert table.coding == replace(expected.coding, frame=None)  # a file is no frame
    assert table.beside == expected.beside
    kinds = [type(one.source.read(0, table.shape[0])[1]) for one in (table, expected)]
    assert kinds[0] is kinds[1]


OPTIONS = {
    "nothing": {},
    "columns": {"columns": ["q3", "q1"]},
    "drop": {"drop": ["day", "q2"]},
    "id": {"id": "who", "recode": {"q1": {"no": 1}}},
    "one-hot": {"recode": {"q1": "one-hot", "mass": "> 0.5"}},
    "blank": {"empty": "zero"},
    "names": {"names": list("abcdefgh"), "drop": ["g"]},
}


@pytest.mark.thin(3)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_the_same_as_the_frame(tmp_path, where, options):
    frame = survey()
    path = write(frame, tmp_path)
    table, warned = with_warnings(lambda: open_table(path, **options))
    expected, expected_warnings = with_warnings(lambda: open_table(frame, **options))
    assert table.source.resident == (where == "memory")
    same(table, expected)
    assert warned == expected_warnings
    for start, stop in ((0, 10), (690, 2110), (2999, 3100)):
        for mine, theirs in zip(table.source.read(start, stop), expected.source.read(start, stop), strict=True):
            np.testing.assert_array_equal(mine.to_dense(), theirs.to_dense())
    again = pickle.loads(pickle.dumps(table))
    assert again.beside == expected.beside


def test_threshold_after_a_look(tmp_path, where):
    """Numbers are cut in the type that they have, ids stay out, and codes for missing are asked for."""
    rng = np.random.default_rng(1)
    score = pa.array(rng.choice([0.1, 0.2, 0.3], ROWS), pa.float32())
    frame = pa.table(
        {"key": np.arange(ROWS) + 5, "nr": rng.permutation(ROWS) + 7, "x": rng.normal(size=ROWS), "y": score}
    )
    path = write(frame, tmp_path)
    with pytest.warns(ExcludedColumnsWarning, match=r"'key' and 'nr' \(id\)|'key', 'nr' \(id\)"):
        table = open_table(path, threshold=0.1)
    assert table.names == ("x", "y")
    np.testing.assert_array_equal(table.to_float()[:, 1], frame["y"].to_numpy() > np.float32(0.1))
    assert table.beside["nr"] == frame["nr"].to_pylist()
    coded_x = frame["x"].to_numpy().copy()
    coded_x[2900] = -99
    path = write(frame.set_column(2, "x", pa.array(coded_x)), tmp_path)
    with pytest.raises(AmbiguousColumnsError, match=r"'x': -99 \(1 cell\) looks like a code for missing"):
        open_table(path, threshold=0.1, drop=["key", "nr"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = open_table(path, threshold=0.1, missing=[-99])
    assert np.isnan(table.to_float()[2900, 0])
    assert table.n_missing == 1


def test_columns_that_need_a_word_are_asked_for_together(tmp_path, where):
    rng = np.random.default_rng(2)
    frame = pa.table(
        {
            "a": rng.integers(0, 2, ROWS),
            "likert": rng.integers(1, 6, ROWS),
            "b": rng.choice([0, 1, -99], ROWS),
            "x": pa.array(["x" if k % 3 else None for k in range(ROWS)]),
            "n": rng.integers(0, 100000, ROWS),
        }
    )
    path = write(frame, tmp_path)
    with pytest.raises(AmbiguousColumnsError) as found:
        open_table(path)
    with pytest.raises(AmbiguousColumnsError) as expected:
        open_table(frame)
    assert str(found.value).partition(": ")[2] == str(expected.value)
    assert [column.inferred_type for column in found.value.profiles] == [
        "binary",
        "ordinal",
        "binary",
        "one value or missing",
        "continuous",
    ]
    options = {"missing": [-99], "recode": {"likert": {4: 1, 5: 1}, "x": {"x": 1, "": 0}}, "drop": ["n"]}
    same(open_table(path, **options), open_table(frame, **options))
    columns = look(path, **options).columns
    assert [column.values[:1] for column in columns[:3]] == [c.values[:1] for c in look(frame, **options).columns[:3]]


def test_the_coding_of_a_fit_is_applied(tmp_path, where):
    frame = survey(600)
    path = write(frame, tmp_path)
    model = LatentClassAnalysis(2, max_iter=3, n_init=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = model.fit(open_table(frame, column_types="auto")).score_samples(frame)
        model.fit(path)
    assert [column.name for column in model.coding_.columns] == ["q1", "q2", "q3", "q4", "q5", "mass"]
    np.testing.assert_allclose(model.score_samples(path), expected, rtol=1e-12)
    model.save(tmp_path / "m.model")
    np.testing.assert_array_equal(load(tmp_path / "m.model").score_samples(path), model.score_samples(path))
    table = open_table(path, recode=model)
    np.testing.assert_array_equal(table.to_float(), open_table(frame, recode=model).to_float())
    (tmp_path / "other").mkdir()
    strange = frame.set_column(1, "q1", pa.array(["yes"] * 550 + ["perhaps"] * 50))
    with pytest.raises(TableError, match=r"row (150|550), column 'q1': 'perhaps' is not among the values of the fit"):
        model.score_samples(write(strange, tmp_path / "other"))
    with pytest.raises(TableError, match="lacks a column of the fit: 'q2'"):
        model.score_samples(write(frame.drop_columns("q2"), tmp_path / "other"))


def test_bits_stay_on_disk_without_a_scan(tmp_path, monkeypatch):
    """Metadata tell it of whole numbers; only where they are silent, and of some floats, rows are read."""
    rng = np.random.default_rng(3)
    whole = pa.table({"a": rng.integers(0, 2, 50), "b": pa.array(rng.integers(0, 2, 50), pa.uint8()), "c": [True] * 50})
    pq.write_table(whole, tmp_path / "whole.parquet")
    pq.write_table(whole, tmp_path / "silent.parquet", write_statistics=False)
    pq.write_table(pa.table({"a": [0.0, 1.0, 0.5, 1.0]}), tmp_path / "half.parquet")
    pq.write_table(pa.table({"a": [0.0, 1.0, None, 1.0]}), tmp_path / "float.parquet")
    read = []
    batches = open_parquet.ParquetFiles.batches

    def counting(self, *arguments, **options):
        read.append(arguments[2])
        return batches(self, *arguments, **options)

    monkeypatch.setattr(open_parquet.ParquetFiles, "batches", counting)
    for name, columns in {"whole": [], "silent": [["a", "b"]], "float": [["a"]]}.items():
        read.clear()
        table = open_table(tmp_path / f"{name}.parquet")
        assert (table.source.resident, table.coding, read) == (False, None, columns)
    with pytest.raises(TableError, match=r"'a': nominal values 0, 0\.5, 1\."):
        open_table(tmp_path / "half.parquet")


def test_other_values_are_found_wherever_they_are(tmp_path, where):
    bits = np.tile([0, 1], 1500)
    for kind, value in ((np.int8, -9), (np.int64, 7), (np.float64, 3.0), (np.uint16, 9)):
        cells = bits.astype(kind)
        cells[2500] = value
        path = write(pa.table({"a": bits, "b": cells}), tmp_path)
        with pytest.raises(AmbiguousColumnsError, match="'b'"):
            open_table(path)


def test_many_values_cannot_be_coded_one_by_one(tmp_path, monkeypatch):
    monkeypatch.setattr(open_parquet, "SMALL_BYTES", 100)
    path = write(survey(), tmp_path)
    for code in ("one-hot", {"p00001": 1}):
        with pytest.raises(TableError, match=r"column 'who' has more than 2,000 different values"):
            open_table(path, recode={"who": code}, columns=["who", "q4"])
    with pytest.raises(RecodedColumnsWarning, match="yes = 1"):  # where warnings are errors, it is not the file's fault
        open_table(path, columns=["q1"])


def test_types_that_do_not_go_together(tmp_path, where):
    pq.write_table(pa.table({"a": [0, 1], "b": ["x", "y"]}), tmp_path / "0.parquet")
    pq.write_table(pa.table({"a": [0.0, None], "b": [1, 2]}), tmp_path / "1.parquet")
    with pytest.raises(TableError, match=r"1\.parquet: column 'b' has type int64, but string in 0\.parquet"):
        open_table(f"{tmp_path}/*.parquet")
    pq.write_table(pa.table({"a": [0.0, None], "b": ["y", "x"]}), tmp_path / "1.parquet")
    with pytest.warns(RecodedColumnsWarning):
        table = open_table(f"{tmp_path}/*.parquet")
    np.testing.assert_array_equal(table.to_float(), [[0, 0], [1, 1], [0, 1], [np.nan, 0]])


def test_infinity_is_refused_with_its_row(tmp_path, where):
    cells = np.random.default_rng(4).normal(size=ROWS)
    cells[2521] = np.inf
    path = write(pa.table({"a": cells}), tmp_path, n_files=1)
    with pytest.raises(TableError, match=r"row 2521, column 0 \('a'\): inf"):
        open_table(path, threshold=0.0)
