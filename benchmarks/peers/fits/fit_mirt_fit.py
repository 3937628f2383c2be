"""Runs in mirt's own environment: `fit_mirt`, its front door, with and without standard errors.

python fit_mirt_fit.py work.npz path.npz      (X; dimensions; turns)

Seconds are of processor time. The first call comes before anything else was called and has mirt's defaults; then, by turns,
a fit with its defaults, which end with standard errors, and one without them.
"""

import sys
import time
import warnings
from importlib.metadata import version

import numpy as np
from mirt import fit_mirt

warnings.simplefilter("ignore")


def timed(X: np.ndarray, **options: object) -> tuple[float, object]:
    begun = time.process_time()
    result = fit_mirt(X, **options)
    return time.process_time() - begun, result


def slopes_and_intercepts(parameters: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """P(bit = 1 | x) = sigma(sum_k a_k (x_k - d)), which is w = a and intercept -d sum_k a_k."""
    slopes = np.asarray(parameters["discrimination"], dtype=np.float64)
    slopes = slopes.reshape(len(slopes), -1)
    return slopes, -np.asarray(parameters["difficulty"]) * slopes.sum(axis=1)


def at_bounds(parameters: dict[str, np.ndarray]) -> int:
    """How many items end at a bound of their slopes (.1 and 5) or difficulties (-6 and 6), as mirt sets them."""
    slopes = np.asarray(parameters["discrimination"], dtype=np.float64).reshape(len(parameters["difficulty"]), -1)
    outside = (np.abs(slopes) < 0.1001).any(axis=1) | (slopes > 4.999).any(axis=1)
    return int((outside | (np.abs(parameters["difficulty"]) > 5.999)).sum())


work = np.load(sys.argv[1])
X, q, turns = work["X"].astype(np.int32), int(work["dimensions"]), int(work["turns"])
first, _ = timed(X, n_factors=q)
with_errors, without = [], []
for _ in range(turns):
    seconds, default = timed(X, n_factors=q)
    with_errors.append(seconds)
    seconds, result = timed(X, n_factors=q, compute_standard_errors=False)
    without.append(seconds)
loadings, intercepts = slopes_and_intercepts(result.model.parameters)
np.savez(
    sys.argv[2],
    first=first,
    with_errors=with_errors,
    without_errors=without,
    loadings=loadings,
    intercepts=intercepts,
    own_likelihood=result.log_likelihood,
    at_bounds=at_bounds(result.model.parameters),
    iterations=result.n_iterations,
    converged=result.converged,
    errors_by=str(default.se_method),
    version=version("mirt"),
)
