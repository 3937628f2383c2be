"""Chooses the settings of the peers that `benchmarks.machines.peers` times, by the likelihood of rows kept for it.

    python -m benchmarks.machines.settings --full      (four tables with 16 units, one with 100; half an hour)
    python -m benchmarks.machines.settings --quick     (few rows, two settings each)

Each setting is trained on one thread for so many CPU seconds, the same for all settings of a table;
what counts is its best likelihood on the way (with 100 units, at the end). BernoulliRBM's own defaults are a rate of .1 and
batches of 10. Those of rbms are a rate of .01, batches of 2,000 rows, and 2,000 chains with 100 sweeps before each step, 10,000
steps: on a processor that is a second a step. It is tried with fewer chains and sweeps and with larger rates; its steps all
have the length of the rate, since it scales its gradients to length 1.
"""

import json
import sys
from typing import Any

from benchmarks.machines.judge import RBMS, SEED, Judge, Path, run_peer, tables
from benchmarks.record import asked_quick, record

PLACES = 40
PLAN = {  # CPU seconds
    ("nltcs", 16): 8.0,
    ("mushrooms", 16): 10.0,
    ("USPS", 16): 16.0,
    ("ocr_letters", 16): 16.0,
    ("ocr_letters", 100): 24.0,
}
EPOCHS = 10_000  # at most: time is over sooner
GRIDS: dict[str, list[dict[str, Any]]] = {
    "bernoulli_rbm": [{"rate": rate, "batch": batch} for batch in (10, 100) for rate in (0.1, 0.03, 0.01)],
    "rbms": [
        {"rate": 0.1, "batch": 200, "chains": 200, "sweeps": 1},
        {"rate": 0.03, "batch": 200, "chains": 200, "sweeps": 1},
        {"rate": 0.3, "batch": 2000, "chains": 2000, "sweeps": 1},
        {"rate": 0.1, "batch": 2000, "chains": 2000, "sweeps": 1},
        {"rate": 0.1, "batch": 200, "chains": 200, "sweeps": 10},
    ],
}
LARGE = {"bernoulli_rbm": [2, 3, 4], "rbms": [0, 2, 3]}  # of those, what is tried with 100 units


def tried(judge: Judge, peer: str, units: int, setting: dict[str, Any], most: float) -> dict[str, Any]:
    """The best likelihood of the rows to choose by that a setting comes to."""
    exact = units <= 20
    fit = run_peer(
        peer,
        judge.train,
        1,
        units=units,
        epochs=EPOCHS,
        places=PLACES if exact else 1,
        most=most,
        **setting,
    )
    path = Path.of_peer(judge, fit)
    at = path.best() if exact else path.last
    return {
        **setting,
        "valid": round(path.mean(at, "valid"), 4),
        "steps": int(fit["steps"][at]),
        "cpu_seconds": round(float(fit["cpu"][at]), 2),
        "steps_in_all": int(fit["steps"][-1]),
        "cpu_seconds_in_all": round(float(fit["cpu"][-1]), 2),
        "stop": str(fit["stop"]),
    }


if __name__ == "__main__":
    quick = asked_quick(__doc__)
    plan = {("nltcs", 16): 1.0} if quick else PLAN
    chosen, results = tables(quick), []
    for (table, units), most in plan.items():
        judge, figure = Judge(*chosen[table]), {"table": table, "units": units, "cpu_seconds": most, "peers": {}}
        for peer, grid in GRIDS.items():
            some = grid[:2] if quick else grid if units <= 20 else [grid[at] for at in LARGE[peer]]
            found = [tried(judge, peer, units, setting, most) for setting in some]
            best = max(found, key=lambda one: one["valid"])
            figure["peers"][peer] = {"chosen": {key: best[key] for key in grid[0]}, "tried": found}
        results.append(figure)
        print(json.dumps(figure), file=sys.stderr, flush=True)
    record("machines/settings" + ("_quick" if quick else ""), results, seeds=SEED, epochs=EPOCHS, rbms=RBMS)
