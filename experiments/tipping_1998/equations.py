"""What the paper says about its equations 3, 5 and 6 to 8, each by itself.

Equation 5 cell by cell, the updates of xi without those of the parameters, equation 3 as a latent class model, and the
steps that the regressions of its M-step take.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from common import Run, have_data
from programs import (
    IRLS,
    bounds,
    of_the_prior,
    on_draws,
    posteriors,
    regressed,
    responsibilities,
    start,
    tightened,
    variational,
)
from scipy.special import expit, log_expit

import data
from hiddenbits import LatentClassAnalysis

SEEDS = {"synthetic data": 3, "start": 0, "draws": 0}
DRAWS = 500
UPDATES = 30  # of xi
PASSES = 20  # of each program


def log_cell(A: np.ndarray, xi: np.ndarray) -> np.ndarray:
    """Return the logarithm of equation 5."""
    return log_expit(xi) + (A - xi) / 2.0 + (0.5 - expit(xi)) / (2.0 * xi) * (A * A - xi * xi)


def cells() -> dict[str, float]:
    """Equation 5 less ln P of a cell: at most, on a grid of A and xi; and where xi is A."""
    A = np.arange(-20.0, 20.0001, 0.05) + 0.01  # not 0, where lambda is a limit
    apart = log_cell(A[:, None], A[None]) - log_expit(A)[:, None]
    return {
        "largest": float(apart.max()),
        "smallest": float(apart.min()),
        "where_xi_is_A": float(np.abs(np.diag(apart)).max()),
    }


def passes(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Parameters after some passes of the variational program."""
    program = variational(X, start(X, SEEDS["start"]))
    for _ in range(PASSES):
        (W, b), _ = next(program)
    return W, b


def updates_of_xi(X: np.ndarray) -> dict[str, float]:
    """The largest fall of the bound of any row in repeated updates of xi, from a cold start, parameters fixed."""
    W, b = passes(X)
    xi, values = of_the_prior(W, b, len(X)), []
    for _ in range(UPDATES):
        C, mu = posteriors(X, W, b, xi)
        xi = tightened(C, mu, W, b)
        values.append(bounds(X, W, b, xi, C, mu))
    steps = np.diff(values, axis=0)
    return {"largest_fall": float(max(0.0, -steps.min())), "gain": float((values[-1] - values[0]).mean())}


def as_latent_classes(X: np.ndarray) -> float:
    """Equation 3 less the log-likelihood of a Bernoulli mixture: equal shares, P(bit | draw) as its probabilities."""
    W, b = passes(X)
    draws = np.random.default_rng(SEEDS["draws"]).standard_normal((DRAWS, 2))
    model = LatentClassAnalysis(DRAWS, max_iter=1, random_state=0).fit(X)
    model._params = replace(
        model._params, weights=np.full(DRAWS, 1.0 / DRAWS), probabilities=expit(W @ draws.T + b[:, None])
    )
    return float(abs(model.score(X) + on_draws(X, (W, b), draws)))


def regressions(X: np.ndarray) -> dict[str, Any]:
    """Steps of re-weighted least squares in the first passes of the sampling program, begun at the pass before."""
    W, b = start(X, SEEDS["start"])
    draws = np.random.default_rng(SEEDS["draws"]).standard_normal((DRAWS, 2))
    hat, joint = np.column_stack([draws, np.ones(DRAWS)]), np.column_stack([W, b])
    prior, taken = np.column_stack([np.zeros_like(W), b]), []
    for _ in range(PASSES):
        R, _ = responsibilities(X, joint, hat)
        joint, steps = regressed(X, R, joint, hat, prior)
        taken.append(steps)
    return {"median": float(np.median(taken)), "most": max(taken), "limit": IRLS, "passes": PASSES}


def measure(run: Run) -> dict[str, Any]:
    tables = {"Synthetic-16": data.synthetic(SEEDS["synthetic data"]).X.astype(float)}
    found: dict[str, Any] = {"cells": cells(), "latent_classes": as_latent_classes(tables["Synthetic-16"])}
    if run.full and have_data("equations on Digit-256"):
        tables["Digit-256"] = data.twos().astype(float)
    for name, X in tables.items():
        found[name] = {"xi": updates_of_xi(X), "regressions": regressions(X), "rows": len(X), "columns": X.shape[1]}
    return found
