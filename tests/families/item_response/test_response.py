"""Response functions: P of each level as defined, and first and second derivatives equal differences."""

import numpy as np
import pytest

from hiddenbits.families.item_response.response import curvatures, level_probabilities, slopes
from tests.families.item_response import items

pytestmark = pytest.mark.core

STEP = 1e-5
KINDS = [("binary", 1), ("guessing", 2), ("graded", 3), ("partial_credit", 3), ("nominal", 2)]


def some_predictors(kind, M, rng, J=4, K=5):
    eta = rng.normal(size=(J, M, K))
    if kind == "graded":
        eta = -np.cumsum(np.abs(eta) + 0.1, axis=1) + 2.0
    return eta


@pytest.mark.parametrize(("kind", "M"), KINDS)
def test_derivatives_equal_differences(kind, M):
    rng = np.random.default_rng(0)
    eta = some_predictors(kind, M, rng)
    p = level_probabilities(kind, eta)
    first = slopes(kind, eta, p)
    second = curvatures(kind, eta, p, first)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-14)
    for m in range(M):
        shift = np.zeros_like(eta)
        shift[:, m] = STEP
        up, down = (level_probabilities(kind, eta + sign * shift) for sign in (1, -1))
        np.testing.assert_allclose((np.log(up) - np.log(down)) / (2 * STEP), first[:, :, m], atol=1e-8)
        slope_up, slope_down = slopes(kind, eta + shift, up), slopes(kind, eta - shift, down)
        np.testing.assert_allclose(-(slope_up - slope_down) / (2 * STEP), second[:, :, :, m], atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_probabilities_are_those_of_the_definitions(seed):
    rng = np.random.default_rng(seed)
    kinds, sizes = ("binary", "guessing", "graded", "partial_credit", "nominal"), (1, 1, 4, 3, 5)
    params = items.item_params(rng, kinds, sizes, q=2)
    z = rng.normal(size=(6, 2))
    p = params.probabilities_at(z)
    for kind, start, size in zip(kinds, params.layout.starts, sizes, strict=True):
        cells = slice(start, start + size)
        g = 1 / (1 + np.exp(-params.guesses[start]))
        for n in range(len(z)):
            expected = items.level_probabilities(kind, size, params.slopes[cells], params.intercepts[cells], g, z[n])
            np.testing.assert_allclose(p[cells, n], expected[1:] if size == 1 else expected, rtol=1e-12)
