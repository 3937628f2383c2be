"""Usage of causes, against posteriors by enumeration and against what was simulated."""

import numpy as np
import pytest

from hiddenbits import CombinationMachine, LatentClassAnalysis, NoisyOrNetwork, diagnostics


def rows_of_causes(seed, n=2_000):
    rng = np.random.default_rng(seed)
    on = rng.random((n, 3)) < [0.2, 0.3, 0.5]
    strengths = np.kron(np.eye(3), np.full((1, 4), 0.8))
    return on, (rng.random((n, 12)) > 0.98 * np.exp(on @ np.log1p(-strengths))).astype(int)


@pytest.mark.parametrize("seed", range(3))
def test_usage_is_that_of_the_simulated_causes(seed):
    """Shares of 2,000 rows, whose standard errors are about 0.01; four bits leave a few rows unsure."""
    on, X = rows_of_causes(seed)
    model = NoisyOrNetwork(3, method="exact", random_state=0).fit(X)
    found = diagnostics.cause_usage(model, X)
    order = np.argsort(found["posterior"])
    np.testing.assert_allclose(found["posterior"][order], on.mean(axis=0), atol=0.03)
    np.testing.assert_allclose(found["present"][order], on.mean(axis=0), atol=0.04)
    np.testing.assert_allclose(found["prior"], found["posterior"], atol=0.02)  # at the maximum, but for the prior
    assert (found["unsure"] < 0.2).all()


def test_by_the_posteriors_of_rows():
    pd = pytest.importorskip("pandas")
    _, X = rows_of_causes(0, n=200)
    weights = np.random.default_rng(1).random(200)
    for model in (NoisyOrNetwork(2, method="exact", random_state=0), CombinationMachine(2, random_state=0)):
        p = model.fit(X).transform(X)
        found = diagnostics.cause_usage(model, pd.DataFrame(X), sample_weight=weights)
        share = weights / weights.sum()
        np.testing.assert_allclose(found["posterior"], share @ p, rtol=1e-10)
        np.testing.assert_allclose(found["present"], share @ (p > 0.5), rtol=1e-10)
        np.testing.assert_allclose(found["unsure"], share @ ((p > 0.1) & (p < 0.9)), rtol=1e-10)
        assert list(found["cause"]) == list(model.get_feature_names_out())
    assert np.isnan(found["prior"]).all()  # of a machine


def test_refused():
    with pytest.raises(ValueError, match="model with causes, such as NoisyOrNetwork; LatentClassAnalysis has none"):
        diagnostics.cause_usage(LatentClassAnalysis(2, random_state=0).fit(np.eye(4)), np.eye(4))
