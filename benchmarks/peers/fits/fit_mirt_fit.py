"""Runs in mirt's own environment: its usual function for item response models, without standard errors.

python fit_mirt_fit.py work.npz path.npz      (X; dimensions)
"""

import sys
import time
import warnings

import numpy as np
from mirt import fit_mirt

warnings.simplefilter("ignore")
work = np.load(sys.argv[1])
X, q = work["X"].astype(np.int32), int(work["dimensions"])
fit_mirt(X[:200], n_factors=q, compute_standard_errors=False)  # whatever is loaded late is loaded now
begun = time.perf_counter()
result = fit_mirt(X, n_factors=q, compute_standard_errors=False)
seconds = time.perf_counter() - begun
slopes = np.asarray(result.model.parameters["discrimination"], dtype=np.float64).reshape(X.shape[1], -1)
intercepts = -np.asarray(result.model.parameters["difficulty"]) * slopes.sum(axis=1)  # sigma(sum_k a_k (x_k - d))
np.savez(sys.argv[2], seconds=[seconds], loadings=[slopes], intercepts=[intercepts])
