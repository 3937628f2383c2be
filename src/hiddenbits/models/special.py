"""Small numerical helpers that several models share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# A probability is kept this far from 0 and 1: far below anything a table can tell, far above rounding.
TINY = 1e-12
LARGEST_LOGIT = float(np.log1p(-TINY) - np.log(TINY))


def clip_probability(p: NDArray[Any]) -> NDArray[np.float64]:
    """Return p drawn into [TINY, 1 - TINY]."""
    return np.asarray(np.clip(p, TINY, 1.0 - TINY))


def share_or(ones: NDArray[Any], seen: NDArray[Any], otherwise: NDArray[Any], weight: float) -> NDArray[np.float64]:
    """Return ones / seen, and `otherwise` where nothing was seen.

    Counts of observed cells may be differences of sums, so that nothing is what is nothing beside all the weight.
    """
    anything = seen > TINY * weight
    if anything.all():
        return np.asarray(ones / seen)
    return np.where(anything, ones / np.where(anything, seen, 1.0), otherwise)


def exp_rows(scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Turn each row of log weights into weights, in place; return (sum of the row's weights, log of the true sum).

    ln Sum_k exp(s_k) = m + ln Sum_k exp(s_k - m) with m the row's largest; the weights are exp(s_k - m).
    """
    top = _row_max(scores)
    np.subtract(scores, top[:, None], out=scores)
    np.exp(scores, out=scores)
    total = scores @ np.ones(scores.shape[1])
    return total, top + np.log(total)


def _row_max(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest of each row. By halves: NumPy's own reduction over a short last axis is 4 times slower."""
    while (width := scores.shape[1]) > 1:
        half = width // 2
        larger = np.maximum(scores[:, :half], scores[:, half : 2 * half])
        if width % 2:
            np.maximum(larger[:, 0], scores[:, -1], out=larger[:, 0])
        scores = larger
    return scores[:, 0].copy()  # with one column nothing was made anew


def softmax_rows(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn each row of log weights into probabilities, in place; return the log of each row's sum."""
    total, log_sum = exp_rows(scores)
    np.divide(scores, total[:, None], out=scores)
    return log_sum
