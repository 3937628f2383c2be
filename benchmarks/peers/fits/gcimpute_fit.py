"""Runs in gcimpute's own environment: fits a Gaussian copula, and writes its correlations.

python gcimpute_fit.py work.npz path.npz      (X)

Its settings are its defaults, but for two processes.
"""

import sys
import time
import warnings

import numpy as np
from gcimpute.gaussian_copula import GaussianCopula

if __name__ == "__main__":  # its processes import this file
    warnings.simplefilter("ignore")
    X = np.load(sys.argv[1])["X"].astype(np.float64)
    begun = time.perf_counter()
    model = GaussianCopula(n_jobs=2, random_state=0)
    model.fit(X)
    seconds = time.perf_counter() - begun
    np.savez(sys.argv[2], seconds=[seconds], correlations=model.get_params()["copula_corr"])
