"""Runs in mirt's own environment: fit a table by its variational estimator, and write the last loadings and intercepts.

python mirt_fit.py work.npz path.npz      (X; dimensions; iterations: the package's own limit; most: seconds)
"""

import sys
import time
import warnings
from contextlib import suppress

import numpy as np
from mirt.estimation.gvem import GVEMEstimator
from mirt.models.dichotomous import TwoParameterLogistic

warnings.simplefilter("ignore")


class OutOfTimeError(Exception): ...


def fit(X: np.ndarray, q: int, iterations: int, most: float) -> dict[str, object]:
    """The items' slopes are W and their intercepts b; the abilities have the prior N(0, I), which is fixed."""
    model, estimator = TwoParameterLogistic(n_items=X.shape[1], n_factors=q), GVEMEstimator(max_iter=iterations)
    update, found = estimator._m_step, {}

    def watched(*arguments):
        update(*arguments)
        seconds = time.perf_counter() - begun
        found.update(seconds=[seconds], loadings=[estimator._slopes.copy()], intercepts=[estimator._intercepts.copy()])
        if seconds > most:
            raise OutOfTimeError

    estimator._m_step = watched
    begun = time.perf_counter()
    with suppress(OutOfTimeError):
        estimator.fit(model, X)
    return found


work = np.load(sys.argv[1])
X, q = work["X"].astype(np.int32), int(work["dimensions"])
fit(X[:50], q, 1, 60.0)  # whatever is loaded late is loaded now
np.savez(sys.argv[2], **fit(X, q, int(work["iterations"]), float(work["most"])))
