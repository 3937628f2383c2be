"""The paper's figures 2, 3 and 4, and pictures of what it does not show: draws, completions, eigenvalues by chance."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import faithful
import matplotlib.pyplot as plt
import morphs
import numpy as np
import translation
from common import have_data, save
from negative import truth
from pairs import correlations
from thresholded import ThresholdedPCA

from data import DIMENSIONS, SHAPE, bumps, recipe, tables, twos
from hiddenbits import ClippedPCA, IndependentBits, plots

BLUE, RED, GREY = "#0072B2", "#D55E00", "#8c8c8c"


def draw(folder: Path, *, full: bool) -> None:
    """Draw everything the data at hand allow."""
    cells(folder)
    ring(folder)
    if not have_data("pictures of digits"):
        return
    train, _, test, _ = twos()
    model, pca = recipe().fit(train), ThresholdedPCA(DIMENSIONS).fit(train)
    eigenvectors(folder, model, pca)
    strips(folder, model, pca, test, morphs.SHOWN if full else 1)
    completions(folder, model, pca, test, 6 if full else 1)
    if full:
        spectrum(folder, train)
        drawn(folder, model, train)
        chance(folder, model, train)
        scatter(folder)


def cells(folder: Path) -> None:
    """Figure 2: three planes of the plane, without and with biases."""
    figure, axes = plt.subplots(1, 2, figsize=(7.0, 3.6), layout="constrained")
    axis = np.linspace(-3.0, 3.0, 300)  # not through the origin, where the planes meet
    points = np.stack(np.meshgrid(axis, axis), axis=-1)
    W = np.array([[0.2, 1.0], [0.9, -0.5], [-0.8, -0.6]])
    for ax, h in zip(axes, (np.zeros(3), np.array([0.7, 0.6, 0.5])), strict=True):
        bits = points @ W.T + h > 0.0
        kind = bits @ np.array([4, 2, 1])
        for w, bias in zip(W, h, strict=True):
            along = np.array([-w[1], w[0]]) / np.hypot(*w)
            ends = -bias * w / (w @ w) + np.array([[-9.0], [9.0]]) * along
            ax.plot(*ends.T, "--", color="k", linewidth=1.0)
        for number in np.unique(kind):
            inside = points[kind == number]
            # Where to write: the point of the cell that is farthest from all planes and from the frame.
            room = np.abs((inside @ W.T + h) / np.linalg.norm(W, axis=1)).min(axis=1)
            place = inside[np.minimum(room, 2.6 - np.abs(inside).max(axis=1)).argmax()]
            signs = "".join("+" if number >> (2 - k) & 1 else "\N{MINUS SIGN}" for k in range(3))
            ax.text(*place, signs, ha="center", va="center", fontsize=11, family="monospace")
        title = "without biases" if not h.any() else "with biases"
        ax.set_title(f"{title}: {len(np.unique(kind))} of 8 rows", fontsize=9)
        ax.set(xlim=(-3, 3), ylim=(-3, 3), xticks=[], yticks=[], aspect="equal", xlabel="$y_1$", ylabel="$y_2$")
    save(figure, folder, "figure2_cells")


def ring(folder: Path) -> None:
    """Figure 3: rows that the fitted model draws, and the two spectra."""
    model = translation.fitted(bumps(translation.COLUMNS))
    figure, axes = plt.subplots(1, 2, figsize=(10.0, 3.6), layout="constrained", width_ratios=(1.0, 1.3))
    rows = model.sample(16, random_state=0)
    axes[0].imshow(
        np.repeat(rows, 3, axis=0), cmap="gray_r", aspect="auto", interpolation="nearest", extent=(0, 256, 16, 0)
    )
    for height in range(1, 16):
        axes[0].axhline(height, color="w", linewidth=2.5)
    axes[0].set(title="16 rows drawn from the fitted model", xlabel="column", yticks=[])
    axes[0].title.set_fontsize(9)
    plots.spectrum(model, ax=axes[1])
    axes[1].set_title("eigenvalues above rounding", fontsize=9)
    save(figure, folder, "figure3_translation")


def spectrum(folder: Path, train: np.ndarray) -> None:
    """Figure 4, the spectra: with their signs, and by size on a logarithmic scale with what chance reaches."""
    model = ClippedPCA("parallel", random_state=0).fit(train)
    figure, axes = plt.subplots(1, 2, figsize=(11.0, 4.0), layout="constrained")
    axes[0].axhline(0.0, color=GREY, linewidth=0.8)
    for values, name, colour, marker in (
        (model.bit_spectrum_, "bits, $C^{SS}$", BLUE, "s"),
        (model.spectrum_, "hidden variables, $C^{XX}$", RED, "o"),
    ):
        axes[0].plot(np.arange(1, len(values) + 1), values, marker, ms=3, color=colour, label=name)
    axes[0].set(xlabel="rank", ylabel="eigenvalue")
    axes[0].legend(fontsize=8)
    plots.spectrum(model, ax=axes[1])
    axes[1].set_ylim(bottom=1e-3)
    save(figure, folder, "figure4_spectrum")


def eigenvectors(folder: Path, model: Any, pca: ThresholdedPCA) -> None:
    """Figure 4, the inset: sixteen eigenvectors of C^XX, beside those of ordinary PCA."""
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 5.2), layout="constrained")
    hidden = SimpleNamespace(components_=np.linalg.eigh(model.correlation_)[1][:, : -DIMENSIONS - 1 : -1].T)
    ordinary = SimpleNamespace(components_=pca.loadings[:, ::-1].T)
    for ax, one, name in zip(axes, (hidden, ordinary), ("hidden variables", "ordinary PCA of the bits"), strict=True):
        plots.components(one, SHAPE, across=4, ax=ax)
        ax.set_title(name, fontsize=9)
    save(figure, folder, "figure4_eigenvectors")


def strips(folder: Path, model: Any, pca: ThresholdedPCA, test: np.ndarray, n: int) -> None:
    """Figure 4, the morph: a few pairs, each by the model, by thresholded PCA and as a cross-fade."""
    frames = {}
    for number, (a, b) in enumerate(test[morphs.pairs(len(test), n)], start=1):
        for name, way in morphs.ways(model, pca, a, b).items():
            frames[f"pair {number}: {name}"] = np.concatenate([a[None], way, b[None]])
    ax = plots.strips(frames, SHAPE)
    save(ax.figure, folder, "figure4_morphs")


def drawn(folder: Path, model: Any, train: np.ndarray) -> None:
    """Images that models draw, below real ones."""
    n = 12
    frames = {
        "real": train[np.random.default_rng(0).permutation(len(train))[:n]],
        "16 dimensions and noise": model.sample(n, random_state=0),
        "the same, without noise": model.inverse_transform(np.random.default_rng(0).standard_normal((n, DIMENSIONS)))
        > 0.5,
        "full matrix": model.sample(n, full=True, random_state=0),
        "independent bits": IndependentBits().fit(train).sample(n, random_state=0),
    }
    save(plots.strips(frames, SHAPE).figure, folder, "draws")


def completions(folder: Path, model: Any, pca: ThresholdedPCA, test: np.ndarray, n: int) -> None:
    """Test images with 30% of their pixels hidden, and with their lower half hidden."""
    rng = np.random.default_rng(0)
    images = test[rng.permutation(len(test))[:n]]
    hidden = rng.random((2, *images.shape)) < 0.3
    hidden[1] = np.arange(256) >= 128
    both = np.concatenate([images, images])
    X = np.where(hidden.reshape(both.shape), np.nan, both)
    frames = {
        "image": both,
        "what is seen": np.where(np.isnan(X), 0.35, X),
        "P(ink), clipped": model.complete(X),
        "thresholded PCA": np.where(np.isnan(X), pca.complete(X) > 0.5, X),
    }
    save(plots.strips(frames, SHAPE).figure, folder, "completions")


def chance(folder: Path, model: Any, train: np.ndarray) -> None:
    """Eigenvalues of C^XX: of the twos, of as many and of ten times as many rows drawn from a model, of the model."""
    n = len(train)
    curves = {
        f"the {n} twos": recipe(1).fit(train).spectrum_,
        f"{n:,} rows drawn from the model": recipe(1).fit(model.sample(n, random_state=1)).spectrum_,
        f"{10 * n:,} rows": recipe(1).fit(model.sample(10 * n, random_state=1)).spectrum_,
        "the model itself": np.sort(np.linalg.eigvalsh(truth(model)))[::-1],
    }
    figure, ax = plt.subplots(figsize=(8.0, 4.0), layout="constrained")
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    for (name, values), colour, style in zip(
        curves.items(), (RED, BLUE, "#009E73", "k"), ("-", "-", "-", ":"), strict=True
    ):
        ax.plot(np.arange(1, len(values) + 1), values, style, color=colour, linewidth=1.5, label=name)
    ax.set_yscale("symlog", linthresh=0.5)
    ticks = [-20, -10, -5, -2, -1, 0, 1, 2, 5, 10, 20, 40]
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.yaxis.set_minor_locator(plt.NullLocator())
    ax.set(xlabel="rank", ylabel="eigenvalue of $C^{XX}$")
    ax.legend(fontsize=8)
    save(figure, folder, "negative_eigenvalues")


def scatter(folder: Path) -> None:
    """Correlations of pairs of bits: in drawn rows against the table."""
    found = tables()
    figure, axes = plt.subplots(2, len(found), figsize=(12.5, 5.0), layout="constrained", sharex="col", sharey="col")
    for column, (name, X) in zip(axes.T, found.items(), strict=True):
        model = ClippedPCA(2, random_state=0).fit(X)
        pairs = np.triu_indices(X.shape[1], 1)
        theirs = correlations(X)[pairs]
        ours = [
            correlations(model.sample(len(X), full=full, random_state=0).astype(float))[pairs] for full in (True, False)
        ]
        low, high = np.nanmin([theirs, *ours]), np.nanmax([theirs, *ours])
        low, high = max(-1.03, low - 0.1 * (high - low)), min(1.03, high + 0.1 * (high - low))
        line = np.linspace(max(low, -1.0), min(high, 1.0), 50)
        error = faithful.PAIRS * (1.0 - line**2) / np.sqrt(len(X))
        for ax, values, colour in zip(column, ours, (BLUE, RED), strict=True):
            ax.fill_between(line, line - error, line + error, color="0.85", linewidth=0)
            ax.plot(theirs, values, ".", markersize=3.0 if len(theirs) < 1000 else 1.2, color=colour)
            ax.set(xlim=(low, high), ylim=(low, high), aspect="equal")
        column[0].set_title(name, fontsize=9)
        column[1].set_xlabel("in the table")
    axes[0, 0].set_ylabel("full matrix, drawn")
    axes[1, 0].set_ylabel("2 dimensions, drawn")
    save(figure, folder, "faithful", dpi=110)
