"""How sure a model is of the class of each row: entropy, and tables of assigned against probable classes."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from hiddenbits import Piece
from hiddenbits.array_types import Floats
from hiddenbits.diagnostics.tables import opened, total


def classification_table(model: Any, X: object, sample_weight: ArrayLike | None = None) -> Floats:
    """Return how many rows that are assigned to each class are expected to be in each class.

    Row s, column t: the sum of P(class t | row) over the rows whose most probable class is s. Divided by the sums of
    its columns it is P(assigned s | class t), which three-step analyses correct for.

    Parameters
    ----------
    model : fitted estimator
        A family of classes, such as `LatentClassAnalysis`.
    X : table of shape (rows, columns)
        As for its `fit`.
    sample_weight : array of shape (rows,), optional
        Weight of each row.

    Returns
    -------
    table : ndarray of shape (classes, classes)

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LatentClassAnalysis, diagnostics
    >>> X = np.repeat([[1, 1, 1, 0], [0, 0, 0, 1]], [60, 40], axis=0)
    >>> model = LatentClassAnalysis(2, prior_strength=0, random_state=0).fit(X)
    >>> np.sort(np.diag(diagnostics.classification_table(model, X))).round(2)
    array([40., 60.])
    """
    _check(model)
    table = opened(model, X, sample_weight)

    def count(piece: Piece) -> Floats:
        r = model.posterior(piece.table)
        return np.asarray((np.eye(r.shape[1])[r.argmax(axis=1)] * piece.weights[:, None]).T @ r)

    return np.asarray(total(count, table))


def average_posteriors(model: Any, X: object, sample_weight: ArrayLike | None = None) -> Floats:
    """Return the mean posterior of each class among the rows that are assigned to each class.

    `classification_table` divided by the sums of its rows. The diagonal says how sure assignments are; papers want it
    above .7 or .8. A class that no row is assigned to has NaN.

    Parameters
    ----------
    model, X, sample_weight
        As for `classification_table`.

    Returns
    -------
    table : ndarray of shape (classes, classes)

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LatentClassAnalysis, diagnostics
    >>> X = np.repeat([[1, 1, 1, 0], [0, 0, 0, 1]], [60, 40], axis=0)
    >>> model = LatentClassAnalysis(2, prior_strength=0, random_state=0).fit(X)
    >>> np.diag(diagnostics.average_posteriors(model, X)).round(2)
    array([1., 1.])
    """
    found = classification_table(model, X, sample_weight)
    assigned = found.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(found, assigned, out=np.full_like(found, np.nan), where=assigned > 0.0))


def entropy(
    model: Any,
    X: object,
    sample_weight: ArrayLike | None = None,
    *,
    kind: Literal["relative", "r2"] = "relative",
) -> float:
    """Return how well classes are told apart: 1 where every row is sure of its class, 0 where none is.

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
    table = opened(model, X, sample_weight)

    def spent(piece: Piece) -> Floats:
        r = model.posterior(piece.table)
        each = -(r * np.log(np.where(r > 0.0, r, 1.0))).sum(axis=1)
        return np.array([piece.weights @ each, piece.weights.sum()])

    uncertain, weight = total(spent, table)
    shares = np.asarray(model.weights_)
    most = np.log(len(shares)) if kind == "relative" else -float(shares @ np.log(np.where(shares > 0.0, shares, 1.0)))
    return float(1.0 - uncertain / (weight * most)) if most > 0.0 else 1.0


def _check(model: Any) -> None:
    if not (hasattr(model, "weights_") and hasattr(model, "posterior")):
        raise TypeError(f"Rows of {type(model).__name__} have no classes. Use a mixture, such as LatentClassAnalysis.")
