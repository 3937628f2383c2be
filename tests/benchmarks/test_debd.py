"""The benchmark's machinery on a small table: no fit is made twice, `test` is scored once, choices are on `valid`."""

from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.debd import choices, fits, page, published, recipes

from hiddenbits.datasets import simulate_mixture

pytestmark = pytest.mark.core


@pytest.fixture
def small(tmp_path, monkeypatch):
    X = simulate_mixture(900, 12, 4, seed=0).X
    splits = SimpleNamespace(train=X[:500], valid=X[500:700], test=X[700:])
    for module in (fits, choices):
        monkeypatch.setattr(module, "load_debd", lambda name: splits)
    monkeypatch.setattr(fits, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(choices, "RESULTS", tmp_path / "results")
    return splits


def test_fits_are_kept_and_test_is_scored_once(small, monkeypatch):
    members = recipes.quick()
    finished = [fits.run("small", member) for member in members]
    monkeypatch.setattr(fits.Member, "estimator", lambda self: pytest.fail("a kept fit was made again"))
    assert [fits.run("small", member).record() for member in members] == [fit.record() for fit in finished]
    for fit in finished:
        np.testing.assert_array_equal(fit.model().score_samples(small.valid), fit.valid())
    report = choices.choose("small", finished)
    best = max(fit.record()["valid"] for fit in finished if fit.member.family == "BernoulliMixture")
    assert report["singles"]["BernoulliMixture"]["valid"] == best
    assert "test" not in report
    scored = choices.test("small", finished)["test"]
    assert scored["likelihood"] == "exact"
    small.test = None  # must not be looked at again
    assert choices.test("small", finished)["test"] == scored


def test_the_mixture_is_scored_on_rows_its_weights_have_not_seen():
    """Members that know nothing seem to gain when scored on the very rows that their weights were fitted to."""
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((400, 60))  # 60 members, none of which knows anything
    fair = choices.crossed(noise, 1.0)
    w, _ = choices.fit_weights(noise, np.ones(400), 1.0)
    assert choices.pool(noise, w)[0].mean() > fair + 0.01


@pytest.mark.parametrize("name", recipes.NAMES)
def test_recipes_name_each_fit_once(name):
    members = recipes.members(name)
    keys = [member.key for member in members]
    assert len(set(keys)) == len(keys)
    for member in members:
        member.estimator()._validate_params()
    assert set(published.PUBLISHED[name]) >= {"independent bits", "Chow-Liu", "Prometheus"}


def test_all_tables_are_there():
    assert len(recipes.NAMES) == 20
    assert set(recipes.NAMES) == set(published.PUBLISHED)
    assert published.best("jester") == ("LearnPSDD", -51.29)
    assert "LearnSPN" not in published.PUBLISHED["jester"]


def test_ahead_means_by_more_than_a_hundredth():
    reports = {
        "nltcs": {"test": {"ensemble": -5.985, "likelihood": "exact"}},  # .005 above the best figure
        "dna": {"test": {"ensemble": -80.0, "likelihood": "exact"}},
        "ad": {"test": {"ensemble": -10.0, "likelihood": "estimate"}},  # estimates are no wins
    }
    lines = page.counts(reports).splitlines()
    assert lines[-1] == "| the best of them, table by table | 1 of 3 |"
    assert lines[2] == "| independent bits | 2 of 3 |"
