"""Short sums and distances that several steps use; nothing of the library."""

from collections.abc import Iterator
from itertools import combinations, islice
from math import comb

import numpy as np
from scipy.special import ndtr

MOST_STATES = 300_000  # of one number of active units
CHUNK = 4096


def log_sums(weights: np.ndarray, thresholds: np.ndarray, bias: np.ndarray) -> list[float]:
    """Return ln of the sum over states with exactly k active units, for k = 0, 1, ... while there are not too many."""
    m = len(weights)
    found = []
    for k in range(m + 1):
        if comb(m, k) > MOST_STATES:
            break
        total = -np.inf
        for chunk in chunks(m, k):
            pull = weights[chunk].sum(axis=1) + bias if k else np.tile(bias, (len(chunk), 1))
            scores = thresholds[chunk].sum(axis=1) + np.logaddexp(pull, -pull).sum(axis=1)
            total = np.logaddexp(total, np.logaddexp.reduce(scores))
        found.append(float(total))
    return found


def chunks(m: int, k: int) -> Iterator[np.ndarray]:
    """Yield the sets of k of m units, some at a time."""
    sets = combinations(range(m), k)
    while some := list(islice(sets, CHUNK)):
        yield np.array(some, np.int64).reshape(len(some), k)


def machine_for(p: np.ndarray, closeness: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return weights and thresholds of section 2.5 for probabilities of all 2^n rows, and the rows as -1 and +1.

    Row x* gets a unit that multiplies P(x*) by q = p(x*) / min p and hardly touches the others; the least probable
    row needs none.
    """
    n = int(np.log2(len(p)))
    x = 2.0 * ((np.arange(len(p))[:, None] >> np.arange(n)) & 1) - 1.0
    more = p / p.min() - 1.0  # q - 1
    wanted = more > 0.0
    size = 0.5 * np.log(more[wanted] / closeness)  # a; positive only where closeness is below q - 1
    return size[:, None] * x[wanted], np.log(more[wanted]) - n * size, x


def kolmogorov(values: np.ndarray) -> float:
    """Largest distance between the distribution of values and the standard normal one."""
    ordered, counts = np.unique(values, return_counts=True)
    upto = np.cumsum(counts) / len(values)
    normal = ndtr(ordered)
    return float(max((upto - normal).max(), (normal - upto + counts / len(values)).max()))
