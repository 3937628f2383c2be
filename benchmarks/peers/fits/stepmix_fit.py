"""Runs in StepMix's own environment: fits, and prints seconds and log-likelihoods as JSON or writes parameters.

python stepmix_fit.py work.npz 1             (X; tol; weights and probabilities, one start a restart; fit so many times)
python stepmix_fit.py work.npz path.npz      (X; tol; classes, restarts: from its own starts, once)
python stepmix_fit.py work.npz path.npz      (X; tol; classes, seeds; weights and probabilities, one start a seed: in processor
                                              time, from each start, and with all its defaults from its own)
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


def timed(X, model):
    begun = time.process_time()
    model.fit(X)
    return time.process_time() - begun, model


def from_start(X, tol, weights, probabilities):
    """Fit from one start, with the tolerance that ours has."""
    settings = {"n_components": len(weights), "measurement": "binary", "abs_tol": tol, "progress_bar": 0}
    model = GivenStarts(**settings, random_state=0)
    model.starts = [weights], [probabilities]
    return timed(X, model)


def by_default(X, classes, seed):
    """Fit with StepMix's defaults: one start and a tolerance of 1e-10 nats a row. Only the bar of progress is left out."""
    return timed(X, StepMix(n_components=classes, measurement="binary", progress_bar=0, random_state=seed))


def drawn(work, X, path):
    classes, tol, seeds = int(work["classes"]), float(work["tol"]), work["seeds"].tolist()
    first, _ = by_default(X, classes, seeds[0])
    fits = {
        "from_start": [
            from_start(X, tol, *start) for start in zip(work["weights"], work["probabilities"], strict=True)
        ],
        "default": [by_default(X, classes, seed) for seed in seeds],
    }
    found = {"first": first, "version": version("stepmix")}
    for name, pairs in fits.items():
        found[f"{name}_seconds"] = [seconds for seconds, _ in pairs]
        found[f"{name}_passes"] = [model.n_iter_ for _, model in pairs]
        found[f"{name}_weights"] = [model.weights_ for _, model in pairs]
        found[f"{name}_probabilities"] = [model._mm.parameters["pis"] for _, model in pairs]
    np.savez(path, **found)


work = np.load(sys.argv[1])
X = work["X"].astype(np.float64)
if "seeds" in work:
    drawn(work, X, sys.argv[2])
    sys.exit()
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
