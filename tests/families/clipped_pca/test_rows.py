"""Clipped PCA's row functions against integration, on its grid and by expectation propagation."""

import numpy as np
import pytest

from hiddenbits.families.clipped_pca.model import Clipped
from hiddenbits.maths.packed_symmetric import unpack
from tests.families.clipped_pca.clipped_data import one_block, probit_params, rows_from, with_blanks
from tests.oracle.integration import ProbitPlane

pytestmark = pytest.mark.core


class Sampling(Clipped):
    """As if no grid were small enough."""

    def rule(self, params):
        return None


def setting(q, seed, d=8, n=6, high=0.9):
    params = probit_params(d, q, seed, high=high)
    rows = with_blanks(rows_from(params, n, seed), 0.2, seed)
    return params, rows, ProbitPlane(params.loadings, params.biases, step=0.02 if q == 1 else 0.1)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("q", [1, 2])
def test_on_a_grid_all_is_exact(q, seed):
    params, rows, truth = setting(q, seed)
    model, block = Clipped(q), one_block(rows)
    assert model.rule(params) is not None
    likelihood = model.likelihood_and_error(params, None, block)
    np.testing.assert_allclose(likelihood[:, 0], [truth.log_likelihood(row) for row in rows], atol=1e-8)
    assert not likelihood[:, 1].any()
    moments = model.posterior_moments(params, None, block)
    means, covariances = zip(*(truth.moments(row) for row in rows), strict=True)
    np.testing.assert_allclose(moments[:, :q], means, atol=1e-7)
    np.testing.assert_allclose(unpack(moments[:, q:], q), covariances, atol=1e-7)
    np.testing.assert_allclose(model.fill(params, None, block), [truth.conditional(row) for row in rows], atol=1e-8)
    left_out = [truth.leave_one_out(row) for row in rows]
    np.testing.assert_allclose(model.leave_one_out(params, None, block), left_out, atol=1e-8)


@pytest.mark.parametrize("seed", range(2))
def test_without_a_grid(seed):
    """Guesses of expectation propagation within .015 of the truth, likelihoods within 4.5 standard errors, 40 rows."""
    params, rows, truth = setting(2, seed, d=12, n=40, high=0.6)
    model, block = Sampling(2), one_block(rows)
    np.testing.assert_allclose(model.fill(params, None, block), [truth.conditional(row) for row in rows], atol=0.015)
    left_out = [truth.leave_one_out(row) for row in rows[:5]]
    np.testing.assert_allclose(model.leave_one_out(params, None, block)[:5], left_out, atol=0.015)
    likelihood, error = model.likelihood_and_error(params, None, block).T
    away = (likelihood - [truth.log_likelihood(row) for row in rows]) / error
    assert (error > 0).all()
    assert error.max() < 0.05
    assert np.abs(away).max() < 4.5
    assert 0.5 < np.sqrt((away**2).mean()) < 1.5


def test_codes_are_tops():
    params, rows, _ = setting(2, 3)
    model = Clipped(2)
    codes = model.posterior_mode(params, None, one_block(rows))
    for row, top in zip(rows, codes, strict=True):
        seen = ~np.isnan(row)
        part = type(params)(*(getattr(params, name)[seen] for name in ("loadings", "biases")), *[np.zeros(0)] * 4)

        def height(y, part=part, bits=row[seen]):
            return model.log_joint(part, bits, y)

        for step in np.array([[1e-4, 0], [0, 1e-4]]):
            assert (height(top + step) - height(top - step)) / 2e-4 == pytest.approx(0.0, abs=1e-6)


def test_reconstruction_is_the_definition():
    """P(bit = 1 | y) is how often h + w.y + noise is above 0."""
    params = probit_params(5, 2, 4)
    y = np.array([[0.3, -1.2]])
    p = Clipped(2).reconstruct(params, y)[0]
    e = np.random.default_rng(0).standard_normal((400_000, 1))
    on = (params.biases + params.loadings @ y[0] + np.sqrt(1 - (params.loadings**2).sum(axis=1)) * e > 0).mean(axis=0)
    np.testing.assert_allclose(on, p, atol=0.004)  # 5 standard errors


def test_columns_without_noise_are_steps():
    params = probit_params(4, 2, 5)
    W = params.loadings / np.sqrt((params.loadings**2).sum(axis=1))[:, None]
    hard = type(params)(W, *(getattr(params, name) for name in list(params.to_arrays())[1:]))
    model, y = Clipped(2, cap=1.0), np.random.default_rng(0).standard_normal((50, 2))
    np.testing.assert_array_equal(model.reconstruct(hard, y) > 0.5, y @ W.T + hard.biases > 0)
    with pytest.raises(ValueError, match="max_communality below 1"):
        model.log_likelihood(hard, None, one_block(np.ones((1, 4))))
