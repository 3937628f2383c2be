"""Runs in StepMix's own environment: fits a table from StepMix's own starts, and writes the parameters.

python stepmix_fit.py work.npz path.npz      (X; tol; classes, restarts; measurement, by default binary)
"""

import sys
import time
import warnings

import numpy as np
from stepmix.stepmix import StepMix

warnings.simplefilter("ignore")


def fit(X, classes, restarts):
    settings = {
        "measurement": str(work.get("measurement", "binary")),
        "abs_tol": float(work["tol"]),
        "max_iter": 1000,
        "progress_bar": 0,
    }
    model = StepMix(n_components=classes, n_init=restarts, random_state=0, **settings)
    begun = time.perf_counter()
    model.fit(X)
    return model, time.perf_counter() - begun


work = np.load(sys.argv[1])
X = work["X"].astype(np.float64)
fit(X[:200], 2, 1)  # whatever is loaded late is loaded now
model, seconds = fit(X, int(work["classes"]), int(work["restarts"]))
ends = len(X) * np.array(model.lower_bound_buffer_)
np.savez(
    sys.argv[2],
    seconds=[seconds],
    weights=model.weights_,
    probabilities=model._mm.parameters["pis"],
    log_likelihood=ends.max(),
    agreeing=(ends > ends.max() - 0.5).sum(),
)
