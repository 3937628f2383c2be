"""Linear bars: how often all ten are found, in the paper's settings and by our defaults."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from time import process_time
from typing import Any

import numpy as np
from bars_data import N_BARS, drawn, images, recovered
from common import Run

from hiddenbits import BinarySparseCoding

SEEDS = {"data": "default_rng([s, 0])", "starts": "random_state=s", "s": "0, 1, 2, ..."}
DEFAULT, PAPER = "our defaults", "paper's settings"
ROWS, SETS, QUICK = 1000, 1000, {DEFAULT: 6, PAPER: 10}


def one(name: str, seed: int) -> dict[str, Any]:
    """Fit one set of images; what was learned."""
    X, fields = images(seed, ROWS)
    model = BinarySparseCoding.paper("bars") if name == PAPER else BinarySparseCoding(N_BARS)
    begin = process_time()
    model.set_params(random_state=seed).fit(X)
    return {
        "recovered": recovered(model.components_, fields),
        "active": model.n_active_,
        "noise": model.noise_,
        "passes": model.n_iter_,
        "stop": model.stop_reason_,
        "seconds": process_time() - begin,
    }


def each(make: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    """Return what is made of each item: in several processes, with one BLAS thread each."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the processes begin with it
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        return list(pool.map(make, items))


def measure(run: Run) -> dict[str, Any]:
    """Setting -> how many of its sets were recovered, and what was learned of them."""
    found = {}
    for name, few in QUICK.items():
        fits = each(partial(one, name), range(SETS if run.full else few))
        found[name] = summed(fits) | beside_drawn(fits)
        print(f"  {name}: {found[name]['recovered']} of {len(fits)}", flush=True)
    return found


def summed(fits: list[dict[str, Any]]) -> dict[str, Any]:
    """Means and spreads are of the recovered sets, as the paper's seem to be; `of_all` are of all."""
    good = [fit for fit in fits if fit["recovered"]]
    return {
        "rows": ROWS,
        "sets": len(fits),
        "recovered": len(good),
        "failed": [seed for seed, fit in enumerate(fits) if not fit["recovered"]],
        "active": spread(good, "active"),
        "noise": spread(good, "noise"),
        "of_all": {"active": spread(fits, "active"), "noise": spread(fits, "noise")},
        "passes": spread(fits, "passes"),
        "seconds": spread(fits, "seconds"),
        "stops": {stop: sum(fit["stop"] == stop for fit in fits) for stop in sorted({fit["stop"] for fit in fits})},
    }


def beside_drawn(fits: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what was learned of each set, and how far that is from what was drawn, of the recovered ones."""
    truth = np.array([drawn(seed, ROWS) for seed in range(len(fits))])
    good, active = np.array([fit["recovered"] for fit in fits]), np.array([fit["active"] for fit in fits])
    apart = (active - truth)[good]
    return {
        "each": {name: [round(fit[name], 4) for fit in fits] for name in ("active", "noise")},
        "drawn": {"mean": float(truth.mean()), "std": float(truth.std(ddof=1))},
        "beside_drawn": {"mean": float(apart.mean()), "std": float(apart.std(ddof=1))},
    }


def spread(fits: list[dict[str, Any]], name: str) -> dict[str, float]:
    """Mean and standard deviation."""
    values = np.array([fit[name] for fit in fits], float)
    return {"mean": float(values.mean()), "std": float(values.std(ddof=1))}
