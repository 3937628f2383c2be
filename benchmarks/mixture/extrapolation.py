"""What extrapolation gains over plain EM: passes, and the likelihood reached, from the same starts.

    python -m benchmarks.mixture.extrapolation

nltcs and audio, 20 classes, maximum likelihood, the same tolerance; "below" counts the starts from which leaps ended
more than 1e-5 nats a row below plain EM, "above" those from which they ended above.
"""

import warnings

import numpy as np
from benchmarks.record import record

import hiddenbits
from hiddenbits.datasets import load_debd

CLASSES, TOL, STARTS = 20, 1e-6, {"nltcs": 20, "audio": 5}


def compare(name: str, starts: int) -> dict[str, object]:
    X = load_debd(name).train
    reached = np.empty((2, starts))
    passes = np.empty((2, starts))
    for seed in range(starts):
        for row, accelerate in enumerate((False, True)):
            model = hiddenbits.BernoulliMixture(
                CLASSES, prior_strength=0, n_init=1, max_iter=3000, tol=TOL, accelerate=accelerate, random_state=seed
            ).fit(X)
            reached[row, seed], passes[row, seed] = model.trace_[-1] / len(X), model.n_iter_
    gain = reached[1] - reached[0]
    return {
        "starts": starts,
        "median_passes_plain": float(np.median(passes[0])),
        "median_passes_with_leaps": float(np.median(passes[1])),
        "mean_log_likelihood_plain": round(float(reached[0].mean()), 5),
        "mean_log_likelihood_with_leaps": round(float(reached[1].mean()), 5),
        "below": int((gain < -1e-5).sum()),
        "above": int((gain > 1e-5).sum()),
    }


if __name__ == "__main__":
    warnings.simplefilter("error")
    figures = {name: compare(name, starts) for name, starts in STARTS.items()}
    record("mixture/extrapolation", figures, seeds=max(STARTS.values()), classes=CLASSES, tol=TOL)
