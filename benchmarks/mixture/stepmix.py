"""Bernoulli mixtures against StepMix: the same tables, starts and restarts, to the same training likelihood.

    python -m benchmarks.mixture.stepmix --full      (nltcs, kdd, msnbc, audio; about half an hour)
    python -m benchmarks.mixture.stepmix --quick     (nltcs alone, one restart)

StepMix lives in an environment of its own, made on the first run. Each restart of both programs begins at the same
parameters: ours after their first pass (which our time includes and StepMix's does not). No prior on either side.
StepMix stops when a step gains less than `tol` a row. Ours stops a restart when it has reached StepMix's best likelihood,
or when a step gains less than a third of `tol`. Extrapolation may lead from the same start to another maximum; if no
restart has reached the target, further restarts follow (and count) until one does. Times are of `fit` alone, both with the threads of two cores, taken in turn.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from benchmarks.environments import peer_python
from benchmarks.record import asked_quick, record

import hiddenbits
from hiddenbits.datasets import load_debd

FITS = Path(__file__).parents[1] / "peers" / "fits"
CLASSES, TOL, MOST_RESTARTS = 20, 1e-6, 20
GOALS = {"nltcs": 20, "kdd": 50, "msnbc": 50, "audio": 5}


def starts(X: np.ndarray, restarts: int) -> list[hiddenbits.BernoulliMixture]:
    """Our parameters after one pass from each start."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            hiddenbits.BernoulliMixture(CLASSES, prior_strength=0.0, n_init=1, max_iter=1, random_state=seed).fit(X)
            for seed in range(restarts)
        ]


class StopAt:
    """A scikit-learn callback that ends a fit once its likelihood has reached a target."""

    def __init__(self, target: float) -> None:
        self.target = target

    def setup(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context): ...
    def teardown(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None) -> bool:
        return context.task_name == "pass" and fitted_estimator.trace_[-1] >= self.target


def ours(X: np.ndarray, restarts: int, target: float) -> tuple[float, list[float], list[int]]:
    warnings.simplefilter("ignore")  # a fit that reached the target says that it did not converge
    begun = time.perf_counter()
    models: list[hiddenbits.BernoulliMixture] = []
    with hiddenbits.run_on(n_jobs=2):
        for seed in range(MOST_RESTARTS):
            if seed >= restarts and max(model.trace_[-1] for model in models) >= target:
                break
            model = hiddenbits.BernoulliMixture(
                CLASSES, prior_strength=0.0, n_init=1, max_iter=2000, tol=TOL / 3, random_state=seed
            )
            models.append(model.set_callbacks(StopAt(target)).fit(X))
    seconds = time.perf_counter() - begun
    return seconds, [float(model.trace_[-1]) for model in models], [model.n_iter_ for model in models]


def compare(name: str, restarts: int, repeats: int) -> dict[str, object]:
    X = load_debd(name).train
    begun = starts(X, restarts)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "work.npz"
        np.savez(
            work,
            X=X,
            weights=[model.weights_ for model in begun],
            probabilities=[model.probabilities_ for model in begun],
            tol=TOL,
        )
        ratios, our_times, their_times = [], [], []
        for _ in range(repeats):
            call = [peer_python("stepmix", "3.0.0"), FITS / "stepmix_fit.py", work, "1"]
            theirs = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)
            target = max(theirs["log_likelihoods"]) - 1e-6 * len(X)
            seconds, likelihoods, passes = ours(X, restarts, target)
            our_times.append(seconds)
            their_times.append(theirs["seconds"][0])
            ratios.append(their_times[-1] / seconds)
    return {
        "rows": X.shape[0],
        "columns": X.shape[1],
        "restarts": restarts,
        "repeats": repeats,
        "seconds_hiddenbits": round(statistics.median(our_times), 3),
        "seconds_stepmix": round(statistics.median(their_times), 3),
        "times_faster": round(statistics.median(ratios), 1),
        "times_faster_each": [round(ratio, 1) for ratio in ratios],
        "goal": GOALS[name],
        "log_likelihood_hiddenbits": [round(value, 3) for value in likelihoods],
        "log_likelihood_stepmix": [round(value, 3) for value in theirs["log_likelihoods"]],
        "best_reached": max(likelihoods) >= target,
        "restarts_hiddenbits": len(likelihoods),
        "passes_hiddenbits": passes,
        "iterations_of_best_stepmix": theirs["iterations_of_best"],
        "stepmix": theirs["version"],
    }


if __name__ == "__main__":
    quick = asked_quick(__doc__)
    plan = {"nltcs": (1, 1)} if quick else {"nltcs": (3, 3), "audio": (3, 3), "kdd": (1, 1), "msnbc": (1, 1)}
    figures = {}
    for table, (n_restarts, n_repeats) in plan.items():
        figures[table] = compare(table, n_restarts, n_repeats)
        print(table, json.dumps(figures[table]), file=sys.stderr, flush=True)
    record("mixture/stepmix" + ("_quick" if quick else ""), figures, seeds=list(range(3)), classes=CLASSES, tol=TOL)
    sys.exit(not all(figure["best_reached"] for figure in figures.values()))
