"""`bootstrap`: standard errors and confidence intervals from refits to resampled rows."""

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

from hiddenbits import ClippedPCA, ItemResponseModel, LatentClassAnalysis, LogisticPCA, TreeMixture
from hiddenbits.array_types import Floats, Rows
from hiddenbits.data.collapse import collapse
from hiddenbits.data.hashing import digest, keyed_rng
from hiddenbits.display import axis_names
from hiddenbits.fit_cache import FitCache, table_digest, versions
from hiddenbits.inference.uncertainty import Uncertainty, backend_of, codes_of, open_for, statistic_values, with_indices
from hiddenbits.tables import Piece, Table, map_fits, map_pieces, take_rows

NamedArrays = dict[str, tuple[Floats, tuple[str, ...], str]]  # values, axes and scale of each


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

    A replicate is a fit with random weights, which starts from the fitted parameters and runs to convergence. Its
    classes are matched to those of the fitted model (by the Hungarian method on the rows that they share), and its
    dimensions are rotated to those of the fitted model (by Procrustes rotation; those of a `loadings_pattern` are only
    reflected). The estimates of a `TreeMixture` are
    conditional on its trees: replicates keep the trees, and search for others only with `statistic`. Replicates are
    keyed by their number: the first 100 of 200 are those of ``n_replicates=100``, and serial, threads and cluster
    (`run_on`) give the same results; of a table in memory, many are fitted at once.

    Parameters
    ----------
    model : estimator
        A fitted model of any family that can be refitted. Without `statistic`, a `LatentClassAnalysis`, `TreeMixture`,
        `ItemResponseModel`, `LogisticPCA` or `ClippedPCA`.
    X : table of shape (rows, columns)
        The table of the fit.
    n_replicates : int, default=200
        Number of replicates: 200 for standard errors, 999 for published intervals.
    clusters : array of shape (rows,), optional
        Labels of rows that belong together: whole clusters are resampled.
    strata : array of shape (rows,), optional
        Labels of strata, within which rows or clusters are resampled. With clusters or strata, weights are Rao and
        Wu's: n - 1 of n units are sampled, and count n / (n - 1).
    sample_weight : str or array of shape (rows,), optional
        The weights of the fit.
    weight_type : {"counts", "sampling"}, default="counts"
        A weight of 2 means two equal rows, sampled separately; or one row that represents two.
    statistic : callable, optional
        A function of a fitted model that returns an array, or a dict of arrays; by default the parameters. Models of
        other families are not aligned: the result must not depend on the order of their classes or units.
    random_state : int, default=0
        Random seed of the resampling.
    tol : float, default=1e-8
        Tolerance of the refits. They start close to the solution: with a large tolerance they stop early and vary too
        little.
    level : float, default=0.95
        Confidence level of the intervals.
    folder : path, optional
        Save finished replicates in this folder, as model files. They are not repeated by later calls with the same
        model, table and design, such as after a crash, with more replicates or with another `statistic`.

    Returns
    -------
    uncertainty : Uncertainty
        `replicates` has the estimates of each replicate.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LatentClassAnalysis, inference
    >>> X = np.random.default_rng(0).integers(0, 2, (300, 3))
    >>> model = LatentClassAnalysis(1, prior_strength=0, random_state=0).fit(X)
    >>> uncertainty = inference.bootstrap(model, X, n_replicates=99)
    >>> uncertainty.replicates.shape
    (99, 4)
    >>> exact = np.sqrt(model.probabilities_ * (1 - model.probabilities_) / 300)
    >>> bool(np.allclose(uncertainty.se["probabilities"], exact, rtol=0.3))
    True
    """
    _check(model, n_replicates, weight_type, statistic, level)
    table = open_for(model, X, sample_weight)
    rows = table.shape[0]
    cluster_ids, stratum_ids = codes_of(clusters, rows, "clusters"), codes_of(strata, rows, "strata")
    check_design(cluster_ids, stratum_ids)
    base = np.ones(rows) if table.weights is None else table.weights
    distinct, distinct_row = collapse(table)  # once for all replicates
    unweighted = distinct.with_weights(None)
    start = with_fixed_trees(model) if statistic is None and isinstance(model, TreeMixture) else model

    def estimates_of(fitted: Any) -> NamedArrays:
        return parameters(fitted) if statistic is None else statistic_values(statistic(fitted), table.shape[1])

    design = {"seed": random_state, "tol": tol, "weights": weight_type, "clusters": cluster_ids, "strata": stratum_ids}
    cache = FitCache(folder, {} if folder is None else _identity(start, table, design))
    estimates = estimates_of(model)
    replicates = np.empty((n_replicates, sum(array.size for array, *_ in estimates.values())))

    def refit(number: int) -> Any:
        w = replicate_weights(random_state, number, base, cluster_ids, stratum_ids, weight_type == "counts")
        if distinct_row is not None:
            w = np.bincount(distinct_row, w, minlength=unweighted.shape[0]).astype(np.float64)
        resampled = unweighted.with_weights(w)
        if unweighted.source.resident:
            resampled = take_rows(unweighted, w > 0.0).with_weights(w[w > 0.0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return start._refit(resampled, tol=tol)

    def estimates_in(refitted: Any) -> Floats:
        matched = aligned(refitted, model, distinct) if can_align(model) else refitted
        return np.concatenate([array.ravel() for array, *_ in estimates_of(matched).values()])

    def replicate(number: int) -> tuple[Any, bool, Floats]:
        """Return the refitted model if it is to be saved, whether it converged, and its estimates."""
        refitted = refit(number)
        return None if folder is None else refitted, refitted.converged_, estimates_in(refitted)

    missing, n_unconverged = list[int](), 0
    for number in range(n_replicates):
        if (saved := cache.get(cache.key({"replicate": number}))) is None:
            missing.append(number)
        else:
            replicates[number], n_unconverged = estimates_in(saved[2]), n_unconverged + (not saved[2].converged_)
    for number, (refitted, converged, vector) in zip(missing, map_fits(replicate, missing, table), strict=True):
        cache.put(cache.key({"replicate": number}), {"replicate": number}, {}, refitted)
        replicates[number], n_unconverged = vector, n_unconverged + (not converged)
    if n_unconverged:
        warnings.warn(
            f"{n_unconverged} of {n_replicates} replicates did not converge. Raise max_iter of the model, or tol.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return Uncertainty(
        method=f"bootstrap, {n_replicates} replicates" + _design_text(cluster_ids, stratum_ids),
        level=level,
        covariance=np.atleast_2d(np.cov(replicates, rowvar=False)),
        parts=with_indices(estimates),
        columns=axis_names(model, table),
        backend=backend_of(X),
        replicates=replicates,
    )


def _identity(model: Any, table: Table, design: dict[str, Any]) -> dict[str, Any]:
    """Return everything that replicates depend on, except the statistic, which is computed from them."""

    def digest_of(codes: Rows | None) -> str | None:
        return None if codes is None else digest(np.ascontiguousarray(codes, np.int64).tobytes())

    arrays = {name: np.ascontiguousarray(array) for name, array in sorted(model._params.to_arrays().items())}
    return {
        "table": table_digest(table),
        "versions": versions(),
        "class": type(model).__name__,
        "settings": repr(sorted(model.get_params().items())),
        "params": {name: [array.shape, digest(array.tobytes())] for name, array in arrays.items()},
        **{name: digest_of(value) if name in ("clusters", "strata") else value for name, value in design.items()},
    }


def parameters(model: Any) -> NamedArrays:
    """Return the published parameters of a family, with their axes and scales."""
    arrays: NamedArrays
    if isinstance(model, ItemResponseModel):
        return {part.name: (part.values, part.axes, part.scale) for part in model._free_parameters().quantities}
    if hasattr(model, "probabilities_"):
        arrays = {
            "weights": (model.weights_, ("class",), "probability"),
            "probabilities": (model.probabilities_, ("class", "column"), "probability"),
        }
        if hasattr(model, "conditionals_"):
            arrays["conditionals"] = (model.conditionals_, ("class", "column", "parent"), "probability")
        if getattr(model, "means_", np.zeros(0)).size:
            axes = ("class", "continuous", "continuous")[: model.covariances_.ndim]
            scale = "positive" if len(axes) == 2 else "real"
            arrays |= {
                "means": (model.means_, ("class", "continuous"), "real"),
                "covariances": (model.covariances_, axes, scale),
            }
        if getattr(model, "rates_", np.zeros(0)).size:
            arrays["rates"] = (model.rates_, ("class", "count"), "positive")
        return arrays
    arrays = {
        "components": (model.components_, ("dimension", "column"), "real"),
        "intercepts": (model.intercepts_, ("column",), "real"),
    }
    if len(model.components_) == 1 and isinstance(model, LogisticPCA):
        with np.errstate(divide="ignore"):
            arrays["difficulties"] = (-model.intercepts_ / model.components_[0], ("column",), "real")
    return arrays


def _design_text(clusters: object, strata: object) -> str:
    units = " of clusters" if clusters is not None else ""
    return units + (" within strata" if strata is not None else "")


def _check(model: Any, n: int, weights: str, statistic: object, level: float) -> None:
    if n < 2:
        raise ValueError(f"n={n}: a standard error needs at least two replicates; 200 are recommended.")
    if weights not in ("counts", "sampling"):
        raise ValueError(f'weights={weights!r}: give "counts" or "sampling".')
    if not 0.0 < level < 1.0:
        raise ValueError(f"level={level}: give a number between 0 and 1, such as 0.95.")
    if not hasattr(model, "_refit"):
        raise TypeError(f"{type(model).__name__} cannot be refitted.")
    if statistic is None and not can_align(model):
        raise TypeError(
            f"Replicates of {type(model).__name__} cannot be aligned with it. Give statistic=, a function of the "
            "fitted model that does not depend on the order of its classes or units."
        )


# Alignment of one model with another: the same order of classes, the same orientation of dimensions.

PIECE_CELLS = 1 << 22  # cells of posteriors processed together


def can_align(model: Any) -> bool:
    """Whether replicates of a model can be aligned with it."""
    return isinstance(model, (LatentClassAnalysis, TreeMixture, ItemResponseModel, LogisticPCA, ClippedPCA))


def with_fixed_trees(model: TreeMixture) -> TreeMixture:
    """Return a fitted mixture of trees whose refits keep the trees, which identify the classes."""
    fixed = copy(model)
    fixed._keeps_trees = True
    return fixed


def aligned(model: Any, target: Any, table: Table) -> Any:
    """Return a fitted model with its classes in the order, or its dimensions in the orientation, of the target.

    Classes are matched by the Hungarian method on the rows that they share, dimensions by orthogonal Procrustes
    rotation of the loadings, or by their signs where a pattern fixes the axes. A mixture of trees is returned
    unchanged.
    """
    if isinstance(model, TreeMixture):
        return model
    result, params = copy(model), model._params
    if isinstance(model, LatentClassAnalysis):
        order = linear_sum_assignment(-_shared_rows(model, target, table))[1]
        result._params = params.reordered("K", order)
    elif isinstance(model, ItemResponseModel):
        result._params = _oriented_items(model, target._params)
    else:
        result._params = replace(
            params, loadings=params.loadings @ _procrustes(params.loadings, target._params.loadings)
        )
    return result


def _procrustes(slopes: Floats, target: Floats) -> Floats:
    """Return the orthogonal matrix that rotates slopes closest to those of the target."""
    U, _, V = np.linalg.svd(slopes.T @ target)
    return np.asarray(U @ V)


def _oriented_items(model: ItemResponseModel, target: Any) -> Any:
    """Return the parameters of an item response model in the orientation of the target's."""
    params, groups = model._params, getattr(model._model(), "groups", None)
    slopes, wanted = (np.concatenate([p.slopes, p.number_slopes]) for p in (params, target))
    if model.loadings_pattern is None:
        return params.rotated(_procrustes(slopes, wanted))
    products = slopes * wanted
    signs = _signs(products)
    if groups is None:
        return params.rotated(np.diag(signs))
    # A bifactor model keeps the slopes on all group factors as its second axis, and each has its own sign.
    of_column, turned = np.array(groups), slopes * [signs[0], 1.0]
    n_bit_columns, n_bits = len(groups) - params.n_numbers, len(params.slopes)
    group = np.append(of_column[:n_bit_columns][params.columns.astype(np.intp)], of_column[n_bit_columns:])
    for number in np.unique(group):
        turned[group == number, 1] *= _signs(products[group == number, 1])
    return replace(params, slopes=turned[:n_bits], number_slopes=turned[n_bits:])


