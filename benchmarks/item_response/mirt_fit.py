"""Runs in the environment of Python's mirt: fit a table in several ways, after its first 5,000 rows, so that all code is loaded.

python mirt_fit.py work.npz found.npz      (X; model: "2PL" or "GRM"; ways: keyword arguments of `fit_mirt`, as JSON)
"""

import json
import sys
import time
import warnings

import numpy as np
from mirt import fit_mirt

NAMES = {"2PL": ("discrimination", "difficulty"), "GRM": ("discrimination", "thresholds")}
warnings.simplefilter("ignore")
work = np.load(sys.argv[1])
X, model, found = work["X"].astype(np.int32), str(work["model"]), {"seconds": []}
for number, way in enumerate(json.loads(str(work["ways"]))):
    fit_mirt(X[:5000], model=model, **way)
    begun = time.process_time()
    result = fit_mirt(X, model=model, **way)
    found["seconds"].append(time.process_time() - begun)
    a, b = (np.asarray(result.model.parameters[name]) for name in NAMES[model])
    found |= {f"slopes {number}": a.reshape(-1, 1), f"intercepts {number}": -a.reshape(-1, 1) * b.reshape(len(a), -1)}
    assert result.converged
np.savez(sys.argv[2], **found)
