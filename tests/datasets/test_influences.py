"""The two synthetic targets, against figures worked out apart from this library, and against enumeration."""

import numpy as np
import pytest

from hiddenbits.datasets import simulate_influences, true_influences

pytestmark = pytest.mark.core
SIZES = {"A": (295.6, 136.908604), "B": (322.3085, 83.650665)}  # Sum|W| and ln Z


def log_weights(weights, thresholds):
    """ln of what each of the 1,024 states weighs, state by state."""
    found = []
    for k in range(1 << len(thresholds)):
        on = [i for i in range(len(thresholds)) if k >> i & 1]
        pull = weights[on].sum(axis=0)
        found.append(thresholds[on].sum() + (np.abs(pull) + np.log1p(np.exp(-2 * np.abs(pull)))).sum())
    return np.array(found)


def log_partition(weights, thresholds):
    scores = log_weights(weights, thresholds)
    return scores.max() + np.log(np.exp(scores - scores.max()).sum())


def log_loss(X, weights, thresholds):
    """-log2 P(row) a bit."""
    heard = (2.0 * X - 1.0) @ weights.T + thresholds
    return -(np.logaddexp(0.0, heard).sum(axis=1).mean() - log_partition(weights, thresholds)) / (64 * np.log(2))


@pytest.mark.parametrize("target", ["A", "B"])
def test_targets(target):
    weights, thresholds = true_influences(target)
    assert (weights.shape, thresholds.shape) == ((10, 64), (10,))
    total, log_z = SIZES[target]
    assert np.abs(weights).sum() == pytest.approx(total, abs=1e-4)  # four digits are known
    assert log_partition(weights, thresholds) == pytest.approx(log_z, abs=1e-6)


def test_rows_of_a_known_seed():
    drawn = simulate_influences("A", random_state=1000)
    assert [2 * int(X.sum()) - X.size for X in (drawn.train, drawn.test)] == [-80980, -78376]
    losses = [log_loss(X, drawn.weights, drawn.thresholds) for X in (drawn.train, drawn.test)]
    np.testing.assert_allclose(losses, [0.399995, 0.401602], rtol=0, atol=1e-6)


@pytest.mark.parametrize(("target", "goal"), [("A", 0.4007), ("B", 0.3918)])
def test_log_loss_of_the_truth(target, goal):
    drawn = simulate_influences(target, n_rows=50_000, random_state=1)
    losses = [log_loss(X, drawn.weights, drawn.thresholds) for X in (drawn.train, drawn.test)]
    # Rows differ by about .1: a standard error of .0003 here, and .0002 in the known figure, of 200,000 rows.
    assert np.mean(losses) == pytest.approx(goal, abs=1e-3)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("target", ["A", "B"])
def test_rows_follow_their_states(target, seed):
    drawn = simulate_influences(target, n_rows=20_000, random_state=seed)
    scores = log_weights(drawn.weights, drawn.thresholds)
    p = np.exp(scores - scores.max())
    p /= p.sum()
    k = drawn.train_states @ (1 << np.arange(10))
    seen = np.bincount(k, minlength=1024) / len(k)
    assert np.abs(seen - p).max() < 5 * np.sqrt(p.max() / len(k))
    mean = np.tanh(drawn.test_states @ drawn.weights)
    left = ((2.0 * drawn.test - 1.0) - mean).mean(axis=0)
    assert np.abs(left).max() < 5 / np.sqrt(20_000)


@pytest.mark.parametrize("target", ["A", "B"])
def test_smaller_weights_leave_the_units_as_active(target):
    plain, small = (simulate_influences(target, n_rows=10, shrink=s) for s in (1.0, 7.0))
    np.testing.assert_allclose(small.weights, plain.weights / 7)
    rates = []
    for machine in (plain, small):
        scores = log_weights(machine.weights, machine.thresholds)
        p = np.exp(scores - scores.max())
        states = np.arange(1024)[:, None] >> np.arange(10) & 1
        rates.append(p @ states / p.sum())
    np.testing.assert_allclose(*rates, rtol=0, atol=1e-9)


def test_refusals():
    with pytest.raises(ValueError, match="'A' or 'B'"):
        true_influences("C")
    with pytest.raises(ValueError, match="positive"):
        simulate_influences(shrink=0)
