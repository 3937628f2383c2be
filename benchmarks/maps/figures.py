"""How good a map is, in figures: all of them between 0 and 1, more is better."""

from itertools import combinations
from typing import Any

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

NEIGHBOURS = 10


def neighbours(places: Any) -> Any:
    """Return the ten nearest other rows of each row."""
    return NearestNeighbors(n_neighbors=NEIGHBOURS).fit(places).kneighbors(return_distance=False)


def majority(near: Any, classes: Any) -> Any:
    votes = np.apply_along_axis(np.bincount, 1, classes[near], minlength=classes.max() + 1)
    return votes.argmax(axis=1)


def class_share(places: Any, classes: Any) -> float:
    """Return the share of rows whose class is that of most of their ten neighbours."""
    return float((majority(neighbours(places), classes) == classes).mean())


def new_class_share(places: Any, classes: Any, new: Any, new_classes: Any) -> float:
    """Return the share of new rows whose class is that of most of the ten nearest rows that were fitted."""
    near = NearestNeighbors(n_neighbors=NEIGHBOURS).fit(places).kneighbors(new, return_distance=False)
    return float((majority(near, classes) == new_classes).mean())


def trust_and_continuity(X: Any, places: Any) -> tuple[float, float]:
    """Return trustworthiness and continuity (Venna & Kaski 2001) by the number of bits in which rows differ.

    Bits tie often; ties count in favour of the map. Blanks differ by half a bit from everything.
    """
    cells = np.nan_to_num(np.asarray(X, float), nan=0.5)
    apart, on_map = pairwise_distances(cells, metric="cityblock"), pairwise_distances(places)
    for square in (apart, on_map):
        np.fill_diagonal(square, np.inf)
    n, k = len(cells), NEIGHBOURS
    worst = n * k * (2 * n - 3 * k - 1) / 2
    intruders = np.argsort(on_map, axis=1, kind="stable")[:, :k]
    lost = np.lexsort((on_map, apart), axis=1)[:, :k]
    return 1.0 - _beyond(apart, intruders) / worst, 1.0 - _beyond(on_map, lost) / worst


def _beyond(distances: Any, near: Any) -> float:
    """Return the sum of the ranks beyond ten of some rows, by the number of rows that are closer."""
    ordered = np.sort(distances, axis=1)
    closer = [
        np.searchsorted(row, row_distances[at]) for row, row_distances, at in zip(ordered, distances, near, strict=True)
    ]
    return float(np.maximum(np.asarray(closer) + 1 - NEIGHBOURS, 0).sum())


def overlap(maps: list[tuple[Any, Any]], distinct: Any) -> float:
    """Return the share of a row's ten neighbours on one map that are so on another: the mean over rows and pairs of maps.

    A map is the rows that it has and their positions. Rows of both maps count, and of equal rows the first.
    """
    shares = []
    for (some, places), (others, other_places) in combinations(maps, 2):
        common = np.intersect1d(np.intersect1d(some, others), distinct)
        pair = [neighbours(at[np.searchsorted(rows, common)]) for rows, at in ((some, places), (others, other_places))]
        shares.append(np.mean([len(np.intersect1d(a, b)) for a, b in zip(*pair, strict=True)]) / NEIGHBOURS)
    return float(np.mean(shares))
