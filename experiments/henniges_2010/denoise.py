"""Noise taken from an image, and missing pixels filled in, patch by patch; beside scikit-learn's dictionary learning.

Models are fitted to the damaged patches themselves.
"""

from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from cells import Cells
from common import NO_DATA, have_data
from patches import images
from scipy.ndimage import gaussian_filter
from sklearn.decomposition import MiniBatchDictionaryLearning
from whole_image import Learn, interpolated, psnr, restored

from hiddenbits import Annealing, BinarySparseCoding

SEEDS = {"noise": 0, "holes": 1, "patches": 2, "starts": 0}
SIDE, NOISE, MISSING = 8, 20.0, 0.5
IMAGE = 0  # image1
ATOMS, TRAINED = 200, 10_000  # causes or atoms; patches that a model is fitted to
CANDIDATES, ACTIVE = 8, 6
OURS = "BinarySparseCoding"
DAMAGED = {"denoising": "noisy", "inpainting": "holes filled with the mean of the patch"}


def picture(full: bool) -> np.ndarray:
    """The image: a square of it, smaller in a quick run."""
    side = 256 if full else 40
    return images()[IMAGE][:side, :side]


def noisy(image: np.ndarray) -> np.ndarray:
    return image + np.random.default_rng(SEEDS["noise"]).normal(0.0, NOISE, image.shape)


def holey(image: np.ndarray) -> np.ndarray:
    return np.where(np.random.default_rng(SEEDS["holes"]).random(image.shape) < MISSING, np.nan, image)


def some() -> Callable[[int], np.ndarray]:
    """Choose the patches that a model is fitted to."""
    return lambda n: np.random.default_rng(SEEDS["patches"]).permutation(n)[:TRAINED]


# --------------------------------------------------------------------------------------------------------- ways


def ours(full: bool, told: dict[str, Any]) -> Learn:
    """Causes that are on or off; `complete` where pixels are missing."""

    def learn(rows: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        model = coder(full).fit(rows)
        told.update(active=model.n_active_, noise=model.noise_, stop=model.stop_reason_, passes=model.n_iter_)
        if np.isnan(rows).any():
            return model.complete  # type: ignore[no-any-return]
        return lambda all_rows: model.inverse_transform(model.transform(all_rows))

    return learn


def coder(full: bool) -> BinarySparseCoding:
    sizes = {"n_candidates": CANDIDATES, "max_active": ACTIVE} if full else {}
    schedule = Annealing(wide_candidates=CANDIDATES, wide_active=ACTIVE) if full else Annealing()
    return BinarySparseCoding(
        ATOMS if full else 24, **sizes, schedule=schedule, n_init=1, dtype="float32", random_state=SEEDS["starts"]
    )


def theirs(full: bool, **transform: Any) -> Learn:
    """scikit-learn's dictionary, with matching pursuit for the codes.

    Pixels have a standard deviation of 1 and alpha is 1, as in its own example; coordinate descent finds the same
    dictionary as the default, least angles, in a tenth of the time.
    """

    def learn(rows: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        scale = float(rows.std())
        if "transform_alpha" in transform:  # a sum of squares
            transform["transform_alpha"] /= scale**2
        model = MiniBatchDictionaryLearning(
            ATOMS if full else 24,
            alpha=1.0,
            max_iter=20 if full else 3,
            batch_size=256,
            fit_algorithm="cd",
            transform_algorithm="omp",
            random_state=SEEDS["starts"],
            **transform,
        ).fit(rows / scale)
        return lambda all_rows: scale * (model.transform(all_rows / scale) @ model.components_)

    return learn


def timed(make: Callable[[], np.ndarray], image: np.ndarray, told: dict[str, Any] | None = None) -> dict[str, Any]:
    begin, busy = perf_counter(), process_time()
    found = make()
    return {
        "psnr": psnr(found, image),
        "seconds": perf_counter() - begin,
        "processor_seconds": process_time() - busy,
        "image": np.round(found).clip(0, 255).astype(np.uint8),
        **(told or {}),
    }


def denoised(full: bool) -> dict[str, Any]:
    image = picture(full)
    damaged, told = noisy(image), {}
    found = {DAMAGED["denoising"]: timed(lambda: damaged, image)}
    found[OURS] = timed(lambda: restored(damaged, SIDE, ours(full, told), some()), image, told)
    few = max(1, round(told["active"]))
    enough = 1.15**2 * NOISE**2 * SIDE**2
    ways = {
        f"dictionary learning, {few} atoms a patch": {"transform_n_nonzero_coefs": few},
        "dictionary learning, as many atoms as the noise asks for": {"transform_alpha": enough},
    }
    for name, transform in ways.items():
        found[name] = timed(lambda t=transform: restored(damaged, SIDE, theirs(full, **t), some()), image)  # type: ignore[misc]
    found["Gaussian filter, the best width"] = best_blur(damaged, image)
    return found


def best_blur(damaged: np.ndarray, image: np.ndarray) -> dict[str, Any]:
    """What one number, chosen with the true image in hand, can do."""
    tried = [timed(lambda w=width: gaussian_filter(damaged, w), image) for width in np.arange(0.5, 2.0, 0.1)]  # type: ignore[misc]
    return max(tried, key=lambda one: float(one["psnr"]))


def inpainted(full: bool) -> dict[str, Any]:
    image = picture(full)
    damaged, told = holey(image), {}
    found = {DAMAGED["inpainting"]: timed(lambda: restored(damaged, SIDE, lambda _: np.nan_to_num, some()), image)}
    found[OURS] = timed(lambda: restored(damaged, SIDE, ours(full, told), some()), image, told)
    found["linear interpolation between pixels"] = timed(lambda: interpolated(damaged), image)
    return found


def measure(cells: Cells, folder: Path, *, full: bool) -> dict[str, Any] | str:
    """Task -> way -> decibels and seconds. The images go into files, for the pictures."""
    if not have_data("denoising and inpainting"):
        return NO_DATA
    tasks = {"denoising": denoised, "inpainting": inpainted}
    return {
        task: cells.get(task, lambda task=task, make=make: apart(task, make(full), folder))  # type: ignore[misc]
        for task, make in tasks.items()
    }


def apart(task: str, found: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Put the images into a file; return the figures."""
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / f"{task}.npz", **{name: one.pop("image") for name, one in found.items()})
    return found
