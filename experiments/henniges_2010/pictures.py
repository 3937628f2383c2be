"""What is learned of bars over data sets, the fields of natural images, and sparseness and noise pass by pass."""

import re
from pathlib import Path
from typing import Any

import bars
import matplotlib.pyplot as plt
import numpy as np
from bars_data import drawn
from common import Run, read_results, save

SEEDS: dict[str, int] = {}
BLUE = "#0072B2"
GREYS = plt.get_cmap("gray").with_extremes(bad="#9fc5e8")  # gaps are neither black nor white


def measure(run: Run) -> None:
    """Draw what the results say."""
    found = {name: report["figures"] for name, report in read_results(run.out).items()}
    spread(run.figures, found["bars"][bars.DEFAULT])
    courses(run.figures, found["natural"], found["full_size"])


def spread(folder: Path, found: dict[str, Any]) -> None:
    """What is learned of each data set, against what was drawn for it."""
    truth = [drawn(seed, found["rows"]) for seed in range(found["sets"])]
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained")
    axes[0].plot(truth, found["each"]["active"], ".", ms=3, color=BLUE)
    axes[0].plot([1.85, 2.15], [1.85, 2.15], "--", color="k", linewidth=0.8)
    axes[0].set(xlabel="bars that are on in an image, as drawn", ylabel="$\\pi H$, learned", aspect="equal")
    axes[1].hist(found["each"]["noise"], 30, color=BLUE)
    axes[1].axvline(2.0, color="k", linestyle="--", linewidth=0.8)
    axes[1].set(xlabel="$\\sigma$, learned", ylabel="data sets")
    save(figure, folder, "bars_spread")


def fields(folder: Path, rows: np.ndarray, roundness: list[float], across: int = 20) -> None:
    """Figures 2A and 2B: all fields, and those that a circle describes nearly as well as a Gabor function."""
    order = np.argsort(-np.array(roundness))[:across]
    down = -(-len(rows) // across)
    for name, some, height in (("natural_fields", rows, 9.0 * down / across), ("natural_globular", rows[order], 1.1)):
        figure, ax = plt.subplots(figsize=(9.0, height), layout="constrained")
        ax.imshow(tiled(some, across), cmap=GREYS, vmin=-1.0, vmax=1.0, interpolation="nearest")
        ax.axis("off")
        save(figure, folder, name)


def tiled(rows: np.ndarray, across: int, gap: int = 1) -> np.ndarray:
    """Put square images side by side, each on its own scale from -1 to 1; the gaps are NaN."""
    side = round(rows.shape[1] ** 0.5)
    down, step = -(-len(rows) // across), side + gap
    wall = np.full((down * step - gap, across * step - gap), np.nan)
    for number, row in enumerate(rows):
        y, x = (number // across) * step, (number % across) * step
        wall[y : y + side, x : x + side] = row.reshape(side, side) / (np.abs(row).max() or 1.0)
    return wall


def courses(folder: Path, found: dict[str, Any], whole: dict[str, Any]) -> None:
    """Figure 2C: sparseness and noise after each pass."""
    figure, axes = plt.subplots(1, 2, figsize=(10.0, 4.4), layout="constrained")
    for ax, what, label in zip(axes, ("active", "noise"), ("$\\pi H$", "$\\sigma$"), strict=True):
        for number, (name, one) in enumerate(found.items()):
            # Ten colors: what is beyond them is dashed.
            line = {"color": f"C{number % 10}", "linestyle": "-" if number < 10 else "--", "linewidth": 1.2}
            ax.plot(np.arange(1, len(one[what]) + 1), one[what], label=in_letters(name), **line)
        size = f"full size, {whole['side']} x {whole['side']}: {whole['done']} of {whole['passes']} passes"
        ax.plot(np.arange(1, whole["done"] + 1), whole[what], "k-", linewidth=2.0, label=size)
        ax.set(xlabel="pass", ylabel=label, ylim=(0.0, None))
    figure.legend(*axes[0].get_legend_handles_labels(), fontsize=7, loc="outside lower center", ncols=3)
    save(figure, folder, "figure2_courses")


def in_letters(name: str) -> str:
    """Return the name of a setting with its states in the paper's letters."""
    return re.sub(r"(\d+) candidates of which (\d+)", r"H' = \1, gamma = \2", name)
