"""Runs in StepMix's own environment: fit from given starts, print seconds and log-likelihoods as JSON.

python stepmix_fit.py work.npz      (X; weights and probabilities, one start a restart)
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
        at = self._next = getattr(self, "_next", -1) + 1
        self.weights_ = self.starts[0][at].copy()
        self._mm.parameters["pis"] = self.starts[1][at].copy()


work = np.load(sys.argv[1])
X = work["X"].astype(np.float64)
starts = work["weights"], work["probabilities"]
seconds, totals, iterations = [], [], []
for _ in range(int(sys.argv[2])):
    model = GivenStarts(
        n_components=starts[0].shape[1],
        measurement="binary",
        n_init=len(starts[0]),
        abs_tol=float(work["tol"]),
        max_iter=1000,
        progress_bar=0,
        random_state=0,
    )
    model.starts = starts
    begun = time.perf_counter()
    model.fit(X)
    seconds.append(time.perf_counter() - begun)
    totals, iterations = [float(ll) * len(X) for ll in model.lower_bound_buffer_], int(model.n_iter_)
print(
    json.dumps(
        {"seconds": seconds, "log_likelihoods": totals, "iterations_of_best": iterations, "version": version("stepmix")}
    )
)
