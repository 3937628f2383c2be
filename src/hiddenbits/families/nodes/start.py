"""Where classes begin: k-means on the first singular vectors of some rows; in further restarts by chance.

The K - 1 first singular vectors of the centered columns hold what classes differ in; k-means there is quick, and the
best of ten beginnings finds the right classes where EM from noise often does not (`benchmarks.starts.classes`). Where
classes overlap it can lead to the same lesser maximum again and again, so further restarts begin with random shares of
each row in the classes: then it says something if restarts agree.
Rows are chosen and ordered by their content, and weights count as equal rows, so that a start does not depend on how
a table is stored.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from threadpoolctl import ThreadpoolController

from hiddenbits.array_types import Floats
from hiddenbits.data.rows_by_content import weighted_rows
from hiddenbits.families.nodes.columns.layout import Layout
from hiddenbits.model_api import Key, Passes

MOST_ROWS = 4096  # different rows that k-means sees
BEGINNINGS = 10  # of k-means; the best by its sum of squares counts
CLOSE = 1e-2  # of k-means: EM goes on from there
SPREAD = 0.5  # of the Dirichlet distribution of random shares: most rows are nearly in one class
PSEUDO_ROWS, MOST_PSEUDO = 4.0, 0.1  # like the whole table, in each class: none begins at 0 or 1; and of its rows


def classes_of_rows(n_classes: int, means: Floats, layout: Layout, key: Key, passes: Passes) -> tuple[Floats, Floats]:
    """Return weights, (K,), and probabilities, (d, K), of classes among some of the rows.

    Parameters
    ----------
    n_classes : int
        K.
    means : ndarray of shape (d,)
        The shares of ones in the table.
    layout : Layout
        Which bits belong to which column.
    key : Key
        Its random numbers choose rows and beginnings.
    passes : callable
        The engine's sum over blocks.
    """
    rows, weights = weighted_rows(MOST_ROWS, key, passes)
    ones, missing = (rows > 0.0).astype(np.float64), rows == 0.0
    if not layout.all_binary:  # a level that is missing has no bit set
        missing |= layout.is_level & (layout.column_sums(ones.T).T == 0.0)
    rng = key.stream("stage").rng()
    centered = np.where(missing, 0.0, ones - means)
    if key.restart:
        members = weights[:, None] * rng.dirichlet(np.full(n_classes, SPREAD), len(rows))
    else:
        labels = _k_means(centered, weights, n_classes, rng) if len(rows) > n_classes else np.arange(len(rows))
        members = weights[:, None] * np.eye(n_classes)[labels]
    size = members.sum(axis=0)
    pseudo = min(PSEUDO_ROWS, MOST_PSEUDO * size.sum() / n_classes)
    cells = (~missing).T.astype(np.float64) @ members
    shares = (size + pseudo / n_classes) / (size.sum() + pseudo)
    return shares, (ones.T @ members + pseudo * means[:, None]) / (cells + pseudo)


def _k_means(rows: Floats, weights: Floats, n_classes: int, rng: np.random.Generator) -> Floats:
    """Return the cluster of each row."""
    from sklearn.cluster import KMeans  # a model knows nothing else of scikit-learn, and begins quickly
    from sklearn.utils.extmath import randomized_svd

    seed = int(rng.integers(2**31 - 1))
    n_vectors = min(n_classes - 1, *rows.shape)
    with _threads().limit(limits=1):  # the sums of several threads would depend on who comes first
        _, _, directions = randomized_svd(rows * np.sqrt(weights)[:, None], n_vectors, random_state=seed)
        clusters = KMeans(n_classes, n_init=BEGINNINGS, tol=CLOSE, random_state=seed)
        labels: Floats = clusters.fit(rows @ directions.T, sample_weight=weights).labels_
    return labels


@cache
def _threads() -> ThreadpoolController:
    """Return what limits threads; looking for their libraries takes milliseconds."""
    return ThreadpoolController()
