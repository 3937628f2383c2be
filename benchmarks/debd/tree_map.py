"""A curved map with a tree inside: each bit depends on the position and on its parent in one tree of the columns.

    P(x | z) = Prod_j P(x_j | x_parent(j), z),   the log-odds of both, parent 0 and 1, smooth functions of z

Nothing new is fitted: each column becomes two, one observed where its parent is 0 and one where it is 1, and
`TopographicMap` takes the blanks. What comes out is a mixture with a class at each point, all with the same tree, and
is returned as that: a `TreeMixture`, with its exact likelihood, marginals and completion.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits import TopographicMap, TreeMixture


def by_parent(X: NDArray[Any], parents: NDArray[Any]) -> NDArray[np.float32]:
    """Return the table of each column where its parent is 0, then where it is 1; a root is in the first half alone."""
    X = np.asarray(X, np.float32)
    above = np.where(parents >= 0, X[:, np.maximum(parents, 0)], 0.0)
    halves = [np.where(above == value, X, np.nan) for value in (0.0, 1.0)]
    return np.concatenate([halves[0], halves[1][:, parents >= 0]], axis=1, dtype=np.float32)


def fit_tree_map(X: NDArray[Any], settings: dict[str, Any], seed: int, weights: Any = None) -> TreeMixture:
    """Fit the map along the Chow-Liu tree of the table, and return it as a mixture of trees."""
    parents = TreeMixture(1, random_state=0).fit(X, sample_weight=weights).parents_[0]
    fitted = TopographicMap(**settings, random_state=seed).fit(by_parent(X, parents), sample_weight=weights)
    found, d, linked = fitted.probabilities_.T, len(parents), parents >= 0
    if_one = found[:d].copy()
    if_one[linked] = found[d:]
    K = found.shape[1]
    made = TreeMixture(K, smoothing=1.0, sharing=0.0, n_init=1, max_iter=1, random_state=0).fit(X[:2])
    made.params_ = replace(
        made.params_,
        weights=np.full(K, 1.0 / K),
        parent_columns=np.repeat(parents[:, None].astype(float), K, axis=1),
        if_zero=found[:d].copy(),
        if_one=if_one,
    )
    made.n_iter_, made.stop_reason_ = fitted.n_iter_, fitted.stop_reason_
    return made
