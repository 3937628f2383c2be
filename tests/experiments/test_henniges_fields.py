"""Shapes of fields: functions of known parameters are found again, blobs are told from stripes, noise fits badly."""

import numpy as np
import pytest
from experiments.henniges_2010.field_shapes import fit_blobs, fit_gabors, globular

pytestmark = pytest.mark.core


def coordinates(shape):
    y, x = np.mgrid[: shape[0], : shape[1]].astype(float)
    return x.ravel(), y.ravel()


def gabor(shape, column, row, along, across, orientation, frequency, phase, amplitude):
    """Return one Gabor function, by its formula."""
    x, y = coordinates(shape)
    u = (x - column) * np.cos(orientation) + (y - row) * np.sin(orientation)
    v = (y - row) * np.cos(orientation) - (x - column) * np.sin(orientation)
    envelope = np.exp(-(u**2) / (2 * along**2) - v**2 / (2 * across**2))
    return amplitude * envelope * np.cos(2 * np.pi * frequency * u + phase)


def random_gabors(shape, n, seed):
    """Return parameters of Gabor functions that can be told from each other.

    At least a quarter of a wave lies in a width of the envelope: slower waves go over into blobs and slopes. Waves
    have at least three pixels: near two, pixels show a faster wave nearly as well.
    """
    rng, (height, width) = np.random.default_rng(seed), shape
    along, across = rng.uniform(1.2, min(shape) / 4, (2, n))
    return np.column_stack(
        [
            rng.uniform(0.2, 0.8, n) * width,
            rng.uniform(0.2, 0.8, n) * height,
            along,
            across,
            rng.uniform(0.0, np.pi, n),
            np.minimum(rng.uniform(0.25, 0.8, n) / along, 1 / 3),
            rng.uniform(-np.pi, np.pi, n),
            10.0 ** rng.uniform(-3, 3, n),
        ]
    )


def parameters(found):
    names = ("column", "row", "along", "across", "orientation", "frequency", "phase", "amplitude")
    return np.column_stack([getattr(found, name) for name in names])


def circle(shape, column, row, width, ratio=2.0, balance=0.0, amplitude=1.0):
    x, y = coordinates(shape)
    r2 = (x - column) ** 2 + (y - row) ** 2
    surround = balance / ratio**2 * np.exp(-r2 / (2 * (ratio * width) ** 2))
    return amplitude * (np.exp(-r2 / (2 * width**2)) - surround)


def is_globular(fields, shape, **settings):
    fields = np.atleast_2d(fields)
    return globular(fit_gabors(fields, shape), fit_blobs(fields, shape), **settings)


@pytest.mark.slow
@pytest.mark.thin(3)
@pytest.mark.parametrize(("shape", "seed"), [((12, 12), 0), ((12, 12), 1), ((12, 12), 2), ((16, 10), 3), ((26, 26), 4)])
def test_gabors_are_found_again(shape, seed):
    truth = random_gabors(shape, 40, seed)
    fields = np.array([gabor(shape, *one) for one in truth])
    found = fit_gabors(fields, shape)
    assert len(found) == 40
    assert found.r2.min() > 1 - 1e-9
    ours = parameters(found)
    # A wave is the same with its direction turned round and its phase negated: compare what both share.
    turned = np.abs(ours[:, 4] - truth[:, 4]) > np.pi / 2
    ours[turned, 4] -= np.sign(ours[turned, 4] - truth[turned, 4]) * np.pi
    ours[turned, 6] *= -1
    ours[:, 6] = truth[:, 6] + np.angle(np.exp(1j * (ours[:, 6] - truth[:, 6])))
    ours[:, 7] /= truth[:, 7]
    truth[:, 7] = 1.0
    np.testing.assert_allclose(ours, truth, atol=2e-4)
    np.testing.assert_allclose(found.n_x, truth[:, 2] * truth[:, 5], atol=1e-4)
    np.testing.assert_allclose(found.n_y, truth[:, 3] * truth[:, 5], atol=1e-4)
    largest = np.abs(fields).max(axis=1, keepdims=True)
    np.testing.assert_allclose(found.images() / largest, fields / largest, atol=1e-4)
    assert ((found.orientation >= 0) & (found.orientation < np.pi)).all()
    assert (np.abs(found.phase) <= np.pi).all()
    assert (found.amplitude >= 0).all()


@pytest.mark.thin(2)
@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("balance", [0.0, 0.5, 1.0])
def test_blobs_are_found_again_and_globular(balance, sign):
    shape = (15, 13)
    truth = [(5.2, 6.1, 1.5), (8.0, 9.0, 2.1), (3.0, 4.5, 0.9)]
    fields = np.array([circle(shape, *one, 2.5, balance, sign * 3.0) for one in truth])
    found = fit_blobs(fields, shape)
    np.testing.assert_allclose(np.column_stack([found.column, found.row, found.width]), truth, atol=1e-3)
    np.testing.assert_allclose(found.balance, balance, atol=2e-3)
    np.testing.assert_allclose(found.amplitude, sign * 3.0, rtol=1e-3)
    if balance:  # without a surround its width says nothing
        np.testing.assert_allclose(found.ratio, 2.5, atol=1e-2)
    assert found.r2.min() > 1 - 1e-6
    assert is_globular(fields, shape).all()


@pytest.mark.parametrize("ratio", [1.2, 1.6, 2.0, 2.6, 3.0])
def test_long_gaussians_by_the_closed_form(ratio):
    """The best circle explains 4 a / (a + 1)^2 of the square of a Gaussian a times as long as wide."""
    shape = (41, 41)
    x, y = coordinates(shape)
    field = np.exp(-((x - 20) ** 2) * ratio / 18 - (y - 20) ** 2 / (18 * ratio))
    blob = fit_blobs(field[None], shape)
    square, spread = (field**2).sum(), ((field - field.mean()) ** 2).sum()
    truth = 1 - (1 - 4 * ratio / (ratio + 1) ** 2) * square / spread
    assert blob.r2[0] == pytest.approx(truth, abs=1e-4)
    assert blob.width[0] == pytest.approx(3.0, abs=1e-2)
    assert is_globular(field, shape)[0] == (truth >= 0.85)


def test_extreme_fields():
    """Fields that do not vary have no shape; a single pixel, a whole wave and alternating pixels do."""
    shape = (8, 8)
    x, y = coordinates(shape)
    pixel = np.zeros(64)
    pixel[27] = 1.0
    fields = np.array([np.zeros(64), np.full(64, 0.1), pixel, np.sin(2 * np.pi * x / 8), (-1.0) ** y, 1e-3 * x])
    gabors, blobs = fit_gabors(fields, shape), fit_blobs(fields, shape)
    for found in (gabors, blobs):
        flat = np.array([getattr(found, name)[:2] for name in vars(found) if name != "shape"])
        assert np.isnan(flat).all()
        assert np.isfinite(found.r2[2:]).all()
    assert gabors.r2[2:].min() > 0.98
    assert blobs.r2[2] > 0.98
    assert globular(gabors, blobs).tolist()[:5] == [False, False, True, False, False]
    assert np.isnan(gabors.images()[:2]).all()
