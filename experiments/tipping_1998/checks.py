"""The figures that a right implementation shows, with their tolerances; a miss makes the run fail.

Two more need parts that are not public (masked cells against dropped columns, a rotated start): tests/models has them.
"""

from typing import Any

import numpy as np
from common import below, have_data, near

import data
from hiddenbits import ItemResponseModel, LogisticPCA, datasets

SEEDS = {"synthetic data": [0, 3], "start": 0}
OPEN = {"synthetic 3, polished: error"}  # known to be missed by a hair, and looked into


def integrated_bound(model: LogisticPCA, row: np.ndarray) -> float:
    """Equation (4) by summing over a plane: the product of the bounds (5) times the prior."""
    W, b = model.components_.T, model.intercepts_
    mean, covariance = (found[0] for found in model.transform(row[None], return_cov=True))
    second = covariance + np.outer(mean, mean)  # eq 10
    xi = np.sqrt(np.einsum("ia,ab,ib->i", W, second, W) + 2.0 * b * (W @ mean) + b * b)  # eq 8
    steepness = (0.5 - 1.0 / (1.0 + np.exp(-xi))) / (2.0 * xi)
    axis = np.arange(-9.0, 9.0001, 0.06)
    points = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    A = (2.0 * row - 1.0) * (points @ W.T + b)
    log_p = (-np.log1p(np.exp(-xi)) + (A - xi) / 2.0 + steepness * (A * A - xi * xi)).sum(axis=1)  # eq 5
    log_p += -0.5 * (points * points).sum(axis=1) - np.log(2.0 * np.pi) + 2.0 * np.log(0.06)
    return float(np.logaddexp.reduce(log_p))


def measure(_: dict[str, Any], *, full: bool) -> dict[str, dict[str, Any]]:
    """All checks that the data at hand allow; the polish of the digits only in a full run."""
    exact: dict[str, Any] = {"ridge": 0.0, "tol": 1e-9, "random_state": SEEDS["start"]}
    X = data.synthetic(0).X
    model = LogisticPCA(2, refine=False, **exact).fit(X)
    falls = -np.diff(model.trace_) / len(X)
    above = model.bound_samples(X) - model.score_samples(X)
    apart = [integrated_bound(model, row) - model.bound_samples(row[None])[0] for row in X[::60].astype(float)]
    found = {
        "the bound never falls (largest fall a row)": below(max(0.0, falls.max()), 1e-10),
        "the bound is below the likelihood of every row (largest difference)": below(above.max(), 0.0),
        "the bound equals its integral over the plane (largest difference)": below(np.abs(apart).max(), 1e-10),
        "synthetic 0: bound a row": near(model.trace_[-1] / len(X), -5.55006, 1e-4),
        "synthetic 0: error": near(-model.score(X), 4.876, 0.005),
    }
    X = data.synthetic(3).X
    found["synthetic 3: error"] = near(-LogisticPCA(2, refine=False, **exact).fit(X).score(X), 5.148, 0.01)
    found["synthetic 3, polished: error"] = near(-LogisticPCA(2, **exact).fit(X).score(X), 4.929, 0.01)
    return found | (real_tables(exact, full=full) if have_data("checks on real tables") else {})


def real_tables(exact: dict[str, Any], *, full: bool) -> dict[str, dict[str, Any]]:
    lsat, sat12, twos = datasets.load_survey("lsat"), datasets.load_survey("sat12_binary"), data.twos()
    one, two = (ItemResponseModel(q, random_state=SEEDS["start"]).fit(X) for q, X in ((1, lsat), (2, sat12)))
    digits = LogisticPCA(2, refine=False, **{**exact, "ridge": 0.001, "tol": 1e-5 if not full else 1e-6}).fit(twos)
    found = {
        "LSAT, 1 dimension: log-likelihood": near(one.score_samples(lsat).sum(), -2466.653, 0.01),
        "SAT12, 2 dimensions: log-likelihood": near(two.score_samples(sat12).sum(), -9441.98, 0.5),
        "929 twos: error": near(-digits.score(twos), 105.46, 0.03),
    }
    if full:
        polished = LogisticPCA(2, **{**exact, "ridge": 0.001, "tol": 1e-5}).fit(twos)
        found["929 twos, polished: error"] = near(-polished.score(twos), 105.28, 0.03)
    return found
