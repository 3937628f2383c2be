"""Where a mixture of maps begins: classes of rows and the principal components of each, or random maps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Arrays, Block
from hiddenbits.data.summary import Summary
from hiddenbits.families.bernoulli_mixture.model import Mixture, MixtureParams, MixtureStats
from hiddenbits.families.logistic_pca.params import FRESH, LogisticParams
from hiddenbits.families.logistic_pca.start import PASSES, centred_product, first_loadings, start_logistic
from hiddenbits.families.logistic_pca_mixture.params import MapsParams
from hiddenbits.model_api import Key, Passes

CLASS_PASSES = 20  # of a Bernoulli mixture: a start needs no more
APART = 0.3  # standard deviation of the random maps' intercepts around the logits of the columns; of loadings it is 1


@dataclass(frozen=True, eq=False)
class Products(Arrays):
    """Z'Z V of each class, summed over blocks."""

    products: Floats


def _count(model: Mixture, params: MixtureParams, shared: Any, block: Block) -> MixtureStats:
    return model.expect(params, shared, block, None, Key(0))[0]


def _products(model: Mixture, params: MixtureParams, shared: Any, V: Floats, block: Block) -> Products:
    r = block.weights[:, None] * model.posterior(params, shared, block)
    each = zip(params.probabilities.T, V, r.T, strict=True)
    return Products(np.stack([centred_product(means, Vk, block, weights) for means, Vk, weights in each]))


def start_maps(
    n_maps: int, n_components: int, start_from: str, summary: Summary, key: Key, passes: Passes
) -> MapsParams:
    """Return the start of a restart.

    "classes": every other restart, the first among them, begins with classes of rows; the others with random maps. Each
    kind finds what the other misses. Classes are best for rows in clusters, but where maps cross each other's middle
    a Bernoulli mixture cuts along the dimensions, whatever its own start. "noise": all restarts are random, which
    needs no pass over the rows. A single map begins as logistic PCA does.
    """
    if n_maps == 1:
        start = "pca" if start_from == "classes" else "noise"
        return MapsParams.of(np.ones(1), [start_logistic(n_components, start, summary, key, passes)])
    centre = np.log(summary.means) - np.log1p(-summary.means)
    rng = key.at(block=1).rng()
    noise = rng.standard_normal((n_maps, len(centre), n_components))
    if start_from == "classes" and key.restart % 2 == 0:
        classes = _classes(n_maps, summary, key, passes)
        weights, loadings, intercepts = classes.weights, _loadings(classes, noise, summary, passes), classes.logits.T
    else:
        intercepts = centre + APART * rng.standard_normal((n_maps, len(centre)))
        weights, loadings = np.full(n_maps, 1.0 / n_maps), noise
    maps = [LogisticParams.at(W, b.copy(), centre, FRESH) for W, b in zip(loadings, intercepts, strict=True)]
    return MapsParams.of(weights, maps)


def _classes(n_maps: int, summary: Summary, key: Key, passes: Passes) -> MixtureParams:
    """Return classes of rows: some passes of a Bernoulli mixture."""
    model = Mixture(n_maps)
    classes = model.start(summary, key, passes)
    for _ in range(CLASS_PASSES):
        classes = model.update(classes, passes(partial(_count, model, classes, model.prepare(classes))))
    return classes


def _loadings(classes: MixtureParams, noise: Floats, summary: Summary, passes: Passes) -> Floats:
    """Return in each class what logistic PCA begins with in a table, its rows weighted by their share in the class."""
    n_maps, d, q = noise.shape
    model = Mixture(n_maps)
    V = np.linalg.qr(noise[:, :, : min(q, d)])[0]
    walk = partial(_products, model, classes, model.prepare(classes))
    for _ in range(PASSES):
        V = np.linalg.qr(passes(partial(walk, V)).products)[0]
    counts = np.maximum(classes.weights * float(summary.weight), 1.0)
    each = zip(classes.probabilities.T, V, passes(partial(walk, V)).products, counts, noise, strict=True)
    return np.stack([first_loadings(*of_class) for of_class in each])
