"""An image taken apart into overlapping patches, and put together again once they have been restored."""

import warnings
from collections.abc import Callable

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.interpolate import griddata
from sklearn.feature_extraction.image import reconstruct_from_patches_2d

Restore = Callable[[np.ndarray], np.ndarray]
Learn = Callable[[np.ndarray], Restore]


def psnr(found: np.ndarray, image: np.ndarray) -> float:
    """Return the peak signal to noise ratio in decibels, of grey levels to 255."""
    return float(20.0 * np.log10(255.0) - 10.0 * np.log10(np.mean((found.clip(0.0, 255.0) - image) ** 2)))


def restored(image: np.ndarray, side: int, learn: Learn, some: Callable[[int], np.ndarray]) -> np.ndarray:
    """Return the image with its patches restored; NaN are pixels that are missing.

    `learn` makes of `some` of the patches what restores all of them. Their means are taken off, because models have no
    offset, and put back at the end. A pixel is the mean of what its patches say.
    """
    # As scikit-learn's extract_patches_2d, which takes no blanks.
    rows = sliding_window_view(image, (side, side)).reshape(-1, side * side)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a patch without any pixel has no mean
        means = np.nanmean(rows, axis=1, keepdims=True)
    means = np.where(np.isnan(means), np.nanmean(image), means)
    rows = rows - means
    found = learn(rows[some(len(rows))])(rows) + means
    return np.asarray(reconstruct_from_patches_2d(found.reshape(-1, side, side), image.shape))


def interpolated(damaged: np.ndarray) -> np.ndarray:
    """Return the image with missing pixels on triangles between those that are seen, or as the nearest one is."""
    seen, every = np.argwhere(~np.isnan(damaged)), np.argwhere(np.ones_like(damaged, bool))
    values = damaged[~np.isnan(damaged)]
    linear, near = (griddata(seen, values, every, method=method) for method in ("linear", "nearest"))
    return np.where(np.isnan(linear), near, linear).reshape(damaged.shape)
