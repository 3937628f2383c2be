"""Filters against what their definitions say, pixel by pixel, and what they refuse."""

import numpy as np
import pytest
from experiments.henniges_2010.images import BrightnessClamp, DifferenceOfGaussians, PatchSampler
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

pytestmark = pytest.mark.core

FILTERS = [BrightnessClamp(), DifferenceOfGaussians()]


def pictures(seed=0):
    rng = np.random.default_rng(seed)
    return [rng.random((20, 31)), rng.integers(0, 256, (17, 12), dtype=np.uint8), rng.random((9, 40), dtype=np.float32)]


def kernel(sigma):
    """Return a sampled Gaussian, cut at 4 standard deviations, of sum 1."""
    d = np.arange(-int(4 * sigma + 0.5), int(4 * sigma + 0.5) + 1)
    weights = np.exp(-(d**2) / (2 * sigma**2))
    return weights / weights.sum()


@pytest.mark.parametrize(("share", "clamped"), [(0.0, 0), (0.02, 6), (0.07, 21), (0.29, 87), (0.5, 150), (0.999, 299)])
@pytest.mark.parametrize("seed", range(3))
def test_clamped_pixels_are_counted(share, clamped, seed):
    image = np.random.default_rng(seed).permutation(300).reshape(15, 20)  # no two pixels are equal
    (found,) = BrightnessClamp(share).fit_transform([image])
    np.testing.assert_array_equal(found, np.minimum(image, 299 - clamped))
    assert (found != image).sum() == clamped
    assert found.dtype == np.float64


def test_each_image_is_clamped_by_itself():
    dark, bright = np.arange(100.0).reshape(10, 10), 1000.0 + np.arange(100.0).reshape(10, 10)
    found = BrightnessClamp(0.1).transform([dark, bright])
    assert [one.max() for one in found] == [89.0, 1089.0]
    ties = np.array([[1.0, 5.0, 5.0, 5.0, 5.0]])
    np.testing.assert_array_equal(BrightnessClamp(0.4).transform([ties])[0], ties)  # the largest of the others is 5


@pytest.mark.parametrize(("sigma", "ratio"), [(1.0, 3.0), (0.7, 2.0), (1.5, 1.6)])
def test_impulse_becomes_the_difference_of_the_kernels(sigma, ratio):
    image = np.zeros((61, 75))
    image[30, 37] = 2.0
    (found,) = DifferenceOfGaussians(sigma, ratio).fit_transform([image])
    truth = np.zeros_like(image)
    for width, sign in ((sigma, 2.0), (ratio * sigma, -2.0)):
        weights = kernel(width)
        r = len(weights) // 2
        truth[30 - r : 31 + r, 37 - r : 38 + r] += sign * np.outer(weights, weights)
    np.testing.assert_allclose(found, truth, atol=1e-15)
    assert abs(found.sum()) < 1e-13


@pytest.mark.parametrize("mode", ["reflect", "mirror", "nearest", "wrap"])
def test_even_images_become_zero_up_to_their_edges(mode):
    images = [np.full((5, 9), 130.0), np.full((40, 3), -7.0)]
    for found in DifferenceOfGaussians(mode=mode).fit_transform(images):
        assert np.abs(found).max() < 1e-12


@pytest.mark.parametrize(
    ("mode", "beyond"), [("reflect", "symmetric"), ("mirror", "reflect"), ("nearest", "edge"), ("wrap", "wrap")]
)
def test_edges_are_those_of_the_padded_image(mode, beyond):
    image = np.random.default_rng(1).random((16, 14))
    filtered = DifferenceOfGaussians(mode=mode)
    (found,), (wide,) = filtered.transform([image]), filtered.transform([np.pad(image, 13, mode=beyond)])
    np.testing.assert_allclose(found, wide[13:-13, 13:-13], atol=1e-14)  # weights reach 12 pixels


