"""A table with nominal and ordinal columns, whatever it comes as: one fit, and clear words about another table."""

import numpy as np
import pytest
from sklearn.base import clone

from hiddenbits import LatentClassAnalysis, load, open_table
from hiddenbits.exceptions import TableError

pytestmark = pytest.mark.filterwarnings("ignore::hiddenbits.exceptions.RecodedColumnsWarning")

pd = pytest.importorskip("pandas")
ESTIMATOR = LatentClassAnalysis(2, n_init=2, random_state=0)
WORDS = ["color", "smokes", "often"]


def survey(n=200):
    """Two classes; a nominal, an ordinal, a binary column and a scale in words, a tenth of the cells missing."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, n)
    columns = {
        "color": np.array(["red", "green", "blue"], object)[(kind + (rng.random(n) < 0.3)) % 3],
        "stars": (1 + 2 * kind + rng.integers(0, 3, n)).astype(object),
        "smokes": np.where(rng.random(n) < 0.2 + 0.6 * kind, "yes", "no").astype(object),
        "often": np.array(["never", "rarely", "often", "always"], object)[2 * kind + rng.integers(0, 2, n)],
    }
    for values in columns.values():
        values[rng.random(n) < 0.1] = None
    return pd.DataFrame(columns)


def forms_of(frame, folder, monkeypatch):
    """The same table in other containers and types."""
    yield "numbers", frame.astype({"stars": float})
    yield "string", frame.astype(dict.fromkeys(WORDS, "string") | {"stars": "Int64"})
    yield "categorical", frame.astype(dict.fromkeys(WORDS, "category"))
    levels = ["red", "yellow", "green", "blue"]  # in another order, one of which does not occur
    yield "categories", frame.assign(color=pd.Categorical(frame["color"], categories=levels))
    yield "dict", {name: frame[name].tolist() for name in frame}
    frame.to_csv(folder / "rows.csv", index=False)
    yield "CSV", folder / "rows.csv"
    yield "opened", open_table(folder / "rows.csv", column_types="auto")
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    for name, words in (("Arrow", pa.string()), ("Arrow dictionary", pa.dictionary(pa.int8(), pa.string()))):
        arrays = {one: pa.array(frame[one], pa.int64() if one == "stars" else words) for one in frame}
        yield name, pa.table(arrays)
        pq.write_table(pa.table(arrays), folder / f"{name}.parquet", row_group_size=70)
        yield f"Parquet of {name}", folder / f"{name}.parquet"
    with monkeypatch.context() as patch:
        patch.setattr("hiddenbits.data.named.parquet.open.SMALL_BYTES", 100)
        on_disk = open_table(folder / "Arrow.parquet", column_types="auto", part_bytes=500)
    assert not on_disk.source.resident
    yield "Parquet on disk", on_disk
    pl = pytest.importorskip("polars")
    words = frame.astype(dict.fromkeys(WORDS, "string") | {"stars": "Int64"})
    yield "polars", pl.from_pandas(words)
    yield "polars lazy, categorical", pl.from_pandas(words).lazy().with_columns(pl.col(WORDS).cast(pl.Categorical))


def test_the_same_fit_from_every_container(tmp_path, monkeypatch):
    frame = survey()
    wanted = clone(ESTIMATOR).fit(frame)
    assert [column.how for column in wanted.coding_.columns] == ["nominal", "ordinal", "values", "ordinal"]
    for name, table in forms_of(frame, tmp_path, monkeypatch):
        model = clone(ESTIMATOR).fit(table)
        assert model.level_names_ == wanted.level_names_, name
        found = {**model._params.to_arrays(), "trace": model.trace_, "scores": wanted.score_samples(table)}
        truth = {**wanted._params.to_arrays(), "trace": wanted.trace_, "scores": wanted.score_samples(frame)}
        rounding = 1e-12 if name == "Parquet on disk" else 0.0  # where equal rows are not collapsed
        for key, array in truth.items():
            np.testing.assert_allclose(found[key], array, rtol=rounding, atol=rounding, err_msg=f"{name}: {key}")


@pytest.fixture(scope="module")
def fitted():
    return clone(ESTIMATOR).fit(survey())


def test_saved_and_loaded(fitted, tmp_path):
    """All methods go on in the values of the table, and so does `partial_fit`."""
    frame = survey()
    fitted.save(tmp_path / "model.hb")
    loaded = load(tmp_path / "model.hb")
    assert repr(loaded) == repr(fitted)
    assert (loaded.level_names_, loaded._n_agreeing) == (fitted.level_names_, fitted._n_agreeing)
    for model in (loaded, clone(fitted).fit(frame)):
        np.testing.assert_array_equal(model.score_samples(frame), fitted.score_samples(frame))
        pd.testing.assert_frame_equal(model.complete(frame), fitted.complete(frame))
        pd.testing.assert_frame_equal(model.sample(20), fitted.sample(20))
        pd.testing.assert_frame_equal(model._cell_probabilities(frame), fitted._cell_probabilities(frame))
    begun = clone(ESTIMATOR).partial_fit(frame[:120])
    begun.save(tmp_path / "begun.hb")
    went_on = load(tmp_path / "begun.hb").partial_fit(frame[120:])
    np.testing.assert_array_equal(went_on.probabilities_, begun.partial_fit(frame[120:]).probabilities_)
    assert went_on.score(frame) > fitted.score(frame) - 0.05  # nats a row: test_online.py promises as much


def test_columns_in_another_order_and_levels_that_do_not_occur(fitted, tmp_path):
    frame = survey()
    other = frame[["often", "smokes", "color", "stars"]].assign(note="seen later")
    other.to_csv(tmp_path / "other.csv", index=False)
    for table in (other, tmp_path / "other.csv", open_table(other, recode=fitted)):
        np.testing.assert_array_equal(fitted.transform(table), fitted.transform(frame))
    np.testing.assert_array_equal(fitted.transform(other[3:5]), fitted.transform(frame)[3:5])
    with pytest.raises(TableError, match="lacks columns of the fit: 'color', 'stars'"):
        fitted.predict(frame[["smokes", "often"]])


def test_unknown_values_are_named_once_for_all_columns(fitted, tmp_path):
    frame = survey()
    frame.loc[3, "color"], frame.loc[70, "often"], frame.loc[7, "stars"] = "pink", "sometimes", 9
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.astype({"stars": "Int64"}).to_parquet(tmp_path / "rows.parquet")
    for table in (frame, tmp_path / "rows.csv", tmp_path / "rows.parquet"):
        with pytest.raises(TableError, match="are not among the values of the fit") as caught:
            fitted.predict(table)
        for cell in ("row 3, column 'color': 'pink'", "row 7, column 'stars': ", "row 70, column 'often': 'sometimes'"):
            assert str(caught.value).count(cell) == 1
    with pytest.raises(TableError, match=r"row 3, column 'color': 'pink' is not among .* 'green', 'red', 'blue'"):
        fitted.partial_fit(frame[:5])


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_rows_of_other_bits_are_refused(fitted):
    """As many numbers as columns do not say which level is which, nor do levels say it where columns were binary."""
    for bits in (np.eye(4), open_table(np.eye(4))):
        with pytest.raises(TableError, match="fitted to columns with other levels"):
            fitted.predict(bits)
    with pytest.raises(TableError, match="fitted to columns with other levels"):
        LatentClassAnalysis(1).fit(np.eye(4)).predict(open_table(survey().to_numpy(), column_types="nominal"))


def test_numbers_of_levels_in_an_array_need_a_word(tmp_path):
    answers = np.array([[1, 2], [2, 3], [3, 1], [1, 2]])
    with pytest.raises(TableError, match=r"row 0, column 1: 2.* is not a bit.*column_types='ordinal'"):
        LatentClassAnalysis(1).fit(answers)
    assert LatentClassAnalysis(1, column_types="nominal").fit(answers)._params.layout.sizes == (3, 3)
    model = LatentClassAnalysis(1, column_types={0: "nominal", 1: [1, 2, 3, 4]}).fit(answers)
    model.save(tmp_path / "model.hb")  # JSON has no numbers for names
    assert load(tmp_path / "model.hb").fit(answers)._params.layout.sizes == (3, 4)


def test_columns_without_a_recorded_level_are_named():
    frame, weight = survey(), np.ones(200)
    weight[frame["color"].notna()] = 0.0
    with pytest.warns(match="1 of 4 columns have no recorded cell.*'color'"):
        clone(ESTIMATOR).fit(frame, sample_weight=weight)
