"""Bars and patches of natural images of experiments/henniges_2010, against their definitions."""

import numpy as np
import pytest
from experiments.henniges_2010 import bars_data, patches
from scipy.stats import chi2

pytestmark = pytest.mark.core


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_images_are_sums_of_bars(seed):
    """Ten bars of five pixels, five of them negative; residuals of the drawn causes have the noise's size."""
    X, fields = bars_data.images(seed, 2000)
    assert fields.shape == (10, 25)
    assert ((fields != 0).sum(axis=1) == 5).all()
    assert ((np.abs(fields) == 10.0) | (fields == 0.0)).all()
    assert (fields.sum(axis=1) < 0).sum() == 5
    assert (np.abs(fields).sum(axis=0) == 20.0).all()  # each pixel is in a row and in a column
    rng = np.random.default_rng([seed, 0])
    rng.permutation(10)
    on = rng.random((2000, 10)) < 0.2
    assert bars_data.drawn(seed, 2000) == on.sum() / 2000
    left = X - on @ fields
    # 50,000 numbers: the standard error of a standard deviation of 2 is .0063.
    assert left.std() == pytest.approx(2.0, abs=0.03)
    assert abs(left.mean()) < 0.04


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_bars_are_recovered_in_any_order(seed):
    rng = np.random.default_rng(seed)
    _, fields = bars_data.images(seed, 1)
    found = fields[rng.permutation(10)] + rng.normal(0.0, 1.0, (10, 25))
    assert bars_data.recovered(found, fields)
    assert not bars_data.recovered(found[:9], fields)
    twice = found.copy()
    twice[0] = twice[1]
    assert not bars_data.recovered(twice, fields)
    far = found.copy()
    nearest = bars_data.errors(found, fields)[0][0]
    far[0] = 0.49 * fields[nearest]  # 51% of its length away, and still nearer to it than to any other
    assert bars_data.errors(far, fields)[0][0] == nearest
    assert not bars_data.recovered(far, fields)
    far[0] = 0.51 * fields[nearest]
    assert bars_data.recovered(far, fields)


@pytest.mark.parametrize("seed", range(3))
def test_all_places_of_all_images_are_equally_likely(seed):
    """24 and 18 places: to draw an image first and then a place would give a chi-square far above 41."""
    images = [np.arange(63.0).reshape(9, 7), 63.0 + np.arange(60.0).reshape(5, 12)]
    places = {
        image[i, j]: image[i : i + 4, j : j + 4].ravel()
        for image in images
        for i in range(image.shape[0] - 3)
        for j in range(image.shape[1] - 3)
    }
    assert len(places) == 42
    found = patches.sampled(images, 50_000, 4, seed)
    assert found.dtype == np.float32
    for patch in found[:2000]:
        np.testing.assert_array_equal(patch, places[patch[0]])
    counts, expected = np.array([(found[:, 0] == first).sum() for first in places]), 50_000 / 42
    assert ((counts - expected) ** 2 / expected).sum() < chi2.ppf(1 - 1e-4, 41)
    np.testing.assert_array_equal(patches.sampled(images, 50_000, 4, seed), found)


def test_recovered_sets_are_compared_only_with_as_many_of_the_paper(module_of):
    """Both numbers are of 1,000 sets: the difference of 16 is 2.1 standard errors. A quick run has fewer than 978."""
    pytest.importorskip("matplotlib")
    page = module_of("henniges_2010", "readme")
    errors = np.sqrt(978 * 22 / 1000 + 962 * 38 / 1000)
    found = {"bars": {"paper's settings": {"sets": 1000, "recovered": 962}}}
    assert page.apart(found) == f"{16 / errors:.1f}"
    found["bars"]["paper's settings"] = {"sets": 10, "recovered": 9}
    assert page.apart(found) == "(not in a quick run)"
