"""Latent classes of binary and of 4-level items: how often intervals contain the truth, and shares with missing cells.

    python -m benchmarks.inference.levels --quick    # 5 tables of each design: a look
    python -m benchmarks.inference.levels --full     # 200 tables of each design, 50 with missing cells: recorded

- coverage: 3 classes with shares .5, .3 and .2; 15 binary items or 8 of 4 levels; 500 and 5,000 rows. 95% intervals by
  information of all shares and probabilities, on the scale of logits, by maximum likelihood and with the default prior.
  Probabilities estimated outside (.001, .999) are counted and left out; others without an interval are misses. The
  relative entropy of the classes at the true parameters is between .7 and .9.
- missing: 3 classes, 2,000 x 20 items of 3 levels. The first five columns are complete; a cell of the others is missing
  with a probability that depends on the answers there, 30% of all cells in all. The error of the class shares and of the
  items' shares of levels, mean over tables; beside the latter, those of the recorded cells.

Seeds begin at 1,000; designs were chosen by their entropy alone, with one table.
"""

import time
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from benchmarks.record import asked_quick, record
from scipy.optimize import linear_sum_assignment
from scipy.special import softmax, xlogy

from hiddenbits import LatentClassAnalysis, inference

FIRST_SEED, TABLES, MISSING_TABLES, EDGE = 1_000, 200, 50, 0.001
SHARES = np.array([0.5, 0.3, 0.2])
PRIORS = {"maximum likelihood": 0.0, "default prior": 1.0}


def profiles(items: int, levels: int, spread: float) -> np.ndarray:
    """Return P(level) of each item in each class, (3, items, levels)."""
    return softmax(spread * np.random.default_rng(levels).standard_normal((3, items, levels)), axis=2)


DESIGNS = {"15 binary items": profiles(15, 2, 0.95), "8 items of 4 levels": profiles(8, 4, 0.9)}
WITH_MISSING = profiles(20, 3, 0.7)


def simulated(seed: int, p: np.ndarray, rows: int) -> np.ndarray:
    rng = np.random.default_rng([p.shape[2], rows, seed])
    edges = p.cumsum(axis=2)[rng.choice(3, rows, p=SHARES)]
    return (rng.random((rows, p.shape[1], 1)) > edges).sum(axis=2).clip(max=p.shape[2] - 1).astype(float)


def entropy(p: np.ndarray) -> float:
    """Return the relative entropy of the classes at the true parameters, from 100,000 rows."""
    X = simulated(0, p, 100_000).astype(int)
    scores = np.log(SHARES) + sum(np.log(p[:, j, X[:, j]]).T for j in range(p.shape[1]))
    r = softmax(scores, axis=1)
    return 1.0 + float(xlogy(r, r).sum() / (len(X) * np.log(3.0)))


def fitted(X: np.ndarray, p: np.ndarray, **more: Any) -> tuple[LatentClassAnalysis, np.ndarray]:
    """Return a fit, and which true class each of its classes is."""
    kind = "binary" if p.shape[2] == 2 else "nominal"
    model = LatentClassAnalysis(3, column_types=kind, tol=1e-9, max_iter=5_000, random_state=0, **more).fit(X)
    apart = ((model.probabilities_[:, None, :] - bits(p)[None]) ** 2).sum(axis=2)
    return model, linear_sum_assignment(apart)[1]


def bits(p: np.ndarray) -> np.ndarray:
    """Return probabilities as `probabilities_` has them."""
    return p[:, :, 1] if p.shape[2] == 2 else p.reshape(len(p), -1)


def hits(seed: int, p: np.ndarray, rows: int, prior_strength: float) -> dict[str, tuple[np.ndarray, int]]:
    """Return which intervals contain the truth, and how many estimates are at the edge, of shares and probabilities."""
    X = simulated(seed, p, rows)
    model, order = fitted(X, p, prior_strength=prior_strength)
    try:
        intervals = inference.standard_errors(model, X).interval
    except ValueError:  # the information has no inverse
        intervals = {}
    found = {}
    for name, true, estimate in (
        ("shares", SHARES[order], model.weights_),
        ("probabilities", bits(p)[order], model.probabilities_),
    ):
        low, high = intervals.get({"shares": "weights"}.get(name, name), (np.inf, np.inf))
        kept = (estimate > EDGE) & (estimate < 1.0 - EDGE)
        found[name] = ((low <= true) & (true <= high))[kept], int((~kept).sum())
    return found


def coverage(seeds: Iterable[int]) -> dict[str, Any]:
    figures = {}
    for name, p in DESIGNS.items():
        for rows in (500, 5_000):
            one: dict[str, Any] = {"entropy": round(entropy(p), 3)}
            for prior, strength in PRIORS.items():
                found = [hits(seed, p, rows, strength) for seed in seeds]
                for what in ("shares", "probabilities"):
                    inside = np.concatenate([table[what][0] for table in found])
                    left_out = sum(table[what][1] for table in found)
                    rate = round(float(inside.mean()), 4)
                    one[f"{what}, {prior}"] = {"coverage": rate, "intervals": inside.size, "left_out": left_out}
            figures[f"{name}, {rows:,} rows"] = one
            print(name, rows, one, flush=True)
    return figures


def with_missing(seed: int) -> tuple[np.ndarray, float]:
    """Return a table and its share of missing cells."""
    X = simulated(seed, WITH_MISSING, 2_000)
    rng = np.random.default_rng([7, seed])
    chance = 0.46 * np.array([0.2, 1.0, 1.8])[X[:, :5].astype(int)].mean(axis=1, keepdims=True)
    X[:, 5:][rng.random((2_000, 15)) < chance] = np.nan
    return X, float(np.isnan(X).mean())


def missing(seeds: Iterable[int]) -> dict[str, Any]:
    truth = np.tensordot(SHARES, WITH_MISSING, 1)
    errors: dict[str, list[np.ndarray]] = {}
    for X, _ in map(with_missing, seeds):
        seen = np.stack([(level == X).sum(axis=0) for level in range(3)], axis=1)
        errors.setdefault("levels, recorded cells", []).append(seen / seen.sum(axis=1, keepdims=True) - truth)
        for prior, strength in PRIORS.items():
            model, order = fitted(X, WITH_MISSING, prior_strength=strength)
            implied = (model.weights_ @ model.probabilities_).reshape(truth.shape)
            errors.setdefault(f"classes, {prior}", []).append(model.weights_[np.argsort(order)] - SHARES)
            errors.setdefault(f"levels, {prior}", []).append(implied - truth)
    largest = {name: round(float(np.abs(np.mean(of, axis=0)).max()), 4) for name, of in errors.items()}
    share = float(np.mean([with_missing(seed)[1] for seed in seeds]))
    return {"entropy": round(entropy(WITH_MISSING), 3), "missing": round(share, 3), "largest_mean_error": largest}


if __name__ == "__main__":
    quick = asked_quick(str(__doc__))
    warnings.simplefilter("ignore")
    begun = time.process_time()
    figures = {
        "coverage": coverage(range(5) if quick else range(FIRST_SEED, FIRST_SEED + TABLES)),
        "missing": missing(range(5) if quick else range(FIRST_SEED, FIRST_SEED + MISSING_TABLES)),
    }
    print(figures["missing"])
    if not quick:
        tables, seconds = {"coverage": TABLES, "missing": MISSING_TABLES}, round(time.process_time() - begun, 1)
        record("inference/levels", figures, seeds=FIRST_SEED, aloud=False, tables=tables, seconds=seconds)
