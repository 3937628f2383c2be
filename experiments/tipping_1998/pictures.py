"""The paper's figures: two synthetic maps, the digit 2, errors against time, posteriors; and the senate."""

import json
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from common import Run, have_data, save
from scipy.ndimage import label
from sklearn.decomposition import PCA
from sklearn.metrics import roc_auc_score

import data
from hiddenbits import IndependentColumns, LogisticPCA, datasets, evaluate, plots

SEEDS = {"synthetic data": 3, "start": 0}
LOOSENESS = (0.1, 0.5, 0.9)  # the rows of Figure 4: quantiles of how loose the bound is


def measure(run: Run) -> dict[str, Any]:
    """Draw everything the data at hand allow; return the figures behind the pictures."""
    folder = run.figures
    found: dict[str, Any] = {"synthetic": synthetic_maps(folder)}
    models = [("Synthetic-16", data.synthetic(SEEDS["synthetic data"]).X)]
    if have_data("pictures of digits and votes"):
        found["digits"] = digit_map(folder)
        found["senate109"] = senate(folder)
        if run.full:
            models.append(("Digit-256", data.twos()))
    found["posteriors"] = posteriors(folder, models)
    traces(folder)
    return found


def side_by_side(number: int, size: tuple[float, float]) -> tuple[Any, list[Any]]:
    """Return a figure and axes that each have a part of the page to themselves, with room for a legend."""
    figure = plt.figure(figsize=size, layout="constrained")
    return figure, [part.subplots() for part in np.atleast_1d(figure.subfigures(1, number))]


def synthetic_maps(folder: Path) -> dict[str, Any]:
    figure, axes = side_by_side(2, (11.5, 4.6))
    found = {}
    for ax, flip in zip(axes, (0.05, 0.15), strict=True):
        X, prototype = data.synthetic(SEEDS["synthetic data"], flip)
        model = LogisticPCA(2, refine=False, random_state=SEEDS["start"]).fit(X)
        names = [f"bit {j + 1}" for j in range(16)]
        groups = np.array(["prototype 1", "prototype 2", "prototype 3"])[prototype]
        plots.map(model, X, color=groups, lines=flip > 0.1, names=names, ax=ax)
        ax.set_title(f"bits inverted with probability {flip:g}", fontsize=10, loc="left")
        codes = model.transform(X)
        found[f"{flip:g}"] = {
            "distinct_places": len(np.unique(np.round(codes, 9), axis=0)),
            "nearest_neighbor_of_the_same_prototype": neighbors(codes, prototype),
            "the_same_by_pca": neighbors(PCA(2).fit_transform(X.astype(float)), prototype),
            **prototypes(model, X, prototype),
        }
    save(figure, folder, "figure1_synthetic")
    return found


def prototypes(model: LogisticPCA, X: np.ndarray, group: np.ndarray) -> dict[str, Any]:
    """How evident the prototypes are: copies without an error, and their bits read off the sides of the lines."""
    bits = np.stack([X[group == k].mean(axis=0) > 0.5 for k in range(3)])
    middles = np.stack([model.transform(X[group == k]).mean(axis=0) for k in range(3)])
    copies = [int((row == X).all(axis=1).sum()) for row in bits]
    others = [np.unique(X[(group == k) & (bits[k] != X).any(axis=1)], axis=0, return_counts=True)[1] for k in range(3)]
    return {
        "copies_without_an_error": copies,
        "most_frequent_other_row": [int(counts.max()) for counts in others],
        "bits_on_the_right_side_of_their_line": int(((model.inverse_transform(middles) > 0.5) == bits).sum()),
        "bits": int(bits.size),
    }


def loops(images: np.ndarray, codes: np.ndarray) -> float:
    """How well the places say whether an image has a loop, paper that ink encloses: area under the curve.

    An image's score is the share of loops among the ten nearest other images.
    """
    has = np.array([label(np.pad(image.reshape(16, 16) == 0, 1, constant_values=True))[1] > 1 for image in images])
    apart = ((codes[:, None] - codes[None]) ** 2).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    return float(roc_auc_score(has, has[np.argsort(apart, axis=1)[:, :10]].mean(axis=1)))


def neighbors(codes: np.ndarray, groups: np.ndarray) -> float:
    """Share of rows whose nearest other place holds a row of the same group."""
    apart = ((codes[:, None] - codes[None]) ** 2).sum(axis=2)
    apart[apart < 1e-12] = np.inf
    return float((groups[apart.argmin(axis=1)] == groups).mean())


def bend(codes: np.ndarray) -> float:
    """Return how much of one direction a quadratic in the one across it explains, at most: a horseshoe has much."""
    shares = []
    for angle in np.linspace(0.0, np.pi, 60, endpoint=False):
        a, b = codes @ [np.cos(angle), np.sin(angle)], codes @ [-np.sin(angle), np.cos(angle)]
        line, curve = (b - np.polyval(np.polyfit(a, b, degree), a) for degree in (1, 2))
        shares.append(1.0 - curve.var() / line.var())
    return float(max(shares))


def four_places(codes: np.ndarray) -> np.ndarray:
    """Return four places along the cloud's rim: the first is the furthest from the middle, then furthest from those."""
    core = codes[np.linalg.norm(codes - codes.mean(axis=0), axis=1) < 2.5]
    chosen = [core[np.linalg.norm(core - core.mean(axis=0), axis=1).argmax()]]
    while len(chosen) < 4:
        away = np.min([np.linalg.norm(core - place, axis=1) for place in chosen], axis=0)
        chosen.append(core[away.argmax()])
    places = np.array(chosen)
    return places[np.argsort(np.arctan2(places[:, 1], places[:, 0]))]


