"""Draw the pictures of the models' pages, and of the tutorials on latent classes, on tables that come along.

    python tools/model_pictures.py [NAME ...]        writes docs/pictures/models/NAME.png, or readme.png and
                                                     tutorial_NAME.png next to that folder; all of them without names

Pictures that need a larger table come from the experiments: natural images and digits.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from hiddenbits import (
    ClippedPCA,
    CombinationMachine,
    HiddenTree,
    IndependentColumns,
    ItemResponseModel,
    LatentClassAnalysis,
    LogisticPCA,
    NoisyOrNetwork,
    TopographicMap,
    TreeMixture,
    inference,
    open_table,
    plots,
    tetrachoric,
)
from hiddenbits.datasets import load_carcinoma, load_gss82, load_lsat, load_votes, load_zoo

mpl.use("Agg")
from matplotlib import pyplot as plt  # the choice of how to draw comes first

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures" / "models"
BLUE, ORANGE, GREEN, GREY, INK = "#0072B2", "#D55E00", "#009E73", "#8c8c8c", "#404040"
VOTES, ZOO = load_votes(), load_zoo()
votes, animals = open_table(VOTES.X, names=VOTES.names), open_table(ZOO.X, names=ZOO.names)


def independent_columns() -> Any:
    """Draw pairs of votes that independent columns cannot explain."""
    return plots.residual_pairs(IndependentColumns().fit(votes), votes, most=10).figure


def latent_class_analysis() -> Any:
    """Draw the profiles of two classes of members."""
    return plots.profiles(LatentClassAnalysis(2, random_state=0).fit(votes), votes).figure


def item_response_model() -> Any:
    """Draw people and items of a test on one scale."""
    X, counts = load_lsat()
    model = ItemResponseModel().fit(X, sample_weight=counts)
    return plots.wright_map(model, open_table(X).with_sample_weight(counts))[0].figure


def tutorial_carcinoma() -> Any:
    """Draw the profiles of three classes of slides."""
    return three_classes(load_carcinoma())


def tutorial_gss82() -> Any:
    """Draw the profiles of three classes of respondents."""
    return three_classes(load_gss82(), column_types="nominal")


def three_classes(survey: Any, **settings: Any) -> Any:
    """Draw a fit by maximum likelihood as in the tutorials, with 95% intervals by poLCA's standard errors."""
    X, counts = survey
    model = LatentClassAnalysis(3, prior_strength=0, n_init=10, tol=1e-9, max_iter=20_000, random_state=0, **settings)
    model.fit(X, sample_weight=counts)
    found = inference.standard_errors(model, X, sample_weight=counts, robust=False, kind="outer")
    return plots.profiles(model, errors=found).figure


def topographic_map() -> Any:
    """Draw the animals on a flat and on a curved map, colored by a type that the fits have not seen."""
    figure = plt.figure(figsize=(10, 4.4), layout="constrained")
    parts = figure.subfigures(1, 2, width_ratios=[1, 1.35])
    for part, model in zip(parts, (LogisticPCA(2, random_state=0), TopographicMap(2, random_state=0)), strict=True):
        curved = isinstance(model, TopographicMap)
        part.suptitle(type(model).__name__, fontsize=11)
        ax = part.subplots()
        plots.map(model.fit(animals), animals, color=ZOO.type, lines=5, borders=True, legends=curved, ax=ax)
    return figure


