"""The paper's second example: USPS images of the digit 2, 16 x 16 pixels (Figure 4), and what it does not measure."""

from typing import Any

import numpy as np
from common import Run, have_data
from geometry import has_a_point
from scipy.special import log_ndtr, logsumexp
from thresholded import ThresholdedPCA

from data import DIMENSIONS, recipe, twos
from hiddenbits import ClippedPCA, IndependentColumns

SEEDS = {"model": 0, "hidden pixels": 0, "missing cells": 1, "draws": 0, "importance": 2}
HIDDEN = 0.3
DRAWS = 100_000
INDEPENDENT = "independent bits"
RECIPE = "PCA of the corrected matrix (the recipe)"
DEFAULT = "our default: five steps of factoring after it"
RANKS = (2, 4, 8, 16, 32, 64)


def measure(run: Run) -> dict[str, Any] | None:
    if not have_data("digits"):
        return None
    full = run.full
    train, _, test, _ = twos()
    model, raw = recipe().fit(train), ClippedPCA.paper(DIMENSIONS, random_state=0).fit(train)
    return {
        "rows": [len(train), len(test)],
        "spectrum": spectra(model, train),
        "likelihood": likelihoods(train, test, full=full),
        "completion": completion(model, train, test),
        "missing": missing(train, test, full=full),
        "reconstruction": reconstruction(model, train, test),
        "empty_posteriors": {
            name: empty_posteriors(raw, images[: 100 if full else 10])
            for name, images in (("training", train), ("test", test))
        },
        "draws": draws(model, train, 100_000 if full else 10_000),
        "draws_of_paper": draws(raw, train, 100_000 if full else 10_000),
        **({"posteriors": posteriors(model, test[:5])} if full else {}),
    }


def empty_cells(X: np.ndarray) -> np.ndarray:
    """Return for which pairs of columns one of the four kinds of rows never occurs."""
    one, zero = (X == 1).astype(float), (X == 0).astype(float)
    return np.asarray(np.minimum.reduce([one.T @ one, one.T @ zero, zero.T @ one, zero.T @ zero]) == 0.0)


def spectra(model: ClippedPCA, train: np.ndarray) -> dict[str, Any]:
    """What Figure 4 shows, and what the paper says of it, in figures."""
    varies = train.min(axis=0) < train.max(axis=0)
    pairs = np.triu(np.outer(varies, varies), 1)
    bits, hidden = model.bit_spectrum_, model.spectrum_
    scaled = np.linalg.eigvalsh(np.corrcoef(train[:, varies].T))[::-1]  # a unit diagonal, as C^XX has
    values, vectors = np.linalg.eigh(model.correlation_)
    raw = vectors[:, -DIMENSIONS:] * np.sqrt(values[-DIMENSIONS:])
    ordinary = np.linalg.eigh(np.cov(train.T))[1][:, -DIMENSIONS:]
    angles = np.linalg.svd(vectors[:, -DIMENSIONS:].T @ ordinary, compute_uv=False)
    return {
        "constant_columns": int((~varies).sum()),
        "pairs": int(pairs.sum()),
        "pairs_with_an_empty_cell": int((empty_cells(train) & pairs).sum()),
        "largest": float(hidden[0]),
        "smallest": float(hidden[-1]),
        "negative": int((hidden < 0.0).sum()),
        "share_of_trace_in_16": {"bits": share(bits), "scaled": share(scaled), "hidden": share(hidden)},
        "first_rank_at_which_hidden_is_the_smaller_share": {
            "bits": smaller_from(bits, hidden),
            "scaled": smaller_from(scaled, hidden),
        },
        "negative_below_minus_one": int((hidden < -1.0).sum()),
        "smallest_of_bits": float(bits[-1]),
        "share_of_first": {
            str(k): {
                name: float(values[k - 1] / values[0])
                for name, values in (("bits", bits), ("scaled", scaled), ("hidden", hidden))
            }
            for k in RANKS
        },
        "columns_with_loadings_beyond_1": int(((raw**2).sum(axis=1) > 1.0).sum()),
        "overlap_with_pca": float((angles**2).mean()),
    }


def share(values: np.ndarray) -> float:
    return float(values[:DIMENSIONS].sum() / values.sum())


def smaller_from(bits: np.ndarray, hidden: np.ndarray) -> int:
    """The rank from which on the hidden eigenvalue, as a part of the first, stays below that of the bits."""
    larger = np.flatnonzero(hidden / hidden[0] >= bits / bits[0])
    return int(larger[-1]) + 2


