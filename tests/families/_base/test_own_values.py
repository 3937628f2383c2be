"""The coding of a fit, in every method and form of a table: never guessed again, undone in what is drawn or written."""

import warnings

import numpy as np
import pytest

import hiddenbits
from hiddenbits import LatentClassAnalysis, evaluate, load, open_table
from hiddenbits.exceptions import TableError
from hiddenbits.tables import write_results

pytestmark = pytest.mark.core
pd = pytest.importorskip("pandas")

ROWS = ["score_samples", "transform", "predict", "_cell_probabilities"]
METHODS_OF_TABLES = ["score", *ROWS, "complete", "partial_fit"]
CODE = {"recode": {"color": "one-hot", "age": "> 40"}}
COLUMNS = ["who", "smokes", "rated", "color", "age", "bit"]


def survey(rows=60, seed=0):
    """Answers of two kinds of people, with an id and blanks in every other column."""
    rng = np.random.default_rng(seed)
    kind = rng.random(rows) < 0.5
    agrees = rng.random((rows, 4)) < np.where(kind, 0.9, 0.1)[:, None]
    frame = pd.DataFrame(
        {
            "who": [f"p{i:02d}" for i in range(rows)],
            "smokes": np.where(agrees[:, 0], "yes", "no").astype(object),
            "rated": np.where(agrees[:, 1], 2.0, 1.0),
            "color": np.where(kind, rng.choice(["red", "green"], rows), "blue").astype(object),
            "age": np.where(agrees[:, 2], 60.5, 20.0) + np.arange(rows) % 7,
            "bit": agrees[:, 3].astype(float),
        }
    )
    for j, name in enumerate(COLUMNS[1:]):
        frame.loc[[3 + j, 9], name] = None
    return frame


def quietly(function, *words, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return function(*words, **options)


def fitted(data, estimator=None):
    table = quietly(open_table, data, **CODE)
    return quietly((estimator or LatentClassAnalysis(2, n_init=1, random_state=0)).fit, table)


def as_kind(frame, kind, folder):
    """Return a frame as another library's, or as a file."""
    if kind == "polars":
        return pytest.importorskip("polars").from_pandas(frame)
    if kind == "pyarrow":
        return pytest.importorskip("pyarrow").Table.from_pandas(frame, preserve_index=False)
    if kind == "csv":
        frame.to_csv(folder / "t.csv", index=False)
        return folder / "t.csv"
    return frame


def methods(model):
    """Every method that takes a table, by name; none of them may guess."""
    found = {name: getattr(model, name) for name in METHODS_OF_TABLES if hasattr(model, name)}
    for measure in ("mean_log_likelihood", "bits_per_cell", "leave_one_out_error", "code_length", "held_out_cells"):
        found[measure] = lambda X, measure=measure: getattr(evaluate, measure)(model, X)
    return found


@pytest.mark.parametrize("kind", ["pandas", "polars", "csv"])
def test_no_verb_guesses_again(kind, tmp_path):
    """A table whose columns have one value each, which a look would leave out, is read by the coding of the fit."""
    frame = survey()
    fitted(frame).save(tmp_path / "m.hb")
    same = frame.head(4).assign(smokes="yes", rated=2.0, color="blue", age=50.0, bit=1.0)
    wrong = same.assign(smokes=["yes", "yes", "maybe", "no"])
    bits = open_table(np.array([[1, 1, 1, 0, 0, 1, 1]] * 4), names=load(tmp_path / "m.hb").feature_names_in_)
    for name in methods(load(tmp_path / "m.hb")):
        model, plain = load(tmp_path / "m.hb"), load(tmp_path / "m.hb")
        given = methods(model)[name](as_kind(same, kind, tmp_path))
        assert model.coding_ == plain.coding_
        if name not in ("complete", "held_out_cells", "partial_fit"):
            np.testing.assert_array_equal(np.asarray(given), np.asarray(methods(plain)[name](bits)), err_msg=name)
        with pytest.raises(TableError, match=r"row 2, column 'smokes': 'maybe' is not among the values of the fit"):
            methods(model)[name](as_kind(wrong, kind, tmp_path))


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "csv"])
def test_drawn_rows_are_in_own_values(kind, tmp_path):
    model = fitted(as_kind(survey(), kind, tmp_path))
    drawn = model.sample(300, random_state=1)
    if kind != "csv":
        assert type(drawn) is type(as_kind(survey(), kind, tmp_path))
    frame = pd.DataFrame(drawn) if kind == "csv" else drawn if kind == "pandas" else drawn.to_pandas()
    assert list(frame.columns) == COLUMNS[1:]
    own = {"smokes": {"yes", "no"}, "rated": {1, 2}, "color": {"red", "green", "blue"}, "bit": {0, 1}}
    for name, values in own.items():
        assert set(frame[name]) == values
    assert set(frame["age"]) == {"<= 40", "> 40"}
    again = frame.assign(age=np.where(frame["age"] == "> 40", 50, 30))
    assert np.isfinite(model.score(again))  # the model reads what it draws
    bits = quietly(open_table, again, recode=model).to_float()
    plain = load_plain(model, tmp_path).sample(300, random_state=1)
    others = [j for j, name in enumerate(model.feature_names_in_) if not name.startswith("color=")]
    np.testing.assert_array_equal(bits[:, others], plain[:, others])


