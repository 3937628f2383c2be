"""How certain a model is of the class of each row: entropy, and tables of assigned and expected classes."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from hiddenbits.array_types import Floats
from hiddenbits.diagnostics.tables import open_for, sum_over_rows
from hiddenbits.tables import Piece


def classification_table(
    model: Any,
    X: object,
    sample_weight: ArrayLike | None = None,
    *,
    normalize: Literal["assigned", "class"] | None = None,
) -> Floats:
    """Return the expected number of rows of each class among the rows assigned to each class.

    Row s, column t: the sum of P(class t | row) over the rows whose most probable class is s. The share of rows off the
    diagonal is the expected classification error.

    Parameters
    ----------
    model : fitted estimator
        A family of classes, such as `LatentClassAnalysis`.
    X : table of shape (rows, columns)
        As for its `fit`.
    sample_weight : str or array of shape (rows,), optional
        Weight of each row, or the name of the column that has it.
    normalize : {"assigned", "class"}, optional
        "assigned" divides by the sums of rows: average posterior probabilities (AvePP), whose diagonal should
        exceed .7 or .8 in publications. "class" divides by the sums of columns: P(assigned s | class t), the
        classification errors that three-step analyses correct for (Vermunt 2010, with classes and assignments
        transposed). A class without rows has NaN.

    Returns
    -------
    table : ndarray of shape (classes, classes)

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LatentClassAnalysis, diagnostics
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat([[1, 1, 1, 1, 0], [0, 0, 0, 0, 1]], [600, 400], axis=0) ^ (rng.random((1000, 5)) < 0.2)
    >>> model = LatentClassAnalysis(2, prior_strength=0, random_state=0).fit(X)
    >>> diagnostics.classification_table(model, X).round(1)
    array([[571.1,  22.9],
           [ 43.5, 362.5]])
    >>> diagnostics.classification_table(model, X, normalize="assigned").round(2)
    array([[0.96, 0.04],
           [0.11, 0.89]])
    """
    _check(model)
    if normalize not in (None, "assigned", "class"):
        raise ValueError(f'normalize={normalize!r}: give "assigned", "class" or None.')
    table = open_for(model, X, sample_weight)

    def count(piece: Piece) -> Floats:
        r = model.transform(piece.table)
        return np.asarray((np.eye(r.shape[1])[r.argmax(axis=1)] * piece.weights[:, None]).T @ r)

    counts: Floats = np.asarray(sum_over_rows(count, table))
    if normalize is None:
        return counts
    sums = counts.sum(axis=1 if normalize == "assigned" else 0, keepdims=True)
    return np.asarray(np.divide(counts, sums, out=np.full_like(counts, np.nan), where=sums > 0.0))


def entropy(
    model: Any,
    X: object,
    sample_weight: ArrayLike | None = None,
    *,
    kind: Literal["relative", "r2"] = "relative",
) -> float:
    """Return how well the classes are separated: 1 if the class of every row is certain, 0 if none is.

    One minus the mean entropy of the posteriors, divided by ln K ("relative", as Mplus prints it), or by the entropy of
    the class shares ("r2", entropy R^2).

    Parameters
    ----------
    model, X, sample_weight
        As for `classification_table`.
    kind : {"relative", "r2"}, default="relative"
        What the entropy is compared with.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LatentClassAnalysis, diagnostics
    >>> X = np.repeat([[1, 1, 1, 0], [0, 0, 0, 1]], [60, 40], axis=0)
    >>> model = LatentClassAnalysis(2, prior_strength=0, random_state=0).fit(X)
    >>> round(diagnostics.entropy(model, X), 2)
    1.0
    """
    _check(model)
    if kind not in ("relative", "r2"):
        raise ValueError(f'kind={kind!r}: give "relative" or "r2".')
    table = open_for(model, X, sample_weight)

    def entropy_and_weight(piece: Piece) -> Floats:
        r = model.transform(piece.table)
        entropies = -(r * np.log(np.where(r > 0.0, r, 1.0))).sum(axis=1)
        return np.array([piece.weights @ entropies, piece.weights.sum()])

    entropy_sum, weight = sum_over_rows(entropy_and_weight, table)
    shares = np.asarray(model.weights_)
    reference = -float(shares @ np.log(np.where(shares > 0.0, shares, 1.0))) if kind == "r2" else np.log(len(shares))
    return float(1.0 - entropy_sum / (weight * reference)) if reference > 0.0 else 1.0


def _check(model: Any) -> None:
    if not (hasattr(model, "weights_") and hasattr(model, "predict_proba")):
        raise TypeError(f"Rows of {type(model).__name__} have no classes. Use a mixture, such as LatentClassAnalysis.")
