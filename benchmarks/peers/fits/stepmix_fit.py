"""Runs in StepMix's own environment: fits, and prints seconds and log-likelihoods as JSON or writes parameters.

python stepmix_fit.py work.npz 1             (X; tol; weights and probabilities, one start a restart; fit so many times)
python stepmix_fit.py work.npz path.npz      (X; tol; classes, restarts: from its own starts, once)
"""

import json
import sys
import time
import warnings
from importlib.metadata import version

import numpy as np
from stepmix.stepmix import StepMix

warnings.simplefilter("ignore")


class GivenStarts(StepMix):
    """StepMix with its random start replaced by the given ones; nothing else is changed."""

    def _initialize_parameters(self, X, random_state):
        super()._initialize_parameters(X, random_state)
        if self.starts is None:
            return
        at = self._next = getattr(self, "_next", -1) + 1
        self.weights_ = self.starts[0][at].copy()
        self._mm.parameters["pis"] = self.starts[1][at].copy()


def fit(X, classes, restarts, starts=None):
    model = GivenStarts(
        n_components=classes,
        measurement="binary",
        n_init=restarts,
        abs_tol=float(work["tol"]),
        max_iter=1000,
        progress_bar=0,
        random_state=0,
    )
    model.starts = starts
    begun = time.perf_counter()
    model.fit(X)
    return model, time.perf_counter() - begun


work = np.load(sys.argv[1])
X = work["X"].astype(np.float64)
if not sys.argv[2].isdigit():
    classes, restarts = int(work["classes"]), int(work["restarts"])
    fit(X[:200], 2, 1)  # whatever is loaded late is loaded now
    model, seconds = fit(X, classes, restarts)
    np.savez(sys.argv[2], seconds=[seconds], weights=model.weights_, probabilities=model._mm.parameters["pis"])
    sys.exit()
starts = work["weights"], work["probabilities"]
seconds, totals, iterations = [], [], []
for _ in range(int(sys.argv[2])):
    model, taken = fit(X, starts[0].shape[1], len(starts[0]), starts)
    seconds.append(taken)
    totals, iterations = [float(ll) * len(X) for ll in model.lower_bound_buffer_], int(model.n_iter_)
print(
    json.dumps(
        {"seconds": seconds, "log_likelihoods": totals, "iterations_of_best": iterations, "version": version("stepmix")}
    )
)
