"""Why intervals of class shares miss the truth where classes overlap: the scale, other maxima, the border, few rows.

    python -m benchmarks.inference.overlap --quick    # 10 tables of each size
    python -m benchmarks.inference.overlap --full     # 100 tables of each size: recorded

The tables are those of "mixture" in coverage.py, with 1,000 and with 8,000 rows. How often 95% intervals of the shares
by information contain the truth: on the scale of logits, as `interval` has them; on that of the shares; and, on the scale
of logits, at the maximum that EM reaches from the truth instead of the best of the restarts, and for a fit with the
default prior, which keeps estimates from 0 and 1. An interval that does not exist is a miss. `spread_in_errors` is the standard deviation of the estimates over tables, divided by the median
standard error, the mean over classes: 1 where the errors are right.
"""

import time
import warnings
from dataclasses import replace

import numpy as np
from benchmarks.inference.coverage import BORDER, OVERLAPPING, SHARES, inside, matched, three_classes
from benchmarks.record import asked_quick, record

from hiddenbits import LatentClassAnalysis, inference


def informed(model: LatentClassAnalysis, X: np.ndarray) -> inference.Uncertainty | None:
    try:
        return inference.standard_errors(model, X)
    except ValueError:  # it has no inverse
        return None


def looked_at(seed: int, n_rows: int) -> dict[str, np.ndarray]:
    X = three_classes(seed, OVERLAPPING, n_rows)
    model = LatentClassAnalysis(3, prior_strength=0, tol=1e-9, max_iter=5000, random_state=0).fit(X)
    order, found = matched(model, OVERLAPPING), informed(model, X)
    truth, back, never = SHARES[order], np.argsort(order), np.zeros(3, bool)
    first = LatentClassAnalysis(3, prior_strength=0, tol=1e-9, max_iter=5000, n_init=1, random_state=0).fit(X)
    first._params = replace(first._params, weights=SHARES, probabilities=np.ascontiguousarray(OVERLAPPING.T))
    near = first._refit(X)
    beside = informed(near, X)
    held = LatentClassAnalysis(3, tol=1e-9, max_iter=5000, random_state=0).fit(X)
    with_prior = informed(held, X)
    error = np.full(3, np.nan) if found is None else found.se["weights"]
    return {
        "logits": never if found is None else inside(found, "weights", truth),
        "shares": np.abs(model.weights_ - truth) <= 1.96 * error,
        "from_truth": never if beside is None else inside(beside, "weights", SHARES),
        "with_prior": never
        if with_prior is None
        else inside(with_prior, "weights", SHARES[matched(held, OVERLAPPING)]),
        "at_border": np.minimum(model.probabilities_, 1.0 - model.probabilities_).min() < BORDER,
        "other_maximum": np.abs(model.probabilities_[back] - near.probabilities_).max() > 0.01,
        "estimate": model.weights_[back],
        "error": error[back],
    }


if __name__ == "__main__":
    quick = asked_quick(__doc__)
    tables = 10 if quick else 100
    warnings.simplefilter("ignore")
    figures, begin = {}, time.process_time()
    for n_rows in (1000, 8000):
        found = [looked_at(seed, n_rows) for seed in range(tables)]
        all_of = {name: np.array([one[name] for one in found]) for name in found[0]}
        spread = all_of["estimate"].std(axis=0) / np.nanmedian(all_of["error"], axis=0)
        means = {name: round(float(all_of[name].mean()), 3) for name in all_of if name not in ("estimate", "error")}
        figures[str(n_rows)] = {"tables": tables, **means, "spread_in_errors": round(float(spread.mean()), 2)}
    if quick:
        print(figures)
    else:
        record("inference/overlap", figures, seeds=tables, seconds=round(time.process_time() - begin, 1))
