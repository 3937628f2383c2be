"""The worked example of docs/add_a_model.md, against enumeration and on rows whose truth is known."""

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import logsumexp

from tests.families.worked_model.silent_rows import SilentParams, SilentRowsMixture


def rows(seed, n=3000, missing=0.0):
    rng = np.random.default_rng(seed)
    truth = SilentParams(np.array([0.4, 0.6]), np.array([0.3, 0.5, 0.2, 0.7, 0.4]))
    x, h = SilentRowsMixture()._model().sample(truth, n, rng)
    X = x.astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    return truth, X, h


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_truth_is_found(seed):
    """With 3,000 rows the standard errors are about .01 (pi) and .012 (theta): five of them are allowed."""
    truth, X, h = rows(seed, missing=0.1)
    fit = SilentRowsMixture(random_state=seed).fit(X)
    assert fit.converged_
    np.testing.assert_allclose(fit.weights_, truth.weights, atol=0.05)
    np.testing.assert_allclose(fit.probabilities_, truth.probabilities, atol=0.06)
    assert np.mean(fit.posterior_mode(X) == h) > 0.85
    assert np.all(np.diff(fit.trace_) > -1e-8)


def test_the_likelihood_is_the_sum_of_the_definition():
    _, X, _ = rows(0, 200)
    fit = SilentRowsMixture(random_state=0).fit(X)
    model, params = fit._model(), fit._params
    states = model.hidden_states(params)
    by_definition = [logsumexp([model.log_joint(params, x, h) for h in states]) for x in X]
    np.testing.assert_allclose(fit.score_samples(X), by_definition, rtol=1e-12)
    every = np.array(list(itertools.product([0, 1], repeat=X.shape[1])))
    assert np.exp(fit.score_samples(every)).sum() == pytest.approx(1.0, abs=1e-12)


def test_a_sparse_table_gives_the_same_fit():
    _, X, _ = rows(0)
    dense, sparse = (SilentRowsMixture(random_state=0).fit(table) for table in (X, csr_array(X)))
    np.testing.assert_allclose(dense.probabilities_, sparse.probabilities_, rtol=1e-9)