def load_plain(model, folder):
    """Return the same model without its coding: what it draws are bits."""
    model.save(folder / "plain.hb")
    plain = load(folder / "plain.hb")
    plain.coding_ = None
    return plain


def test_a_draw_has_one_value_of_each_column(tmp_path):
    """Of several bits, or none, the most probable value is taken: against P(bit | the rest) of all rows, one by one."""
    model = fitted(survey())
    drawn = model.sample(400, random_state=2)["color"]
    bits = load_plain(model, tmp_path).sample(400, random_state=2).astype(float)
    names = list(model.feature_names_in_)
    place = [names.index(f"color={value}") for value in model.coding_.columns[2].ones]
    seen = set()
    for row, value in zip(bits, drawn, strict=True):
        on = [k for k in place if row[k]]
        seen.add(len(on))
        if len(on) != 1:
            hidden = row.copy()
            hidden[place] = np.nan
            p = model.complete(open_table(hidden[None], names=names))[0]
            on = [max(on or place, key=lambda k: p[k])]
        assert value == names[on[0]].removeprefix("color=")
    assert seen >= {0, 1, 2}


def check_completed(columns, frame):
    """All columns in their order, what was seen as it was, blanks in own values, bits as P(bit = 1)."""
    assert list(columns) == COLUMNS
    seen = frame.notna()
    for name in ("who", "smokes", "color"):
        assert [v for v, there in zip(columns[name], seen[name], strict=True) if there] == list(frame[name].dropna())
    for name in ("rated", "age", "bit"):
        numbers = [float(v) for v, there in zip(columns[name], seen[name], strict=True) if there]
        assert numbers == list(frame[name].dropna())
    assert {columns["smokes"][i] for i in (3, 9)} <= {"yes", "no"}
    assert {float(columns["rated"][i]) for i in (4, 9)} <= {1.0, 2.0}
    assert {columns["color"][i] for i in (5, 9)} <= {"red", "green", "blue"}
    assert {columns["age"][i] for i in (6, 9)} <= {"<= 40", "> 40"}
    assert all(0 < float(columns["bit"][i]) < 1 for i in (7, 9))


@pytest.mark.parametrize("kind", ["pandas", "polars", "csv"])
def test_completed_rows_are_in_own_values(kind, tmp_path):
    frame = survey()
    model = fitted(frame)
    done = model.complete(as_kind(frame, kind, tmp_path))
    columns = done if kind == "csv" else {name: list(done[name]) for name in done.columns}
    check_completed(columns, frame)


def test_written_files_have_own_values_and_ids(tmp_path, monkeypatch):
    pq = pytest.importorskip("pyarrow.parquet")
    import hiddenbits.families._base.write_results as parquet_output

    monkeypatch.setattr(parquet_output, "FILE_BYTES", 8 * 7 * 25)  # several files
    frame = survey()
    model = fitted(frame)
    folder = write_results(model, "complete", frame, tmp_path / "full.parquet")
    assert len(list(folder.iterdir())) == 3
    check_completed(pq.read_table(folder).to_pydict(), frame)
    written = pq.read_table(write_results(model, "transform", frame, tmp_path / "codes.parquet"))
    assert written.column_names == ["who", *model.get_feature_names_out()]
    assert written["who"].to_pylist() == list(frame["who"])
    np.testing.assert_array_equal(written[written.column_names[1]].to_numpy(), model.transform(frame)[:, 0])


def test_a_first_partial_fit_codes(tmp_path):
    model = LatentClassAnalysis(2, n_init=1, random_state=0)
    quietly(model.partial_fit, quietly(open_table, survey(), **CODE))
    before = model.coding_
    model.partial_fit(as_kind(survey(seed=1), "csv", tmp_path))
    assert model.coding_ is before
    assert hiddenbits.open_table(survey(), recode=model).coding.columns == before.columns
    assert model.score(survey()) == model.score(as_kind(survey(), "csv", tmp_path))


def test_arrays_are_read_by_the_coding_of_their_fit():
    X = np.where(np.random.default_rng(0).random((50, 3)) < 0.2, -99, np.random.default_rng(1).integers(0, 2, (50, 3)))
    model = LatentClassAnalysis(2, n_init=1, random_state=0).fit(open_table(X, missing=[-99]))
    assert model.score(X) == model.score(np.where(X == -99, np.nan, X))
