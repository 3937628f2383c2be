"""The parts of experiments/lewicki_sejnowski_1996: its loop, its judges, and how it counts and compares."""

import sys
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import experiments
from hiddenbits import NoisyOrNetwork
from hiddenbits.datasets import simulate_lines
from hiddenbits.families.noisy_or.model import log_joint
from hiddenbits.families.noisy_or.params import NoisyOrParams, n_free_parameters


@pytest.fixture
def parts(monkeypatch):
    """The modules, which find their neighbours as run.py does."""
    here = Path(next(iter(experiments.__path__))) / "lewicki_sejnowski_1996"
    before = set(sys.modules)
    for folder in (here.parent, here):
        monkeypatch.syspath_prepend(str(folder))
    import deep
    import explanations
    import feedback
    import learning
    import levels
    import sampling

    yield SimpleNamespace(
        deep=deep,
        explanations=explanations,
        feedback=feedback,
        learning=learning,
        levels=levels,
        sampling=sampling,
    )
    for name in set(sys.modules) - before:
        if str(here.parent) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_arrangement_of_the_pixels_means_nothing(parts, seed):
    """Pixels and first strengths in another order: the same strengths in that order, since the draws are the same."""
    X, learning = simulate_lines(400, seed=seed).X, parts.learning
    order = np.random.default_rng(seed).permutation(25)
    params = learning.with_layers(X, (10,), np.random.default_rng([seed, 1]))
    moved = NoisyOrParams.of([params.layers[0][:, order]], params.priors, params.clock)
    a, _ = learning.epoch(params, learning.blocks_of(X), 0, 3, np.random.default_rng(seed))
    b, _ = learning.epoch(moved, learning.blocks_of(X[:, order]), 0, 3, np.random.default_rng(seed))
    np.testing.assert_allclose(a.layers[0][:, order], b.layers[0], rtol=0, atol=1e-9)
    assert np.abs(a.layers[0] - params.layers[0]).max() > 0.1


def test_schedules_move_the_layers_that_they_say(parts):
    X, seen = simulate_lines(400, seed=0).X, {}
    parts.learning.learn(X, (4, 2), epochs=2, seed=0, watch=lambda k, params: seen.update({k: params}))
    assert [seen[k].n_causes for k in range(5)] == [(4,), (4,), (4,), (4, 2), (4, 2)]
    np.testing.assert_array_equal(seen[2].layers[0], seen[4].layers[0])  # held while the next layer learns
    assert np.abs(seen[3].layers[1] - seen[4].layers[1]).max() > 1e-3
    parts.learning.learn(
        X, (4, 2), schedule="at once", epochs=2, seed=0, watch=lambda k, params: seen.update({k: params})
    )
    assert all(np.abs(seen[3].layers[i] - seen[4].layers[i])[:-1].max() > 1e-3 for i in range(2))
    np.testing.assert_array_equal(seen[0].layers[1][-1], seen[4].layers[1][-1])  # leaks are held
    parts.learning.learn(X, (4, 2), epochs=1, first_on=0.1, seed=0, watch=lambda k, params: seen.update({k: params}))
    np.testing.assert_array_equal([seen[0].priors, seen[1].priors], np.full((2, 4), 0.1))


@pytest.mark.parametrize("seed", [0, 1])
def test_without_the_layer_above_units_keep_their_probability(parts, seed):
    """P(on) of the lowest units, all states added up by the definition; and posteriors of such rows."""
    rng = np.random.default_rng(seed)
    layers = [rng.uniform(0.05, 0.9, (4, 5)), rng.uniform(0.05, 0.9, (3, 3))]
    params = NoisyOrParams.of(layers, rng.uniform(0.2, 0.6, 2), (1.0, 2.0, 0.0, 0.0))
    x = rng.integers(0, 2, 5).astype(float)
    on, total, given, seen = np.zeros(3), 0.0, np.zeros(5), 0.0
    for bits in product((0.0, 1.0), repeat=5):
        h = np.array(bits)
        p = sum(np.exp(log_joint(params, np.array(row), h)) for row in product((0.0, 1.0), repeat=5))
        on, total = on + p * h[:3], total + p
        q = np.exp(log_joint(params, x, h))
        given, seen = given + q * h, seen + q
    assert total == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(parts.feedback.without_above(params).priors, on, rtol=0, atol=1e-12)
    np.testing.assert_allclose(parts.feedback.exact(params, x[None])[0], given / seen, rtol=0, atol=1e-10)


