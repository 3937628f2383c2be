"""How many causes: chosen by the free energy of rows that the fit has not seen. Bars here; patches: a kept result."""

from functools import partial
from typing import Any

import numpy as np
from bars_data import N_BARS, images
from cells import Cells

from hiddenbits import BinarySparseCoding

SEEDS = {"data": "simulate_bars(2000, seed=s): 1,000 rows to fit, 1,000 held out", "starts": "random_state=s"}
ROWS, SETS, CAUSES = 1000, 3, tuple(range(6, 15))
QUICK = (1, (9, 10))


def one(causes: int, seed: int) -> dict[str, Any]:
    """Fit and score, by our defaults."""
    X, _ = images(seed, 2 * ROWS)
    model = BinarySparseCoding(causes, random_state=seed).fit(X[:ROWS])
    each = model.score_samples(X[ROWS:])
    return {
        "held_out": float(each.mean()),
        "fitted": float(model.score(X[:ROWS])),
        "error": float(each.std(ddof=1) / np.sqrt(ROWS)),
        "likelihood": model.likelihood_,
        "active": model.n_active_,
        "noise": model.noise_,
    }


def measure(cells: Cells, *, full: bool) -> dict[str, Any]:
    """Number of causes -> free energies of the sets, and which number each set chooses."""
    sets, causes = (SETS, CAUSES) if full else QUICK
    fits = {n: [cells.get(f"H = {n}, set {s}", partial(one, n, s)) for s in range(sets)] for n in causes}
    chosen = [max(causes, key=lambda n: fits[n][s]["held_out"]) for s in range(sets)]
    return {"rows": ROWS, "truth": N_BARS, "chosen": chosen, "causes": {str(n): each for n, each in fits.items()}}
