"""The twos: C^SS as equation 5 has it, the bits' own correlations in place of C^XX, time, and distortions."""

from dataclasses import replace
from time import process_time
from typing import Any

import numpy as np
from common import NO_DATA, have_data
from digits import smaller_from
from thresholded import ThresholdedPCA

from data import DIMENSIONS, SHAPE, recipe, twos
from hiddenbits import ClippedPCA, LogisticPCA
from hiddenbits.families.clipped_pca.factors import factors

SEEDS = {"model": 0}
SIZES = (2, 4, 8, 16, 32)
CAP = 0.95  # of |w|^2, as in the recipe


def measure(*, full: bool) -> Any:
    if not have_data("outputs for digits"):
        return NO_DATA
    train, _, test, _ = twos()
    return {
        "second_moments": second_moments(train),
        "likelihood": {str(q): likelihoods(train, test, q) for q in (SIZES if full else (2,))},
        "pca": numbers_of_pca(train, test),
        "seconds": seconds(train) if full else None,
        "distortions": distortions(train),
    }


def second_moments(train: np.ndarray) -> dict[str, Any]:
    """The spectrum of <s_i s_j>, means and all, of the pixels that vary."""
    signs = 2.0 * train[:, train.min(axis=0) < train.max(axis=0)] - 1.0
    bits = np.linalg.eigvalsh(signs.T @ signs / len(signs))[::-1]
    return {
        "largest": float(bits[0]),
        "second": float(bits[1]),
        "smallest": float(bits[-1]),
        "drops_from": smaller_from(bits, recipe().fit(train).spectrum_),
    }


def likelihoods(train: np.ndarray, test: np.ndarray, n_components: int) -> dict[str, float]:
    """Test error of the recipe, in nats a row, with W from C^XX and with W from the correlations of the bits."""
    model, other = recipe(n_components).fit(train), recipe(n_components).fit(train)
    varies = train.min(axis=0) < train.max(axis=0)
    W = np.zeros((train.shape[1], n_components))
    W[varies] = factors(np.corrcoef(train[:, varies].T), n_components, CAP, 0)
    other.params_ = replace(model.params_, loadings=W)
    hidden, bits = model.score_samples(test), other.score_samples(test)
    gain = hidden - bits
    return {
        "hidden": float(-hidden.mean()),
        "bits": float(-bits.mean()),
        "gain": float(gain.mean()),
        "error": float(gain.std(ddof=1) / len(gain) ** 0.5),  # of the choice of rows
    }


def numbers_of_pca(train: np.ndarray, test: np.ndarray) -> dict[str, float]:
    """What ordinary PCA makes of test images: numbers that no bit can be the mean of."""
    pca = ThresholdedPCA(DIMENSIONS).fit(train)
    made = pca.transform(test) @ pca.axes.T + pca.mean
    return {"outside": float(((made < 0.0) | (made > 1.0)).mean())}


def seconds(train: np.ndarray) -> dict[str, float]:
    """Processor seconds of a whole fit: the paper's, and the variational one of its reference 7."""
    found = {}
    for name, model in (
        ("clipped", ClippedPCA.paper(DIMENSIONS, random_state=0)),
        ("variational", LogisticPCA(DIMENSIONS, random_state=0)),
    ):
        begin = process_time()
        model.fit(train)
        found[name] = process_time() - begin
    return found


def changes(image: np.ndarray) -> dict[str, np.ndarray]:
    """Return how a picture changes when it is turned, stretched, slanted or moved a little: directions of length 1."""
    down, right = np.gradient(image)
    y, x = np.indices(image.shape) - (np.array(image.shape)[:, None, None] - 1.0) / 2.0
    found = {
        "rotation": x * down - y * right,
        "stretching, sideways": x * right,
        "stretching, upwards": y * down,
        "slant": y * right,
    }
    return {name: (change / np.linalg.norm(change)).ravel() for name, change in found.items()}


def distortions(train: np.ndarray) -> dict[str, Any]:
    """How much of a distortion of the mean image the leading eigenvectors hold: all together, and the best of them."""
    hidden = np.linalg.eigh(recipe().fit(train).correlation_)[1][:, -DIMENSIONS:]
    ordinary = ThresholdedPCA(DIMENSIONS).fit(train).axes
    found: dict[str, Any] = {"chance": DIMENSIONS / train.shape[1], "ways": {}}
    for name, change in changes(train.mean(axis=0).reshape(SHAPE)).items():
        cosines = (hidden.T @ change) ** 2
        found["ways"][name] = {
            "all": float(cosines.sum()),
            "best": float(cosines.max()),
            "best_rank": DIMENSIONS - int(cosines.argmax()),
            "pca": float(((ordinary.T @ change) ** 2).sum()),
        }
    return found