def _signs(products: Floats) -> Floats:
    """Return -1 for axes on which slopes point against those of the target, 1 for others."""
    return np.where(products.sum(axis=0) < 0.0, -1.0, 1.0)


def _shared_rows(model: Any, target: Any, table: Table) -> Floats:
    """Return the expected number of rows in each class of the target (lines) and of the model (columns), (K, K)."""

    def count(piece: Piece) -> Floats:
        of_target: Floats = target.transform(piece.table) * piece.weights[:, None]
        return np.asarray(of_target.T @ model.transform(piece.table))

    K = len(target.weights_)
    return np.asarray(sum(map_pieces(count, table, max(1, PIECE_CELLS // K)), np.zeros((K, K))))


# Weights of bootstrap replicates: rows, or whole clusters within strata.

STREAM = 0xB007  # keeps these random numbers apart from others with the same seed


def replicate_weights(
    seed: int, number: int, base: Floats, clusters: Rows | None, strata: Rows | None, counts: bool
) -> Floats:
    """Return the weight of each row in one replicate, from its `base` weight; keyed by the number of the replicate.

    Without clusters and strata as many rows as there are (by their counts) are sampled with replacement. Otherwise the
    weights are Rao and Wu's: n - 1 of n clusters in a stratum are sampled with replacement, and count n / (n - 1).
    """
    rng = keyed_rng(seed, STREAM, number)
    if clusters is None and strata is None:
        if counts:
            return rng.multinomial(max(1, round(base.sum())), base / base.sum()).astype(np.float64)
        return base * rng.multinomial(len(base), np.full(len(base), 1.0 / len(base)))
    units = np.arange(len(base)) if clusters is None else clusters
    n_units = int(units.max()) + 1
    stratum_of_unit = np.zeros(n_units, np.int64)
    if strata is not None:
        stratum_of_unit[units] = strata
    factors = np.zeros(n_units)
    for stratum in np.unique(stratum_of_unit):
        members = np.flatnonzero(stratum_of_unit == stratum)
        n = len(members)
        factors[members] = rng.multinomial(n - 1, np.full(n, 1.0 / n)) * n / (n - 1.0)
    return base * factors[units]


def check_design(clusters: Rows | None, strata: Rows | None) -> None:
    """Raise if a cluster lies in several strata, or a stratum has a single unit."""
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
        raise ValueError(f"A stratum has a single {unit}, so its variance is unknown. Join strata.")
