"""The table of truncated states, and the shares of rows with few causes on, against plain enumeration."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from hiddenbits.families.binary_sparse_coding.truncated_posterior import active_shares, count_states, truncation

pytestmark = pytest.mark.core


@pytest.mark.parametrize(("c", "gamma"), [(1, 1), (4, 3), (5, 3), (6, 6), (8, 5), (3, 1)])
def test_states_and_their_log_weights(c, gamma):
    rng = np.random.default_rng([c, gamma])
    found = truncation(c, gamma)
    every = [s for s in product((0.0, 1.0), repeat=c) if sum(s) <= gamma]
    assert {tuple(s) for s in found.states} == set(every)
    assert found.n_states == len(every) == count_states(c, gamma)
    assert not found.states[0].any()
    alone, between = rng.standard_normal(c), rng.standard_normal((c, c))
    features = np.concatenate([alone, between[found.first, found.second]])
    want = [
        s @ alone + sum(s[i] * s[j] * between[i, j] for i in range(c) for j in range(i + 1, c)) for s in found.states
    ]
    np.testing.assert_allclose(found.table @ features, want, rtol=0, atol=1e-12)


def test_too_many_states_are_refused():
    with pytest.raises(ValueError, match="Use a smaller n_candidates or max_active"):
        truncation(30, 15)


@pytest.mark.parametrize("seed", range(3))
def test_shares_of_active_causes(seed):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.05, 0.9, 7)
    states = np.array(list(product((0, 1), repeat=7)))
    weights = np.prod(np.where(states == 1, p, 1 - p), axis=1)
    want = [weights[states.sum(axis=1) == k].sum() for k in range(5)]
    np.testing.assert_allclose(active_shares(p, 4), want, rtol=1e-13)
    np.testing.assert_allclose(active_shares(np.full(700, 0.0107), 8), binom.pmf(np.arange(9), 700, 0.0107), rtol=1e-10)
