"""The tutorials: figures on the pages agree with R's, and a fresh run of ability agrees with psych's."""

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.tutorials import page

RESULTS = Path(__file__).parents[2] / "benchmarks" / "tutorials" / "results"


def figures(name="tutorials"):
    return json.loads((RESULTS / f"{name}.json").read_text())["figures"]


@pytest.mark.parametrize("name", ["lsat", "sat12"])
def test_traits_on_the_pages_are_those_of_mirt(name):
    """Within 3% for estimates and errors, 2% for statistics of fit."""
    f = figures()[name]
    for what in ("slopes", "slope errors", "intercepts", "intercept errors"):
        assert len(f[what]["ours"]) == len(f["items"])
        assert page.relative(f[what]) < 0.03
    for what in ("s_x2", "infit", "outfit"):
        assert page.relative(f[what]) < 0.02
    assert page.relative(f["M2"]["M2"]) < 0.02
    assert f["df"]["ours"] == f["df"]["theirs"]


def test_lsat_on_the_page_is_that_of_ltm():
    assert max(map(page.relative, figures()["lsat"]["ltm"].values())) < 0.03


def test_rotations_on_the_page_are_those_of_r():
    turned = figures()["sat12"]["rotations of mirt's loadings"]
    assert set(turned) == {"varimax", "oblimin", "promax"}
    assert max(map(page.apart, turned.values())) < 1e-4


@pytest.mark.parametrize(
    ("table", "K", "fewest"),
    [*((name, K, 7) for name in ("carcinoma", "gss82") for K in "234"), ("election", "3", 100)],
)
def test_classes_on_the_page_are_those_of_polca(table, K, fewest):
    """Errors within 5% for probabilities between .02 and .98."""
    one = figures()[table]["classes"][K]
    errors = page.inner(one["profile errors"], one["profiles"])
    assert len(errors["ours"]) >= fewest
    assert page.relative(errors) < 0.05
    assert page.relative(one["share errors"]) < 0.05
    assert page.apart(one["profiles"]) < 1e-3
    assert page.apart(one["assigned"]) < 1e-9  # counts of the same rows
    assert page.apart(one["entropy"]) < 1e-4


def test_polca_says_what_it_said_in_the_reference(real_data):
    pd = pytest.importorskip("pandas")
    reference = pd.read_csv(real_data / "reference" / "gss82_lca3_poLCA.csv").set_index("what").estimate
    found = figures("classes")["polca"]["gss82, 3 classes"]
    for what, name in (("llik", "loglik"), ("bic", "bic"), ("Gsq", "Gsq")):
        assert found[what] == pytest.approx(reference[name], rel=1e-6)
    shares = [reference[f"share[{k}]"] for k in (1, 2, 3)]
    np.testing.assert_allclose(found["share"], sorted(shares, reverse=True), atol=1e-5)


def test_classes_on_the_page_are_those_of_stepmix():
    found = figures()
    for one in (*(found[name]["stepmix"] for name in ("carcinoma", "gss82")), found["sat12_classes"]):
        assert page.apart(one["log_likelihood"]) < 1e-3
        assert page.apart(one["shares"]) < 1e-2


def test_differences_are_relative_to_the_other_program():
    assert page.relative({"ours": [1.0, 2.2], "theirs": [1.0, 2.0]}) == pytest.approx(0.1)
    assert page.inner({"ours": [1, 2], "theirs": [3, 4]}, {"theirs": [0.5, 0.99]}) == {"ours": [1], "theirs": [3]}


@pytest.mark.parametrize(("factors", "close"), [(2, 1e-4), (4, 5e-4)])
def test_ability_as_psych(real_data, factors, close):
    """psych 2.2.9: minres on tetrachoric correlations, oblimin. The criterion is flat with four factors."""
    pd = pytest.importorskip("pandas")
    from hiddenbits import ClippedPCA, tetrachoric

    X, psych = pd.read_csv(real_data / "survey" / "psych_ability.csv"), figures("peers")["psych"]
    np.testing.assert_allclose(tetrachoric(X).correlation, psych["correlations"], atol=1e-4)
    target = np.array(psych[f"oblimin_{factors}"])
    found = ClippedPCA(factors, factor_steps=2000, random_state=0).fit(X).rotate("oblimin").aligned(target)
    np.testing.assert_allclose(found.loadings, target, atol=close)
    np.testing.assert_allclose(found.correlations, psych[f"phi_{factors}"], atol=close)
