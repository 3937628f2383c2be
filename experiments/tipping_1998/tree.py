"""A tree of maps, the hierarchy that the paper's conclusion looks forward to: the digits of scikit-learn."""

from pathlib import Path
from typing import Any

import numpy as np
from common import save
from pictures import neighbours
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from hiddenbits import LogisticPCAMixture, map_tree, plots

SEEDS = {"test rows and starts": [0, 1, 2, 3]}
LEVELS, CHILDREN = 3, 3


def draw(folder: Path, *, full: bool) -> dict[str, Any]:
    """Draw the tree of the first seed; the others repeat it with other test rows and starts."""
    found, tree, new, label = one(SEEDS["test rows and starts"][0], full=full)
    save(plots.map_tree(tree, new, labels=label)[0][0].figure, folder, "map_tree")
    repeats = [one(seed, full=full)[0] for seed in SEEDS["test rows and starts"][1:]] if full else []
    keys = ("maps", "tree_less_one_map", "tree_less_flat")
    return {**found, "repeats": [{key: each[key] for key in keys} for each in [found, *repeats]]}


def one(seed: int, *, full: bool) -> tuple[dict[str, Any], Any, np.ndarray, np.ndarray]:
    """Fit a tree, a flat mixture with as many maps and one map to the same rows; score rows that none has seen."""
    images, digit = load_digits(return_X_y=True)
    X = (images > 7.5).astype(np.uint8)
    step = 1 if full else 4
    rows, new, _, label = train_test_split(
        X[::step], digit[::step], test_size=0.25, random_state=seed, stratify=digit[::step]
    )
    options: dict[str, Any] = {"n_init": 4 if full else 1, "tol": 1e-4, "polish": full, "random_state": seed}
    split = LogisticPCAMixture(2, n_maps=CHILDREN if full else 2, **options)
    tree = map_tree(rows, split, max_levels=LEVELS if full else 2)
    train = np.delete(rows, tree.held_out, axis=0)
    n_leaves = len(tree.leaves.weights_)
    flat = LogisticPCAMixture(2, n_maps=n_leaves, **options).fit(train)
    scores = {"tree": tree.leaves.score_samples(new), "flat": flat.score_samples(new)}
    scores["one map"] = tree.levels[0].score_samples(new)
    shares = tree.responsibilities(new)
    best = shares[-1].argmax(axis=1)
    found = {
        "rows": [len(train), len(tree.held_out), len(new)],
        "columns": X.shape[1],
        "children": split.n_maps,
        "maps": [len(level.weights_) for level in tree.levels],
        "names": [list(names) for names in tree.names],
        "splits": [[s.name, s.gain, s.standard_error, s.kept] for s in tree.splits],
        "error_by_level": [-float(level.score(new)) for level in tree.levels],
        "flat_error": -float(scores["flat"].mean()),
        "tree_less_flat": paired(scores["tree"] - scores["flat"]),
        "tree_less_one_map": paired(scores["tree"] - scores["one map"]),
        "nearest_neighbour_of_the_same_digit": [
            on_best_map(level, share, new, label) for level, share in zip(tree.levels, shares, strict=True)
        ],
        "the_same_on_the_flat_maps": on_best_map(flat, flat.transform(new)[:, :n_leaves], new, label),
        "rows_nearly_all_on_one_leaf": float((shares[-1].max(axis=1) > 0.9).mean()),
        "children_less_parents": [moved(tree, shares, depth) for depth in range(1, len(shares))],
        "digits_on_each_leaf": [np.bincount(label[best == k], minlength=10).tolist() for k in range(n_leaves)],
    }
    return found, tree, new, label


def paired(difference: np.ndarray) -> list[float]:
    return [float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(len(difference)))]


def on_best_map(level: LogisticPCAMixture, shares: np.ndarray, X: np.ndarray, label: np.ndarray) -> float:
    """Share of rows whose nearest other place, on their most probable map, holds the same digit."""
    best, hits = shares.argmax(axis=1), 0.0
    for k, one in enumerate(level.maps_):
        if (best == k).sum() > 1:
            hits += (best == k).sum() * neighbours(one.transform(X[best == k]), label[best == k])
    return float(hits / len(X))


def moved(tree: Any, shares: tuple[np.ndarray, ...], depth: int) -> float:
    """Mean share of a row that the children of its map do not have: fitting a level together moves rows."""
    parents = np.array(tree.parents[depth])
    n_above = shares[depth - 1].shape[1]
    above = np.stack([shares[depth][:, parents == k].sum(axis=1) for k in range(n_above)], axis=1)
    return float(0.5 * np.abs(above - shares[depth - 1]).sum(axis=1).mean())
