"""Runs in umap-learn's own environment: a map by Jaccard distances, and writes the rows' places on a plane.

python umap_fit.py work.npz path.npz      (X)

Its settings are its defaults. It has two threads, so that its maps are not the same twice: a seed would leave it one.
"""

import sys
import time
import warnings

import numpy as np
import umap

warnings.simplefilter("ignore")
X = np.load(sys.argv[1])["X"].astype(bool)
umap.UMAP(metric="jaccard", n_jobs=2).fit(X[:5000])  # compiles; beyond 4,096 rows it goes another way
begun = time.perf_counter()
found = umap.UMAP(metric="jaccard", n_jobs=2).fit_transform(X)
np.savez(sys.argv[2], seconds=[time.perf_counter() - begun], places=found)