def test_climbing_goes_up_one_unit_at_a_time(parts):
    """Independent units: it ends at the top. Two peaks that two changes separate: it stays on the first."""
    rng = np.random.default_rng(0)
    on = rng.random((50, 4))
    states = (np.arange(16)[:, None] >> np.arange(4)) & 1
    r = np.prod(np.where(states == 1, on[:, None, :], 1.0 - on[:, None, :]), axis=2)
    np.testing.assert_array_equal(parts.explanations.climbed(r), (on > 0.5) @ (1 << np.arange(4)))
    assert parts.explanations.climbed(np.array([[0.3, 0.1, 0.1, 0.5]])).tolist() == [0]


def test_visited_states_are_those_of_the_chain(parts):
    """No pixel is seen: 15 independent draws of four states. One sure cause: only the states that have it on."""
    rng, X = np.random.default_rng(0), np.ones((400, 3))
    any_of = NoisyOrParams.of([np.full((3, 3), 0.3)], np.full(2, 0.5), (0.0, 1.0, 0.0, 0.0))
    share = parts.explanations.visited(any_of, np.full((400, 3), np.nan), np.full((400, 4), 0.25), rng).mean()
    assert share == pytest.approx(1.0 - 0.75**15, abs=0.012)  # four standard errors of 400 rows
    sure = NoisyOrParams.of([np.array([[0.999] * 3, [1e-4] * 3, [1e-4] * 3])], np.full(2, 0.5), (0.0, 1.0, 0.0, 0.0))
    r = np.tile([0.0, 0.5, 0.0, 0.5], (400, 1))  # states 1 and 3 have the first cause on; a chain misses one in 2^14
    assert parts.explanations.visited(sure, X, r, rng).mean() == pytest.approx(1.0, abs=0.01)
    assert parts.explanations.visited(sure, X, 0.5 - r, rng).mean() < 0.01


def test_long_chains_are_as_accurate_as_exact_draws(parts):
    """Weak strengths, so that chains forget quickly: 200 sweeps differ from exact draws by chance alone."""
    rng = np.random.default_rng(0)
    params = NoisyOrParams.of([rng.uniform(0.05, 0.5, (5, 8))], np.full(4, 0.4), (0.0, 1.0, 0.0, 0.0))
    X = (rng.random((200, 8)) < 0.5).astype(float)
    found = parts.sampling.accuracy(params, X, (200,), rng)
    # Of 800 means of 50 draws: relative error of the mean distance about .75 / sqrt(800) = .03 on either side.
    assert found["200"]["off"] == pytest.approx(found["exact"]["off"], rel=0.15)
    assert found["200"]["best"] == pytest.approx(found["exact"]["best"], abs=0.02)  # of 10,000 chains


def test_levels_are_judged_by_what_units_stand_for(parts):
    children, params = parts.levels.truth("top .6")
    rng, layers, below = np.random.default_rng(0), [], np.arange(54)
    for f in params.layers:
        order = rng.permutation(len(f) - 1)
        layers.append(f[order][:, below])
        below = order
    assert parts.levels.found_units(children, layers) == [18, 6, 2]
    layers[0][0, :] = 0.9  # one cause is wrong: so are the unit above it and the one above that
    assert parts.levels.found_units(children, layers) == [17, 5, 1]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_three_levels_are_found(parts, seed):
    run = parts.levels.one(NoisyOrNetwork, "top .6", seed, 1000)
    assert run["found"] == [18, 6, 2]
    assert run["leaks above"] == pytest.approx([0.05, 0.1], abs=0.03)


@pytest.mark.parametrize("sizes", [(3,), (4, 2), (4, 3, 2)])
def test_a_flat_network_of_as_many_parameters(parts, sizes):
    flat = parts.deep.as_many(sizes, 25)
    assert n_free_parameters((flat,), 25) >= n_free_parameters(sizes, 25) > n_free_parameters((flat - 1,), 25)


def test_errors_of_differences(parts):
    """Effects of rows and of starts, by hand: the error has both."""
    rows, starts = np.array([1.0, 2.0, 3.0, 6.0]), np.array([-1.0, 1.0])
    one = parts.deep.difference(rows[None, :] + starts[:, None], np.zeros((2, 4)))
    assert one["mean"] == pytest.approx(3.0)
    assert one["rows"] == pytest.approx(np.sqrt(14.0 / 3.0 / 4.0))
    assert one["starts"] == pytest.approx(1.0)
    assert one["error"] == pytest.approx(np.hypot(one["rows"], one["starts"]))
