"""Patches of natural images, made as the paper made them: the brightest 2% clamped, a difference of Gaussians."""

import numpy as np
from images import BrightnessClamp, DifferenceOfGaussians, PatchSampler
from sklearn.pipeline import make_pipeline

from hiddenbits import datasets


def images() -> list[np.ndarray]:
    """The 13 grey images of natural13.npz."""
    with np.load(datasets.data_folder() / "images" / "natural13.npz", allow_pickle=False) as stored:
        return [stored[f"image{number}"].astype(float) for number in range(1, len(stored.files) + 1)]


def natural(n_patches: int, side: int, seed: int, width: float = 1.0) -> np.ndarray:
    """Patches, in float32; `width` is that of the filter's centre, in pixels, a third of its surround's."""
    sampler = PatchSampler(n_patches, side, random_state=seed, dtype="float32")
    steps = make_pipeline(BrightnessClamp(0.02), DifferenceOfGaussians(width), sampler)
    return np.asarray(steps.fit_transform(images()))