def likelihoods(train: np.ndarray, test: np.ndarray, *, full: bool) -> dict[str, Any]:
    """Nats a row of the test images, with the standard error of the sampling (not of the choice of rows)."""
    models: dict[str, Any] = {
        INDEPENDENT: IndependentColumns(),
        RECIPE: recipe(),
        DEFAULT: ClippedPCA(DIMENSIONS, random_state=0),
    }
    if full:
        models["the recipe with 20 pseudo-rows for every pair"] = recipe(pseudo_rows=20.0, smooth="all")
        models["our default, dimensions by parallel analysis"] = ClippedPCA("parallel", random_state=0)
    found = {}
    for name, model in models.items():
        model.fit(train)
        if isinstance(model, IndependentColumns):
            found[name] = {"dimensions": 0, "nll": float(-model.score(test)), "error": 0.0}
        else:
            scores, errors = model.score_samples(test, return_std=True)
            error = float(np.sqrt((errors**2).sum()) / len(test))
            found[name] = {"dimensions": model.n_components_, "nll": float(-scores.mean()), "error": error}
    return found


def completion(model: ClippedPCA, train: np.ndarray, test: np.ndarray) -> dict[str, Any]:
    """Guess hidden pixels of test images: share that is right, and nats a pixel where there are probabilities."""
    hidden = np.random.default_rng(SEEDS["hidden pixels"]).random(test.shape) < HIDDEN
    X = np.where(hidden, np.nan, test)
    truth = test[hidden]
    means = np.broadcast_to((train.sum(axis=0) + 0.5) / (len(train) + 1.0), test.shape)
    guesses = {
        "column means": means[hidden],
        "clipped": model.complete(X)[hidden],
        "clipped, our default": ClippedPCA(DIMENSIONS, random_state=0).fit(train).complete(X)[hidden],
    }
    found: dict[str, Any] = {
        name: {"right": float(((p > 0.5) == truth).mean()), "nats": float(-np.log(np.where(truth, p, 1.0 - p)).mean())}
        for name, p in guesses.items()
    }
    ordinary = ThresholdedPCA(DIMENSIONS).fit(train).complete(X)[hidden]
    found["thresholded PCA"] = {"right": float(((ordinary > 0.5) == truth).mean()), "nats": None}
    found["share_hidden"] = HIDDEN
    return found


def missing(train: np.ndarray, test: np.ndarray, *, full: bool) -> dict[str, float]:
    """Nats a row of whole test images, when cells of the training images are missing."""
    cells = np.random.default_rng(SEEDS["missing cells"]).random(train.shape)
    shares = (0.0, 0.1, 0.3, 0.5) if full else (0.3,)
    return {f"{share:g}": float(-recipe().fit(np.where(cells < share, np.nan, train)).score(test)) for share in shares}


def reconstruction(model: ClippedPCA, train: np.ndarray, test: np.ndarray) -> dict[str, float]:
    """Share of pixels of test images that sixteen numbers do not bring back."""
    ours = model.inverse_transform(model.transform(test)) > 0.5
    return {
        "clipped": float((ours != test).mean()),
        "thresholded PCA": float((ThresholdedPCA(DIMENSIONS).fit(train).reconstruct(test) != test).mean()),
    }


def posteriors(model: ClippedPCA, rows: np.ndarray) -> dict[str, Any]:
    """Posterior means and likelihoods beside 100,000 importance draws a row, from a Gaussian a little wider."""
    means, covariances = model.transform(rows, return_cov=True)
    scale = 1.0 / np.sqrt(model.noise_variances_)
    slopes, heights = model.components_.T * scale[:, None], model.intercepts_ * scale
    rng, off, gap = np.random.default_rng(SEEDS["importance"]), 0.0, 0.0
    for row, mean, covariance, estimate in zip(rows, means, covariances, model.score_samples(rows), strict=True):
        root = 1.1 * np.linalg.cholesky(covariance)
        z = rng.standard_normal((DRAWS, DIMENSIONS))
        y = mean + z @ root.T
        score = np.concatenate(
            [log_ndtr((2.0 * row - 1.0) * (part @ slopes.T + heights)).sum(axis=1) for part in np.split(y, 20)]
        )
        score += 0.5 * ((z**2).sum(axis=1) - (y**2).sum(axis=1)) + np.log(np.diag(root)).sum()
        weights = np.exp(score - logsumexp(score))
        center = weights @ y
        off = max(off, float((np.abs(mean - center) / np.sqrt(weights @ (y - center) ** 2)).max()))
        gap = max(gap, float(abs(estimate - logsumexp(score) + np.log(DRAWS))))
    return {"rows": len(rows), "draws": DRAWS, "mean_in_posterior_deviations": off, "log_likelihood": gap}


def empty_posteriors(model: ClippedPCA, images: np.ndarray) -> dict[str, int]:
    """Images that the paper's model without noise can make at all: some y has all their signs."""
    W, h = model.components_.T, model.intercepts_
    moves = np.abs(W).max(axis=1) > 1e-9  # of a constant pixel the model says nothing but its value
    signs = 2.0 * images - 1.0
    possible = sum(has_a_point(W[moves], h[moves], s[moves]) for s in signs)
    return {"images": len(images), "possible": int(possible)}


def draws(model: ClippedPCA, train: np.ndarray, n_rows: int) -> dict[str, Any]:
    drawn = model.sample(n_rows, random_state=SEEDS["draws"])
    return {"rows": n_rows, "largest_error_of_means": float(np.abs(drawn.mean(axis=0) - train.mean(axis=0)).max())}
