"""The paper's figures: two synthetic maps, the digit 2, errors against time, posteriors; and the senate."""

import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from common import NO_DATA, have_data, save
from sklearn.decomposition import PCA

import data
from hiddenbits import IndependentBits, LogisticPCA, Variational, datasets, evaluate, plots

SEEDS = {"synthetic data": 3, "start": 0}


def draw(folder: Path, *, full: bool) -> dict[str, Any]:
    """Draw everything the data at hand allow; return the figures behind the pictures."""
    found: dict[str, Any] = {"synthetic": synthetic_maps(folder)}
    models = [("Synthetic-16", data.synthetic(SEEDS["synthetic data"]).X)]
    if have_data():
        found["digits"] = digit_map(folder)
        found["senate109"] = senate(folder)
        if full:
            models.append(("Digit-256", data.twos()))
    else:
        found["digits"] = found["senate109"] = NO_DATA
    posteriors(folder, models)
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
        model = LogisticPCA(2, method=Variational(polish=False), random_state=SEEDS["start"]).fit(X)
        names = [f"bit {j + 1}" for j in range(16)]
        groups = np.array(["prototype 1", "prototype 2", "prototype 3"])[prototype]
        plots.map(model, X, colour=groups, lines=flip > 0.1, names=names, ax=ax)
        ax.set_title(f"bits inverted with probability {flip:g}", fontsize=10, loc="left")
        codes = model.transform(X)
        found[f"{flip:g}"] = {
            "distinct_places": len(np.unique(np.round(codes, 9), axis=0)),
            "nearest_neighbour_of_the_same_prototype": neighbours(codes, prototype),
            "the_same_by_pca": neighbours(PCA(2).fit_transform(X.astype(float)), prototype),
        }
    save(figure, folder, "figure1_synthetic")
    return found


def neighbours(codes: np.ndarray, groups: np.ndarray) -> float:
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
    model = LogisticPCA(2, method=Variational(polish=False), ridge=0.001, random_state=SEEDS["start"]).fit(X)
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
    }


def posteriors(folder: Path, tables: list[tuple[str, np.ndarray]]) -> None:
    """Figure 4: the row whose bound is of middling looseness, before and after the polish."""
    figure, axes = plt.subplots(len(tables), 2, figsize=(8.0, 3.9 * len(tables)), layout="constrained", squeeze=False)
    for line, (title, X) in zip(axes, tables, strict=True):
        rough = LogisticPCA(2, method=Variational(polish=False), ridge=0.001, random_state=SEEDS["start"]).fit(X)
        gaps = rough.score_samples(X) - rough.bound_samples(X)
        typical = int(np.argsort(gaps)[len(gaps) // 2])
        polished = LogisticPCA(2, ridge=0.001, random_state=SEEDS["start"]).fit(X)
        for ax, name, model in zip(line, ("variational, as in the paper", "polished"), (rough, polished), strict=True):
            plots.posterior(model, X[typical], ax=ax, legends=False)
            ax.set_title(f"{title}: {name}", fontsize=10)
    marks = axes[0, 0].lines
    figure.legend(marks, ["true", "Gaussian"], loc="outside lower center", ncols=2, frameon=False)
    save(figure, folder, "figure4_posteriors", dpi=80)


def traces(folder: Path) -> None:
    """Figure 3, from what table.py has measured."""
    results = json.loads((folder.parent / "results" / "table1.json").read_text())["figures"]
    tables = [(n, results[n]) for n in ("Synthetic-16", "Digit-256") if not isinstance(results[n], str)]
    curves = {
        title: {name: tuple(np.array(m["curve"]).T) for name, m in found.items() if "curve" in dict_of(m)}
        for title, found in tables
    }
    curves = {title: found for title, found in curves.items() if found}
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
    ax = plots.map(model, votes.X, colour=party, ellipses=0.5, lines=8, names=votes.names)
    save(ax.figure, folder, "senate109")
    return {
        "senators": len(votes.X),
        "votes": votes.X.shape[1],
        "blank_cells": float(np.isnan(votes.X).mean()),
        "nearest_neighbour_of_the_same_party": neighbours(model.transform(votes.X), party),
        "bits_per_cell": evaluate.bits_per_cell(model, votes.X).value,
        "bits_per_cell_of_independent_bits": evaluate.bits_per_cell(IndependentBits().fit(votes.X), votes.X).value,
    }
