"""Combination machines against BernoulliRBM (scikit-learn) and rbms: the same tables and units, to the same held-out likelihood.

    python -m benchmarks.machines.peers --full                    (nltcs, mushrooms, USPS, ocr_letters; 16 units, and 100)
    python -m benchmarks.machines.peers --full --table USPS       (one table; the figures of the others are kept)
    python -m benchmarks.machines.peers --quick                   (a thousand rows of nltcs)

All programs have two threads. BernoulliRBM runs in a process of its own, rbms in an environment of its own. Their settings are
those that `benchmarks.machines.settings` chose. They train for as many seconds as the plan says; a peer's end is the place on its way
at which the rows to choose by are most likely: it is stopped early, ours never is. Everybody is judged by the same function
(judge.py): mean ln P of held-out rows, in nats, exact for 16 units, annealed for 100.

Ours, in four ways:
- grown: the default, `CombinationMachine(units)`, exact, one unit after the other (with a limit of time after a quick fit of all at once); not for 100 units. A place on its way is what
  a fit with a limit of time (`run_on(max_time=...)`) gives: one fit for each limit, and one without, in the first turn alone,
- noise: exact, all units at once, `start="noise"` with at most 200 iterations,
- chains: `method="chains"`, one fit for each of some numbers of epochs; a place on that way is the end of a fit,
- 100 units: chains.

"Seconds to reach" is the first noted place of a path at which the held-out likelihood is within .01 nats a row of the peer's end, for
the peer and for ours. Times are of the training alone, medians over turns. Ours include the callback that notes the parameters.
"""

import argparse
import json
import statistics
import sys
import time
import warnings
from typing import Any

import numpy as np
from benchmarks.environments import peer_versions
from benchmarks.machines.judge import RBMS, SEED, Judge, Path, run_peer, tables
from benchmarks.machines.settings import EPOCHS
from benchmarks.record import record, result

import hiddenbits
from hiddenbits import CombinationMachine

PLACES = 100
CLOSE = 0.01  # nats a row
LIMITS = tuple(0.5 * 1.5**k for k in range(12))  # seconds, up to 43
PLAN = {  # turns; seconds for a peer; epochs of the fits by chains
    ("nltcs", 16): (3, 15.0, (5, 20, 80)),
    ("mushrooms", 16): (3, 20.0, (5, 20, 80, 320)),
    ("USPS", 16): (1, 45.0, (5, 20, 80, 320)),
    ("ocr_letters", 16): (1, 45.0, (5, 20, 80)),
    ("ocr_letters", 100): (1, 60.0, (5, 10, 20, 40, 80)),
}
QUICK_PLAN = {("nltcs", 16): (1, 2.0, (2, 5))}


