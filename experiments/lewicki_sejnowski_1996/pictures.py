"""The paper's figures: patterns of the lines problem, and weights of both problems as patterns of pixels."""

from pathlib import Path
from typing import Any

import numpy as np
from common import Run, save
from lines import N_ROWS, lines_network

from hiddenbits import NoisyOrNetwork, plots
from hiddenbits.datasets import simulate_lines, simulate_shifter

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


def squares(figures: Path, name: str, values: Any, shape: tuple[int, int] | None = None, **options: Any) -> None:
    """Draw values as squares, each panel in a frame, units counted from 0 as `explain` does unless `first` is 1."""
    from matplotlib.patches import Rectangle

    first = options.pop("first", 0)
    ax = plots.hinton(values, shape, **options)
    for ground in list(ax.patches):
        place, width, height = ground.get_xy(), ground.get_width(), ground.get_height()
        frame = Rectangle(place, width, height, fill=False, edgecolor="black", linewidth=0.8, zorder=3, clip_on=False)
        ax.add_patch(frame)
    if shape is None:
        ax.set_yticks(ax.get_yticks(), [str(first + i) for i in range(len(values))])
    for i, text in enumerate(ax.texts[: len(values)]):
        text.set_text(str(first + i))
    save(ax.figure, figures, name)


def figure1(figures: Path) -> None:
    """Pattern types with their probabilities, and typical rows."""
    import matplotlib.pyplot as plt

    truth = simulate_lines(N_ROWS, random_state=100)
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
    squares(figures, "lines", model.layers_[0], (5, 5), across=5)
    order = [int(np.argmax((row > 0.5) @ truth.patterns.T.astype(float))) for row in model.strengths_]
    names = [f"row {i + 1}" if i < 5 else f"column {i - 4}" for i in order]
    straight = np.argsort(order)
    low, above = model.layers_
    # P(pixel on) if one unit above alone is on, leaks apart: each line may be switched on, and then each pixel by it.
    reach = 1.0 - np.array([np.prod(1.0 - row[:, None] * low, axis=0) for row in above])
    squares(figures, "sets", reach, (5, 5), across=5)
    squares(figures, "sets_strengths", model.layers_[1][:, straight], names=[names[i] for i in straight])
    sets = [{order[j] for j in np.flatnonzero(row > 0.5)} for row in model.layers_[1]]
    known = [set(members) for members in truth.sets]
    rest = [row for row, members in zip(model.layers_[1], sets, strict=True) if members not in known]
    others = [p for p, members in zip(model.priors_, sets, strict=True) if members not in known]
    return {
        "priors": model.priors_.tolist(),
        "P(on) of the unit that is no set": [float(p) for p in others],
        "unit that is no set": [[float(row.min()), float(row.max())] for row in rest],
        "sentences": model.explain(truth.X[:3]),
    }


def shifter(figures: Path, *, full: bool) -> dict[str, Any]:
    """Each cause as two rows of pixels, the row and its copy; each direction by the causes that it switches on."""
    truth = simulate_shifter(N_ROWS if full else 200, random_state=100)
    model = NoisyOrNetwork((16, 2), n_init=2 if full else 1, random_state=100).fit(truth.X)
    order = np.argmax((model.strengths_ > 0.5) @ truth.patterns.T.astype(float), axis=1)
    straight = np.argsort(order, kind="stable")
    twice = model.strengths_[straight].reshape(16, 2, 2, 8)  # causes, row or copy, which of the two, pixels
    squares(figures, "shifter", twice.mean(axis=2).reshape(16, 16), (2, 8), across=4, first=1)
    squares(figures, "shifter_directions", model.layers_[1][:, straight], (2, 8), across=2)
    return {"copies of a bit differ by": float(np.abs(twice[:, :, 0] - twice[:, :, 1]).max())}


def measure(run: Run) -> dict[str, Any]:
    figure1(run.figures)
    return figure2(run.figures) | {"shifter": shifter(run.figures, full=run.full)}
