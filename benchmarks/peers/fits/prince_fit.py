"""Runs in prince's own environment: multiple correspondence analysis, and writes the rows' places on a plane.

python prince_fit.py work.npz path.npz      (X)
"""

import sys
import time
import warnings

import numpy as np
import pandas as pd
from prince import MCA

warnings.simplefilter("ignore")
X = pd.DataFrame(np.load(sys.argv[1])["X"]).astype("category")
X.columns = [f"c{name}" for name in X.columns]


def places(table):
    return MCA(n_components=2, random_state=0).fit(table).row_coordinates(table)


places(X[:200])  # whatever is loaded late is loaded now
begun = time.perf_counter()
found = places(X)
np.savez(sys.argv[2], seconds=[time.perf_counter() - begun], places=np.asarray(found, dtype=np.float64))
