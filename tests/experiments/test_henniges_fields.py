"""Shapes of fields: functions of known parameters are found again, blobs are told from stripes, noise fits badly."""

import numpy as np
import pytest
from experiments.henniges_2010.field_shapes import BlobFits, GaborFits, fit_blobs, fit_gabors, globular

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


@pytest.mark.slow
def test_gratings_edges_and_bars_are_not_globular():
    shape, middle = (14, 14), 6.5
    stripes = [
        gabor(shape, middle, middle, 3.0, across, angle, 0.15, phase, 1.0)
        for across in (3.0, 6.0)
        for angle in (0.0, 0.6, 2.0)
        for phase in (0.0, 1.0)
    ]
    x, y = coordinates(shape)
    blob = circle(shape, middle, middle, 2.0)
    edges = [blob * (x - middle), blob * (x + y - 13.0)]  # slopes: waves of no frequency, near the origin of n_x, n_y
    bar = np.exp(-((x - middle) ** 2) / 2 - (y - middle) ** 2 / 32)  # four times as long as wide, no wave
    fields = np.array([*stripes, *edges, bar])
    gabors = fit_gabors(fields, shape)
    assert gabors.r2.min() > 0.999
    assert (gabors.n_x[-3:] < 0.1).all()
    assert not globular(gabors, fit_blobs(fields, shape)).any()


def test_globular_needs_a_good_fit_and_no_orientation():
    def fits(gabors, blobs):
        shape, gabors, blobs = (4, 4), np.array(gabors), np.array(blobs)
        return GaborFits(shape, *[gabors] * 9), BlobFits(shape, *[blobs] * 7)

    found = globular(*fits([0.9, 0.9, 0.7, 0.5, 0.2, np.nan], [0.8, 0.7, 0.69, 0.9, 0.2, np.nan]))
    assert found.tolist() == [True, False, False, True, False, False]
    assert globular(*fits([0.9, 0.7], [0.7, 0.69]), share=0.7, r2=0.7).tolist() == [True, True]
