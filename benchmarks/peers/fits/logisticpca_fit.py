"""Runs in logisticpca's own environment: fit a table, and write the basis, the main effects and the moments of the scores.

python logisticpca_fit.py work.npz path.npz      (X; dimensions; tol)
"""

import sys
import time
import warnings

import numpy as np
from logisticpca import LogisticPCA

warnings.simplefilter("ignore")
work = np.load(sys.argv[1])
X, q = work["X"].astype(np.float64), int(work["dimensions"])
LogisticPCA(q, m=4.0, max_iter=1).fit(X[:50, X[:50].std(axis=0) > 0])  # whatever is loaded late is loaded now
model = LogisticPCA(q, m=4.0, tol=float(work["tol"]))
begun = time.perf_counter()
model.fit(X)
np.savez(
    sys.argv[2],
    seconds=[time.perf_counter() - begun],
    basis=[model.U_],
    effects=[model.mu_],
    center=[model.scores_.mean(axis=0)],
    covariance=[np.cov(model.scores_.T)],
)
