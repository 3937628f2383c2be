"""Runs scikit-learn's BernoulliRBM in a process of its own, and writes its parameters along the way.

python bernoulli_rbm_fit.py work.npz path.npz      (X; units, seed; rate, batch; epochs, places, most: see below)

Trains for `epochs` epochs, or until `most` seconds of processor time are gone, and notes the parameters at some `places` of the way, close
together at its beginning. `seconds` count from the first step, without the noting. The loop is that of its `fit`, taken
apart so that places can be noted; nothing else is changed.
"""

import sys
import time

import numpy as np
from sklearn.neural_network import BernoulliRBM
from sklearn.utils import gen_even_slices

work = {name: array.item() if array.ndim == 0 else array for name, array in np.load(sys.argv[1]).items()}
X, batch, epochs = work["X"].astype(np.float64), int(work["batch"]), int(work["epochs"])
n_batches = -(-len(X) // batch)
slices = list(gen_even_slices(n_batches * batch, n_batches, n_samples=len(X)))
steps = epochs * n_batches
places = {round(place) for place in np.geomspace(1, steps, int(work["places"]))}

# A fit of no epochs makes the start; `fit` goes on with the same generator.
rng = np.random.RandomState(int(work["seed"]))
options = {"learning_rate": float(work["rate"]), "batch_size": batch, "n_iter": 0, "random_state": rng}
model = BernoulliRBM(int(work["units"]), **options).fit(X)
noted = {name: [] for name in ("seconds", "weights", "hidden", "visible")}
begun, started, away = time.perf_counter(), time.process_time(), 0.0
for step in range(1, steps + 1):
    model._fit(X[slices[(step - 1) % n_batches]], rng)
    late = time.process_time() - started > float(work["most"])
    if step in places or late:
        now = time.perf_counter()
        noted["seconds"].append(now - begun - away)
        noted["weights"].append(model.components_.T.copy())
        noted["hidden"].append(model.intercept_hidden_.copy())
        noted["visible"].append(model.intercept_visible_.copy())
        away += time.perf_counter() - now
    if late:
        break
np.savez(sys.argv[2], **noted)
