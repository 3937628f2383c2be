"""Bernoulli mixtures against StepMix: the same tables, starts and restarts, to the same training likelihood.

    python -m benchmarks.mixture.stepmix --full      (nltcs, kdd, msnbc, audio; about half an hour)
    python -m benchmarks.mixture.stepmix --full --only drawn     (tables that are drawn, five minutes; the others are kept)
    python -m benchmarks.mixture.stepmix --quick     (nltcs alone, one restart)

StepMix lives in an environment of its own, made on the first run. Each restart of both programs begins at the same
parameters: ours after their first pass (which our time includes and StepMix's does not). No prior on either side.
StepMix stops when a step gains less than `tol` a row. Ours stops a restart when it has reached StepMix's best likelihood,
or when a step gains less than a third of `tol`. Extrapolation may lead from the same start to another maximum; if no
restart has reached the target, further restarts follow (and count) until one does. Times are of `fit` alone, both with the threads of two cores, taken in turn.

Tables that are drawn have four classes far apart, or ten that overlap. There both programs fit once from each of five equal
starts, to the same tolerance, and once for each seed with their own defaults: StepMix one start of its own and a tolerance of
1e-10 nats a row, ours several starts, a prior and 1e-6. One thread each, in seconds of processor time, by turns. The first call in
a process counts apart. One function says how likely the rows are under every answer.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from benchmarks.environments import peer_python, peer_versions
from benchmarks.peers.judged import MixtureJudge
from benchmarks.record import asking, record

import hiddenbits
from hiddenbits.datasets import load_debd, simulate_mixture

FITS = Path(__file__).parents[1] / "peers" / "fits"
CLASSES, TOL, MOST_RESTARTS = 20, 1e-6, 20
GOALS = {"nltcs": 20, "kdd": 50, "msnbc": 50, "audio": 5}
SIZES = ((1_000, 20), (20_000, 50))
APART, OVERLAPPING = 4, 10  # classes
SEEDS, TURNS = tuple(range(5)), 3
CLOSE = 1e-3  # nats a row: likelihoods that differ by less are equal
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


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


def drawn_tables() -> dict[str, tuple[int, Any]]:
    """Classes far apart, where every column has .15 or .85 in each of them, and classes that overlap."""
    tables: dict[str, tuple[int, Any]] = {}
    for rows, columns in SIZES:
        rng = np.random.default_rng([APART, rows, columns])
        probabilities = np.where(rng.random((APART, columns)) < 0.5, 0.15, 0.85)
        apart = rng.random((rows, columns)) < probabilities[rng.integers(APART, size=rows)]
        tables[f"{APART} classes apart, {rows:,} x {columns}"] = APART, apart.astype(np.uint8)
        overlapping = simulate_mixture(rows, columns, OVERLAPPING, seed=0).X
        tables[f"{OVERLAPPING} overlapping classes, {rows:,} x {columns}"] = OVERLAPPING, overlapping
    return tables


def process(call: list[Any], **options: Any) -> dict[str, Any]:
    """One process of a program, on one thread, and what it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        work, path = Path(folder) / "work.npz", Path(folder) / "path.npz"
        np.savez(work, **options)
        subprocess.run([*call, work, path], check=True, env={**os.environ, **ONE_THREAD})
        with np.load(path) as arrays:
            return {key: arrays[key] for key in arrays.files}


def compare_drawn(X: Any, classes: int) -> dict[str, Any]:
    """Both programs from equal starts, and by their own defaults."""
    ours, theirs = [], []
    options = {"X": X, "classes": classes, "tol": TOL, "seeds": SEEDS}
    for _ in range(TURNS):
        ours.append(process([sys.executable, FITS / "hiddenbits_mixture_fit.py"], **options))
        starts = {"weights": ours[-1]["start_weights"], "probabilities": ours[-1]["start_probabilities"]}
        stepmix = [peer_python("stepmix", "3.0.0"), FITS / "stepmix_fit.py"]
        theirs.append(process(stepmix, **options, **starts))
    return {
        "rows": X.shape[0],
        "columns": X.shape[1],
        "classes": classes,
        "equal_starts": side_by_side(X, ours, theirs, "from_start"),
        "own_defaults": side_by_side(X, ours, theirs, "default"),
        "seconds_of_the_first_call_hiddenbits": round(statistics.median(float(turn["first"]) for turn in ours), 4),
        "seconds_of_the_first_call_stepmix": round(statistics.median(float(turn["first"]) for turn in theirs), 4),
    }


def side_by_side(X: Any, ours: list[dict[str, Any]], theirs: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """Seconds of each seed, medians over turns; the ratio of each seed; and how likely the rows are."""
    judge = MixtureJudge(SimpleNamespace(train=X))
    figures: dict[str, Any] = {}
    for program, turns in (("hiddenbits", ours), ("stepmix", theirs)):
        last = turns[-1]
        seconds = np.median([turn[f"{name}_seconds"] for turn in turns], axis=0)
        answers = zip(last[f"{name}_weights"], last[f"{name}_probabilities"], strict=True)
        figures[program] = {
            "seconds": [round(float(each), 4) for each in seconds],
            "passes": last[f"{name}_passes"].tolist(),
            "log_likelihood_a_row": [round(judge.mean(*answer), 5) for answer in answers],
        }
    our, its = figures["hiddenbits"], figures["stepmix"]
    ratios = [s / h for h, s in zip(our["seconds"], its["seconds"], strict=True)]
    gains = np.subtract(our["log_likelihood_a_row"], its["log_likelihood_a_row"])
    return {
        **figures,
        "times_faster": round(statistics.median(ratios), 2),
        "times_faster_each": [round(ratio, 2) for ratio in ratios],
        "seeds_where_ours_is_lower": int((gains < -CLOSE).sum()),
        "seeds_where_ours_is_higher": int((gains > CLOSE).sum()),
    }


def real(quick: bool) -> bool:
    """Compare on real tables; return whether the likelihood was reached on all of them."""
    plan = {"nltcs": (1, 1)} if quick else {"nltcs": (3, 3), "audio": (3, 3), "kdd": (1, 1), "msnbc": (1, 1)}
    figures = {}
    for table, (n_restarts, n_repeats) in plan.items():
        figures[table] = compare(table, n_restarts, n_repeats)
        print(table, json.dumps(figures[table]), file=sys.stderr, flush=True)
    record("mixture/stepmix" + ("_quick" if quick else ""), figures, seeds=list(range(3)), classes=CLASSES, tol=TOL)
    return all(figure["best_reached"] for figure in figures.values())


def drawn() -> None:
    """Compare on tables that are drawn."""
    figures = {}
    for name, (classes, X) in drawn_tables().items():
        figures[name] = compare_drawn(X, classes)
        print(name, json.dumps(figures[name]), file=sys.stderr, flush=True)
    settings = {"tol": TOL, "turns": TURNS, "close": CLOSE, "peers": {"stepmix": peer_versions("stepmix", "3.0.0")}}
    record("mixture/stepmix_drawn", figures, seeds=list(SEEDS), packages=("numba",), **settings)


if __name__ == "__main__":
    parser = asking(__doc__)
    parser.add_argument("--only", choices=("real", "drawn"), help="these tables alone")
    given = parser.parse_args()
    if given.full and given.only != "real":
        drawn()
    sys.exit(given.only != "drawn" and not real(given.quick))
