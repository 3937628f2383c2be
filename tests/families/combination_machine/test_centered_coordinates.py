"""The coordinates of a climb: a linear map and its way back, with the scales that enumeration finds."""

import numpy as np
import pytest

from hiddenbits.families.combination_machine.model import Combination
from hiddenbits.families.combination_machine.model_real import CombinationReal
from hiddenbits.families.combination_machine.params import SMALLEST, Centered
from hiddenbits.maths.state_sums import expectations, free_phase
from tests.families.combination_machine.machine_data import random_machine
from tests.oracle.machine import MachineOracle

pytestmark = pytest.mark.core


def view_of(seed, bias):
    W, th, v, _ = random_machine(seed)
    v = v if bias else np.zeros_like(v)
    model, params = Combination(3, visible_bias=bias), Combination().exact(W, th, v)
    return model, params, model.coordinates(params, free_phase(W, th, v))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("bias", [False, True])
def test_scales_are_the_spreads_of_the_centered_statistics(seed, bias):
    """Var[(x - mu)(h - eta)], Var[h] and Var[x] over every row and state; without a bias eta is 0."""
    _, params, view = view_of(seed, bias)
    truth = MachineOracle(params.weights, params.thresholds, params.bias)
    hidden, _, visible = truth.expectations()
    x, h = truth.x - visible, truth.h - (hidden if bias else 0.0)

    def variance(of_rows, of_states):
        products = np.outer(of_rows, of_states)
        mean = (truth.joint * products).sum()
        return (truth.joint * (products - mean) ** 2).sum()

    found = [variance(x[:, j], h[:, i]) for j in range(5) for i in range(3)]
    found += [variance(np.ones(len(x)), h[:, i]) for i in range(3)]
    found += [variance(x[:, j], np.ones(len(h))) for j in range(5)] if bias else []
    np.testing.assert_allclose(view.scales**2, np.maximum(found, SMALLEST), rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("bias", [False, True])
def test_there_and_back(seed, bias):
    model, params, view = view_of(seed, bias)
    vector = model.to_vector(params)
    np.testing.assert_allclose(view.outwards(view.inwards(vector)), vector, rtol=0, atol=1e-12)
    # Moving a weight alone, in these coordinates, leaves what units and bits hear at the centers as it was.
    point = view.inwards(vector)
    point[4] += 0.7
    W, th, v = model._parts(view.outwards(point), params)
    assert not np.allclose(W, params.weights)
    np.testing.assert_allclose(th + view.visible @ W, params.thresholds + view.visible @ params.weights, atol=1e-12)
    if bias:
        np.testing.assert_allclose(v + W @ view.hidden, params.bias + params.weights @ view.hidden, atol=1e-12)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("reals", [False, True])
def test_slopes_are_those_of_finite_differences(bias, reals):
    """Of ln Z, whose gradient is what the free machine expects."""
    W, th, v, _ = random_machine(7)
    v = v if bias else np.zeros_like(v)
    model = (CombinationReal if reals else Combination)(3, visible_bias=bias)
    params = model.exact(W, th, v)

    def phase_of(*parts):
        return expectations(model.state_sums(*parts))

    phase = phase_of(W, th, v)
    view = model.coordinates(params, phase)
    gradient = np.concatenate([phase.joint.ravel(), phase.hidden, phase.visible if bias else np.zeros(0)])
    here, step = view.inwards(model.to_vector(params)), 1e-5

    def log_z(point):
        return phase_of(*model._parts(view.outwards(point), params)).log_partition

    slopes = [(log_z(here + step * u) - log_z(here - step * u)) / (2 * step) for u in np.eye(len(here))]
    np.testing.assert_allclose(view.slope(gradient), slopes, rtol=0, atol=1e-7)


def test_what_never_happens_takes_no_giant_steps():
    W, th, v = np.ones((4, 2)), np.array([-40.0, 0.0]), np.zeros(4)
    scales = Centered.about(free_phase(W, th, v), bias=True).scales
    assert scales.min() == pytest.approx(np.sqrt(SMALLEST))
