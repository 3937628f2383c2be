"""Patches: cut where they were drawn, uniformly over all places, the same again with the same seed."""

import pickle

import numpy as np
import pytest
from experiments.henniges_2010.images import BrightnessClamp, DifferenceOfGaussians, PatchSampler
from scipy.stats import chi2
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

pytestmark = pytest.mark.core


def numbered(*sizes):
    """Return images in which every pixel has a number of its own."""
    ends = np.cumsum([a * b for a, b in sizes])
    return [np.arange(end - a * b, end).reshape(a, b) for (a, b), end in zip(sizes, ends, strict=True)]


def windows(images, height, width):
    """Return all patches by their first pixel."""
    return {
        image[i, j]: image[i : i + height, j : j + width].ravel()
        for image in images
        for i in range(image.shape[0] - height + 1)
        for j in range(image.shape[1] - width + 1)
    }


@pytest.mark.parametrize("seed", range(5))
def test_all_places_are_equally_likely(seed):
    """18, 16 and no places. To draw an image first and then a place would give a chi-square above 200, not about 33."""
    images = numbered((9, 7), (5, 12), (3, 30))
    places = windows(images, 4, 5)
    assert len(places) == 34
    patches = PatchSampler(50_000, (4, 5), random_state=seed).fit_transform(images)
    assert patches.shape == (50_000, 20)
    for patch in patches[:2000]:
        np.testing.assert_array_equal(patch, places[patch[0]])
    drawn = np.array([(patches[:, 0] == first).sum() for first in places])
    assert drawn.sum() == 50_000
    expected = 50_000 / 34
    assert ((drawn - expected) ** 2 / expected).sum() < chi2.ppf(1 - 1e-4, 33)


def test_draws_are_independent_in_a_row():
    """Neighbouring rows do not come from the same image more often than they should: 1/2 +- 4 standard errors."""
    images = numbered((20, 20), (20, 20))
    first = PatchSampler(10_000, 3, random_state=0).transform(images)[:, 0] < 400
    assert abs((first[1:] == first[:-1]).mean() - 0.5) < 4 * 0.5 / np.sqrt(9_999)


def test_seeds():
    images = numbered((30, 40), (25, 25))
    sampler = PatchSampler(200, 6, random_state=4)
    once = sampler.fit_transform(images)
    np.testing.assert_array_equal(sampler.transform(images), once)
    assert (PatchSampler(200, 6, random_state=5).transform(images) != once).any()
    generator = np.random.RandomState(4)
    moving = PatchSampler(200, 6, random_state=generator)
    np.testing.assert_array_equal(moving.transform(images), once)
    assert (moving.transform(images) != once).any()
    np.testing.assert_array_equal(PatchSampler(200, (6, 6), random_state=4).transform(images), once)


def test_a_patch_as_large_as_the_image_is_the_image():
    images = numbered((4, 6))
    np.testing.assert_array_equal(PatchSampler(3, (4, 6)).transform(images), np.tile(np.arange(24), (3, 1)))


@pytest.mark.parametrize("dtype", ["float64", "float32", np.float32, float])
def test_types(dtype):
    for images in (numbered((5, 5)), np.random.default_rng(0).random((2, 5, 5)), np.ones((1, 5, 5), np.float32)):
        patches = PatchSampler(4, 2, dtype=dtype).transform(images)
        assert patches.dtype == np.dtype(dtype)
        assert patches.flags.c_contiguous


def test_frames_of_named_pixels():
    pandas = pytest.importorskip("pandas")
    images = [np.random.default_rng(0).random((12, 15))]
    sampler = PatchSampler(5, (2, 3), random_state=0)
    names = ["pixel_0_0", "pixel_0_1", "pixel_0_2", "pixel_1_0", "pixel_1_1", "pixel_1_2"]
    assert list(sampler.get_feature_names_out()) == names
    steps = make_pipeline(BrightnessClamp(), DifferenceOfGaussians(), sampler)
    rows = steps.fit_transform(images)
    frame = steps.set_output(transform="pandas").fit_transform(images)
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == names
    np.testing.assert_array_equal(frame.to_numpy(), rows)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"patch_size": (9, 3)}, r"9 x 3 pixels does not fit into any of the 2 images; the largest has 8 x 8"),
        ({"patch_size": (2, 0)}, "height and width"),
        ({"patch_size": (2, 3, 4)}, "height and width"),
        ({"patch_size": (2.5, 3)}, "height and width"),
        ({"patch_size": 0}, "patch_size"),
        ({"n_patches": 0}, "n_patches"),
        ({"dtype": "int8"}, "float64 or float32"),
        ({"dtype": "nothing"}, "float64 or float32"),
        ({"random_state": "x"}, "random_state"),
    ],
)
def test_refusals(settings, message):
    sampler = PatchSampler(**{"n_patches": 5, "patch_size": 2, **settings})
    with pytest.raises(ValueError, match=message):
        sampler.fit(numbered((8, 8), (3, 9))).transform(numbered((8, 8), (3, 9)))


@pytest.mark.parametrize(
    "step", [BrightnessClamp(0.1), DifferenceOfGaussians(2.0, mode="wrap"), PatchSampler(9, (2, 3))]
)
def test_settings_travel(step):
    """scikit-learn's own checks leave out what takes images; these are its conventions."""
    copy = clone(step)
    assert copy.get_params() == step.get_params() == type(step)().set_params(**step.get_params()).get_params()
    images = numbered((20, 30))
    assert copy.fit(images) is copy
    assert vars(copy) == step.get_params()  # nothing is learned
    check_is_fitted(step)  # and nothing needs to be
    assert pickle.loads(pickle.dumps(step)).get_params() == step.get_params()


def test_natural_images(real_data):
    """The paper's preprocessing on images of two sizes: patches of mean about 0, and windows of what was filtered."""
    with np.load(real_data / "images" / "natural13.npz") as arrays:
        images = [arrays[name] for name in arrays.files]
    assert len({image.shape for image in images}) == 2
    filtered = make_pipeline(BrightnessClamp(), DifferenceOfGaussians()).fit_transform(images)
    patches = PatchSampler(2000, 12, random_state=0).fit_transform(filtered)
    assert patches.shape == (2000, 144)
    assert abs(patches.mean()) < 0.05 * patches.std()
    for patch in patches[:20]:
        first = [np.argwhere(image == patch[0]) for image in filtered]
        cut = [image[i : i + 12, j : j + 12].ravel() for image, at in zip(filtered, first, strict=True) for i, j in at]
        assert any(np.array_equal(one, patch) for one in cut)
