"""The coding is fitted: methods apply it and never guess again, files keep it, complete returns original values."""

import warnings

import numpy as np
import pytest

import hiddenbits
from hiddenbits import IndependentColumns, LatentClassAnalysis, load, open_table
from hiddenbits.data.columns import Coding
from hiddenbits.exceptions import FileError, RecodedColumnsWarning, TableError
from hiddenbits.store import read, write

pytestmark = pytest.mark.core
pd = pytest.importorskip("pandas")


def survey(rows=40, seed=0):
    rng = np.random.default_rng(seed)
    kind = rng.random(rows) < 0.5
    frame = pd.DataFrame(
        {
            "who": [f"p{i}" for i in range(rows)],
            "q1": np.where(rng.random(rows) < np.where(kind, 0.9, 0.1), "yes", "no"),
            "q2": np.where(rng.random(rows) < np.where(kind, 0.9, 0.1), 2, 1),
            "q3": (rng.random(rows) < np.where(kind, 0.8, 0.2)).astype(int),
        }
    )
    frame.loc[3, "q1"] = None
    return frame


def bits_of(frame):
    q1 = frame["q1"].map({"yes": 1.0, "no": 0.0})
    return open_table(np.column_stack([q1, frame["q2"] - 1.0, frame["q3"]]), names=["q1", "q2", "q3"])


def fitted(frame, estimator=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (estimator or LatentClassAnalysis(2, n_init=2, random_state=0)).fit(frame)


def test_a_fit_says_what_it_reads_and_is_the_fit_of_the_bits():
    frame = survey()
    with pytest.warns(RecodedColumnsWarning, match="yes = 1, no = 0 in 'q1'; 2 = 1, 1 = 0 in 'q2'"):
        open_table(frame, drop="who")
    model = quietly_left_out(frame)
    plain = LatentClassAnalysis(2, n_init=2, random_state=0).fit(bits_of(frame))
    np.testing.assert_array_equal(model.probabilities_, plain.probabilities_)
    assert plain.coding_ is None
    assert list(model.feature_names_in_) == ["q1", "q2", "q3"]
    assert model.coding_.excluded == ("who",)
    np.testing.assert_array_equal(model.score_samples(frame), plain.score_samples(bits_of(frame)))
    np.testing.assert_array_equal(model.transform(frame), plain.transform(bits_of(frame)))


def quietly_left_out(frame):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hiddenbits.exceptions.ExcludedColumnsWarning)
        return LatentClassAnalysis(2, n_init=2, random_state=0).fit(frame)


def test_opened_tables_are_compared_with_the_fit():
    model = fitted(survey())
    other = open_table(survey(), drop="who", recode={"q1": {"no": 1}, "q2": {2: 1}})
    with pytest.raises(TableError, match=r"column 'q1' was read differently .* recode=model"):
        model.score(other)
    same = open_table(survey(), recode=model)
    assert model.score(same) == model.score(survey())


def test_complete_of_values_in_groups():
    frame = pd.DataFrame({"q": [1, 2, 3, 4, 5, None] * 6, "r": [0, 0, 0, 1, 1, 1] * 6})
    model = IndependentColumns().fit(open_table(frame, recode={"q": {4: 1, 5: 1}}))
    done = model.complete(frame)
    assert list(done["q"][:6]) == ["1", "2", "3", "4", "5", "1 or 2 or 3"]


def damaged():
    yield "columns", []
    yield "columns", [["q1", "values", ["yes"], ["no"], [], None, None]]  # fewer than the model has
    yield "named", 1
    yield "excluded", [3]
    yield "ids", ["nobody"]
    yield "excluded", ["q1"]


@pytest.mark.parametrize(("key", "value"), [*damaged()])
def test_damaged_codings_are_refused(tmp_path, key, value):
    model = fitted(survey())
    model.save(tmp_path / "m.hb")
    stored = read(tmp_path / "m.hb")
    meta = {**stored.meta, "coding": {**stored.meta["coding"], key: value}}
    write(tmp_path / "d.hb", stored.kind, meta, stored.arrays)
    with pytest.raises(FileError, match="not a valid LatentClassAnalysis"):
        load(tmp_path / "d.hb")


@pytest.mark.parametrize(
    "entry",
    [
        3,
        ["q", "magic", [], [], [], None, None],
        ["q", "values", ["a"], ["a"], [], None, None],
        ["q", "values", [["a"]], [], [], None, None],
        ["q", "values", ["a"], [], [], 2, None],
        ["q", "values", ["a"], [], [], None, 3.0],
        ["q", "above", [], [], [], None, float("inf")],
        ["q", "one-hot", ["a"], ["b"], [], None, None],
        [3, "binary", [], [], [], None, None],
    ],
)
def test_damaged_columns_are_refused(entry):
    with pytest.raises(ValueError, match="damaged"):
        Coding.from_plain({"columns": [entry], "excluded": [], "ids": [], "named": True})
