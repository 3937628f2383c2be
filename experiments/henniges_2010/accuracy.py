"""How accurate the truncated posterior is: <s> of a few states against <s> of all of them, row by row.

At the true parameters of the linear bars, so that nothing but the truncation is measured; by the equations themselves,
over a table of all states. The library's own sums are tested to be these.
"""

from typing import Any

import numpy as np
from scipy.special import softmax
from scipy.stats import binom

from hiddenbits.datasets import simulate_bars

SEEDS = {"data": "simulate_bars(seed=s)", "s": "0, 1, 2, ..."}
ROWS, SETS, QUICK = 1000, 20, 2
ACTIVITY, NOISE = 0.2, 2.0  # the truth
CLOSE = 0.01  # largest error of <s> in a row that is approximated "with high accuracy"
STATES = {"5 candidates of which 3": (5, 3), "7 candidates of which 4": (7, 4), "8 candidates of which 5": (8, 5)}


def errors(seed: int, candidates: int, active: int) -> dict[str, np.ndarray]:
    """Of each row: bars, largest error of <s> over the causes, score, <|s|>, and bars outside the candidates."""
    made = simulate_bars(ROWS, seed=seed)
    X, fields, on = made.X, made.fields, made.states
    H = len(fields)
    states = (np.arange(2**H)[:, None] >> np.arange(H) & 1).astype(float)
    means = states @ fields
    apart = (X**2).sum(axis=1)[:, None] - 2.0 * X @ means.T + (means**2).sum(axis=1)
    log_p = states.sum(axis=1) * np.log(ACTIVITY / (1.0 - ACTIVITY)) - 0.5 * apart / NOISE**2  # eq 1, but for constants
    select = X @ (fields / np.linalg.norm(fields, axis=1, keepdims=True)).T  # eq 5
    outside = np.ones((len(X), H))
    np.put_along_axis(outside, np.argsort(-select, axis=1)[:, :candidates], 0.0, axis=1)
    size = states.sum(axis=1)
    looked_at = ((size <= active) & (outside @ states.T == 0.0)) | (size <= 1.0)  # eq 4
    few_p = np.where(looked_at, log_p, -np.inf)
    few, every = (softmax(log, axis=1) @ states for log in (few_p, log_p))  # eq 3
    return {
        "bars": on.sum(axis=1),
        "wrong": np.abs(few - every).max(axis=1),
        "scores": np.logaddexp.reduce(few_p, axis=1),  # the denominator of eq 3
        "active": few.sum(axis=1),
        "outside": (on * outside).sum(axis=1),
    }


def of_rows(wrong: np.ndarray) -> dict[str, Any]:
    quantiles = {f"q{100 * q:g}": float(np.quantile(wrong, q)) for q in (0.5, 0.9)}
    return {"rows": len(wrong), "close": float((wrong < CLOSE).mean()), "largest": float(wrong.max()), **quantiles}


def correction(gamma: int, causes: int = 10, activity: float = ACTIVITY) -> float:
    """A pi / B of equation 8."""
    few = np.arange(gamma + 1)
    shares = binom.pmf(few, causes, activity)
    return float(shares.sum() * activity / (shares @ few))


def measure(*, full: bool) -> dict[str, Any]:
    """Which states -> errors of all rows, by number of bars, and of the N^cut rows with the best scores."""
    found: dict[str, Any] = {}
    for name, (candidates, active) in STATES.items():
        sets = [errors(seed, candidates, active) for seed in range(SETS if full else QUICK)]
        bars, wrong, outside = (np.concatenate([one[part] for one in sets]) for part in ("bars", "wrong", "outside"))
        share = float((bars <= active).mean())  # A: what N^cut is of N
        cut = [np.argsort(-one["scores"])[: round(share * ROWS)] for one in sets]
        kept, on = (
            np.concatenate([one[part][rows] for one, rows in zip(sets, cut, strict=True)])
            for part in ("wrong", "active")
        )
        found[name] = of_rows(wrong) | {
            "few_bars": share,
            "by_bars": {str(k): of_rows(wrong[bars == k]) for k in np.unique(bars).astype(int)},
            "within_cut": of_rows(kept),
            "at_most": of_rows(wrong[bars <= active]),
            "bars_among_candidates": float((outside[bars <= active] == 0).mean()),  # of rows with few bars, all of them
            "active_plain": float(on.mean()),  # pi H without the correction of (8), and with it
            "active_corrected": correction(active) * 10 * float(on.mean()),
        }
    found["correction_with_all_states"] = 10 * correction(10)  # 1 / H, the paper says: times H it is 1
    return found