@pytest.mark.parametrize("filtering", FILTERS, ids=lambda one: type(one).__name__)
def test_lists_and_stacks(filtering):
    images = pictures()
    before = [image.copy() for image in images]
    found = filtering.fit_transform(images)
    assert [one.shape for one in found] == [image.shape for image in images]
    assert [one.dtype for one in found] == [np.float64, np.float64, np.float32]
    for image, copy in zip(images, before, strict=True):
        np.testing.assert_array_equal(image, copy)
    stack = np.random.default_rng(0).random((4, 10, 12))
    filtered = filtering.transform(stack)
    assert isinstance(filtered, np.ndarray)
    np.testing.assert_array_equal(filtered, filtering.transform(list(stack)))
    several = np.empty(2, dtype=object)
    several[:] = images[:2]
    np.testing.assert_array_equal(filtering.transform(several)[1], found[1])


def test_a_filter_leaves_the_memory_of_images_alone():
    """With nothing to clamp the result is a copy all the same: later steps may write into it."""
    image = np.ones((6, 6))
    assert not np.shares_memory(BrightnessClamp(0.0).transform([image])[0], image)


def test_pipeline_is_its_steps_by_hand():
    images = pictures()
    steps = make_pipeline(
        BrightnessClamp(0.05), DifferenceOfGaussians(0.8, 2.5), PatchSampler(50, (3, 4), random_state=3)
    )
    by_hand = DifferenceOfGaussians(0.8, 2.5).transform(BrightnessClamp(0.05).transform(images))
    by_hand = PatchSampler(50, (3, 4), random_state=3).transform(by_hand)
    np.testing.assert_array_equal(steps.fit_transform(images), by_hand)
    np.testing.assert_array_equal(clone(steps).fit(images).transform(images), by_hand)
    assert steps.set_params(differenceofgaussians__sigma=1.0).get_params()["differenceofgaussians__sigma"] == 1.0


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((5, 6)), r"one image of 5 x 6 pixels. Pass it in a list"),
        (np.ones((20, 30, 3)), r"one colour image"),
        (np.ones((2, 20, 30, 3)), r"got shape \(2, 20, 30, 3\)"),
        ([np.ones((5, 6)), np.ones((5, 6, 3))], r"Image 1 has shape \(5, 6, 3\).*convert it to grey"),
        ([np.ones(5)], r"Image 0 has shape \(5,\)"),
        ([np.ones((0, 5))], r"Image 0 has shape \(0, 5\)"),
        ([[["a", "b"]]], "Image 0 has dtype <U1: give numbers"),
        ([np.ones((2, 2)) * 1j], "dtype complex128"),
        ([], "list is empty"),
        ("images", "got str"),
        (7, "got int"),
        ([np.ones((3, 3)), np.array([[1.0, 2.0], [np.inf, np.nan]])], "Image 1 has 2 pixels .* row 1, column 0"),
        ([np.ma.masked_equal([[1.0, 2.0], [3.0, 4.0]], 2.0)], "Image 0 has masked pixels"),
    ],
)
def test_what_is_no_image_is_refused(X, message):
    for step in (*FILTERS, PatchSampler(2, 1)):
        for verb in (step.fit, step.transform):
            with pytest.raises(ValueError, match=message):
                verb(X)


def test_images_of_few_columns_can_be_handed_over_as_a_list():
    stack = np.random.default_rng(0).random((5, 8, 3))
    assert len(BrightnessClamp().transform(list(stack))) == 5


@pytest.mark.parametrize(
    "wrong",
    [
        BrightnessClamp(1.0),
        BrightnessClamp(-0.1),
        DifferenceOfGaussians(0.0),
        DifferenceOfGaussians(1.0, 1.0),
        DifferenceOfGaussians(mode="constant"),
    ],
)
def test_settings_are_checked(wrong):
    for verb in (wrong.fit, wrong.transform):
        with pytest.raises(ValueError, match="must be a"):
            verb(pictures())
