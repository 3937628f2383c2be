"""Values that did not occur in the fit: an error, or missing values that one warning counts."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import hiddenbits
from hiddenbits import IndependentColumns, LatentClassAnalysis, TreeMixture, load, open_table
from hiddenbits.exceptions import TableError, UnknownValuesWarning

pytestmark = pytest.mark.filterwarnings("ignore::hiddenbits.exceptions.RecodedColumnsWarning")
pd = pytest.importorskip("pandas")
ESTIMATORS = [
    LatentClassAnalysis(2, n_init=2, handle_unknown="missing", random_state=0),
    IndependentColumns(handle_unknown="missing"),
]
ALL_VALUES = "6 cells have values that did not occur in the fit and will count as missing: "


def survey(n=120):
    """A nominal, an ordinal and a two-valued column, and one of bits."""
    rng = np.random.default_rng(0)
    h = rng.integers(0, 2, n)
    return pd.DataFrame(
        {
            "color": np.array(["red", "green", "blue"], object)[(h + rng.integers(0, 2, n)) % 3],
            "stars": 1 + 2 * h + rng.integers(0, 3, n),
            "smokes": np.where(rng.random(n) < 0.2 + 0.6 * h, "yes", "no").astype(object),
            "bit": (rng.random(n) < 0.2 + 0.6 * h).astype(int),
        }
    )


def with_unknown():
    """Rows with unknown values, and the same rows in which these are missing."""
    frame = survey().head(60)
    unknown = {"color": ["pink", "pink", "black"], "stars": [9], "smokes": ["maybe", "never"]}
    missing = frame.astype(object)
    for number, (name, values) in enumerate(unknown.items()):
        frame[name] = [*frame[name][: 10 * number], *values, *frame[name][10 * number + len(values) :]]
        missing.loc[10 * number : 10 * number + len(values) - 1, name] = None
    return frame, missing.astype({"stars": float, "bit": int})


def caught_of(function, *args):
    with warnings.catch_warnings(record=True, action="always") as caught:
        result = function(*args)
    return result, [w for w in caught if w.category is UnknownValuesWarning]


@pytest.fixture(scope="module", params=ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def fitted(request):
    return clone(request.param).fit(survey())


def as_kind(frame, kind, folder, monkeypatch):
    if kind == "csv":
        frame.to_csv(folder / "rows.csv", index=False)
        return folder / "rows.csv"
    if kind in ("parquet", "polars lazy"):
        pytest.importorskip("pyarrow")
        if kind == "polars lazy":
            return pytest.importorskip("polars").from_pandas(frame).lazy()
        frame.to_parquet(folder / "rows.parquet", row_group_size=7)
        monkeypatch.setattr("hiddenbits.data.named.parquet.open.SMALL_BYTES", 100)
        return folder / "rows.parquet"
    if kind == "dask":
        return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=4)
    return frame


@pytest.mark.parametrize("kind", ["pandas", "csv", "parquet", "polars lazy", "dask"])
def test_unknown_values_count_as_missing_in_every_storage(fitted, kind, tmp_path, monkeypatch):
    """The same numbers as for a frame in which these cells are empty, and one warning with exact counts."""
    frame, missing = with_unknown()
    wanted = fitted.score_samples(missing)
    X = as_kind(frame, kind, tmp_path, monkeypatch)
    scores, caught = caught_of(fitted.score_samples, X)
    np.testing.assert_allclose(scores, wanted, rtol=1e-12)
    assert len(caught) == 1
    message = str(caught[0].message)
    assert message.startswith(ALL_VALUES)
    for part in ("'pink' (2) in 'color'", "'black' (1) in 'color'", "(1) in 'stars'", "'never' (1) in 'smokes'"):
        assert part in message
    if kind == "parquet":
        table, caught = caught_of(lambda: open_table(X, recode=fitted))
        assert not table.source.resident
        assert len(caught) == 1
        with hiddenbits.run_on(n_jobs=2):
            scores, caught = caught_of(fitted.score_samples, pickle.loads(pickle.dumps(table)))
        np.testing.assert_allclose(scores, wanted, rtol=1e-12)
        assert not caught
    assert not caught_of(fitted.score_samples, missing)[1]


def test_other_methods_and_partial_fit(fitted, tmp_path):
    frame, missing = with_unknown()
    fitted.save(tmp_path / "m.hb")
    model, again = load(tmp_path / "m.hb"), load(tmp_path / "m.hb")
    assert model.handle_unknown == "missing"
    completed, caught = caught_of(model.complete, frame)
    assert len(caught) == 1
    expected = again.complete(missing)
    for name in frame:
        assert completed[name].astype(str).tolist() == expected[name].astype(str).tolist()
    assert len(caught_of(model.partial_fit, frame)[1]) == 1
    again.partial_fit(missing)
    np.testing.assert_allclose(model.probabilities_, again.probabilities_, rtol=1e-12)


def test_one_cell_is_singular():
    model = IndependentColumns(handle_unknown="missing").fit(survey())
    with pytest.warns(UnknownValuesWarning, match=r"^1 cell has a value .* missing: 'pink' \(1\) in 'color'\.$"):
        model.score(survey().head(1).assign(color="pink"))


def test_the_default_is_an_error_that_names_the_option():
    model = IndependentColumns().fit(survey())
    for wrong in ({"color": "pink"}, {"color": "pink", "smokes": "maybe"}):
        with pytest.raises(TableError, match="handle_unknown='missing'"):
            model.score(survey().head(3).assign(**wrong))
    with pytest.raises(ValueError, match="handle_unknown"):
        IndependentColumns(handle_unknown="ignore").fit(survey())
    recoded = TreeMixture(2, random_state=0).fit(survey()[["smokes", "bit"]])
    with pytest.raises(TableError, match="not among the values of the fit"):
        recoded.score(survey()[["smokes", "bit"]].assign(smokes="maybe"))


def test_a_column_of_bits_takes_bits_only():
    """A 2 among bits is a mistake in the data, not a new category."""
    model = IndependentColumns(handle_unknown="missing").fit(survey())
    with pytest.raises(TableError, match="bit"):
        model.score(survey().head(3).assign(bit=2))
