"""Runs in girth's own environment: fits the two-parameter model of one ability, and writes slopes and intercepts.

python girth_fit.py work.npz path.npz      (X)

P(bit = 1 | x) = sigma(a (x - b)), which is w = a and intercept -a b. Its settings are its defaults.
"""

import sys
import time
import warnings

import numpy as np
from girth import twopl_mml

warnings.simplefilter("ignore")
X = np.load(sys.argv[1])["X"]
twopl_mml(X[:200].T.astype(int))  # whatever is loaded late is loaded now
items = np.ascontiguousarray(X.T.astype(int))
begun = time.perf_counter()
found = twopl_mml(items)
seconds = time.perf_counter() - begun
slopes = np.asarray(found["Discrimination"], dtype=np.float64)
np.savez(sys.argv[2], seconds=[seconds], loadings=[slopes[:, None]], intercepts=[-slopes * found["Difficulty"]])
