"""Runs in H2O's own environment, which needs Java: a generalized low-rank model with logistic loss.

python h2o_fit.py work.npz path.npz      (X; dimensions)

It has no main effects: one more dimension than the others have stands for them. Its scores are points; the ridge on
them is that of x ~ N(0, I), the one on loadings is ours.
"""

import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

import h2o
import numpy as np
import pandas as pd
from h2o.estimators import H2OGeneralizedLowRankEstimator

warnings.simplefilter("ignore")
work = np.load(sys.argv[1])
X, q = work["X"], int(work["dimensions"]) + 1
h2o.init(nthreads=2, max_mem_size="5g", bind_to_localhost=True, log_level="FATA", verbose=False)
h2o.no_progress()
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "table.csv"
    names = [f"c{j}" for j in range(X.shape[1])]
    np.savetxt(path, X, fmt="%d", delimiter=",", header=",".join(names), comments="")
    table = h2o.import_file(str(path), col_types=["enum"] * len(names))


def fit(rows, **more):
    model = H2OGeneralizedLowRankEstimator(
        k=q,
        loss_by_col=["Logistic"] * len(names),
        loss_by_col_idx=list(range(len(names))),
        init="PlusPlus",
        regularization_x="Quadratic",
        gamma_x=0.5,
        regularization_y="Quadratic",
        gamma_y=0.05,
        ignore_const_cols=False,
        seed=1,
        **more,
    )
    model.train(training_frame=rows)
    return model


fit(table[:200, :], max_iterations=20)  # whatever is loaded late is loaded now
begun = time.perf_counter()
model = fit(table)
seconds = time.perf_counter() - begun
basis = np.asarray(pd.DataFrame(model.archetypes()).iloc[:, -len(names) :], dtype=np.float64).T
scores = h2o.get_frame(model._model_json["output"]["representation_name"]).as_data_frame().to_numpy(dtype=np.float64)
np.savez(
    sys.argv[2],
    seconds=[seconds],
    basis=[basis],
    effects=[np.zeros(len(basis))],
    center=[scores.mean(axis=0)],
    covariance=[np.cov(scores.T)],
)
sys.stdout.flush()
h2o.cluster().shutdown()
os._exit(0)  # its clean-up at the end would wait for the cluster that is gone