def digit_map(folder: Path) -> dict[str, Any]:
    X = data.twos()
    model = LogisticPCA(2, refine=False, ridge=0.001, random_state=SEEDS["start"]).fit(X)
    places = four_places(model.transform(X))
    figure, (left, right) = side_by_side(2, (9.5, 4.6))
    plots.map(model, X, ax=left)
    for number, place in enumerate(places, start=1):
        left.plot(*place, marker="o", ms=15, mfc="white", mec="black", zorder=6)
        left.annotate(str(number), place, ha="center", va="center_baseline", fontsize=10, weight="bold", zorder=7)
    plots.images(model, (16, 16), grid=places, ax=right)
    save(figure, folder, "figure2_digits")
    figure = plots.images(model, (16, 16), grid=7).figure
    save(figure, folder, "figure2_grid")
    by_pca = PCA(2).fit_transform(X.astype(float))
    return {
        "rows": len(X),
        "places": places.tolist(),
        "explained_by_a_quadratic": bend(model.transform(X)),
        "the_same_by_pca": bend(by_pca),
        "bend_of_draws": max(bend(np.random.default_rng(seed).standard_normal((len(X), 2))) for seed in range(20)),
        "loop_from_the_place": loops(X, model.transform(X)),
        "loop_from_the_place_by_pca": loops(X, by_pca),
    }


def posteriors(folder: Path, tables: list[tuple[str, np.ndarray]]) -> dict[str, Any]:
    """Figure 4: the same three rows in both panels, on the same axes, before and after the polish."""
    figure, axes = plt.subplots(len(tables), 2, figsize=(8.6, 3.9 * len(tables)), layout="constrained", squeeze=False)
    found = {}
    for line, (title, X) in zip(axes, tables, strict=True):
        rough = LogisticPCA(2, refine=False, ridge=0.001, random_state=SEEDS["start"]).fit(X)
        gaps = rough.score_samples(X) - rough.bound_samples(X)
        rows = [int(np.argsort(gaps)[int(q * (len(gaps) - 1))]) for q in LOOSENESS]
        polished = turned(LogisticPCA(2, ridge=0.001, random_state=SEEDS["start"]).fit(X), rough, X)
        limits = []
        for ax, name, model in zip(line, ("variational, as in the paper", "polished"), (rough, polished), strict=True):
            for row, mark in zip(rows, "abc", strict=True):
                plots.posterior(model, X[row], masses=(0.5, 0.9), ax=ax, legends=False)
                limits.append([*ax.get_xlim(), *ax.get_ylim()])
                place = model.transform(X[row][None])[0]
                ax.annotate(mark, place, (9, 7), textcoords="offset points", fontsize=10, weight="bold", zorder=9)
            ax.set_title(f"{title}: {name}", fontsize=10)
        low, high = np.min(limits, axis=0), np.max(limits, axis=0)
        for ax in line:
            ax.set(xlim=(low[0], high[1]), ylim=(low[2], high[3]))
        found[title] = {"rows": rows, "gaps": gaps[rows].tolist()}
    marks = axes[0, 0].lines
    figure.legend(marks[:2], ["true", "Gaussian"], loc="outside lower center", ncols=2, frameon=False)
    save(figure, folder, "figure4_posteriors", dpi=80)
    return found


def turned(model: LogisticPCA, towards: LogisticPCA, X: np.ndarray) -> LogisticPCA:
    """Return the same model with axes turned, or mirrored, so that rows lie as on the other map, as far as they can."""
    u, _, v = np.linalg.svd(model.transform(X).T @ towards.transform(X))
    made = copy(model)
    made._params = replace(model._params, loadings=model._params.loadings @ (u @ v))
    return made


def traces(folder: Path) -> None:
    """Figure 3, from what table.py has measured."""
    results = json.loads((folder.parent / "results" / "table1.json").read_text())["figures"]
    curves = {
        title: {name: tuple(np.array(m["curve"]).T) for name, m in results[title].items() if "curve" in dict_of(m)}
        for title in ("Synthetic-16", "Digit-256")
    }
    figure, axes = side_by_side(len(curves), (5.6 * len(curves), 3.6))
    for ax, (title, found) in zip(axes, curves.items(), strict=True):
        plots.trace(found, xlabel="processor seconds", ylabel="error, nats a row", ax=ax)
        ax.set_xscale("log")
        ax.set_title(title, fontsize=10)
    save(figure, folder, "figure3_traces")


def dict_of(found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


def senate(folder: Path) -> dict[str, Any]:
    votes = datasets.load_senate109()
    model = LogisticPCA(2, random_state=SEEDS["start"]).fit(votes.X)
    parties = {"D": "Democrat", "R": "Republican", "Indep": "independent"}
    party = np.array([parties[name] for name in votes.party])
    ax = plots.map(model, votes.X, color=party, ellipses=0.5, lines=8, names=votes.names)
    save(ax.figure, folder, "senate109")
    return {
        "senators": len(votes.X),
        "votes": votes.X.shape[1],
        "blank_cells": float(np.isnan(votes.X).mean()),
        "nearest_neighbor_of_the_same_party": neighbors(model.transform(votes.X), party),
        "bits_per_cell": evaluate.bits_per_cell(model, votes.X).value,
        "bits_per_cell_of_independent_columns": evaluate.bits_per_cell(
            IndependentColumns().fit(votes.X), votes.X
        ).value,
    }
