"""What fitted estimators show of themselves: numbers recomputed from the parameters, and what a notebook gets."""

import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import hiddenbits
from hiddenbits import (
    BinarySparseCoding,
    ClippedPCA,
    CombinationMachine,
    HiddenTree,
    IndependentColumns,
    ItemResponseModel,
    LatentClassAnalysis,
    LogisticPCA,
    NoisyOrNetwork,
    TopographicMap,
    TreeMixture,
    diagnostics,
)
from hiddenbits.datasets import simulate_mixture
from hiddenbits.display import Summary, SummaryTable

pandas = pytest.importorskip("pandas", reason="a frame of the tests is pandas'")

NAMES = tuple("abcdef")


@pytest.fixture(scope="module")
def rows():
    X = simulate_mixture(300, 6, 2, random_state=0).X.astype(float)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return pandas.DataFrame(X, columns=list(NAMES))


def numbers(model, name):
    """Return a table of a summary without its first column, as numbers."""
    frame = model.summary().tables[name]
    return frame[[column for column in frame.columns[1:] if frame[column].dtype.kind == "f"]].to_numpy()


def test_profiles_are_the_parameters(rows):
    model = LatentClassAnalysis(2, random_state=0).fit(rows)
    tables = model.summary().tables
    assert list(tables) == ["classes", "profiles"]
    assert tables["profiles"]["column"].tolist() == list(NAMES)
    assert tables["profiles"].columns.tolist() == ["column", "class_1", "class_2"]
    assert np.array_equal(numbers(model, "profiles"), model.probabilities_.T)
    assert np.array_equal(tables["classes"]["share"], model.weights_)


def test_the_story_has_the_score_next_to_that_of_independent_columns(rows):
    model = LatentClassAnalysis(2, prior_strength=0, n_init=2, tol=1e-9, random_state=0).fit(rows)
    story = model.summary().story
    assert story["rows"] == "300 x 6 columns"
    assert (
        story["iterations"]
        == f"{model.n_iter_}, in the best of 2 restarts; {model._n_agreeing} of them reached this maximum"
    )
    assert story["stop"] == "converged"
    independent = IndependentColumns(prior_strength=0).fit(rows).score(rows)
    assert story["score"] == (
        f"{model.score(rows):.4f} nats per row (log-likelihood plus log prior); independent columns {independent:.4f}"
    )
    assert "warning" not in story


