"""`standard_errors`: standard errors from the curvature of the likelihood and the scores of rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from hiddenbits.array_types import Floats, Rows
from hiddenbits.display import axis_names
from hiddenbits.exceptions import NotAtMaximumWarning
from hiddenbits.inference.uncertainty import Uncertainty, backend_of, codes_of, open_for, statistic_values, with_indices
from hiddenbits.tables import Piece, Table, map_pieces

PIECE_NUMBERS = 1 << 22  # elements of the gradients that are processed together
MAX_PARAMETERS = 5000  # a matrix of 200 MB, of which there are several
MIN_INFORMATION = 1e-6  # a logit with less information than this, in rows, was not observed at all
MAX_DISTANCE = 0.1  # from the maximum, in standard errors, without a warning
STEP = 1e-4  # of a coordinate, to differentiate a statistic: the error of a central difference is about its square
FAMILIES = "LatentClassAnalysis and ItemResponseModel"


def standard_errors(
    model: Any,
    X: object,
    *,
    robust: bool = True,
    clusters: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_type: Literal["counts", "sampling"] = "counts",
    kind: Literal["observed", "outer"] = "observed",
    statistic: Callable[[Any], Any] | None = None,
    level: float = 0.95,
) -> Uncertainty:
    """Return standard errors and confidence intervals of a fitted model's parameters, from the likelihood.

    The score of a row (the gradient of its log-likelihood) is the posterior mean of the complete-data gradient
    (Fisher's identity), and Louis' formula gives the observed information A; both are exact, sums over rows, and allow
    missing values and weights. With B the sum of outer products of scores, the covariance of the estimates is
    A^-1 B A^-1 (``robust=True``: valid even if the model is misspecified), A^-1 (``robust=False``: as ltm and mirt) or
    B^-1 (``robust=False, kind="outer"``: as poLCA).

    Parameters
    ----------
    model : estimator
        A fitted `LatentClassAnalysis` or `ItemResponseModel`. Fit it to convergence with a small `tol`, such as 1e-9.
        With a prior, A includes the curvature of the prior, and the errors are those of the penalized estimates.
    X : table of shape (rows, columns)
        The table of the fit.
    robust : bool, default=True
        Whether to use the sandwich estimator.
    clusters : array of shape (rows,), optional
        Labels of rows that belong together, such as pupils of a school; scores are summed within clusters before their
        outer products are. Needs ``robust=True``.
    sample_weight : str or array of shape (rows,), optional
        The weights of the fit.
    weight_type : {"counts", "sampling"}, default="counts"
        A weight of 2 means two equal rows; or one row that represents two (its square enters B; needs
        ``robust=True``).
    kind : {"observed", "outer"}, default="observed"
        Which information matrix is inverted.
    statistic : callable, optional
        A function of the fitted model that returns an array, or a dict of arrays; by default the parameters. Its
        errors are by the delta method, with numerical derivatives.
    level : float, default=0.95
        Confidence level of the intervals.

    Returns
    -------
    uncertainty : Uncertainty
        Estimates, `se`, `interval` and `covariance` of "weights" and "probabilities" of latent classes; of item
        response models "slopes", "intercepts", in one dimension "difficulties", "number_slopes" and the like.
        Probabilities of 0 or 1 have no standard error: NaN. Several dimensions without a `loadings_pattern` are in
        their canonical orientation, and the errors are conditional on it.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LatentClassAnalysis, inference
    >>> X = np.repeat([[1, 1, 0], [0, 1, 0], [1, 0, 1], [0, 0, 1]], [30, 5, 5, 20], axis=0)
    >>> model = LatentClassAnalysis(1, prior_strength=0, random_state=0).fit(X)
    >>> uncertainty = inference.standard_errors(model, X, robust=False)
    >>> p = X.mean(axis=0)
    >>> bool(np.allclose(uncertainty.se["probabilities"], np.sqrt(p * (1 - p) / 60)))
    True
    >>> odds = inference.standard_errors(model, X, statistic=lambda m: m.probabilities_ / (1 - m.probabilities_))
    >>> odds.se["statistic"].shape
    (1, 3)
    """
    _check(robust, clusters, weight_type, kind)
    if not 0.0 < level < 1.0:
        raise ValueError(f"level={level}: give a number between 0 and 1, such as 0.95.")
    if not hasattr(model, "_row_gradients"):
        raise TypeError(f"{type(model).__name__} has no exact scores of rows: {FAMILIES} do. Use inference.bootstrap.")
    table = open_for(model, X, sample_weight)
    if model.n_parameters_ > MAX_PARAMETERS:
        raise ValueError(
            f"The model has {model.n_parameters_:,} parameters, and the information of more than {MAX_PARAMETERS:,} "
            "would not fit in memory. Use inference.bootstrap."
        )
    free = model._free_parameters()
    labels = codes_of(clusters, table.shape[0], "clusters")
    curvature, products, gradient = _sums(model, table, len(free.vector), labels, weight_type, kind)
    inner = (curvature if kind == "observed" else products) + free.prior_curvature
    estimable = np.flatnonzero(~free.border & (np.diag(inner) > MIN_INFORMATION))
    inverse = _inverse(inner[np.ix_(estimable, estimable)], free.ties[:, estimable])
    covariance = inverse @ products[np.ix_(estimable, estimable)] @ inverse if robust else inverse
    _warn_if_far(inverse @ (gradient + free.prior_gradient)[estimable], np.sqrt(np.diag(inverse)))
    if statistic is None:
        values = {quantity.name: (quantity.values, quantity.axes, quantity.scale) for quantity in free.quantities}
        jacobian = np.concatenate([quantity.jacobian for quantity in free.quantities])
        fixed = np.setdiff1d(np.arange(len(free.vector)), estimable)
        by_fixed, by_estimable = (np.abs(jacobian[:, part]).sum(axis=1) for part in (fixed, estimable))
        has_error = (by_fixed == 0.0) | (by_estimable > by_fixed)  # a level at 0 changes a little with other levels
    else:
        values = statistic_values(statistic(model), table.shape[1])
        jacobian = np.zeros((sum(array.size for array, *_ in values.values()), len(free.vector)))
        jacobian[:, estimable] = _derivatives(model, statistic, free.vector, estimable)
        has_error = np.ones(len(jacobian), bool)
    J = jacobian[:, estimable]
    return Uncertainty(
        method=_method_text(robust, labels, kind),
        level=level,
        covariance=J @ covariance @ J.T,
        parts=with_indices(values),
        columns=axis_names(model, table),
        backend=backend_of(X),
        has_error=has_error,
    )


def _check(robust: bool, clusters: object, weights: str, kind: str) -> None:
    if weights not in ("counts", "sampling") or kind not in ("observed", "outer"):
        raise ValueError(f'weights={weights!r}, kind={kind!r}: give "counts" or "sampling", and "observed" or "outer".')
    if not robust and (clusters is not None or weights == "sampling"):
        raise ValueError("clusters= and weights='sampling' need robust=True: the information matrix ignores them.")
    if robust and kind == "outer":
        raise ValueError('kind="outer" needs robust=False: the sandwich estimator uses the observed information.')


def _method_text(robust: bool, labels: Rows | None, kind: str) -> str:
    if not robust:
        return "inverse observed information" if kind == "observed" else "inverse sum of outer products of scores"
    return "robust (sandwich)" if labels is None else f"robust (sandwich), {labels.max() + 1} clusters"


def _sums(
    model: Any, table: Table, n_coordinates: int, labels: Rows | None, weights: str, kind: str
) -> tuple[Floats, Floats, Floats]:
    """Return A, B and the gradient of the whole table, summed piece by piece in the order of the rows."""

    def of_piece(piece: Piece) -> tuple[Floats, Any, Floats]:
        g, w = model._row_gradients(piece.table), piece.weights
        weighted = g * w[:, None]
        curvature = np.zeros((g.shape[1],) * 2)
        if kind == "observed" and w.any():
            curvature = model._observed_information(piece.table, w)
        if labels is None:
            return curvature, weighted.T @ (weighted if weights == "sampling" else g), weighted.sum(axis=0)
        clusters, codes = np.unique(labels[piece.start : piece.start + len(g)], return_inverse=True)
        sums = np.zeros((len(clusters), g.shape[1]))
        np.add.at(sums, codes, weighted)
        return curvature, (clusters, sums), weighted.sum(axis=0)

    p = n_coordinates
    pieces: Iterator[Any] = map_pieces(of_piece, table, max(256, PIECE_NUMBERS // p))
    curvature, products, gradient = np.zeros((p, p)), np.zeros((p, p)), np.zeros(p)
    cluster_scores = None if labels is None else np.zeros((int(labels.max()) + 1, p))
    for piece_curvature, product, piece_gradient in pieces:
        gradient += piece_gradient
        curvature += piece_curvature
        if cluster_scores is None:
            products += product
        else:
            cluster_scores[product[0]] += product[1]
    if cluster_scores is not None:
        n = len(cluster_scores)
        if n < 2:
            raise ValueError("All rows are in one cluster, so the variance between clusters is unknown.")
        products = cluster_scores.T @ cluster_scores * (n / (n - 1.0))
    return curvature, products, gradient


def _inverse(inner: Floats, ties: Floats) -> Floats:
    """Return the covariance of estimates under the constraints of the ties, from the inverse of a bordered matrix."""
    size = len(inner)
    ties = ties / np.maximum(np.linalg.norm(ties, axis=1, keepdims=True), 1e-300)
    scale = np.sqrt(np.maximum(np.diag(inner), 1e-300))  # a matrix with a unit diagonal is inverted more accurately
    bordered = np.block(
        [[inner / np.outer(scale, scale), (ties / scale).T], [ties / scale, np.zeros((len(ties),) * 2)]]
    )
    null_space = np.linalg.svd((ties / scale), full_matrices=True)[2][len(ties) :] if len(ties) else np.eye(size)
    smallest = np.linalg.eigvalsh(null_space @ bordered[:size, :size] @ null_space.T)[0] if size else 1.0
    if not smallest > 1e-10:
        raise ValueError(
            "The information matrix is singular, so some parameters are not identified by this table, or the fit is "
            "not at a maximum. Use fewer classes or dimensions, fit with a smaller tol, or use inference.bootstrap."
        )
    return np.asarray(np.linalg.inv(bordered)[:size, :size] / np.outer(scale, scale))


def _warn_if_far(step: Floats, errors: Floats) -> None:
    distance = float(np.abs(step / errors).max(initial=0.0))
    if distance > MAX_DISTANCE:
        warnings.warn(
            f"The estimates are about {distance:.2g} standard errors from the maximum for this table, so the errors "
            "are not reliable. Give the table and the weights of the fit, and fit with a smaller tol.",
            NotAtMaximumWarning,
            stacklevel=3,
        )


def _derivatives(model: Any, statistic: Callable[[Any], Any], vector: Floats, coordinates: Rows) -> Floats:
    """Return the derivatives of a statistic by some coordinates, by central differences."""

    def shifted(shift: Floats) -> Floats:
        values = statistic_values(statistic(model._with_vector(vector + shift)), -1)
        return np.concatenate([array.ravel() for array, *_ in values.values()])

    columns = []
    for coordinate in coordinates:
        step = np.zeros(len(vector))
        step[coordinate] = STEP * max(1.0, abs(vector[coordinate]))
        columns.append((shifted(step) - shifted(-step)) / (2.0 * step[coordinate]))
    return np.stack(columns, axis=1)