def readme() -> Any:
    """Draw a table as it came, its rows sorted by class, and its rows on a map: what the package does, at a glance."""
    model = LatentClassAnalysis(2, random_state=0).fit(votes)
    classes = model.predict(votes)
    columns = np.argsort(model.probabilities_[0] - model.probabilities_[1])
    rows = np.argsort(classes, kind="stable")
    figure, (left, middle, right) = plt.subplots(
        1, 3, figsize=(11, 4.2), width_ratios=[1, 1, 1.35], layout="constrained"
    )
    shades = mpl.colors.ListedColormap(["#e3e8ee", INK]).with_extremes(bad="white")
    cells = np.ma.masked_invalid(VOTES.X)
    for ax, order, across, title in (
        (left, np.arange(len(rows)), np.arange(len(columns)), "A table: 435 members of\nCongress, 16 votes"),
        (middle, rows, columns, "Latent classes: two ways\nof voting"),
    ):
        ax.imshow(cells[np.ix_(order, across)], aspect="auto", cmap=shades, interpolation="nearest")
        ax.set_title(title, fontsize=12, loc="left")
        ax.set_xticks([])
        ax.set_yticks([])
    left.set_xlabel("dark: yes, light: no, white: missing", fontsize=9)
    edge = int((classes == 0).sum())
    middle.axhline(edge - 0.5, color=ORANGE, linewidth=2)
    for k, height in enumerate((edge / 2, (edge + len(rows)) / 2)):
        label = f"class {k + 1}\n{model.weights_[k]:.0%}"
        middle.annotate(
            label, (-0.03, height), xycoords=("axes fraction", "data"), ha="right", va="center", fontsize=10
        )
    map_of_members = LogisticPCA(2, random_state=0).fit(votes)
    plots.map(map_of_members, votes, color=VOTES.party, arrows=0, legends=False, ax=right)
    positions = map_of_members.transform(votes)
    for party, color in (("democrat", BLUE), ("republican", ORANGE)):
        x, y = positions[VOTES.party == party].mean(axis=0)
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": color, "alpha": 0.9}
        right.annotate(f"{party}s", (x, y), ha="center", va="center", fontsize=11, color=color, bbox=box)
    right.set_xticks([])
    right.set_yticks([])
    right.set_title("A map: who votes alike is close\n(color: party, unknown to the model)", fontsize=12, loc="left")
    right.set_xlabel("")
    right.set_ylabel("")
    return figure


def tree_mixture() -> Any:
    """Draw the tree of the columns of the animals."""
    model = TreeMixture(1, random_state=0).fit(animals)
    parent = model.parents_[0]
    children = {j: np.flatnonzero(parent == j).tolist() for j in range(-1, len(parent))}
    place: dict[int, tuple[float, int]] = {}

    def put(j: int, depth: int) -> float:
        heights = [put(child, depth + 1) for child in children[j]]
        leaves = sum(1 for k in place if not children[k])
        place[j] = (float(np.mean(heights)) if heights else float(leaves), depth)
        return place[j][0]

    for root in children[-1]:
        put(root, 0)
    correlation = np.corrcoef(ZOO.X.T)
    figure, ax = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
    for j, (height, depth) in place.items():
        if parent[j] >= 0:
            above = place[parent[j]]
            strength = correlation[j, parent[j]]
            ax.plot([above[1], depth], [above[0], height], color=BLUE if strength > 0 else ORANGE,
                    linewidth=0.5 + 5 * abs(strength), alpha=0.6, solid_capstyle="round", zorder=1)  # fmt: skip
        ax.annotate(ZOO.names[j], (depth, height), ha="center", va="center", fontsize=10, zorder=2,
                    bbox={"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": GREY})  # fmt: skip
    for color, name in ((BLUE, "alike"), (ORANGE, "opposite")):
        ax.plot([], [], color=color, linewidth=4, alpha=0.6, label=name)
    ax.legend(frameon=False, loc="upper right")
    ax.margins(0.12, 0.08)
    ax.set_axis_off()
    return figure


