"""Morphs between two images: by the clipped model, by thresholded PCA, and as a plain cross-fade."""

from typing import Any

import numpy as np
from common import Run, have_data
from thresholded import ThresholdedPCA

from data import DIMENSIONS, recipe, twos

SEEDS = {"pairs": 0, "rounding": 1}
STEPS = 9
SHOWN = 3


def pairs(n_images: int, n_pairs: int) -> np.ndarray:
    """Pairs of different test images, by chance; the first few are drawn."""
    order = np.random.default_rng(SEEDS["pairs"]).permutation(n_images)
    return order[: 2 * n_pairs].reshape(-1, 2)


def ways(model: Any, pca: ThresholdedPCA, a: np.ndarray, b: np.ndarray, steps: int = STEPS) -> dict[str, np.ndarray]:
    """The three ways from one image to another, both ends among them."""
    along = np.linspace(0.0, 1.0, steps)[:, None]
    first, last = pca.transform(np.stack([a, b]).astype(float))
    return {
        "clipped": model.morph(a, b, steps),
        "thresholded PCA": pca.cut(first + along * (last - first)).astype(np.uint8),
        "cross-fade": a + along * (b.astype(float) - a),
    }


def nearest(rows: np.ndarray, train: np.ndarray) -> float:
    """Mean distance of rows from the nearest training image, in pixels."""
    x, t = rows.astype(float), train.astype(float)
    apart = x.sum(axis=1)[:, None] + t.sum(axis=1) - 2.0 * x @ t.T
    return float(apart.min(axis=1).mean())


def measure(run: Run) -> dict[str, Any] | None:
    if not have_data("morphs"):
        return None
    train, _, test, _ = twos()
    model, pca = recipe().fit(train), ThresholdedPCA(DIMENSIONS).fit(train)
    chosen = pairs(len(test), 99 if run.full else 10)
    most, unequal, middles = 0, 0, {name: [] for name in ("clipped", "thresholded PCA", "cross-fade")}
    for a, b in test[chosen]:
        way = model.morph(a, b, 200).astype(int)
        flips = np.abs(np.diff(way, axis=0)).sum(axis=0)
        most, unequal = max(most, int(flips.max())), unequal + int(flips.sum() != (way[0] != way[-1]).sum())
        for name, images in ways(model, pca, a, b).items():
            middles[name].append(images[STEPS // 2])
    fades = np.array(middles.pop("cross-fade"))
    rng = np.random.default_rng(SEEDS["rounding"])
    halves = {name: np.array(images) for name, images in middles.items()}
    halves["cross-fade, its greys made bits by chance"] = (rng.random(fades.shape) < fades).astype(np.uint8)
    return {
        "pairs": len(chosen),
        "most_flips_of_a_pixel": most,
        "ways_whose_flips_are_not_the_distance_of_the_ends": unequal,
        "grey_share_of_cross_fade": float((fades == 0.5).mean()),
        "ink": {
            "test images": float(test.mean()),
            **{name: float(images.mean()) for name, images in halves.items()},
        },
        "pixels_from_the_nearest_training_image": {
            "test images": nearest(test, train),
            "test images as the model brings them back": nearest(
                model.inverse_transform(model.transform(test)) > 0.5, train
            ),
            **{name: nearest(images, train) for name, images in halves.items()},
        },
    }
