"""One rule, one answer: the report, the command line, `compare` and `select` name the same family and size."""

import json
import re

import numpy as np
import pytest

from hiddenbits import ItemResponseModel, LatentClassAnalysis, evaluate, open_table
from hiddenbits.datasets import simulate_mixture
from hiddenbits.evaluate.row_scores import RowLogLikelihoods, gaps_to_best, simplest

pytestmark = [pytest.mark.core, pytest.mark.usefixtures("few_starts")]


@pytest.mark.parametrize(("gap", "place"), [(0.9, 1), (1.1, 0)])
def test_the_simplest_of_those_that_cannot_be_told_from_the_best(gap, place):
    """Fewer parameters win where the better is ahead by less than so many standard errors of the paired difference."""
    noise = np.random.default_rng(0).normal(size=1000)
    noise -= noise.mean()
    error = np.sqrt((noise**2).sum() * 1000 / 999) / 1000
    hard = 5.0 * np.random.default_rng(1).normal(size=1000)  # what makes rows hard for both is no matter
    for n_errors in (1.0, 2.0):
        better = RowLogLikelihoods(hard + noise + gap * n_errors * error, np.zeros(1000))
        apart = gaps_to_best([better, RowLogLikelihoods(hard, np.zeros(1000))], np.ones(1000))
        assert simplest(apart, [20, 10], n_errors) == place
        assert simplest(apart, [10, 20], n_errors) == 0
        assert simplest(apart, [10, 10], n_errors) == 0  # of equally many the first
        assert simplest(apart, [np.inf, np.inf], n_errors) == 0
        assert simplest([apart[1], apart[0], None], [10, 10, 1], n_errors) == 1 - place
    assert simplest(apart, [20, 10], 0.0) == 0
    assert simplest([None, None], [1, 2], 1.0) is None


def test_a_tie_is_said_first_and_the_simplest_is_named():
    """One estimator under two names is as good, with as many numbers."""
    X = simulate_mixture(300, 8, 2, random_state=1).X
    models = dict.fromkeys(["first", "second"], LatentClassAnalysis(2, n_init=1, random_state=0))
    found = evaluate.compare(X, models, sizes={key: [2] for key in models}, measures=(), cv=0.3)
    assert found.ties() == list(models)
    assert {entry.n_parameters for entry in found.entries} == {17}
    assert found.best == "first"  # of equally many
    assert str(found).startswith("A tie: ")
    assert found.verdict.endswith("first(2) is the simplest of them (17 free parameters).")
    assert found._repr_html_().startswith("<p>A tie: ")
    assert "first *" in str(found)
    alone = evaluate.compare(
        X, ["IndependentColumns", "LatentClassAnalysis"], sizes={"LatentClassAnalysis": [2]}, measures=()
    )
    assert alone.verdict == "LatentClassAnalysis(2) fits best."
    assert (alone.best, alone.size, alone.ties()) == ("LatentClassAnalysis", "2", ["LatentClassAnalysis"])


@pytest.mark.parametrize("by", ["rows", "bic"])
def test_the_best_line_is_no_difference_with_an_error_of_zero(by):
    """It is what the others are compared with; a tied line with the same scores has an error that rounds to 0."""
    X = simulate_mixture(300, 8, 2, random_state=1).X
    same = LatentClassAnalysis(2, n_init=1, random_state=0)
    of_no_classes = ItemResponseModel(tol=1e-4, random_state=0)  # classes have another table by BIC
    chosen = evaluate.select(of_no_classes if by == "bic" else same, X, [1, 2], by=by, cv=0.3)
    found = evaluate.compare(X, {"a": same, "b": same}, sizes={"a": [], "b": []}, measures=(), cv=0.3)
    for result, best in ((chosen, "best"), (found, "highest")):
        _, head, lines, _ = result._shown()  # what text and HTML are made of
        cells = [line[head.index("below the highest" if best == "highest" else "from the best")] for line in lines]
        assert cells.count(best) == 1
        others = [cell for cell in cells if cell != best]
        assert others
        assert not any(re.search(r"± -?0\.0+(?!\d)|^-?0\.0+$", cell) for cell in others), others
    assert "0.000 ± <0.001 (tied)" in str(found)
    assert "<td>best</td>" in chosen._repr_html_()
    assert "<td>highest</td>" in found._repr_html_()


def small_table(name, request):
    rng = np.random.default_rng(5)
    if name == "classes":
        return simulate_mixture(150, 8, 2, random_state=5).X
    if name == "noise":
        return rng.random((200, 8)) < rng.uniform(0.2, 0.8, 8)
    return open_table(request.getfixturevalue("real_data") / "survey" / f"{name}.csv", columns="binary").to_float()


@pytest.mark.thin(3)
@pytest.mark.parametrize("name", ["classes", "noise", "carcinoma"])
def test_report_command_line_compare_and_select_give_one_answer(name, tmp_path, monkeypatch, request, short):
    """Ten real tables with all families: experiments/which_picture at commit b1584a4."""
    if short and name != "classes":
        pytest.skip("one table is enough in a short run")
    pytest.importorskip("typer")
    pytest.importorskip("rich")
    pytest.importorskip("jinja2")
    from typer.testing import CliRunner

    from hiddenbits import report
    from hiddenbits.cli.app import app
    from hiddenbits.reporting import comparison, fits

    X = small_table(name, request)
    models = ["IndependentColumns", "LatentClassAnalysis", "ClippedPCA"]
    names = ",".join(f"q{j}" for j in range(X.shape[1]))
    np.savetxt(tmp_path / "table.csv", X, "%d", ",", header=names, comments="")
    found = evaluate.compare(X, models, measures=())
    words = [word for model in models for word in ("--model", model)]
    done = CliRunner().invoke(app, ["compare", str(tmp_path / "table.csv"), "--json", *words])
    told = json.loads(done.stdout)
    assert (told["best"], told["size"], told["verdict"]) == (found.best, found.size, found.verdict)
    for model in models[1:]:
        assert str(evaluate.select(model, X).size) == found.entry(model).size
    monkeypatch.setattr(fits, "MODELS", models)
    page = report(open_table(X)).html
    if name == "noise":
        assert found.best == "IndependentColumns"
        assert "other models predicts unseen rows clearly better than “nothing hidden”" in page
        return
    words = f"“{comparison.label(found.best)}” ({comparison.sized(found.best, found.size)})"
    assert words in re.sub(r"</?bdi>", "", page)
    made = f"hiddenbits.{found.best}(n_components={found.size}, random_state=0).fit(table)"
    assert made.replace("n_components=2, ", "") + ".score_samples" in page  # odd rows go by it; 2 is the default
