"""The counterexample: bits whose sum is exactly zero, which no clipped Gaussian can make."""

from typing import Any

import numpy as np

from data import balanced
from hiddenbits import ClippedPCA

SEEDS = {"draws": 0}
SIZES = (4, 6, 8)


def one(n: int, draws: int) -> dict[str, Any]:
    rows = balanced(n)
    model = ClippedPCA(1, biases=False, random_state=0).fit(rows)
    drawn = model.sample(draws, full=True, random_state=SEEDS["draws"])
    bits = 2.0 * drawn - 1.0
    pairs = np.triu_indices(n, 1)
    return {
        "rows": len(rows),
        "smallest": float(model.spectrum_[-1]),
        "closed_form": float(1.0 - (n - 1) * np.sin(np.pi / (2 * (n - 1)))),
        "correlation": -1.0 / (n - 1),
        "correlation_drawn": float((bits.T @ bits / draws)[pairs].mean()),
        "balanced_share": float((bits.sum(axis=1) == 0.0).mean()),
        "balanced_share_of_independent": len(rows) / 2.0**n,
    }


def measure(*, full: bool) -> dict[str, Any]:
    draws = 100_000 if full else 20_000
    return {"draws": draws, "sizes": {str(n): one(n, draws) for n in SIZES}}
