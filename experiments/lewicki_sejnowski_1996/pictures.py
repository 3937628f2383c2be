"""The paper's figures: patterns of the lines problem, and weights of both problems as patterns of pixels."""

from pathlib import Path
from typing import Any

import numpy as np
from common import save
from lines import N_ROWS, lines_network

from hiddenbits import NoisyOrNetwork, plots
from hiddenbits.datasets import simulate_lines, simulate_shifter
from hiddenbits.families.noisy_or.descriptions import reach

SEEDS = {"data and start": 100}
SETS = ("'||'", "'+'", "'='", "']'")
SHOWN = 24


def image(ax: Any, bits: Any, title: str = "") -> None:
    """Draw an image of bits with the borders of its pixels."""
    height, width = np.shape(bits)
    ax.imshow(bits, cmap="Greys", vmin=0, vmax=1.3)
    ax.set_xticks(np.arange(0.5, width - 1), [])
    ax.set_yticks(np.arange(0.5, height - 1), [])
    ax.tick_params(length=0)
    ax.grid(color="0.8", linewidth=0.5)
    ax.set_title(title, fontsize=9)


def figure1(figures: Path) -> None:
    """Pattern types with their probabilities, and typical rows."""
    import matplotlib.pyplot as plt

    truth = simulate_lines(N_ROWS, seed=100)
    whole = plt.figure(figsize=(9, 6.2), layout="constrained")
    above, below = whole.subfigures(2, 1, height_ratios=(1.0, 1.6))
    above.suptitle("A: one type is chosen; of the free lines each is on with .3", fontsize=10)
    left, right = above.subfigures(1, 2, width_ratios=(1.25, 1.0))
    left.supxlabel("free lines, .6", fontsize=9)
    for ax, pattern in zip(left.subplots(2, 5).ravel(), truth.patterns, strict=True):
        image(ax, pattern.reshape(5, 5))
    for ax, members, name in zip(right.subplots(1, 4), truth.sets, SETS, strict=True):
        image(ax, truth.patterns[list(members)].max(axis=0).reshape(5, 5), f"{name}, .1")
    below.suptitle("B: the first rows of seed 100", fontsize=10)
    for ax, row in zip(below.subplots(3, SHOWN // 3).ravel(), truth.X[:SHOWN], strict=True):
        image(ax, row.reshape(5, 5))
    save(whole, figures, "figure1_patterns")


def figure2(figures: Path) -> dict[str, Any]:
    """Strengths of the ten causes on the grid; of the five above, what each switches on, on the same grid."""
    model, truth = lines_network()
    save(plots.hinton(model.layers_[0], (5, 5), across=5).figure, figures, "lines")
    order = [int(np.argmax((row > 0.5) @ truth.patterns.T.astype(float))) for row in model.strengths_]
    names = [f"row {i + 1}" if i < 5 else f"column {i - 4}" for i in order]
    straight = np.argsort(order)
    save(plots.hinton(reach(model.params_)[1], (5, 5), across=5).figure, figures, "sets")
    above = plots.hinton(model.layers_[1][:, straight], names=[names[i] for i in straight])
    save(above.figure, figures, "sets_strengths")
    sets = [{order[j] for j in np.flatnonzero(row > 0.5)} for row in model.layers_[1]]
    known = [set(members) for members in truth.sets]
    rest = [row for row, members in zip(model.layers_[1], sets, strict=True) if members not in known]
    return {
        "priors": model.priors_.tolist(),
        "unit that is no set": [[float(row.min()), float(row.max())] for row in rest],
        "sentences": model.explain(truth.X[:3]),
    }


def shifter(figures: Path, *, full: bool) -> dict[str, Any]:
    """Each cause as two rows of pixels, the row and its copy; each direction by the causes that it switches on."""
    truth = simulate_shifter(N_ROWS if full else 200, seed=100)
    model = NoisyOrNetwork((16, 2), n_init=2 if full else 1, random_state=100).fit(truth.X)
    order = np.argmax((model.strengths_ > 0.5) @ truth.patterns.T.astype(float), axis=1)
    straight = np.argsort(order, kind="stable")
    twice = model.strengths_[straight].reshape(16, 2, 2, 8)  # causes, row or copy, which of the two, pixels
    save(plots.hinton(twice.mean(axis=2).reshape(16, 16), (2, 8), across=4).figure, figures, "shifter")
    above = model.layers_[1][:, straight]
    save(plots.hinton(above, (2, 8), across=2).figure, figures, "shifter_directions")
    return {"copies of a bit differ by": float(np.abs(twice[:, :, 0] - twice[:, :, 1]).max())}


def draw(figures: Path, *, full: bool) -> dict[str, Any]:
    figure1(figures)
    return figure2(figures) | {"shifter": shifter(figures, full=full)}
