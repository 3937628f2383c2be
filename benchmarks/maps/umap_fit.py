"""Runs in umap-learn's own environment: maps of several tables, with its defaults but for the metric and the seed.

python umap_fit.py work.npz answers.npz      (asked: metric and seed of each task, as JSON; arrays TASK/X, TASK/new)
"""

import json
import sys
import time
import warnings

import numpy as np
import umap

LARGE = 5000  # beyond 4,096 rows umap-learn goes another way, which has to be compiled too
warnings.simplefilter("ignore")
work = np.load(sys.argv[1])
asked = json.loads(str(work["asked"]))
found, failures = {}, {}


def cells(X):
    X = X.astype(float)
    return X if np.isnan(X).any() else X.astype(bool)  # a blank must stay one


def new_map(metric, seed):
    return umap.UMAP(metric=metric, n_jobs=1, random_state=seed)


rng = np.random.default_rng(0)
sizes = {(metric, LARGE if len(work[f"{name}/X"]) > LARGE else 200) for name, (metric, _) in asked.items()}
for metric, rows in sorted(sizes):  # compiles
    new_map(metric, 0).fit(rng.random((rows, 20)) < 0.3).transform(rng.random((20, 20)) < 0.3)
for name, (metric, seed) in asked.items():
    X, new = cells(work[f"{name}/X"]), cells(work[f"{name}/new"])
    model, begun = new_map(metric, seed), time.process_time()
    try:
        found[f"{name}/places"] = model.fit_transform(X)
    except ValueError as error:
        failures[name] = str(error).splitlines()[0]
        continue
    found[f"{name}/seconds"] = time.process_time() - begun
    found[f"{name}/new"] = model.transform(new) if len(new) else np.zeros((0, 2))
    print("umap-learn", name, round(found[f"{name}/seconds"], 2), file=sys.stderr, flush=True)
np.savez(sys.argv[2], failures=json.dumps(failures), **found)
