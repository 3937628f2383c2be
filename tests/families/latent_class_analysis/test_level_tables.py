"""Tables of binary, nominal and ordinal columns: what a fit says of them, in the user's own values."""

import numpy as np
import pytest

from hiddenbits import IndependentColumns, LatentClassAnalysis
from hiddenbits.tables import write_results

pd = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore::hiddenbits.exceptions.RecodedColumnsWarning")
SCALE = ["never", "sometimes", "often"]


@pytest.fixture(scope="module")
def survey():
    """Two kinds of people, whose answers say nearly surely which kind they are; a tenth of the answers is missing."""
    rng = np.random.default_rng(0)
    h = rng.integers(0, 2, 200)
    own = np.where(rng.random((200, 4)) < 0.05, rng.integers(0, 2, (200, 4)), h[:, None])
    frame = pd.DataFrame(
        {
            "often": pd.Categorical(np.array(SCALE)[np.where(own[:, 0] == 1, 2, rng.integers(0, 2, 200))], SCALE, True),
            "party": np.array(["red", "green", "blue"])[own[:, 1] + (rng.random(200) < 0.3)],
            "rating": np.where(own[:, 2] == 1, 5, rng.integers(1, 4, 200)).astype(float),
            "vote": np.array(["yes", "no"])[own[:, 3]],
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.1)


@pytest.fixture(scope="module")
def model(survey):
    return LatentClassAnalysis(2, random_state=0).fit(survey)


def test_the_summary(survey, model):
    """The baseline has a multinomial for each column of levels, not a coin for each level."""
    found = model.summary()
    baseline = IndependentColumns(prior_strength=0).fit(survey).score(survey)
    assert f"independent columns {baseline:.4f}" in found.story["score"]
    assert baseline < model.score(survey)
    profiles = found.tables["profiles"]
    assert profiles[profiles["column"] == "often"]["level"].tolist() == SCALE
    assert profiles[profiles["column"] == "vote"]["level"].tolist() == ["yes"]  # what a 1 stands for
    sums = profiles.groupby("column")[["class_1", "class_2"]].sum().drop(index="vote")
    np.testing.assert_allclose(sums, 1.0, rtol=1e-9)


def test_completed_and_drawn_in_the_users_own_values(survey, model):
    full, drawn = model.complete(survey), model.sample(300)
    seen = survey.notna()
    assert full.notna().all().all()
    assert full["often"].dtype == survey["often"].dtype
    for name in survey:
        assert (full[name][seen[name]] == survey[name][seen[name]]).all()
        values = set(survey[name].dropna())
        assert set(full[name]) <= values
        assert set(drawn[name]) <= values
    # Blanks are filled with the level that is most probable in the class of the row.
    classes, p = model.predict(survey), dict(zip(model.level_names_, model.probabilities_.T, strict=True))
    sure = model.predict_proba(survey).max(axis=1) > 0.999
    for at in np.flatnonzero(sure & ~seen["rating"]):
        best = max((1, 2, 3, 5), key=lambda level: p[f"rating={level}"][classes[at]])
        assert full["rating"][at] == best


def test_arrays_come_back_as_arrays(survey):
    X = np.column_stack([survey[name].astype("category").cat.codes for name in survey]).astype(float)
    X[X < 0] = np.nan
    model = LatentClassAnalysis(2, column_types="nominal", random_state=0).fit(X)
    full = model.complete(X)
    assert full.shape == X.shape
    assert np.array_equal(full[~np.isnan(X)], X[~np.isnan(X)])
    assert set(full[:, 2]) == {0.0, 1.0, 2.0, 3.0}
    assert model.sample(5).shape == (5, 4)
    assert model.level_names_[:3] == ["x0=0", "x0=1", "x0=2"]
    assert model.summary().tables["profiles"]["column"][0] == "x0"


def test_results_are_written_by_level(survey, model, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    written = pq.read_table(write_results(model, "complete", survey, tmp_path / "full")).to_pandas()
    pd.testing.assert_frame_equal(written, model.complete(survey).astype({"often": str}), check_dtype=False)
    given = pq.read_table(write_results(model, "cell_probabilities", survey, tmp_path / "p"))
    assert given.column_names == model.level_names_


def test_a_long_summary_shows_whole_columns():
    """Twelve columns of three levels: 20 lines have room for six of them."""
    rng = np.random.default_rng(1)
    X = np.where(rng.random((200, 12)) < 0.4, rng.integers(0, 2, (200, 1)) * 2, rng.integers(0, 3, (200, 12)))
    shown = str(LatentClassAnalysis(2, column_types="nominal", random_state=0).fit(X).summary()).splitlines()
    lines = [line.split()[0] for line in shown if line.startswith("x")]
    assert len(lines) == 18
    assert all(lines.count(name) == 3 for name in lines)
    assert shown[-1].startswith("... 18 more levels")
