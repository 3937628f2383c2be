"""The truncated posterior: a bound below the likelihood that never falls, exact when every state is kept."""

import numpy as np
import pytest

from hiddenbits import NoisyOrNetwork
from hiddenbits.data import Table
from hiddenbits.engine import Checkpoint, Local, Settings, fit_em
from hiddenbits.families.noisy_or import model_truncated as truncated
from hiddenbits.families.noisy_or.enumeration import best_layer
from hiddenbits.families.noisy_or.model import NoisyOr
from hiddenbits.families.noisy_or.model_truncated import NoisyOrTruncated
from tests.contracts.conftest import STORAGES, NotResident, table_of
from tests.contracts.test_fit import structured_rows
from tests.contracts.test_same_bits import InterruptAfter, InterruptedFitError, same
from tests.families.noisy_or.noisy_or_data import block_of, network_params, rows_with_blanks

pytestmark = pytest.mark.core


@pytest.mark.parametrize("causes", [(3,), (2, 2)])
@pytest.mark.parametrize("storage", STORAGES)
def test_with_every_state_it_is_exact(causes, storage, monkeypatch):
    """Offers of all neighbours reach all states: bound, counts of causes and the M-step are those of enumeration."""
    monkeypatch.setattr(truncated, "NEIGHBOURS", sum(causes))
    params = network_params(1, 6, causes)
    block = block_of(rows_with_blanks(1, 40, 6), storage, np.random.default_rng(1).uniform(0.5, 2.0, 40))
    model, exact = NoisyOrTruncated(list(causes), n_states=2 ** sum(causes)), NoisyOr(list(causes))
    stats, _ = model.expect(params, model.prepare(params), block, None, None)
    truth, _ = exact.expect(params, exact.prepare(params), block, None, None)
    assert float(stats.bound) == pytest.approx(float(truth.bound), rel=1e-12)
    shared = exact.prepare(params)
    np.testing.assert_allclose(stats.on, block.weights @ exact.posterior(params, shared, block)[:, -causes[-1] :])
    f, states = params.layers[0], shared[0].states[0]
    one = best_layer(f, states, truth.ones, truth.observed, 1.0, 1.5, steps=1)
    np.testing.assert_allclose(model.update(params, stats).layers[0], one, rtol=1e-9)


@pytest.mark.parametrize("n_states", [1, 2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_bound_is_below_and_rises_with_looks(n_states, seed):
    """For the same parameters another look never loses, and nothing exceeds the likelihood."""
    params = network_params(seed, 8, (4, 2))
    block = block_of(rows_with_blanks(seed, 60, 8))
    model, exact = NoisyOrTruncated([4, 2], n_states=n_states), NoisyOr([4, 2])
    likelihood = exact.log_likelihood(params, exact.prepare(params), block).sum()
    carry, bounds = None, []
    for _ in range(6):
        stats, carry = model.expect(params, model.prepare(params), block, carry, None)
        bounds.append(float(stats.bound))
    assert (np.diff(bounds) >= -1e-10).all()
    assert bounds[-1] <= likelihood + 1e-10


def test_no_state_is_counted_twice():
    sums = np.array([[5, 3, 5, 5, 3], [1, 2, 3, 4, 5]], np.uint64)
    assert truncated._again(sums).tolist() == [[False, False, True, True, True], [False] * 5]


MODEL = NoisyOrTruncated([4, 2], n_states=4)


@pytest.mark.slow
@pytest.mark.parametrize("accelerate", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_objective_never_falls(seed, accelerate):
    rows = structured_rows(np.random.default_rng(seed), 300, 12, missing=True)
    outcome = fit_em(
        MODEL, table_of(rows).grid(256), Local(), Settings(seed=seed, accelerate=accelerate, max_iter=25), None, None
    )
    steps = np.diff(outcome.trace)
    allowed = np.ones(len(steps), bool)
    allowed[[stage - 1 for stage in outcome.stages]] = False
    assert (steps[allowed] >= -1e-12 * abs(outcome.trace[-1])).all()
    assert outcome.restarts[0].reason in ("converged", "max_iter")
    assert outcome.params.n_causes == (4, 2)


@pytest.mark.full
def test_same_bits_on_threads_and_resumed(tmp_path):
    table = table_of(structured_rows(np.random.default_rng(0), 1000, 10, missing=True), "csr")
    settings = Settings(max_iter=8, seed=2)
    whole = fit_em(MODEL, table.grid(256), Local(), settings, None, None)
    executor = Local(3)
    threads = fit_em(
        MODEL, Table(NotResident(table.source), None, None, 7000).grid(256), executor, settings, None, None
    )
    executor.close()
    assert same(whole.params, threads.params)
    checkpoints = Checkpoint(tmp_path / "fit.hb", MODEL, settings, table.shape, 256)
    resumed, interruptions = None, 0
    while resumed is None:
        try:
            resumed = fit_em(MODEL, table.grid(256), Local(), settings, checkpoints, InterruptAfter(2))
        except InterruptedFitError:
            interruptions += 1
            assert interruptions < 100
    assert interruptions > 2
    assert same(whole.params, resumed.params)


def test_it_learns_what_enumeration_learns():
    """Six bars on a 3 x 3 grid: the likelihood comes within .05 nats of that of the exact fit, best of two each."""
    patterns = np.zeros((6, 3, 3))
    for i in range(3):
        patterns[i, i, :] = patterns[3 + i, :, i] = 1
    on = np.random.default_rng(0).random((800, 6)) < 0.25
    X = (on @ patterns.reshape(6, 9) > 0).astype(float)
    exact, kept = (NoisyOrNetwork(6, method=m, tol=1e-4, random_state=0).fit(X) for m in ("exact", "truncated"))
    assert kept.converged_
    assert kept.score(X) > exact.score(X) - 0.05
    with pytest.raises(ValueError, match="can be enumerated"):
        kept.partial_fit(X)
