"""Runs ours in a process of its own, as fit_mirt_fit.py runs mirt's `fit_mirt`: the same table, the same turns.

python hiddenbits_2pl_fit.py work.npz path.npz      (X; dimensions; turns)

Seconds are of processor time. The first call comes before anything else was called and is the default; then, by turns, the
default, maximum likelihood, and the standard errors of maximum likelihood, which mirt computes by default.
"""

import sys
import time
import warnings
from typing import Any

import numpy as np

from hiddenbits import LogisticPCA, inference

warnings.simplefilter("ignore")


def timed(call: Any) -> tuple[float, Any]:
    begun = time.process_time()
    result = call()
    return time.process_time() - begun, result


work = np.load(sys.argv[1])
X, q, turns = work["X"], int(work["dimensions"]), int(work["turns"])


def default() -> LogisticPCA:
    return LogisticPCA(q, random_state=0).fit(X)


def likelihood() -> LogisticPCA:
    return LogisticPCA(q, method="quadrature", ridge=0, random_state=0).fit(X)


first, _ = timed(default)
likelihood()  # whatever it compiles or loads late is there now
seconds: dict[str, list[float]] = {"default": [], "likelihood": [], "errors": []}
for _ in range(turns):
    taken, usual = timed(default)
    seconds["default"].append(taken)
    taken, model = timed(likelihood)
    seconds["likelihood"].append(taken)
    taken, _ = timed(lambda model=model: inference.information(model, X, robust=False))
    seconds["errors"].append(taken)
np.savez(
    sys.argv[2],
    first=first,
    **seconds,
    default_loadings=usual.params_.loadings,
    default_intercepts=usual.params_.intercepts,
    loadings=model.params_.loadings,
    intercepts=model.params_.intercepts,
    iterations=model.n_iter_,
    stop=model.stop_reason_,
)
