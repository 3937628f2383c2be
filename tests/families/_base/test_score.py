"""`score` adds up over blocks: the weighed mean of `score_samples`, without keeping the answers of all rows."""

import numpy as np
import pytest

from hiddenbits import LatentClassAnalysis, open_table, run_on
from hiddenbits.datasets import simulate_mixture

pytestmark = pytest.mark.core


@pytest.mark.parametrize("seed", range(3))
def test_score_is_the_weighed_mean(seed, monkeypatch):
    X, rng = simulate_mixture(3000, 8, 2, random_state=seed).X, np.random.default_rng(seed)
    model = LatentClassAnalysis(2, n_init=1, random_state=seed).fit(X)
    weights = rng.random(len(X))
    each = model.score_samples(X)
    monkeypatch.setattr(LatentClassAnalysis, "_height", lambda *_: 256)  # several blocks
    # Sums in another order: a few roundings of numbers of about 5.
    assert model.score(X, sample_weight=weights) == pytest.approx(np.average(each, weights=weights), rel=1e-14)
    assert model.score(open_table(X)) == pytest.approx(each.mean(), rel=1e-14)
    with run_on(n_jobs=3):
        threads = model.score(X, sample_weight=weights)
    assert threads == model.score(X, sample_weight=weights)
