"""`replicated_starts`: how many starts of a fit reached its maximum."""

from __future__ import annotations

from typing import Any


def replicated_starts(model: Any) -> int:
    """Return how many starts of a fit reached its best log-likelihood; if it is 1, more starts may find a better one.

    A start counts if it ended within .01 nats, plus the tolerance of the fit, of the best objective.

    Parameters
    ----------
    model : LatentClassAnalysis
        Fitted with several starts (`n_init`).

    Returns
    -------
    n : int

    Examples
    --------
    >>> from hiddenbits import LatentClassAnalysis, datasets, diagnostics
    >>> model = LatentClassAnalysis(2, n_init=5, random_state=0).fit(datasets.load_votes().X)
    >>> diagnostics.replicated_starts(model), len(model.restarts_)
    (5, 5)
    """
    return int(model._n_agreeing)
