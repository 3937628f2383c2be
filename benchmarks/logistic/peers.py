"""Logistic PCA against mirt's GVEM and logisticpca: the same tables and dimensions, to the same held-out likelihood.

    python -m benchmarks.logistic.peers --full      (SAT12, USPS twos, nltcs, news100; 2 and 5 dimensions; an hour)
    python -m benchmarks.logistic.peers --quick     (SAT12 alone, one turn)

The peers live in environments of their own, made on the first run, and have two threads, as ours has. Times are of `fit` alone.
SAT12 and news100 have no test rows of their own: a fifth of the rows, by a fixed seed, is held out. Everybody is judged by the
same function (logistic_judge.py): the mean log-likelihood of held-out rows, in nats, with x ~ N(0, I) integrated out.

- mirt's `GVEMEstimator` maximises the bound that our first stage maximises, without a prior; `fit_mirt`, which its users
  call, has other estimators (mirt.py). It stops when a step gains less than 1e-4 nats in all, or after 500 iterations; it is given up to 500 more, or stopped after ten minutes. Where it stops by
  itself or where it stops in the end counts, whichever is better. All its iterations cost the same: they are timed over 20 of
  them, in turn with the other programs, and its times are iterations times that.
- logisticpca has no distribution of x: it projects rows onto a plane. It is judged as if x were Gaussian on that plane, with
  mean and covariance fitted to the training rows by EM (not counted in its time). The moments of its own scores would do
  worse, because each score carries the noise of its row; that figure is kept too. Where its fit takes less than
  20 s it is fitted again with a hundredth of its tolerance (timed by its iterations), and the better fit counts.

Ours is the default, `LogisticPCA(q)`: a variational stage, then a polish; and without polish, its first stage alone. "Reached"
is the pass from which on ours stays within a thousandth of a nat of the peer's end, or above. mirt's own path may be there long
before it stops, so the same moment on its path is noted too.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path as File
from typing import Any

import numpy as np
from benchmarks.environments import peer_python, peer_versions
from benchmarks.logistic.judge import DRAWS, SEED, Judge, Path
from benchmarks.logistic.tables import tables
from benchmarks.record import asked_quick, record

import hiddenbits
from hiddenbits.families.logistic_pca.params import POLISHED

FITS = File(__file__).parents[1] / "peers" / "fits"
PEERS = {"mirt": "1.2.0", "logisticpca": "0.4.0"}
USUAL = 500  # iterations, the limit that mirt sets itself
ENOUGH, MOST = 100.0, 600.0  # seconds after which mirt gets no more than those; and none at all
TIMED = 20  # iterations of mirt in a timing turn
TOLERANCES = (1e-5, 1e-7)  # logisticpca's own, and a tighter one
LONG = 20.0  # seconds: a fit of logisticpca that takes longer is not tried with the tighter one
CLOSE = 1e-3  # nats a row
GOAL = 10.0


class Clock:
    """A scikit-learn callback that notes when each pass ended."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def setup(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context): ...
    def teardown(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context) -> None:
        if context.task_name == "pass":
            self.times.append(time.perf_counter())


class Notebook(Clock):
    """Notes the parameters as well; that takes time, so not in a fit that is timed."""

    def __init__(self) -> None:
        self.params: list[Any] = []

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None) -> None:
        if context.task_name == "pass":
            self.params.append(fitted_estimator.params_)


def ours(X: Any, q: int, callback: Clock) -> float:
    """Fit; return when it began, on the callback's clock."""
    begun = time.perf_counter()
    with hiddenbits.run_on(n_jobs=2):
        hiddenbits.LogisticPCA(q, random_state=SEED).set_callbacks(callback).fit(X)
    return begun


def timing_turn(X: Any, q: int) -> dict[str, Any]:
    """One turn of all three. Ours: seconds to the end of each pass. mirt: to its first iteration, and of each further one."""
    mirt = peer("mirt", X, dimensions=q, usual=TIMED, limits=[0.0, MOST])["seconds"]
    projection = peer("logisticpca", X, dimensions=q, tolerances=TOLERANCES[:1])
    clock = Clock()
    begun = ours(X, q, clock)
    return {
        "ours": [moment - begun for moment in clock.times],
        "mirt": (float(mirt[0]), float(mirt[-1] - mirt[0]) / (len(mirt) - 1)),
        "logisticpca": float(projection["seconds"][0]),
    }


