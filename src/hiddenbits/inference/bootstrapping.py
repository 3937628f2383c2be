"""`bootstrap`: standard errors and intervals from refits to resampled rows."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import ConvergenceWarning

from hiddenbits import ClippedPCA, LatentClassAnalysis, LogisticPCA, TreeMixture
from hiddenbits.array_types import Floats, Rows
from hiddenbits.data.collapse import collapse
from hiddenbits.data.hashing import digest, keyed_rng
from hiddenbits.display import names_of
from hiddenbits.fit_cache import FitCache, table_digest, versions
from hiddenbits.inference.uncertainty import Uncertainty, arranged, backend_of, codes_of, opened, statistic_values
from hiddenbits.tables import Piece, Table, map_pieces, take_rows

Named = dict[str, tuple[Floats, tuple[str, ...], str]]


def bootstrap(
    model: Any,
    X: object,
    *,
    n_replicates: int = 200,
    clusters: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_type: Literal["counts", "sampling"] = "counts",
    statistic: Callable[[Any], Any] | None = None,
    random_state: int = 0,
    tol: float = 1e-8,
    level: float = 0.95,
    folder: str | os.PathLike[str] | None = None,
) -> Uncertainty:
    """Return standard errors and percentile intervals from refits of a fitted model to resampled rows.

    A replicate is a fit with random weights, which begins at the fitted parameters and runs to convergence. Classes are
    then put in the order of the fitted model's (by the Hungarian method on the rows that they share), and axes of a map
    in its orientation (by Procrustes rotation). The numbers of a `TreeMixture` are those given its trees: replicates
    keep the trees, and look for others only with `statistic`. Replicates are keyed by their number: the first 100 of
    200 are those of ``n=100``, and serial, threads and cluster (`run_on`) give the same.

    Parameters
    ----------
    model : estimator
        Any fitted family that has `refit`. Without `statistic`, a `LatentClassAnalysis`, `TreeMixture`,
        `LogisticPCA` or `ClippedPCA`.
    X : table of shape (rows, columns)
        The table of the fit.
    n_replicates : int, default=200
        Number of replicates: 200 for standard errors, 999 for intervals that you publish.
    clusters : array of shape (rows,), optional
        Labels of rows that belong together: whole clusters are drawn.
    strata : array of shape (rows,), optional
        Labels of strata, within which rows or clusters are drawn. With clusters or strata weights are Rao and Wu's:
        n - 1 of n units are drawn, and count n / (n - 1).
    sample_weight : str or array of shape (rows,), optional
        The weights of the fit.
    weight_type : {"counts", "sampling"}, default="counts"
        A weight of 2 is two equal rows, drawn one by one; or one row that stands for two.
    statistic : callable, optional
        A function of a fitted model that returns an array, or a dict of arrays; by default the parameters. Models of
        other families are not aligned: the order of their parts must not matter to it.
    random_state : int, default=0
        Of the resampling.
    tol : float, default=1e-8
        Tolerance of the refits. They begin close to their end: with a large one they stop early and vary too little.
    level : float, default=0.95
        Of the intervals.
    folder : path, optional
        Where finished replicates are saved, as model files. A call with the same model, table and design that was
        killed, asks for more replicates or for another `statistic` does not repeat them.

    Returns
    -------
    found : Uncertainty
        `replicates` has the numbers of each replicate.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LatentClassAnalysis, inference
    >>> X = np.random.default_rng(0).integers(0, 2, (300, 3))
    >>> model = LatentClassAnalysis(1, prior_strength=0, random_state=0).fit(X)
    >>> found = inference.bootstrap(model, X, n_replicates=99)
    >>> found.replicates.shape
    (99, 4)
    >>> exact = np.sqrt(model.probabilities_ * (1 - model.probabilities_) / 300)
    >>> bool(np.allclose(found.se["probabilities"], exact, rtol=0.3))
    True
    """
    _check(model, n_replicates, weight_type, statistic, level)
    table = opened(model, X, sample_weight)
    rows = table.shape[0]
    in_clusters, in_strata = codes_of(clusters, rows, "clusters"), codes_of(strata, rows, "strata")
    check_design(in_clusters, in_strata)
    base = np.ones(rows) if table.weights is None else table.weights
    distinct, place = collapse(table)  # once for all replicates
    bare = distinct.with_weights(None)
    first = with_fixed_trees(model) if statistic is None and isinstance(model, TreeMixture) else model

    def numbers(fitted: Any) -> Named:
        return parameters(fitted) if statistic is None else statistic_values(statistic(fitted), table.shape[1])

    design = {"seed": random_state, "tol": tol, "weights": weight_type, "clusters": in_clusters, "strata": in_strata}
    cache = FitCache(folder, {} if folder is None else _identity(first, table, design))
    values = numbers(model)
    replicates = np.empty((n_replicates, sum(array.size for array, *_ in values.values())))
    failed = 0
    for number in range(n_replicates):
        key = cache.key({"replicate": number})
        if (held := cache.get(key)) is not None:
            refitted = held[2]
        else:
            w = replicate_weights(random_state, number, base, in_clusters, in_strata, weight_type == "counts")
            if place is not None:
                w = np.bincount(place, w, minlength=bare.shape[0]).astype(np.float64)
            drawn = take_rows(bare, w > 0.0).with_weights(w[w > 0.0]) if bare.source.resident else bare.with_weights(w)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                refitted = first._refit(drawn, tol=tol)
            cache.put(key, {"replicate": number}, {}, refitted)
        failed += not refitted.converged_
        if can_align(model):
            refitted = aligned(refitted, model, distinct)
        replicates[number] = np.concatenate([array.ravel() for array, *_ in numbers(refitted).values()])
    if failed:
        warnings.warn(
            f"{failed} of {n_replicates} replicates did not converge. Raise max_iter of the model, or tol.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return Uncertainty(
        method=f"bootstrap, {n_replicates} replicates" + _drawn(in_clusters, in_strata),
        level=level,
        covariance=np.atleast_2d(np.cov(replicates, rowvar=False)),
        parts=arranged(values),
        columns=names_of(model, table),
        backend=backend_of(X),
        replicates=replicates,
    )


def _identity(model: Any, table: Table, design: dict[str, Any]) -> dict[str, Any]:
    """Return all that replicates depend on; not the statistic, which is computed from them."""

    def of(codes: Rows | None) -> str | None:
        return None if codes is None else digest(np.ascontiguousarray(codes, np.int64).tobytes())

    arrays = {name: np.ascontiguousarray(array) for name, array in sorted(model._params.to_arrays().items())}
    return {
        "table": table_digest(table),
        "versions": versions(),
        "class": type(model).__name__,
        "settings": repr(sorted(model.get_params().items())),
        "params": {name: [array.shape, digest(array.tobytes())] for name, array in arrays.items()},
        **{name: of(value) if name in ("clusters", "strata") else value for name, value in design.items()},
    }


def parameters(model: Any) -> Named:
    """Return the arrays that people publish of a family, with their axes and scale."""
    found: Named
    if hasattr(model, "probabilities_"):
        found = {
            "weights": (model.weights_, ("class",), "probability"),
            "probabilities": (model.probabilities_, ("class", "column"), "probability"),
        }
        if hasattr(model, "conditionals_"):
            found["conditionals"] = (model.conditionals_, ("class", "column", "parent"), "probability")
        return found
    found = {
        "components": (model.components_, ("dimension", "column"), "real"),
        "intercepts": (model.intercepts_, ("column",), "real"),
    }
    if len(model.components_) == 1 and hasattr(model, "_free_parameters"):
        with np.errstate(divide="ignore"):
            found["difficulties"] = (-model.intercepts_ / model.components_[0], ("column",), "real")
    return found


def _drawn(clusters: object, strata: object) -> str:
    units = " of clusters" if clusters is not None else ""
    return units + (" within strata" if strata is not None else "")


def _check(model: Any, n: int, weights: str, statistic: object, level: float) -> None:
    if n < 2:
        raise ValueError(f"n={n}: a standard error needs at least two replicates, and 200 make a good one.")
    if weights not in ("counts", "sampling"):
        raise ValueError(f'weights={weights!r}: give "counts" or "sampling".')
    if not 0.0 < level < 1.0:
        raise ValueError(f"level={level}: give a number between 0 and 1, such as 0.95.")
    if not hasattr(model, "_refit"):
        raise TypeError(f"{type(model).__name__} cannot be refitted.")
    if statistic is None and not can_align(model):
        raise TypeError(
            f"Replicates of {type(model).__name__} are not aligned with it. Give statistic=, a function of the fitted "
            "model to which the order of its parts does not matter."
        )


# One model in the orientation of another: the same order of classes, the same axes of a map.

PIECE_CELLS = 1 << 22  # cells of posteriors that are worked on together


def can_align(model: Any) -> bool:
    """Whether replicates of a model can be brought into its order and orientation."""
    return isinstance(model, (LatentClassAnalysis, TreeMixture, LogisticPCA, ClippedPCA))


def with_fixed_trees(model: TreeMixture) -> TreeMixture:
    """Return a fitted mixture of trees whose refits keep the trees; a class is then known by its tree."""
    made = copy(model)
    made._keeps_trees = True
    return made


def aligned(found: Any, target: Any, table: Table) -> Any:
    """Return a fitted model with its classes in the order, or its axes in the orientation, closest to another's.

    Classes by the Hungarian method on the rows that they share; axes by orthogonal Procrustes rotation of the loadings.
    A mixture of trees stays as it is.
    """
    if isinstance(found, TreeMixture):
        return found
    made = copy(found)
    if isinstance(found, LatentClassAnalysis):
        order = linear_sum_assignment(-_shared(found, target, table))[1]
        made._params = replace(
            found._params,
            weights=found._params.weights[order],
            probabilities=np.ascontiguousarray(found._params.probabilities[:, order]),
        )
    else:
        U, _, V = np.linalg.svd(found._params.loadings.T @ target._params.loadings)
        made._params = replace(found._params, loadings=found._params.loadings @ (U @ V))
    return made


def _shared(found: Any, target: Any, table: Table) -> Floats:
    """Return how many rows, by their posteriors, are in each class of the one model and of the other, (K, K)."""

    def count(piece: Piece) -> Floats:
        other: Floats = target.transform(piece.table) * piece.weights[:, None]
        return np.asarray(other.T @ found.transform(piece.table))

    K = len(target.weights_)
    return np.asarray(sum(map_pieces(count, table, max(1, PIECE_CELLS // K)), np.zeros((K, K))))


# Weights of bootstrap replicates: rows, or whole clusters within strata.

STREAM = 0xB007  # the address of these random numbers, next to others with the same seed


def replicate_weights(
    seed: int, number: int, base: Floats, clusters: Rows | None, strata: Rows | None, counts: bool
) -> Floats:
    """Return the weight of each row in one replicate; keyed by its number, so that replicates come in any order.

    Without clusters and strata rows are drawn with replacement, as many as there are (by their counts). Otherwise it is
    Rao and Wu's: of n clusters in a stratum, n - 1 are drawn with replacement, and weights grow by n / (n - 1).
    """
    rng = keyed_rng(seed, STREAM, number)
    if clusters is None and strata is None:
        if counts:
            return rng.multinomial(max(1, round(base.sum())), base / base.sum()).astype(np.float64)
        return base * rng.multinomial(len(base), np.full(len(base), 1.0 / len(base)))
    units = np.arange(len(base)) if clusters is None else clusters
    n_units = int(units.max()) + 1
    homes = np.zeros(n_units, np.int64)
    if strata is not None:
        homes[units] = strata
    factors = np.zeros(n_units)
    for stratum in np.unique(homes):
        inside = np.flatnonzero(homes == stratum)
        n = len(inside)
        factors[inside] = rng.multinomial(n - 1, np.full(n, 1.0 / n)) * n / (n - 1.0)
    return base * factors[units]


def check_design(clusters: Rows | None, strata: Rows | None) -> None:
    """Refuse clusters that lie in several strata, and strata with a single unit."""
    if clusters is not None and strata is not None:
        pairs = np.unique(np.stack([clusters, strata]), axis=1)
        if pairs.shape[1] > int(clusters.max()) + 1:
            raise ValueError("A cluster has rows in several strata. Clusters must lie within strata.")
        sizes = np.bincount(pairs[1])
    elif strata is not None:
        sizes = np.bincount(strata)
    elif clusters is not None:
        sizes = np.array([int(clusters.max()) + 1])
    else:
        return
    if sizes.min() < 2:
        unit = "row" if clusters is None else "cluster"
        raise ValueError(f"A stratum has a single {unit}, which says nothing about how they differ. Join strata.")
