"""The paper's figures 2, 3 and 4, and pictures of what it does not show: draws and completions."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib.pyplot as plt
import morphs
import numpy as np
import translation
from common import Run, have_data, save
from thresholded import ThresholdedPCA

from data import DIMENSIONS, SHAPE, bumps, recipe, twos
from hiddenbits import ClippedPCA, IndependentColumns, plots

BLUE, RED, GREY = "#0072B2", "#D55E00", "#8c8c8c"


SEEDS: dict[str, int] = {}


def measure(run: Run) -> None:
    """Draw everything the data at hand allow."""
    folder, full = run.figures, run.full
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
    for values, name, color, marker in (
        (model.bit_spectrum_, "bits, $C^{SS}$", BLUE, "s"),
        (model.spectrum_, "hidden variables, $C^{XX}$", RED, "o"),
    ):
        axes[0].plot(np.arange(1, len(values) + 1), values, marker, ms=3, color=color, label=name)
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
        "independent bits": IndependentColumns().fit(train).sample(n, random_state=0),
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
