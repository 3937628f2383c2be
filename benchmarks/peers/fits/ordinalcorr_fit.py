"""Runs in ordinalcorr's own environment: the tetrachoric correlations of each table, pair by pair, and the seconds.

python ordinalcorr_fit.py folder NAME ...      (folder/NAME.npy or NAME.csv -> folder/NAME_ordinalcorr.csv, folder/ordinalcorr.json)
"""

import json
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
from ordinalcorr import tetrachoric

warnings.simplefilter("ignore")
folder = Path(sys.argv[1])
tetrachoric([0, 0, 1, 1, 1], [0, 1, 0, 1, 1])  # whatever is loaded late is loaded now
seconds = {}
for name in sys.argv[2:]:
    array = folder / f"{name}.npy"
    X = np.load(array) if array.exists() else np.genfromtxt(folder / f"{name}.csv", delimiter=",", skip_header=1)
    d = X.shape[1]
    R, seen = np.eye(d), ~np.isnan(X)
    begun = time.perf_counter()
    for i in range(d):
        for j in range(i):
            both = seen[:, i] & seen[:, j]
            try:
                R[i, j] = R[j, i] = tetrachoric(X[both, i], X[both, j])
            except AssertionError:  # a probability came out below 0: the package gives no figure
                R[i, j] = R[j, i] = np.nan
    seconds[name] = time.perf_counter() - begun
    np.savetxt(folder / f"{name}_ordinalcorr.csv", R, delimiter=",")
(folder / "ordinalcorr.json").write_text(json.dumps({"seconds": seconds, "version": version("ordinalcorr")}))
