"""Runs in mirt's own environment: fit a table, and write the loadings and intercepts after every iteration.

python mirt_fit.py work.npz path.npz      (X; dimensions; usual, enough, most: see below)

`seconds` counts from the call of `fit`. The fit goes on for `usual` iterations, the package's own limit, unless it converges
or takes `most` seconds. It is then given as many again, as long as it has not taken `enough` seconds.
"""

import sys
import time
import warnings
from importlib.metadata import version

import numpy as np
from mirt.estimation.gvem import GVEMEstimator
from mirt.models.dichotomous import TwoParameterLogistic

warnings.simplefilter("ignore")


class OutOfTimeError(Exception): ...


def fit(X: np.ndarray, q: int, usual: int, enough: float, most: float) -> dict[str, object]:
    """The items' slopes are W and their intercepts b; the abilities have the prior N(0, I), which is fixed."""
    model, estimator = TwoParameterLogistic(n_items=X.shape[1], n_factors=q), GVEMEstimator(max_iter=2 * usual)
    update, seconds, W, b = estimator._m_step, [], [], []

    def watched(*arguments):
        update(*arguments)
        seconds.append(time.perf_counter() - begun)
        W.append(estimator._slopes.copy())
        b.append(estimator._intercepts.copy())
        if seconds[-1] > most or (len(seconds) >= usual and seconds[-1] > enough):
            raise OutOfTimeError

    estimator._m_step = watched
    begun = time.perf_counter()
    try:
        stop = "converged" if estimator.fit(model, X).converged else "iterations"
    except OutOfTimeError:
        stop = "time" if len(seconds) < usual else "iterations"
    return {"seconds": seconds, "loadings": W, "intercepts": b, "stop": stop, "version": version("mirt")}


work = np.load(sys.argv[1])
X, q, limits = work["X"].astype(np.int32), int(work["dimensions"]), (int(work["usual"]), *work["limits"].tolist())
fit(X[:50], q, 1, 60.0, 60.0)  # whatever is loaded late is loaded now
np.savez(sys.argv[2], **fit(X, q, *limits))
