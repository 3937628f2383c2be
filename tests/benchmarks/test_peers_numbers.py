"""Continuous columns beside scikit-learn's GaussianMixture from the same start; what has no peer, in closed form."""

import numpy as np
import pytest

from hiddenbits import LatentClassAnalysis

pytest.importorskip("pandas")
numbers = pytest.importorskip("benchmarks.peers.numbers")

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # a start has one pass

TIED = {"column_types": "continuous", "covariance_type": "tied_diag", "prior_strength": 0, "random_state": 0}


@pytest.mark.parametrize("covariance_type", numbers.KINDS)
def test_the_same_start_leads_to_the_same_likelihood(covariance_type):
    """At the start to rounding; at the end within 1e-6 nats a row, as extrapolated EM stops elsewhere than plain EM."""
    start = numbers.real("iris")
    mine = numbers.begun(start, covariance_type, max_iter=numbers.PASSES)
    path, _ = numbers.gaussian_mixture(start, covariance_type, numbers.PASSES)
    assert mine.score(start.table) == pytest.approx(path[0], abs=1e-12)
    fitted = mine._refit(start.table)
    assert numbers.smallest(fitted) > 1e-3  # far from the floor
    assert fitted.score(start.table) == pytest.approx(path[-1], abs=1e-6)


@pytest.mark.parametrize("n_classes", [1, 3])
def test_tied_variances_of_known_classes(n_classes):
    """Of one class, and of classes so far apart that the posterior of each row is 0 or 1 to rounding."""
    rng = np.random.default_rng(1)
    labels = np.concatenate([np.arange(n_classes), rng.choice(n_classes, 120)])
    X = rng.normal(100.0 * labels[:, None], [1.0, 3.0, 0.2])
    model = LatentClassAnalysis(n_classes, **TIED).fit(X)
    order = np.argsort(model.means_[:, 0])
    means = np.stack([X[labels == k].mean(axis=0) for k in range(n_classes)])
    pooled = ((X - means[labels]) ** 2).mean(axis=0)
    np.testing.assert_allclose(model.weights_[order], np.bincount(labels) / len(X), rtol=1e-10)
    np.testing.assert_allclose(model.means_[order], means, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.covariances_, np.tile(pooled, (n_classes, 1)), rtol=1e-8)


def test_a_step_of_tied_variances():
    """One EM step from a start whose posteriors are between 0 and 1, by its definition."""
    start = numbers.real("iris")
    X = start.table
    model = numbers.begun(start, max_iter=1)
    sd, means = np.sqrt(model.covariances_), model.means_
    model.set_params(covariance_type="tied_diag")
    logs = np.log(model.weights_) - (((X[:, None] - means) / sd) ** 2 / 2.0 + np.log(sd)).sum(axis=2)
    r = np.exp(logs - logs.max(axis=1, keepdims=True))
    r /= r.sum(axis=1, keepdims=True)
    assert ((r > 0.1) & (r < 0.9)).any(axis=1).mean() > 0.5
    new = (r.T @ X) / r.sum(axis=0)[:, None]
    pooled = (r[:, :, None] * (X[:, None] - new) ** 2).sum(axis=(0, 1)) / len(X)
    family, table = model._model(), numbers.open_table(X, column_types="continuous")
    (block,) = table.grid(len(X)).blocks
    params = family.update(model._params, family.expect(model._params, model._params.scores, block, None, None)[0])
    np.testing.assert_allclose(params.original_means.T, new, rtol=1e-12)
    np.testing.assert_allclose(params.original_covariances[:, 0], np.tile(pooled[:, None], (1, 3)), rtol=1e-12)
