"""How accurate the truncated posterior is: <s> of a few states against <s> of all of them, row by row.

At the true parameters of the linear bars, so that nothing but the truncation is measured.
"""

from typing import Any

import numpy as np

from hiddenbits.data.mixed.reals import open_reals
from hiddenbits.datasets import simulate_bars
from hiddenbits.families.binary_sparse_coding.model import SparseCoding
from hiddenbits.families.binary_sparse_coding.params import EVERY_ROW, CodingParams
from hiddenbits.families.binary_sparse_coding.schedule import Schedule
from hiddenbits.families.binary_sparse_coding.truncated_posterior import squares_of
from hiddenbits.families.binary_sparse_coding.truncated_states import active_shares

SEEDS = {"data": "simulate_bars(seed=s)", "s": "0, 1, 2, ..."}
ROWS, SETS, QUICK = 1000, 20, 2
CLOSE = 0.01  # largest error of <s> in a row that is approximated "with high accuracy"
STATES = {"5 candidates of which 3": (5, 3), "7 candidates of which 4": (7, 4), "8 candidates of which 5": (8, 5)}


def truth(fields: np.ndarray) -> CodingParams:
    """The parameters that the bars were drawn with."""
    numbers = {"noise": 2.0, "spread": 6.0, "step": 0.0}
    return CodingParams(
        np.ascontiguousarray(fields.T),
        np.full(len(fields), 0.2),
        **{name: np.asarray(value) for name, value in numbers.items()},
        stream=np.zeros(2),
        cut=np.array(EVERY_ROW),
    )


def errors(seed: int, candidates: int, active: int) -> dict[str, np.ndarray]:
    """Of each row: bars, largest error of <s> over the causes, score, <|s|>, and bars outside the candidates."""
    made = simulate_bars(ROWS, seed=seed)
    params, H = truth(made.fields), len(made.fields)
    model = SparseCoding(H, candidates, active, schedule=Schedule(10))
    shared, block = model.prepare(params), open_reals(made.X).grid(ROWS).blocks[0]
    few = shared.now.whole(made.X, squares_of(made.X), out=np.empty((ROWS, H)))
    every = model.posterior(params, shared, block)  # up to 12 causes: all states
    outside = made.states.copy()
    np.put_along_axis(outside, few.candidates, 0, axis=1)
    return {
        "bars": made.states.sum(axis=1),
        "wrong": np.abs(few.means - every).max(axis=1),
        "scores": few.scores,  # the truncated log-likelihood
        "active": few.means.sum(axis=1),
        "outside": outside.sum(axis=1),
    }


def of_rows(wrong: np.ndarray) -> dict[str, Any]:
    quantiles = {f"q{100 * q:g}": float(np.quantile(wrong, q)) for q in (0.5, 0.9)}
    return {"rows": len(wrong), "close": float((wrong < CLOSE).mean()), "largest": float(wrong.max()), **quantiles}


def correction(gamma: int, causes: int = 10, activity: float = 0.2) -> float:
    """A pi / B of equation 8."""
    shares = active_shares(np.full(causes, activity), gamma)
    return float(shares.sum() * activity / (shares @ np.arange(len(shares))))


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
