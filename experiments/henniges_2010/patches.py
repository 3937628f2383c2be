"""Patches of natural images, made as the paper made them: the brightest 2% clamped, a difference of Gaussians."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.ndimage import gaussian_filter
from sklearn.utils import check_random_state

from hiddenbits import datasets

BRIGHTEST, WIDER = 0.02, 3.0  # share that is clamped; the surround is so many times wider than the center


def images() -> list[np.ndarray]:
    """The 13 gray images of natural13.npz."""
    with np.load(datasets.data_folder() / "images" / "natural13.npz", allow_pickle=False) as stored:
        return [stored[f"image{number}"].astype(float) for number in range(1, len(stored.files) + 1)]


def clamped(image: np.ndarray) -> np.ndarray:
    """Clamp the brightest pixels to the largest value of the others: reflections of light."""
    place = max(0, image.size - 1 - round(BRIGHTEST * image.size))
    return np.minimum(image, np.partition(image, place, axis=None)[place])


def filtered(image: np.ndarray, width: float) -> np.ndarray:
    """Return a narrow blur less a wide one, each with weights that sum to 1: contrast of middle scales."""
    return np.asarray(gaussian_filter(image, width) - gaussian_filter(image, WIDER * width))


def sampled(whole: list[np.ndarray], n_patches: int, side: int, seed: int) -> np.ndarray:
    """Return patches from places that are drawn with equal probability, over all places of all images."""
    windows = [sliding_window_view(image, (side, side)) for image in whole]
    ends = np.cumsum([one.shape[0] * one.shape[1] for one in windows], dtype=np.int64)
    places = check_random_state(seed).randint(ends[-1], size=n_patches, dtype=np.int64)
    source, patches = np.searchsorted(ends, places, side="right"), np.empty((n_patches, side, side), np.float32)
    for number, one in enumerate(windows):
        mine = source == number
        first = ends[number] - one.shape[0] * one.shape[1]
        patches[mine] = one[np.divmod(places[mine] - first, one.shape[1])]
    return patches.reshape(n_patches, side * side)


def natural(n_patches: int, side: int, seed: int, width: float = 1.0) -> np.ndarray:
    """Patches, in float32; `width` is that of the filter's center, in pixels."""
    return sampled([filtered(clamped(image), width) for image in images()], n_patches, side, seed)
