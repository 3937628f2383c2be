"""`LogisticPCA` of Parquet and CSV files with columns of several kinds, against the same rows as a frame."""

import numpy as np
import pytest
from sklearn.base import clone

import hiddenbits
from hiddenbits import BernoulliMixture, LogisticPCA, TableError, open_table

pd = pytest.importorskip("pandas")
pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
from tests.families.logistic_pca.mixed.test_estimator import make  # noqa: E402  (it skips without pandas and polars)


@pytest.fixture(scope="module")
def rows():
    return make(pd, n=900)[0].reset_index(drop=True)


@pytest.fixture(scope="module")
def folder(rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    for k in range(3):
        rows.iloc[300 * k : 300 * (k + 1)].to_parquet(folder / f"part{k}.parquet", row_group_size=130, index=False)
    rows.to_csv(folder / "rows.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def fitted(rows):
    return LogisticPCA(2, tol=1e-3, random_state=0).fit(rows)


def opened(folder, **options):
    return open_table(f"{folder}/*.parquet", kinds="auto", part_bytes=5000, **options)


@pytest.mark.full
def test_files_fit_as_the_frame(rows, folder, fitted):
    for table in (opened(folder), open_table(folder / "rows.csv", kinds={"o": ["low", "mid", "top"]})):
        model = clone(fitted).fit(table)
        assert np.array_equal(model.trace_, fitted.trace_)
        assert np.array_equal(model.components_, fitted.components_)
        assert model.kinds_ == fitted.kinds_
        assert model.categories_ == fitted.categories_
        assert list(model.feature_names_in_) == list(rows.columns)
        for verb in ("transform", "score_samples", "code"):
            assert np.array_equal(getattr(model, verb)(table), getattr(fitted, verb)(rows))
            assert np.array_equal(getattr(model, verb)(rows), getattr(fitted, verb)(rows))
        p, q = model.category_probabilities(table), fitted.category_probabilities(rows)
        assert all(np.array_equal(p[name], q[name]) for name in q)


@pytest.mark.slow
def test_completed_and_drawn_rows_are_frames_of_arrow(rows, folder, fitted, tmp_path):
    model = clone(fitted).fit(opened(folder))
    full = model.complete(opened(folder))
    assert isinstance(full, pa.Table)
    expected = fitted.complete(rows)
    for name in rows.columns:
        assert full[name].to_pylist() == expected[name].tolist()
    assert model.sample(4, random_state=0).to_pylist() == fitted.sample(4, random_state=0).to_dict("records")
    model.save(tmp_path / "model.hb")
    assert np.array_equal(hiddenbits.load(tmp_path / "model.hb").transform(opened(folder)), model.transform(rows))


def test_new_files_are_opened_with_the_model(rows, folder, fitted, tmp_path):
    few = rows[rows["n"] != "w"].iloc[:50]
    few.to_parquet(tmp_path / "few.parquet", index=False)
    few.to_csv(tmp_path / "few.csv", index=False)
    other = open_table(tmp_path / "few.parquet", kinds="auto")
    with pytest.raises(TableError, match=r"kinds or categories differ from those of the fit.*kinds=model"):
        fitted.transform(other)
    for name in ("few.parquet", "few.csv"):
        table = open_table(tmp_path / name, kinds=fitted)
        assert np.array_equal(fitted.transform(table), fitted.transform(few))
        assert fitted.complete(table).equals(fitted.complete(few).reset_index(drop=True))  # a frame like the fit's
    with pytest.raises(TableError, match="This table has bits"):
        fitted.transform(open_table(np.eye(6)))


def test_kinds_of_table_and_estimator_must_agree(folder):
    table = opened(folder)
    assert LogisticPCA(1, kinds={"n": "nominal"}, max_iter=2, tol=10.0).fit(table).kinds_["n"] == "nominal"
    with pytest.raises(TableError, match=r"'ordered' for column 'n', but the table was opened with kind nominal"):
        LogisticPCA(1, kinds={"n": "ordered"}).fit(table)
    with pytest.raises(TableError, match="LogisticPCA"):
        BernoulliMixture(2).fit(table)


def test_listed_orders_are_for_frames_too(rows, fitted, tmp_path):
    plain = rows.assign(o=rows["o"].astype(object))
    model = LogisticPCA(2, kinds={"o": ["low", "mid", "top"]}, tol=1e-3, random_state=0).fit(plain)
    assert np.array_equal(model.components_, fitted.components_)
    assert set(model.complete(plain)["o"]) == {"low", "mid", "top"}
    model.save(tmp_path / "model.hb")
    back = hiddenbits.load(tmp_path / "model.hb")
    assert back.kinds == {"o": ["low", "mid", "top"]}
    assert np.array_equal(back.transform(plain), model.transform(plain))


@pytest.mark.slow
def test_results_are_written(rows, folder, fitted, tmp_path):
    table = open_table(f"{folder}/*.parquet", kinds=fitted, part_bytes=5000)
    codes = pq.read_table(fitted.write("transform", table, tmp_path / "codes.parquet"))
    # pieces are not blocks: BLAS may add in another order
    found = np.column_stack([column.to_numpy() for column in codes.columns])
    np.testing.assert_allclose(found, fitted.transform(rows), rtol=0, atol=1e-12)
    model = clone(fitted).fit(opened(folder))
    full = pq.read_table(model.write("complete", opened(folder), tmp_path / "full.parquet"))
    expected = model.complete(opened(folder))
    for name in ("n", "o", "two"):
        assert full[name].to_pylist() == expected[name].to_pylist()
    for name in ("b", "r", "s"):
        np.testing.assert_allclose(full[name].to_pylist(), expected[name].to_pylist(), rtol=1e-12, atol=1e-12)


@pytest.mark.slow
def test_weights_and_online_passes(rows, folder):
    weights = np.random.default_rng(0).random(len(rows))
    options = {"online_passes": 1, "max_iter": 5, "tol": 1.0, "random_state": 0}
    frame = LogisticPCA(2, **options).fit(rows, sample_weight=weights)
    file = LogisticPCA(2, **options).fit(opened(folder), sample_weight=weights)
    assert np.array_equal(frame.components_, file.components_)
    frame, file = (LogisticPCA(2, random_state=0).partial_fit(X).partial_fit(X) for X in (rows, opened(folder)))
    assert np.array_equal(frame.components_, file.components_)


def test_zoo(real_data):
    """The published file itself, as pandas reads it and as we do."""
    path = real_data / "tables" / "zoo.csv"
    table = open_table(path, kinds={"legs": "ordered"}, drop=["type"])
    frame = pd.read_csv(path).drop(columns="type")
    model = LogisticPCA(2, random_state=0).fit(table)
    other = LogisticPCA(2, kinds={"legs": "ordered"}, random_state=0).fit(frame)
    assert np.array_equal(model.components_, other.components_)
