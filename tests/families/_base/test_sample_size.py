"""A sample that does not fit in memory is refused at once, with the number of bytes, by every estimator."""

import time
import tracemalloc

import numpy as np
import pytest

from hiddenbits import BinarySparseCoding, Chains, ClippedPCA, CombinationMachine, IndependentColumns, open_table
from hiddenbits.families._base.sizes import available_memory
from hiddenbits.families.registry import ESTIMATORS

pytestmark = [
    pytest.mark.core,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

D = 5
MANY = 10**15


def quick(make):
    """Return an estimator that makes a few passes."""
    model = make(random_state=0)
    few = {"max_iter": 2, "n_init": 1}
    return model.set_params(**{name: value for name, value in few.items() if name in model.get_params()})


def refused(sample, n_bytes):
    tracemalloc.start()
    try:
        begun = time.perf_counter()
        with pytest.raises(MemoryError, match=rf"n_samples=1,000,000,000,000,000: .* {n_bytes:,} bytes") as caught:
            sample(MANY)
        assert time.perf_counter() - begun < 1.0
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    assert "of memory are available" in str(caught.value)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator(name):
    X = np.random.default_rng(0).integers(0, 2, (40, D))
    X[:, 1] |= X[:, 0]
    cls = ESTIMATORS[name]()
    model = quick(cls).fit(X)
    wide = 8 if cls is BinarySparseCoding else 1  # its rows are real numbers
    refused(model.sample, MANY * D * wide)
    assert len(model.sample(3)) == 3


def test_other_ways_to_sample():
    X = np.random.default_rng(0).integers(0, 2, (60, D))
    reals = np.random.default_rng(0).normal(size=(60, D))
    refused(CombinationMachine(1, visible="reals", max_iter=2, random_state=0).fit(reals).sample, MANY * D * 8)
    chains = CombinationMachine(2, method="chains", chains=Chains(n_chains=20), max_iter=2, random_state=0).fit(X)
    refused(chains.sample, MANY * D)
    refused(lambda n: ClippedPCA(1).fit(X).sample(n, full=True), MANY * D)
    words = open_table({f"q{j}": np.where(X[:, j], "yes", "no").tolist() for j in range(D)})
    refused(IndependentColumns().fit(words).sample, MANY * (D + 8 * 2 * D))


def test_what_fits_is_not_refused():
    free = available_memory()
    assert 10**8 < free < 10**14  # of a machine that runs tests
    model = IndependentColumns().fit(np.eye(D, dtype=int))
    assert model.sample(10**5).shape == (10**5, D)
    with pytest.raises(MemoryError, match="bytes"):
        model.sample(2 * free // D)
