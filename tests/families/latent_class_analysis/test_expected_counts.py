"""Several sites fit one mixture by exchanging expected counts: the same steps as EM over all rows."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from hiddenbits import LatentClassAnalysis, load
from hiddenbits.datasets import simulate_mixture

pytestmark = pytest.mark.core


def total(parts):
    return {name: sum(part[name] for part in parts) for name in parts[0]}


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(3))
def test_totals_of_sites_make_the_steps_of_all_rows(seed, missing, tmp_path):
    """Sums in another order differ by rounding: 1e-10 of the objective after ten steps."""
    X = simulate_mixture(300, 8, 3, seed=seed).X.astype(float)
    X[np.random.default_rng(seed).random(X.shape) < missing] = np.nan
    weight = 1.0 + np.arange(300) % 3
    settings = {"prior_strength": 0, "n_init": 1, "accelerate": False, "tol": 0.0, "random_state": seed}
    with pytest.warns(ConvergenceWarning):
        start = LatentClassAnalysis(3, max_iter=1, **settings).fit(X, sample_weight=weight)
    shared, whole = clone(start), start
    for name, value in vars(start).items():
        setattr(shared, name, value)
    for _ in range(10):
        sites = [shared.expected_counts(X[a:b], weight[a:b]) for a, b in ((0, 50), (50, 170), (170, 300))]
        shared.maximize(total(sites))
    with pytest.warns(ConvergenceWarning):
        whole = LatentClassAnalysis(3, max_iter=11, **settings).fit(X, sample_weight=weight)
    np.testing.assert_allclose(shared.trace_, whole.trace_, rtol=1e-10)
    np.testing.assert_allclose(shared.probabilities_, whole.probabilities_, atol=1e-9)
    assert (shared.stop_reason_, shared.converged_, shared.n_iter_) == ("max_iter", False, 11)
    shared.save(tmp_path / "m.hb")
    np.testing.assert_array_equal(load(tmp_path / "m.hb").weights_, shared.weights_)


def test_what_is_no_total_of_counts_is_refused():
    model = LatentClassAnalysis(2, random_state=0).fit(simulate_mixture(100, 5, 2, seed=0).X)
    counts, before = model.expected_counts(simulate_mixture(100, 5, 2, seed=1).X), model.params_
    with pytest.raises(ValueError, match="counts must have bound, classes, observed, ones, weight"):
        model.maximize({name: array for name, array in counts.items() if name != "ones"})
    with pytest.raises(ValueError, match="not counts: counts must be what expected_counts returns"):
        model.maximize(counts | {"ones": 10.0 * counts["ones"]})
    with pytest.raises(ValueError, match="wrong shapes"):
        model.maximize(counts | {"ones": counts["ones"][:2]})
    assert model.params_ is before
