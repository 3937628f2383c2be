"""The counterexample: bits whose sum is as near to zero as it can be, which no clipped Gaussian can make."""

from typing import Any

import numpy as np
from common import Run

from data import balanced
from hiddenbits import ClippedPCA

SEEDS = {"draws": 0}
SIZES = (4, 6, 8)
ALL_SIZES = range(2, 10)


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


def least_eigenvalue(n: int) -> dict[str, float]:
    """The smallest eigenvalue of C^XX, enumerated and in closed form, for even N (sum 0) and odd N (sum -1 or 1).

    The correlation of two bits is -1/(N-1) or -1/N; that of the hidden variables its sine (equation 7).
    """
    corners = 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1) - 1.0
    rows = corners[np.abs(corners.sum(axis=1)) <= n % 2]
    hidden = np.sin(0.5 * np.pi * (rows.T @ rows / len(rows)))
    closed = 1.0 - (n - 1) * np.sin(np.pi / (2 * (n - 1 + n % 2)))
    return {"smallest": float(np.linalg.eigvalsh(hidden)[0]), "closed_form": float(closed)}


def measure(run: Run) -> dict[str, Any]:
    draws = 100_000 if run.full else 20_000
    return {
        "draws": draws,
        "sizes": {str(n): one(n, draws) for n in SIZES},
        "all sizes": {str(n): least_eigenvalue(n) for n in ALL_SIZES},
    }
