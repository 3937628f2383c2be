"""Runs in logisticpca's own environment: fit a table, and write the basis, the main effects and the moments of the scores.

python logisticpca_fit.py work.npz path.npz      (X; dimensions; tolerances: one fit for each)

`seconds` are those of each fit.
"""

import sys
import time
import warnings
from importlib.metadata import version

import numpy as np
from logisticpca import LogisticPCA

warnings.simplefilter("ignore")
work = np.load(sys.argv[1])
X, q = work["X"].astype(np.float64), int(work["dimensions"])
LogisticPCA(q, m=4.0, max_iter=1).fit(X[:50, X[:50].std(axis=0) > 0])  # whatever is loaded late is loaded now
found = {name: [] for name in ("seconds", "basis", "effects", "centre", "covariance", "iterations", "stops")}
for tol in work["tolerances"]:
    model = LogisticPCA(q, m=4.0, tol=float(tol))
    begun = time.perf_counter()
    model.fit(X)
    found["seconds"].append(time.perf_counter() - begun)
    found["basis"].append(model.U_)
    found["effects"].append(model.mu_)
    found["centre"].append(model.scores_.mean(axis=0))
    found["covariance"].append(np.cov(model.scores_.T))
    found["iterations"].append(model.n_iter_)
    found["stops"].append("converged" if model.converged_ else "iterations")
np.savez(sys.argv[2], version=version("logisticpca"), **found)
