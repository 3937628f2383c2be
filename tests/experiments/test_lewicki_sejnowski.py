"""The judge of experiments/lewicki_sejnowski_1996: it accepts the truth in any order, and nothing less."""

from types import SimpleNamespace

import numpy as np
import pytest

from hiddenbits.datasets import simulate_lines

pytestmark = pytest.mark.core


@pytest.fixture
def judged(module_of):
    return module_of("lewicki_sejnowski_1996", "lines").judged


def network(truth, order, sets):
    above = np.zeros((len(sets), 10))
    for row, members in zip(above, sets, strict=True):
        row[[list(order).index(line) for line in members]] = 0.9
    low = 0.8 * truth.patterns[order] + 0.1
    return SimpleNamespace(strengths_=low, layers_=(low, above))


@pytest.mark.parametrize("seed", range(3))
def test_the_truth_is_accepted_in_any_order(judged, seed):
    truth = simulate_lines(10)
    order = np.random.default_rng(seed).permutation(10)
    assert judged(network(truth, order, [*truth.sets, (2,)]), truth) == (True, True)


def test_anything_less_is_not(judged):
    truth = simulate_lines(10)
    order = np.arange(10)
    assert judged(network(truth, order, [*truth.sets[:3], (0, 4)]), truth) == (True, False)
    twice = np.array([0, 0, *range(2, 10)])
    assert judged(network(truth, twice, []), truth) == (False, False)
    merged = network(truth, order, truth.sets)
    merged.strengths_[0] = np.maximum(merged.strengths_[0], merged.strengths_[1])
    assert judged(merged, truth) == (False, False)
