"""What a map of mixed columns says about rows, against plain integration."""

import numpy as np
import pytest

from hiddenbits.data.mixed.encode import open_mixed
from hiddenbits.families.logistic_pca.mixed.model import Mixed
from hiddenbits.families.logistic_pca.mixed.nodes import MixedNodes
from tests.families.logistic_pca.mixed.mixed_data import (
    KINDS,
    ask,
    fit,
    mixed_rows,
    model_of,
    random_params,
    small_table,
)
from tests.oracle.mixed_integration import MixedPlane

pytestmark = pytest.mark.core

TABLES = [
    ("binary",) * 3,
    ("real",) * 3,
    ("nominal",) * 2,
    ("ordered",) * 2,
    ("binary", "real", "nominal", "ordered"),
    ("nominal", "real", "real"),
]


def plane_of(model, params, step=0.05):
    return MixedPlane(params, model.sticks, model.n_real, model.levels, step)


@pytest.mark.thin(5)
@pytest.mark.parametrize("kinds", TABLES, ids="-".join)
@pytest.mark.parametrize(("q", "size"), [(1, 1.0), (1, 4.0), (2, 1.0), (2, 2.5)])
def test_answers_equal_integration_and_bound_is_below(kinds, q, size):
    table = small_table(q, kinds)
    model = model_of(table, n_components=q)
    params = random_params(np.random.default_rng(7), model, size)
    truth = plane_of(model, params, 0.02 if q == 1 else 0.05)
    rows = table.to_float()
    log_p = np.array([truth.log_likelihood(row) for row in rows])
    assert model.exact(params)
    np.testing.assert_allclose(ask(model, "log_likelihood", params, table), log_p, rtol=0, atol=1e-7)
    bound = ask(model, "bound_rows", params, table)
    assert (bound <= log_p + 1e-8).all()
    assert ask(model, "likelihood_and_error", params, table)[:, 1].max() == 0.0
    answers = np.array([truth.answers(row) for row in rows])
    np.testing.assert_allclose(ask(model, "fill", params, table), answers, rtol=0, atol=1e-7)
    moments = ask(model, "posterior_moments", params, table)
    for row, found in zip(rows, moments, strict=True):
        mean, cov = truth.moments(row)
        np.testing.assert_allclose(found[:q], mean, rtol=0, atol=1e-6)
        packed = [cov[0, 0]] if q == 1 else [cov[0, 0], np.sqrt(2) * cov[0, 1], cov[1, 1]]
        np.testing.assert_allclose(found[q:], packed, rtol=0, atol=1e-6)


@pytest.mark.full
def test_precise_reals_need_no_fine_grid():
    """Noise of a hundredth: posteriors are narrow needles, and the answers are still exact."""
    table = small_table(0, ("binary", "real", "real", "nominal"))
    model = model_of(table, n_components=2)
    params = random_params(np.random.default_rng(0), model, 1.5, noise=(0.01, 0.02))
    truth = plane_of(model, params, 0.01)
    some = table.to_float()[:6]
    assert model.exact(params)
    expected = [truth.log_likelihood(row) for row in some]
    np.testing.assert_allclose(ask(model, "log_likelihood", params, table)[:6], expected, rtol=0, atol=1e-7)


def test_log_joint_is_the_definition():
    table = small_table(1, TABLES[4])
    model = model_of(table, n_components=2)
    params = random_params(np.random.default_rng(1), model)
    truth = plane_of(model, params, 0.5)
    at = np.arange(0, len(truth.nodes), 97)
    for row in table.to_float()[1:6]:
        mine = [model.log_joint(params, row, truth.nodes[i]) for i in at]
        np.testing.assert_allclose(mine, truth.log_joint(row)[at] - 2 * np.log(0.5), rtol=0, atol=1e-10)


@pytest.mark.thin(2)
@pytest.mark.parametrize("kinds", [TABLES[4], TABLES[2]], ids="-".join)
def test_sampled_answers_are_within_their_error(kinds, monkeypatch):
    table = small_table(3, kinds, n=20)
    model = model_of(table, n_components=2, n_draws=20000)
    params = random_params(np.random.default_rng(3), model, 1.5)
    exact = {name: ask(model, name, params, table) for name in ("log_likelihood", "fill", "posterior_moments")}
    monkeypatch.setattr(MixedNodes, "rule", lambda self, params: None)
    for name, value in exact.items():
        np.testing.assert_allclose(ask(model, name, params, table), value, rtol=0, atol=0.1)
    few = ask(model_of(table, n_components=2, n_draws=300), "likelihood_and_error", params, table)
    away = (few[:, 0] - exact["log_likelihood"]) / few[:, 1]
    assert np.abs(away).max() < 4.5
    assert 0.6 < np.sqrt(np.mean(away**2)) < 1.5


def test_most_probable_code_is_a_maximum():
    table = small_table(2, TABLES[4])
    model = model_of(table, n_components=2)
    params = random_params(np.random.default_rng(2), model, 2.0)
    codes = ask(model, "code", params, table)
    for row, code in zip(table.to_float(), codes, strict=True):
        best = model.log_joint(params, row, code)
        for step in ([1e-3, 0], [-1e-3, 0], [0, 1e-3], [0, -1e-3]):
            assert model.log_joint(params, row, code + step) < best


def test_drawn_rows_have_the_model_s_margins():
    table = open_mixed(mixed_rows(0), kinds=KINDS)
    model, outcome = fit(table, n_components=2, tol=1e-4)
    drawn, codes = model.draw(outcome.params, 60_000, np.random.default_rng(0))
    np.testing.assert_allclose(codes.std(axis=0), 1.0, atol=0.02)
    answers = model.reconstruct(outcome.params, codes).mean(axis=0)
    first = 0
    for at, m in enumerate(model.sticks):
        shares = np.bincount(drawn.sticks[:, at], minlength=m + 1) / 60_000
        np.testing.assert_allclose(shares, answers[first : first + m + 1], atol=0.01)
        first += m + 1
    spread = drawn.real.std(axis=0)
    np.testing.assert_allclose(drawn.real.mean(axis=0), answers[first : first + 4], rtol=0, atol=0.02 * spread.max())
    variance = (outcome.params.loadings[model.places.reals] ** 2).sum(axis=1) + outcome.params.noise
    np.testing.assert_allclose(spread, outcome.params.scale * np.sqrt(variance), rtol=0.02)
    first += 4
    for at, K in enumerate(model.levels):
        shares = np.bincount(drawn.codes[:, at], minlength=K) / 60_000
        np.testing.assert_allclose(shares, answers[first : first + K], atol=0.01)
        first += K


def test_hyperparameters_that_do_not_fit_are_told():
    table = small_table(0, TABLES[4])
    params = random_params(np.random.default_rng(0), model_of(table, n_components=2))
    assert "dimensions" in model_of(table, n_components=3).mismatch(params)
    assert "kinds" in Mixed(2, sticks=[1, 1]).mismatch(params)
    assert params.flaw() is None
