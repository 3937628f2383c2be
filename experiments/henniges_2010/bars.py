"""Linear bars: how often all ten are found, in the paper's settings, by our defaults, and with less than those."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import process_time
from typing import Any

import numpy as np
from bars_data import N_BARS, drawn, images, recovered
from cells import Cells

from hiddenbits import BinarySparseCoding

SEEDS = {"data": "default_rng([s, 0])", "starts": "random_state=s", "s": "0, 1, 2, ..."}
DEFAULT, PAPER = "our defaults", "paper's settings"


@dataclass(frozen=True)
class Setting:
    """One line of the table: which settings, on how many sets of how many images."""

    rows: int
    sets: int
    paper: bool
    changed: tuple[tuple[str, Any], ...] = ()

    def model(self, seed: int) -> BinarySparseCoding:
        base = BinarySparseCoding.paper("bars") if self.paper else BinarySparseCoding(N_BARS)
        return base.set_params(random_state=seed, **dict(self.changed))


def changed(**settings: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(settings.items())


WIDE = changed(n_candidates=7, max_active=4, schedule__wide_candidates=7, schedule__wide_active=4)
EVERY_STATE = changed(n_candidates=10, max_active=10, schedule__wide_candidates=10, schedule__wide_active=10)
SETTINGS = {
    DEFAULT: Setting(1000, 1000, False),
    PAPER: Setting(1000, 1000, True),
    "paper's, N = 4000": Setting(4000, 300, True),
    "paper's, N = 2000, start pi H = 3": Setting(2000, 300, True, changed(schedule__start_active=3.0)),
    "paper's, N = 2000, start pi H = 1": Setting(2000, 300, True, changed(schedule__start_active=1.0)),
    "defaults, one start": Setting(1000, 200, False, changed(n_init=1)),
    "defaults, no annealing": Setting(1000, 200, False, changed(schedule__temperature=1.0)),
    "defaults, no annealing, one start": Setting(1000, 200, False, changed(schedule__temperature=1.0, n_init=1)),
    "defaults, 7 candidates of which 4 from the first pass": Setting(1000, 200, False, WIDE),
    "paper's, 7 candidates of which 4": Setting(1000, 200, True, WIDE),
    "paper's, every state": Setting(1000, 60, True, EVERY_STATE),
}
QUICK = {DEFAULT: 6, PAPER: 10}


def one(setting: Setting, seed: int) -> dict[str, Any]:
    """Fit one set of images."""
    X, fields = images(seed, setting.rows)
    begin = process_time()
    model = setting.model(seed).fit(X)
    return {**learned(model, X, fields), "seconds": process_time() - begin}


def learned(model: BinarySparseCoding, X: Any, fields: Any) -> dict[str, Any]:
    """What a fit says of images whose bars are known."""
    return {
        "recovered": recovered(model.components_, fields),
        "active": model.n_active_,
        "noise": model.noise_,
        "passes": model.n_iter_,
        "stop": model.stop_reason_,
        "objective": float(model.trace_[-1]) / len(X),
    }


def measure(cells: Cells, *, full: bool) -> dict[str, Any]:
    """Setting -> how many of its sets were recovered, and what was learned of them."""
    found: dict[str, Any] = {}
    for name, setting in SETTINGS.items() if full else ((name, SETTINGS[name]) for name in QUICK):
        sets = range(setting.sets if full else QUICK[name])
        fits = cells.each(name, partial(one, setting), sets)
        found[name] = summed(setting.rows, fits)
        if name in QUICK:
            found[name] |= each(setting, fits)
        print(f"  {name}: {found[name]['recovered']} of {len(sets)}", flush=True)
    return found


def each_seed(cells: Cells, name: str, make: Callable[[int], Any], sets: int) -> list[Any]:
    """Return the fits of the sets 0, 1, ...: one after the other, in this process."""
    return [cells.get(f"{name}, set {seed}", partial(make, seed)) for seed in range(sets)]


def summed(rows: int, fits: list[dict[str, Any]]) -> dict[str, Any]:
    """Means and spreads are of the recovered sets, as the paper's seem to be; `of_all` are of all."""
    good = [fit for fit in fits if fit["recovered"]]
    return {
        "rows": rows,
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


def each(setting: Setting, fits: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what was learned of each set, and how far that is from what was drawn, of the recovered ones."""
    truth = np.array([drawn(seed, setting.rows) for seed in range(len(fits))])
    good, active = np.array([fit["recovered"] for fit in fits]), np.array([fit["active"] for fit in fits])
    apart = (active - truth)[good]
    return {
        "each": {name: [round(fit[name], 4) for fit in fits] for name in ("active", "noise")},
        "drawn": {"mean": float(truth.mean()), "std": float(truth.std(ddof=1))},
        "beside_drawn": {"mean": float(apart.mean()), "std": float(apart.std(ddof=1))},
    }


def spread(fits: list[dict[str, Any]], name: str) -> dict[str, float] | None:
    """Mean and standard deviation; of one fit or none there is none."""
    values = np.array([fit[name] for fit in fits], float)
    return {"mean": float(values.mean()), "std": float(values.std(ddof=1))} if len(values) > 1 else None