class Notebook:
    """A scikit-learn callback that notes when each pass ended, and with which parameters."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.params: list[Any] = []

    def setup(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context): ...
    def teardown(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None) -> None:
        if context.task_name == "pass":
            self.params.append(fitted_estimator.params_)
            self.times.append(time.perf_counter())


def climbed(X: Any, units: int, **options: Any) -> dict[str, Any]:
    """An exact fit: its passes after the growth, some of them, close together at the beginning."""
    notebook, begun = Notebook(), time.perf_counter()
    with hiddenbits.run_on(n_jobs=2):
        model = CombinationMachine(units, method="exact", random_state=SEED, **options).set_callbacks(notebook).fit(X)
    in_all = time.perf_counter() - begun
    looks = sorted({round(place) - 1 for place in np.geomspace(1, len(notebook.times), PLACES)})
    return {
        "machines": [parts(notebook.params[look]) for look in looks],
        "seconds": [notebook.times[look] - begun for look in looks],
        "seconds_in_all": in_all,
        "iterations": model.n_iter_,
        "stop": model.stop_reason_,
    }


def limited(X: Any, units: int, limits: tuple[float, ...]) -> dict[str, Any]:
    """The default, stopped after each of some times, and not stopped: what somebody has who does not wait longer."""
    return fits_one_by_one(X, [(CombinationMachine(units, method="exact"), limit) for limit in (*limits, None)])


def by_chains(X: Any, units: int, epochs: tuple[int, ...]) -> dict[str, Any]:
    """Fits by chains: each number of epochs has its own, since steps shrink to nothing at its end."""
    found = fits_one_by_one(X, [(CombinationMachine(units, method="chains", max_iter=n), None) for n in epochs])
    return {**found, "iterations": epochs[-1], "stop": "epochs"}


def fits_one_by_one(X: Any, machines: list[tuple[CombinationMachine, float | None]]) -> dict[str, Any]:
    """Fit machines, each with its limit of time; places on the way are their ends, and the last is the end of it."""
    ends, seconds = [], []
    for model, limit in machines:
        begun = time.perf_counter()
        with hiddenbits.run_on(n_jobs=2, max_time=limit):
            model.set_params(random_state=SEED).fit(X)
        seconds.append(time.perf_counter() - begun)
        ends.append(parts(model.params_))
    return {
        "machines": ends,
        "seconds": seconds,
        "seconds_in_all": seconds[-1],
        "iterations": model.n_iter_,
        "stop": model.stop_reason_,
    }


def parts(params: Any) -> tuple[Any, Any, Any]:
    return params.weights, params.thresholds, params.bias


def turn(
    X: Any, units: int, settings: dict[str, Any], most: float, epochs: tuple[int, ...], *, first: bool
) -> dict[str, Any]:
    """One turn of all programs; of the default in the first turn alone."""
    exact = units <= 20
    fits = {
        peer: run_peer(peer, X, 2, units=units, epochs=EPOCHS, places=PLACES, most=most, **settings[peer]["chosen"])
        for peer in settings
    }
    if exact:
        if first:
            fits["grown"] = limited(X, units, tuple(limit for limit in LIMITS if limit < most))
        fits["noise"] = climbed(X, units, start="noise", max_iter=200)
    fits["chains"] = by_chains(X, units, epochs)
    return fits


def middle(turns: list[dict[str, Any]], program: str, place: int) -> float:
    """The median over turns of the seconds to a place; a turn that was cut short before it has none."""
    timed = [t[program]["seconds"] for t in turns if program in t]
    return statistics.median(float(seconds[place]) for seconds in timed if place < len(seconds))


def few(fit: dict[str, Any], n: int) -> dict[str, Any]:
    """The last places of a peer's path, evenly over its steps: where a look takes long."""
    wanted = np.linspace(fit["steps"][-1] / n, fit["steps"][-1], n)
    at = sorted({int(np.abs(fit["steps"] - step).argmin()) for step in wanted})
    return {
        key: fit[key][at] if key in ("seconds", "cpu", "steps", "weights", "hidden", "visible") else fit[key]
        for key in fit
    }


def compare(judge: Judge, units: int, settings: dict[str, Any], turns: list[dict[str, Any]]) -> dict[str, Any]:
    exact = units <= 20
    if not exact:
        turns = [{name: few(fit, 6) if name in settings else fit for name, fit in t.items()} for t in turns]
    paths = {
        name: Path.of_peer(judge, fit) if name in settings else Path(judge, fit["machines"])
        for name, fit in turns[0].items()
    }
    ours = {name: path for name, path in paths.items() if name not in settings}
    figure: dict[str, Any] = {
        "units": units,
        "rows": len(judge.train),
        "test_rows": len(judge.test),
        "columns": judge.train.shape[1],
        "turns": len(turns),
        "independent": round(float(hiddenbits.IndependentBits().fit(judge.train).score(judge.test)), 4),
        "ours": {},
        "peers": {},
    }
    for name, path in ours.items():
        fit = turns[0][name]
        figure["ours"][name] = {
            "test": rounded(path.mean(path.last)),
            "sampling_error": round(float(path.at(path.last).partition_error), 4),
            "seconds": round(statistics.median(t[name]["seconds_in_all"] for t in turns if name in t), 3),
            "first_place": round(middle(turns, name, 0), 3),
            "iterations": int(fit["iterations"]),
            "stop": str(fit["stop"]),
        }
    for peer, chosen in settings.items():
        path, fit = paths[peer], turns[0][peer]
        end = path.best()
        level = path.mean(end) - CLOSE
        reached = path.reaches(level)
        figure["peers"][peer] = {
            "settings": chosen["chosen"],
            "test": rounded(path.mean(end)),
            "sampling_error": round(float(path.at(end).partition_error), 4),
            "test_at_last": rounded(path.mean(path.last)),
            "seconds_to_end": round(middle(turns, peer, end), 3),
            "seconds_to_reach": round(middle(turns, peer, reached), 3),
            "seconds_in_all": round(middle(turns, peer, path.last), 3),
            "epochs": round(float(fit["epochs"]), 1),
            "steps_to_end": int(fit["steps"][end]),
            "steps_in_all": int(fit["steps"][-1]),
            "stop": str(fit["stop"]),
            "ours": {name: beside(ours[name], name, path.rows(end), level, turns) for name in ours},
        }
        in_time = figure["peers"][peer]["seconds_to_reach"]
        for theirs in figure["peers"][peer]["ours"].values():
            if theirs["seconds_to_reach"] is not None:
                theirs["times_faster"] = round(in_time / theirs["seconds_to_reach"], 2)
    return figure