@pytest.mark.parametrize(
    "model",
    [
        LatentClassAnalysis(2, prior_strength=0, tol=1e-10, n_init=1, random_state=0),
        ItemResponseModel(tol=1e-10, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_fit_of_maximum_likelihood_has_the_line_of_a_paper(rows, model):
    fit = diagnostics.fit_statistics(model.fit(rows), rows)
    assert model.summary().story["fit"] == (
        f"log-likelihood {fit.log_likelihood:,.2f}; {fit.n_parameters} parameters; AIC {fit.aic:,.2f}; "
        f"BIC {fit.bic:,.2f}; adjusted BIC {fit.sabic:,.2f}"
    )
    with_prior = {"prior_strength": 1.0} if isinstance(model, LatentClassAnalysis) else {"guessing": True}
    assert "fit" not in clone(model).set_params(**with_prior).fit(rows).summary().story


def test_weights_count_as_rows(rows):
    twice = LatentClassAnalysis(1, prior_strength=0, random_state=0).fit(rows, sample_weight=np.full(300, 2.0))
    once = LatentClassAnalysis(1, prior_strength=0, random_state=0).fit(rows)
    assert twice.summary().story["rows"] == "600 x 6 columns"
    assert twice.summary().story["score"] == once.summary().story["score"]


def test_a_warning_of_the_fit_stays_in_its_story(rows, tmp_path):
    model = LatentClassAnalysis(2, max_iter=2, n_init=1, tol=0, random_state=0)
    with pytest.warns(ConvergenceWarning, match="Increase max_iter or tol") as said:
        model.fit(rows)
    assert model.summary().story["warning"] == str(said[0].message)
    assert model.summary().story["stop"] == "stopped at max_iter"
    model.save(tmp_path / "model.hb")
    story = hiddenbits.load(tmp_path / "model.hb").summary().story
    assert story["warning"] == str(said[0].message)
    assert "independent" not in story["score"]  # a file does not keep the column counts


def test_items_of_a_scale(rows):
    model = LogisticPCA(1, random_state=0).fit(rows)
    items = model.summary().tables["items"]
    a, b = model.components_[0], model.intercepts_
    assert np.array_equal(items["discrimination"], a)
    assert np.allclose(b + a * items["difficulty"], 0.0, atol=1e-12)
    assert np.allclose(model.inverse_transform(items["difficulty"].to_numpy()[:, None]).diagonal(), 0.5)
    with pytest.raises(KeyError):
        model.summary().tables["loadings"]


def test_loadings(rows):
    model = LogisticPCA(2, random_state=0).fit(rows)
    assert np.array_equal(numbers(model, "loadings"), np.vstack([model.components_, model.intercepts_]).T)
    clipped = ClippedPCA(2).fit(rows)
    assert np.array_equal(numbers(clipped, "loadings")[:, :2], clipped.components_.T)
    spectrum = clipped.summary().tables["spectrum"]
    assert np.array_equal(spectrum["eigenvalue"], clipped.spectrum_)
    assert spectrum["share"].sum() == pytest.approx(1.0)


def test_causes(rows):
    model = NoisyOrNetwork(2, random_state=0).fit(rows)
    tables = model.summary().tables
    assert np.array_equal(numbers(model, "strengths"), np.vstack([model.strengths_, model.leaks_[0]]).T)
    best = int(model.strengths_[0].argmax())
    assert tables["causes"]["switches on"][0].startswith(f"{NAMES[best]} {model.strengths_[0, best]:.2f}")
    assert np.array_equal(tables["causes"]["on"], model.priors_)
    machine = CombinationMachine(2, n_init=1, random_state=0).fit(rows.fillna(0))
    assert np.array_equal(numbers(machine, "weights"), np.vstack([machine.weights_, machine.bias_]).T)
    low = int(machine.weights_[1].argmin())
    listed = machine.summary().tables["causes"]["switches off"][1]
    assert listed.startswith(f"{NAMES[low]} {-machine.weights_[1, low]:.2f}") == (machine.weights_[1, low] <= -0.05)


def test_layers_have_names(rows):
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = NoisyOrNetwork([2, 1], max_iter=3, n_init=1, tol=0, random_state=0).fit(rows)
    names = ["layer_1_cause_1", "layer_1_cause_2", "layer_2_cause_1"]
    assert model.get_feature_names_out().tolist() == names
    assert model.summary().tables["causes"]["cause"].tolist() == names


def test_trees(rows):
    model = TreeMixture(2, n_init=1, random_state=0).fit(rows)
    links = model.summary().tables["links"]
    assert len(links) == np.count_nonzero(model.parents_ >= 0) > 0
    for _, link in links.iterrows():
        k, j, parent = int(link["class"][-1]) - 1, NAMES.index(link["column"]), NAMES.index(link["depends on"])
        assert model.parents_[k, j] == parent
        assert (link["P(1) if it is 0"], link["P(1) if it is 1"]) == tuple(model.conditionals_[k, j])
    tree = HiddenTree(2, n_init=1, random_state=0).fit(rows)
    assert np.array_equal(numbers(tree, "tree"), tree.probabilities_)
    above = [NAMES[p] if p >= 0 else "-" for p in tree.parents_]
    assert tree.summary().tables["tree"]["depends on"].tolist() == above
    assert tree.get_feature_names_out()[:3].tolist() == ["a_state_1", "a_state_2", "b_state_1"]


def test_fields(rows):
    full = rows.fillna(0.0)
    coding = BinarySparseCoding(2, n_init=1, random_state=0).fit(full)
    assert np.array_equal(numbers(coding, "fields"), coding.components_.T)
    assert np.array_equal(coding.summary().tables["causes"]["on"], coding.activity_)
    assert "score" not in coding.summary().story


def test_long_tables_are_cut_where_they_matter_least():
    values = np.linspace(0.0, 1.0, 100)
    table = SummaryTable("Title", {"column": [f"x{j}" for j in range(100)], "number": values}, "columns", values)
    text = str(table)
    assert text.splitlines()[-1] == "... 80 more columns; shown are those that matter most"
    assert "x80 " in text
    assert "x79 " not in text
    assert len(Summary("Model", {}, {"all": table}).tables["all"]) == 100
    few = SummaryTable("Title", {"column": ["a"], **{f"c{k}": [1.0] for k in range(15)}}, "columns")
    assert "... and 6 more across: c9, c10, c11" in str(few)


def test_print_and_notebook_escape_names(rows):
    frame = rows.rename(columns={"a": "<script>alert(1)</script>", "b": "bell\x07"})
    summary = LatentClassAnalysis(2, random_state=0).fit(frame).summary()
    assert "bell\x07" not in repr(summary)
    assert "bell\\x07" in repr(summary)
    assert "<script>" in repr(summary)
    assert "<script>" not in summary._repr_html_()


def test_the_story_follows_scikit_learns_box(rows):
    model = LatentClassAnalysis(2, random_state=0)
    assert "hiddenbits-fit" not in model._repr_html_()
    assert "hiddenbits-fit" not in model._repr_mimebundle_()["text/html"]
    model.fit(rows)
    for shown in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert "sk-container" in shown.split('<table class="hiddenbits-fit"')[0]
        assert "independent columns" in shown
    assert "hiddenbits-fit" not in clone(model)._repr_html_()
    assert repr(model) == "LatentClassAnalysis(random_state=0)"
    with pytest.raises(NotFittedError):
        clone(model).summary()


@pytest.mark.parametrize(
    "model",
    [
        IndependentColumns(),
        LatentClassAnalysis(2, n_init=1, random_state=0),
        LogisticPCA(1, random_state=0),
        ClippedPCA(1),
        CombinationMachine(1, n_init=1, random_state=0),
        NoisyOrNetwork(1, n_init=1, random_state=0),
        HiddenTree(2, n_init=1, random_state=0),
        TreeMixture(2, n_init=1, random_state=0),
        TopographicMap(random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore:Recoded as 0 and 1", "ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_story_of_a_coded_table_says_what_1_means(model, tmp_path):
    rng = np.random.default_rng(0)
    answers = {f"q{j}": rng.choice(["Yes", "No"], 40) for j in range(4)}
    coded = pandas.DataFrame(answers | {"sex": rng.choice(["male", "female"], 40)})
    model = model.set_params(max_iter=2) if "max_iter" in model.get_params() else model
    model.fit(hiddenbits.open_table(coded))
    said = "1 means 'Yes' in 4 columns and 'male' in 'sex'."
    assert model.summary().story["coding"] == said
    assert f"coding: {said}" in repr(model.summary())
    assert "&#x27;male&#x27; in" in model._repr_html_()
    model.save(tmp_path / "model.hb")
    assert hiddenbits.load(tmp_path / "model.hb").summary().story["coding"] == said
    plain = clone(model).fit((coded == "Yes").astype(int).to_numpy())
    assert "coding" not in plain.summary().story


def test_learning_in_pieces_has_no_score(rows):
    model = LatentClassAnalysis(2, random_state=0).partial_fit(rows)
    story = model.summary().story
    assert story["stop"] == "updated in batches (partial_fit)"
    assert "score" not in story


def test_tetrachoric_correlations(rows):
    found = hiddenbits.tetrachoric(rows)
    tables = found.summary().tables
    assert np.allclose(tables["spectrum"]["eigenvalue"], np.linalg.eigvalsh(found.fit.correlation)[::-1])
    assert len(tables["pairs"]) == 15
    for _, pair in tables["pairs"].iterrows():
        assert found.correlation.loc[pair["first"], pair["second"]] == pair["correlation"]
        assert found.standard_error.loc[pair["first"], pair["second"]] == pair["standard error"]
    assert "Correlations of pairs" in repr(found.summary())


def test_excel(tmp_path):
    """Numbers are numbers, text is text, NaN is an empty cell; every line of every table is there."""
    openpyxl, calamine = pytest.importorskip("openpyxl"), pytest.importorskip("python_calamine")
    names = ["=1+1", "#N/A", "a\x07b", "long " * 30, *(f"x{j}" for j in range(100))]
    values = np.linspace(0, 1, 104)
    values[:3] = np.nan, np.inf, 1e-12
    columns = {"column": names, "share": values, "n": np.arange(104), "is on": values > 0.5}
    tables = {"all": SummaryTable("Title", columns, "columns"), "few": SummaryTable("T", {"k": ["a"]}, "classes")}
    Summary("A model", {"rows": "104", "stopped": "converged"}, tables).to_excel(tmp_path / "s.xlsx")
    book = calamine.load_workbook(tmp_path / "s.xlsx")
    assert book.sheet_names == ["fit", "all", "few"]
    fit, cells, few = (book.get_sheet_by_name(name).to_python() for name in book.sheet_names)
    assert fit == [["topic", "description"], ["model", "A model"], ["rows", "104"], ["stopped", "converged"]]
    assert cells[0] == list(columns)
    assert few == [["k"], ["a"]]
    assert [row[0] for row in cells[1:]] == ["=1+1", "#N/A", r"a\x07b", *names[3:]]
    assert [row[1] for row in cells[1:3]] == ["", "inf"]
    np.testing.assert_allclose([row[1] for row in cells[3:]], values[2:], rtol=1e-15)  # openpyxl writes 16 digits
    assert [row[2:] for row in cells[1:]] == [[j, bool(values[j] > 0.5)] for j in range(104)]
    sheet = openpyxl.load_workbook(tmp_path / "s.xlsx")["all"]
    assert sheet.freeze_panes == "B2"
    assert 5 < sheet.column_dimensions["B"].width < sheet.column_dimensions["A"].width < 70


def test_excel_of_a_fit(tmp_path):
    calamine = pytest.importorskip("python_calamine")
    pytest.importorskip("openpyxl")
    model = LatentClassAnalysis(2, random_state=0).fit(np.repeat([[1, 1, 0], [0, 0, 1]], 50, axis=0))
    model.summary().to_excel(str(tmp_path / "s.xlsx"))
    book = calamine.load_workbook(tmp_path / "s.xlsx")
    assert book.sheet_names == ["fit", "classes", "profiles"]
    profiles = book.get_sheet_by_name("profiles").to_python()
    assert profiles[0] == ["column", "class_1", "class_2"]
    np.testing.assert_allclose([row[1:] for row in profiles[1:]], model.probabilities_.T, rtol=1e-15)


def test_excel_without_openpyxl_and_of_another_name(tmp_path, monkeypatch):
    summary = Summary("A model", {}, {})
    pytest.importorskip("openpyxl")
    with pytest.raises(ValueError, match=r"\.xlsx"):
        summary.to_excel(tmp_path / "s.xls")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"hiddenbits\[tables\]"):
        summary.to_excel(tmp_path / "s.xlsx")
    assert not any(tmp_path.iterdir())