def hidden_tree() -> Any:
    """Draw the animals, and the most probable state of the hidden variable behind every cell."""
    model = HiddenTree(4, random_state=0).fit(animals)
    states = model.posterior_mode(animals).reshape(len(ZOO.X), ZOO.X.shape[1], 4).argmax(axis=2)
    rows = np.argsort(ZOO.type, kind="stable")
    columns = np.argsort(np.linalg.eigh(np.corrcoef(ZOO.X.T))[1][:, -1])
    figure, axes = plt.subplots(1, 2, figsize=(8.5, 5), sharey=True, layout="constrained")
    shades = [mpl.colors.ListedColormap(["white", INK]), mpl.colors.ListedColormap([BLUE, ORANGE, GREEN, "#E69F00"])]
    for ax, cells, colors in zip(axes, (ZOO.X, states), shades, strict=True):
        ax.imshow(cells[np.ix_(rows, columns)], aspect="auto", cmap=colors, interpolation="nearest")
        ax.set_xticks(range(len(columns)), np.array(ZOO.names)[columns], rotation=60, ha="right", fontsize=8)
    kinds, first = np.unique(ZOO.type[rows], return_index=True)
    for edge in first[1:]:
        for ax in axes:
            ax.axhline(edge - 0.5, color=GREY, linewidth=0.8)
    axes[0].set_yticks((first + np.append(first[1:], len(rows)) - 1) / 2, kinds)
    axes[0].set_title("the table (dark: yes)", fontsize=10)
    axes[1].set_title("the hidden state behind each cell", fontsize=10)
    return figure


def logistic_pca() -> Any:
    """Draw the map of the members, colored by a party that the fit has not seen."""
    model = LogisticPCA(2, random_state=0).fit(votes)
    figure, ax = plt.subplots(figsize=(6.2, 5), layout="constrained")
    plots.map(model, votes, color=VOTES.party, arrows=6, ax=ax)
    return figure


def clipped_pca() -> Any:
    """Draw the tetrachoric correlations of the votes, and their eigenvalues next to those of the bits."""
    found = tetrachoric(votes)
    order = np.argsort(np.linalg.eigh(found.correlation)[1][:, -1])
    names = np.array(VOTES.names)[order]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.4), width_ratios=[1.25, 1], layout="constrained")
    image = left.imshow(found.correlation[np.ix_(order, order)], cmap="RdBu_r", vmin=-1, vmax=1)
    left.set_yticks(range(len(names)), names, fontsize=7)
    left.set_xticks([])
    figure.colorbar(image, ax=left, label="tetrachoric correlation", shrink=0.8)
    plots.spectrum(ClippedPCA("parallel", random_state=0).fit(votes), ax=right)
    return figure


def combination_machine() -> Any:
    """Draw the weights of units on the columns of the animals."""
    model = CombinationMachine(3, random_state=0).fit(animals)
    figure, ax = plt.subplots(figsize=(7.5, 2.8), layout="constrained")
    largest = np.abs(model.weights_).max()
    image = ax.imshow(model.weights_, aspect="auto", cmap="RdBu_r", vmin=-largest, vmax=largest)
    ax.set_xticks(range(len(ZOO.names)), ZOO.names, rotation=45, ha="right", fontsize=9)
    ax.set_yticks(range(len(model.weights_)), [f"unit {k + 1}" for k in range(len(model.weights_))])
    figure.colorbar(image, ax=ax, label="weight")
    return figure


def noisy_or_network() -> Any:
    """Draw what causes of the animals switch on."""
    figure, ax = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
    plots.causes(NoisyOrNetwork(4, random_state=0).fit(animals), animals, ax=ax)
    return figure


PICTURES = {draw.__name__: draw for draw in (
    independent_columns, latent_class_analysis, tree_mixture, hidden_tree, logistic_pca, clipped_pca,
    combination_machine, noisy_or_network, topographic_map, item_response_model, readme,
    tutorial_carcinoma, tutorial_gss82,
)}  # fmt: skip


def main(arguments: list[str]) -> int:
    """Draw the pictures that are named, or all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in arguments or PICTURES:
        figure = PICTURES[name]()
        path = (FOLDER.parent if name.startswith(("readme", "tutorial_")) else FOLDER) / f"{name}.png"
        figure.savefig(path, dpi=110, metadata={"Software": None})
        plt.close(figure)
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
