"""The paper's figures: weights of truth and learned machines, projections of rows on them, digits, curves of errors."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import digits
import matplotlib.pyplot as plt
import numpy as np
import synthetic
from common import Run, have_data, save

import data
from hiddenbits import CombinationMachine, plots

SEED = 1000
PURSUIT = synthetic.PURSUIT
GRADIENT = f"{PURSUIT}, then gradient for 1000 epochs"
SHOWN = (
    "gradient ascent for 1000 epochs",
    PURSUIT,
    GRADIENT,
    synthetic.GREEDY,
    f"{synthetic.GREEDY}, without bias",
)
LARGEST = {"A": 6.0, "B": 4.0, "A/7": 0.86}


SEEDS = {"rows": SEED}


def measure(run: Run) -> None:
    """Draw everything the data at hand allow."""
    folder, full = run.figures, run.full
    gaussians(folder)
    for table in ("A", "B", "A/7") if full else ("A",):
        weights_of(table, folder, full=full)
    if have_data("pictures of digits"):
        examples(folder)
        templates(folder, full=full)
        if full:
            curves(folder)


def gaussians(folder: Path) -> None:
    """Figure 2.2: the plane under three units, and the machine that is found from rows of it."""
    weights = np.array([[3.0, 0.0], [0.0, 3.0], [1.06, 1.06]])
    states = np.array(list(product((0, 1), repeat=3)))
    means = states @ weights
    weight = 0.5 * (means**2).sum(axis=1) - states @ (0.5 * (weights @ weights.T).sum(axis=1))  # each unit on in half
    chances = np.exp(weight) / np.exp(weight).sum()
    rng = np.random.default_rng(SEED)
    X = means[rng.choice(8, 4000, p=chances)] + rng.standard_normal((4000, 2))
    model = CombinationMachine(3, visible="reals", bias=False, random_state=0).fit(X)
    figure, ax = plt.subplots(figsize=(5.6, 5.2), layout="constrained")
    ax.plot(*X.T, ".", markersize=1.5, color="0.8")
    for middle in states @ model.weights_:
        for radius in (0.5, 1.0):
            ax.add_patch(plt.Circle(middle, radius, fill=False, color="C0", linewidth=1.0))
    for w in model.weights_:
        ax.annotate("", w, (0.0, 0.0), arrowprops={"arrowstyle": "->", "color": "C3", "linewidth": 1.5})
    ax.plot(*means.T, "k+", markersize=9)
    for middle, chance in zip(means, chances, strict=True):
        ax.annotate(f"{chance:.2f}", middle, xytext=(5, 5), textcoords="offset points", fontsize=8)
    ax.set_aspect("equal")
    ax.set_xlabel("first column")
    ax.set_ylabel("second column")
    save(figure, folder, "figure2_2_gaussians")


def weights_of(table: str, folder: Path, *, full: bool) -> None:
    """Figures 4.1 and 4.2: a line of diagrams for the truth and for each program; and projections (4.1d)."""
    drawn = synthetic.rows(table, SEED)
    recipes = synthetic.SMALL_RECIPES if "/" in table else {name: synthetic.RECIPES[name] for name in SHOWN}
    chosen = {name: recipes[name] for name in recipes if full or name == PURSUIT}
    models = {name: synthetic.fitted(recipe, drawn.train, 0) for name, recipe in chosen.items()}
    lines: dict[str, Any] = {synthetic.TRUTH: (drawn.weights, drawn.thresholds), **models}
    figure, axes = plt.subplots(len(lines), figsize=(9.0, 1.3 * len(lines)), layout="constrained", squeeze=False)
    for ax, (name, model) in zip(axes[:, 0], lines.items(), strict=True):
        plots.hinton(model, (8, 8), across=11, largest=LARGEST[table], ax=ax)
        ax.set_xlim(-0.5, 98.5)  # eleven panels wide, with a bias or without: one scale for all
        ax.set_title(name, fontsize=9, loc="left")
    label = table.replace("/", "_")
    save(figure, folder, f"figure4_weights_{label}", dpi=110)
    if "/" in table:
        return
    learned = models[GRADIENT if full else PURSUIT]
    figure, axes = plt.subplots(1, 2, figsize=(10.0, 5.5), layout="constrained")
    for ax, name, model in zip(axes, (synthetic.TRUTH, "learned"), (lines[synthetic.TRUTH], learned), strict=True):
        plots.projections(model, drawn.train, ax=ax)
        ax.set_title(name, fontsize=9)
    save(figure, folder, f"figure4_projections_{label}")


def examples(folder: Path) -> None:
    """Figure 4.3: some of the digits."""
    figure, axes = plt.subplots(2, 10, figsize=(8.0, 1.8), layout="constrained")
    for ax, row in zip(axes.ravel(), data.digits(0).train, strict=False):
        ax.imshow(row.reshape(16, 16), cmap="gray_r", interpolation="nearest")
        ax.set_axis_off()
    save(figure, folder, "figure4_3_digits")


def templates(folder: Path, *, full: bool) -> None:
    """Figures 4.4, 4.5, 4.8 and 4.9: what the 45 units and the 45 classes look like."""
    X = data.digits(0).train
    mixture = digits.model_of(digits.MIXTURE, 0).fit(X)
    ax = plots.hinton(np.arctanh(2.0 * mixture.probabilities_ - 1.0), (16, 16), across=9)
    save(ax.figure, folder, "figure4_8_mixture", dpi=120)
    for program, name in ((3, "pursuit"), (4, "chains")) if full else ():
        model = digits.model_of(digits.PROGRAMS[program], 0).fit(X)
        ax = plots.hinton(model, (16, 16), across=9, largest=round(float(np.abs(model.weights_).max()), 1))
        save(ax.figure, folder, f"figure4_9_{name}", dpi=120)


def curves(folder: Path) -> None:
    """Figures 4.6 and 4.7: errors against the number of classes or units."""
    found = json.loads((folder.parent / "results" / "digits.json").read_text())["figures"]["curves"]
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained", sharex=True)
    for ax, measure in zip(axes, ("reconstruction", "bit"), strict=True):
        for number, (name, sizes) in enumerate(found.items()):
            for part, style in (("train", "--"), ("test", "-")):
                values = [cell[part][measure] for cell in sizes.values()]
                label = f"{name.split(',')[0]}, {part}"
                ax.plot([int(s) for s in sizes], values, style, marker=".", color=f"C{number}", label=label)
        ax.set_xlabel("classes or units")
        ax.set_ylabel({"bit": "single-bit error", "reconstruction": "reconstruction, bits a pixel"}[measure])
        ax.set_ylim(bottom=0.0)
    axes[0].legend(fontsize=8)
    save(figure, folder, "figure4_6_curves")