def beside(path: Path, name: str, rival: Any, level: float, turns: list[dict[str, Any]]) -> dict[str, Any]:
    """How far our way ends ahead of a peer, and when it has come as far as the peer."""
    gain, reached = path.rows(path.last) - rival, path.reaches(level)
    return {
        "ahead_by": rounded(float(gain.mean())),
        "standard_error": rounded(float(gain.std(ddof=1) / np.sqrt(len(gain)))),
        "seconds_to_reach": None if reached is None else round(middle(turns, name, reached), 4),
        "times_faster": None,
    }


def rounded(value: float) -> float | None:
    """None where there is no figure to be trusted."""
    return round(value, 4) if np.isfinite(value) else None


def save(figures: dict[tuple[str, int], dict[str, Any]], plan: dict[tuple[str, int], Any], ending: str) -> None:
    record(
        "machines/peers" + ending,
        [figures[key] for key in plan if key in figures],
        seeds=SEED,
        close=CLOSE,
        packages=("numba",),
        rbms={name: number for name, number in peer_versions(*RBMS).items() if name in ("rbms", "torch", "numpy")},
    )


def asked() -> tuple[bool, str | None]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--quick", action="store_true")
    size.add_argument("--full", action="store_true")
    parser.add_argument("--table", help="one table, as in the plan; with its number of units: ocr_letters:100")
    given = parser.parse_args()
    return given.quick, given.table


if __name__ == "__main__":
    quick, only = asked()
    warnings.simplefilter("ignore")  # a fit with few iterations says that it has not converged
    ending = "_quick" if quick else ""
    wanted = {
        key: plan
        for key, plan in (QUICK_PLAN if quick else PLAN).items()
        if only in (None, key[0], "{}:{}".format(*key))
    }
    known = {
        (f["table"], f["units"]): f for f in json.loads(result(f"machines/settings{ending}").read_text())["figures"]
    }
    chosen = tables(quick)
    CombinationMachine(16, start="noise", max_iter=2, random_state=SEED).fit(chosen["USPS"][0][:50])  # compiles
    figures: dict[tuple[str, int], dict[str, Any]] = {}
    if only and result(f"machines/peers{ending}").exists():
        kept = json.loads(result(f"machines/peers{ending}").read_text())["figures"]
        figures = {(f["table"], f["units"]): f for f in kept}
    for (table, units), (n_turns, most, epochs) in wanted.items():
        settings = known[table, units]["peers"]
        turns = [turn(chosen[table][0], units, settings, most, epochs, first=i == 0) for i in range(n_turns)]
        print("timed", table, units, file=sys.stderr, flush=True)
        figures[table, units] = {"table": table, **compare(Judge(*chosen[table]), units, settings, turns)}
        save(figures, QUICK_PLAN if quick else PLAN, ending)  # a run that is cut off keeps what it has