def peer(name: str, X: Any, **options: Any) -> dict[str, Any]:
    """Run a peer's program in its environment."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "2")
    with tempfile.TemporaryDirectory() as folder:
        work, path = File(folder) / "work.npz", File(folder) / "path.npz"
        np.savez(work, X=X, **options)
        call = [peer_python(name, PEERS[name]), FITS / f"{name}_fit.py", work, path]
        subprocess.run(call, check=True, env={**os.environ, **threads})
        with np.load(path) as arrays:
            return {key: arrays[key] for key in arrays.files}


def against_mirt(X: Any, q: int, judge: Judge, turns: list[dict[str, Any]]) -> dict[str, Any]:
    """The path of mirt, with the seconds to each of its iterations in each turn."""
    fit = peer("mirt", X, dimensions=q, usual=USUAL, limits=[ENOUGH, MOST])
    given = len(fit["seconds"])
    usual = min(USUAL, given) - 1
    return {
        "path": Path(judge, fit["loadings"], fit["intercepts"]),
        "seconds": [turn["mirt"][0] + turn["mirt"][1] * np.arange(given) for turn in turns],
        "ends": sorted({usual, given - 1}),
        "iterations": usual + 1,
        "stop": str(fit["stop"]) if given < USUAL else "iterations",
        "iterations_given": given,
    }


def against_logisticpca(X: Any, q: int, judge: Judge, turns: list[dict[str, Any]]) -> dict[str, Any]:
    """The fits of logisticpca, one place each, with their seconds in each turn."""
    tight = min(turn["logisticpca"] for turn in turns) < LONG
    fit = peer("logisticpca", X, dimensions=q, tolerances=TOLERANCES if tight else TOLERANCES[:1])
    planes = list(zip(*(fit[key] for key in ("basis", "effects", "centre", "covariance")), strict=True))
    found = [judge.best_gaussian(*plane) for plane in planes]
    basis, effects, centre, covariance = planes[0]
    own, _, _ = judge.rows(basis @ np.linalg.cholesky(covariance), effects + basis @ centre)
    return {
        "path": Path(judge, [W for W, _ in found], [b for _, b in found]),
        "seconds": [turn["logisticpca"] * fit["iterations"] / fit["iterations"][0] for turn in turns],
        "ends": list(range(len(found))),
        "iterations": int(fit["iterations"][0]),
        "stop": str(fit["stops"][0]),
        "iterations_given": int(fit["iterations"][-1]),
        "with_its_own_scores": round(float(own.mean()), 4),
    }


def middle(turns: list[Any], at: int) -> float:
    """The median over turns of the seconds to a place."""
    return float(statistics.median(float(turn[at]) for turn in turns))


def versus(theirs: dict[str, Any], path: Path, turns: list[list[float]], variational: int) -> dict[str, Any]:
    """The figures of one peer beside ours."""
    rival, last = theirs["path"], len(path.W) - 1
    end = max(theirs["ends"], key=rival.mean)
    level = rival.mean(end) - CLOSE
    figures = {
        "usual": round(rival.mean(theirs["ends"][0]), 4),
        "end": round(rival.mean(end), 4),
        "best_on_its_path": round(rival.mean(rival.best()), 4),
        "sampling_error": round(rival.sampling_error(end), 5),
        "kind": rival.found[end][2],
        "seconds_of_the_usual_fit": round(middle(theirs["seconds"], theirs["ends"][0]), 3),
        "seconds_in_all": round(middle(theirs["seconds"], len(rival.W) - 1), 3),
        "seconds_to_reach": round(middle(theirs["seconds"], rival.reaches(level, end)), 3),
        **{key: theirs[key] for key in theirs if key not in ("path", "seconds", "ends")},
    }
    for name, our_end in {"polished": last, "variational": variational}.items():
        gain = path.rows(our_end) - rival.rows(end)
        figures[name] = {
            "ahead_by": round(float(gain.mean()), 4),
            "standard_error": round(float(gain.std(ddof=1) / np.sqrt(len(gain))), 4),
        }
        if (reached := path.reaches(level, our_end)) is not None:
            seconds = middle(turns, reached)
            figures[name] |= {
                "reached_in_pass": reached + 1,
                "seconds_to_reach": round(seconds, 4),
                "times_faster_than_its_fit": round(figures["seconds_of_the_usual_fit"] / seconds, 1),
                "times_faster_both_reaching": round(figures["seconds_to_reach"] / seconds, 1),
            }
    return figures


def compare(train: Any, test: Any, q: int, timed: list[dict[str, Any]]) -> dict[str, Any]:
    judge, notebook = Judge(train, test, q), Notebook()
    ours(train, q, notebook)
    noted, turns = notebook.params, [turn["ours"] for turn in timed]
    path = Path(judge, [params.loadings for params in noted], [params.intercepts for params in noted])
    peers = {
        "mirt": against_mirt(train, q, judge, timed),
        "logisticpca": against_logisticpca(train, q, judge, timed),
    }
    variational = next(at for at, params in enumerate(noted) if float(params.stage) == POLISHED)
    last = len(path.W) - 1
    return {
        "rows": len(train),
        "test_rows": len(test),
        "columns": train.shape[1],
        "dimensions": q,
        "independent": round(float(hiddenbits.IndependentBits().fit(train).score(test)), 4),
        "polished": round(path.mean(last), 4),
        "sampling_error": round(path.sampling_error(last), 5),
        "kind": path.found[last][2],
        "best_on_path": round(path.mean(path.best()), 4),
        "seconds": round(middle(turns, last), 3),
        "passes": last + 1,
        "variational": round(path.mean(variational), 4),
        "seconds_variational": round(middle(turns, variational), 3),
        "passes_variational": variational + 1,
        "turns": len(turns),
        "milliseconds_of_an_iteration_of_mirt": round(1e3 * statistics.median(turn["mirt"][1] for turn in timed), 2),
        "peers": {name: versus(theirs, path, turns, variational) for name, theirs in peers.items()},
    }


if __name__ == "__main__":
    quick = asked_quick(__doc__)
    names = ["SAT12"] if quick else ["SAT12", "USPS twos", "nltcs", "news100"]
    chosen, results = tables(), []
    ours(chosen["SAT12"][0], 2, Clock())  # whatever is loaded late is loaded now
    plan = [(table, dimensions) for table in names for dimensions in (2, 5)]
    timings = {(table, q): [timing_turn(chosen[table][0], q) for _ in range(1 if quick else 3)] for table, q in plan}
    print("timed", len(timings), file=sys.stderr, flush=True)
    for table, q in plan:
        figure = {"table": table, **compare(*chosen[table], q, timings[table, q])}
        results.append(figure)
        print(json.dumps(figure), file=sys.stderr, flush=True)
    record(
        "logistic/peers" + ("_quick" if quick else ""),
        results,
        seeds=SEED,
        draws=DRAWS,
        close=CLOSE,
        goal=GOAL,
        peers={name: peer_versions(name, number) for name, number in PEERS.items()},
    )
