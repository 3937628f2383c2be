"""How accurate the truncated posterior is: <s> of a few states against <s> of all of them, row by row.

At the true parameters of the linear bars, so that nothing but the truncation is measured; by the equations themselves,
over a table of all states. The library's own sums are tested to be these.
"""

from typing import Any

import numpy as np
from scipy.special import softmax
from scipy.stats import binom, rankdata

from hiddenbits.datasets import simulate_bars

SEEDS = {"data": "simulate_bars(seed=s)", "s": "0, 1, 2, ..."}
ROWS, SETS, GAMMA_SETS, QUICK = 1000, 20, 5, 2
ACTIVITY, NOISE = 0.2, 2.0  # the truth
MASS = 0.99  # "most of the posterior mass"
CLOSE = 0.01  # largest error of <s> in a row that is approximated "with high accuracy"
ALL = 10  # causes: with H' = gamma = H every state is looked at
GAMMAS = (1, 2, 3, 4, 5)  # at the same number of candidates
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
    of_few, of_every = (softmax(log, axis=1) for log in (few_p, log_p))
    few, every = of_few @ states, of_every @ states  # eq 3
    return {
        "bars": on.sum(axis=1),
        "wrong": np.abs(few - every).max(axis=1),
        "mass": np.where(looked_at, of_every, 0.0).sum(axis=1),  # of the posterior, in K_n
        "scores": np.logaddexp.reduce(few_p, axis=1),  # the denominator of eq 3
        "active": few.sum(axis=1),
        "outside": (on * outside).sum(axis=1),
        "select": select,
        "on": on,
        "updates": np.append(*updates(X, states, of_few, apart)),
        "exact_updates": np.append(*updates(X, states, of_every, apart)),
    }


def updates(X: np.ndarray, states: np.ndarray, q: np.ndarray, apart: np.ndarray) -> tuple[np.ndarray, float]:
    """Equations 6 and 7 over all rows; sigma is that of the parameters at hand, `apart` the squares |y - W s|^2."""
    second = (states * q.sum(axis=0)[:, None]).T @ states
    return np.linalg.solve(second, (q @ states).T @ X), float(np.sqrt((q * apart).sum() / X.size))


def signals(sets: list[dict[str, np.ndarray]]) -> dict[str, Any]:
    """Whether a large value of equation 5 means that the bar is there: all pairs of an image and a bar."""
    select, on = (np.concatenate([one[part] for one in sets]).ravel() for part in ("select", "on"))
    tenths = [part.mean() for part in np.array_split(on[np.argsort(-select, kind="stable")], 10)]
    ranks = rankdata(select)
    ones = on.sum()
    # The share of pairs of one that is there and one that is not in which the first has the larger value.
    above = (ranks[on > 0].sum() - ones * (ones + 1) / 2) / (ones * (len(on) - ones))
    return {"on_by_tenths": [float(part) for part in tenths], "larger_if_on": float(above)}


def with_all_states() -> dict[str, float]:
    """gamma = H: the share of rows in M, and how far <s>, W and sigma are from those of exact EM."""
    found = errors(0, ALL, ALL)
    return {
        "kept": float(binom.cdf(ALL, ALL, ACTIVITY)),  # N^cut / N
        "means": float(found["wrong"].max()),
        "updates": float(np.abs(found["updates"] - found["exact_updates"]).max()),
        "updates_of_few": float(np.abs(np.subtract(*(errors(0, 5, 3)[n] for n in ("updates", "exact_updates")))).max()),
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
        bars, wrong, outside, mass = (
            np.concatenate([one[part] for one in sets]) for part in ("bars", "wrong", "outside", "mass")
        )
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
            "with_mass": of_rows(wrong[mass > MASS]),
            "without_mass": of_rows(wrong[mass <= MASS]),
            "bars_among_candidates": float((outside[bars <= active] == 0).mean()),  # of rows with few bars, all of them
            "active_plain": float(on.mean()),  # pi H without the correction of (8), and with it
            "active_corrected": correction(active) * 10 * float(on.mean()),
        }
        if name == "5 candidates of which 3":
            found["signals"] = signals(sets)
    some = range(GAMMA_SETS if full else 1)
    found["by_gamma"] = {
        str(gamma): of_rows(np.concatenate([errors(seed, 8, gamma)["wrong"] for seed in some])) for gamma in GAMMAS
    }
    found["with_all_states"] = with_all_states()
    found["correction_with_all_states"] = 10 * correction(10)  # 1 / H, the paper says: times H it is 1
    return found
