"""Runs ours in a process of its own, as stepmix_fit.py runs StepMix on tables that are drawn.

python hiddenbits_mixture_fit.py work.npz path.npz      (X; classes; tol; seeds)

Seconds are of processor time. The first call comes before anything else was called and is the default. Then, seed by seed,
maximum likelihood from one start, and the default. What that start is after one pass is written, for StepMix to begin at.
"""

import sys
import time
import warnings
from typing import Any

import numpy as np

from hiddenbits import BernoulliMixture

warnings.simplefilter("ignore")


def timed(X: Any, classes: int, **settings: Any) -> tuple[float, BernoulliMixture]:
    begun = time.process_time()
    model = BernoulliMixture(classes, **settings).fit(X)
    return time.process_time() - begun, model


work = np.load(sys.argv[1])
X, classes, tol = work["X"], int(work["classes"]), float(work["tol"])
seeds = work["seeds"].tolist()
first, _ = timed(X, classes, random_state=seeds[0])
single = {"prior_strength": 0.0, "n_init": 1, "tol": tol}
starts = [timed(X, classes, max_iter=1, random_state=seed, **single)[1] for seed in seeds]
from_start = [timed(X, classes, random_state=seed, **single) for seed in seeds]
default = [timed(X, classes, random_state=seed) for seed in seeds]
np.savez(
    sys.argv[2],
    first=first,
    start_weights=[model.weights_ for model in starts],
    start_probabilities=[model.probabilities_ for model in starts],
    **{
        f"{name}_{what}": values
        for name, fits in (("from_start", from_start), ("default", default))
        for what, values in (
            ("seconds", [seconds for seconds, _ in fits]),
            ("passes", [model.n_iter_ for _, model in fits]),
            ("weights", [model.weights_ for _, model in fits]),
            ("probabilities", [model.probabilities_ for _, model in fits]),
        )
    },
)
