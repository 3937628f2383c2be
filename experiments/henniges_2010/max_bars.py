"""Bars in their max form: how often all ten are found where the strongest bar shows instead of the sum."""

from functools import partial
from time import process_time
from typing import Any

from bars import each_seed, learned, summed
from bars_data import N_BARS, max_images
from cells import Cells

from hiddenbits import Annealing, BinarySparseCoding

SEEDS = {"data": "simulate_bars(seed=s), noise default_rng([s, 2])", "starts": "random_state=s", "s": "0, 1, 2, ..."}
ROWS, SETS = 1000, 100
# As in the paper: no widening, no temperature, and the end of the schedule is the end.
COURSE = Annealing(temperature=1.0, start="mean", wide_candidates=5, wide_active=3, settle=False)


def one(superposition: str, seed: int) -> dict[str, Any]:
    """Fit one set of images, by the better of two starts."""
    X, fields = max_images(seed, ROWS)
    begin = process_time()
    model = BinarySparseCoding(N_BARS, superposition=superposition, schedule=COURSE, random_state=seed).fit(X)
    return {
        **learned(model, X, fields),
        "starts": [restart.objective / ROWS for restart in model.restarts_],
        "seconds": process_time() - begin,
    }


def measure(cells: Cells, *, full: bool) -> dict[str, Any]:
    """Superposition -> how many sets were recovered; linear causes on the same images for comparison."""
    found: dict[str, Any] = {}
    sets_of = {"max": SETS, "max_magnitude": SETS // 10, "linear": SETS // 10} if full else {"max": 1}
    for name, sets in sets_of.items():
        fits = each_seed(cells, name, partial(one, name), sets)
        found[name] = summed(ROWS, fits) | {"starts": [fit["starts"] for fit in fits]}
        print(f"  {name}: {found[name]['recovered']} of {len(fits)}", flush=True)
    return found
