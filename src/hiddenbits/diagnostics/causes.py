"""How often the causes of a model are present, and how certain the model is of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hiddenbits.array_types import Floats
from hiddenbits.diagnostics.tables import frame_like, open_for, sum_over_rows
from hiddenbits.tables import Piece

CERTAIN_PROBABILITY = 0.9  # a cause is uncertain in a row if neither its presence nor its absence is this probable


def cause_usage(model: Any, X: object, sample_weight: ArrayLike | None = None) -> Any:
    """Return how often each cause is present in the rows of a table, and how certain the model is of that.

    A cause that is hardly ever present, or uncertain in most rows, is redundant, or another cause explains the same
    columns. If the model is true, the mean posterior is the prior of the cause; if it is far from the prior, these rows
    are from another population.

    Parameters
    ----------
    model : fitted estimator
        A family of causes: `NoisyOrNetwork` or `CombinationMachine`.
    X : table of shape (rows, columns)
        As for its `fit`.
    sample_weight : str or array of shape (rows,), optional
        Weight of each row, or the name of the column that has it.

    Returns
    -------
    causes : frame or structured ndarray
        A data frame of X's library if X is a data frame. Columns "cause", "prior" (NaN if the model has none),
        "posterior" (the mean over rows), "present" (the share of rows in which it is more probable than not) and
        "unsure" (the share in which its probability is between 0.1 and 0.9).

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import NoisyOrNetwork, diagnostics
    >>> rng = np.random.default_rng(0)
    >>> on = rng.random((500, 2)) < 0.3
    >>> X = (np.repeat(on, 4, axis=1) & (rng.random((500, 8)) < 0.9)).astype(int)
    >>> model = NoisyOrNetwork(2, method="exact", random_state=0).fit(X)
    >>> diagnostics.cause_usage(model, X)["present"].round(1)
    array([0.3, 0.3])
    """
    names = [str(name) for name in getattr(model, "get_feature_names_out", list)()]
    if not names or not all("cause_" in name for name in names):
        raise ValueError(
            f"cause_usage needs a model with causes, such as NoisyOrNetwork; {type(model).__name__} has none. Use "
            "classification_table for classes, and reliability for latent dimensions."
        )
    table = open_for(model, X, sample_weight)

    def count(piece: Piece) -> Floats:
        p = np.asarray(model.transform(piece.table))
        unsure = (p > 1.0 - CERTAIN_PROBABILITY) & (p < CERTAIN_PROBABILITY)
        return np.stack([piece.weights @ values for values in (np.ones_like(p), p, p > 0.5, unsure)])

    weight, posterior, present, unsure = sum_over_rows(count, table)
    prior = np.asarray(getattr(model, "priors_", ()), np.float64)  # of the highest layer only, if there are several
    columns = {
        "cause": np.asarray(names, dtype=str),
        "prior": prior if prior.shape == weight.shape else np.full(weight.shape, np.nan),
        "posterior": posterior / weight,
        "present": present / weight,
        "unsure": unsure / weight,
    }
    return frame_like(X, columns)
