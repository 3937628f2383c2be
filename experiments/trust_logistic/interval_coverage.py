"""How often 90% intervals of the map hold the true coordinates of simulated rows.

A fitted map may be turned or mirrored, so it is first laid upon the truth by the best orthogonal matrix (Procrustes);
the posterior covariances are turned with it. An interval is mean ± z sd of one coordinate of one row.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import orthogonal_procrustes
from scipy.stats import norm
from simulate import Truth, draw, told

from hiddenbits import LogisticPCA, Variational

SEEDS = {"data": list(range(10)), "start": 0}
LEVEL = 0.9
LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
SETTINGS: dict[str, dict[str, Any]] = {
    "2 dimensions, 40 columns": {"n_columns": 40, "n_dimensions": 2},
    "3 dimensions, 60 columns": {"n_columns": 60, "n_dimensions": 3},
    "2 dimensions, 16 columns": {"n_columns": 16, "n_dimensions": 2},
    "2 dimensions, 40 columns, 30% blank": {"n_columns": 40, "n_dimensions": 2, "blank": 0.3},
}
BASE = "2 dimensions, 40 columns"  # the setting of the curves
N_ROWS = 1500
ROWS = (100, 200, 400, 800, 1600, 3200)


def standardised(model: LogisticPCA, truth: Truth, *, align: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return (truth - mean) / sd of every coordinate of every row, and the sds."""
    means, covariances = model.posterior(truth.X, return_cov=True)
    turn = orthogonal_procrustes(means, truth.places)[0] if align else np.eye(means.shape[1])
    turned = np.einsum("ab,nac,cd->nbd", turn, covariances, turn)
    sd = np.sqrt(np.diagonal(turned, axis1=1, axis2=2))
    return (truth.places - means @ turn) / sd, sd


def held(away: np.ndarray, level: float = LEVEL) -> float:
    return float((np.abs(away) <= norm.ppf(0.5 + level / 2.0)).mean())


def estimators(truth: Truth, *, polish: bool) -> dict[str, LogisticPCA]:
    """One that is told the truth, and one that is fitted."""
    return {"given": told(truth, method=Variational(polish=polish)), "fitted": fitted(truth, polish=polish)}


def fitted(truth: Truth, *, polish: bool) -> LogisticPCA:
    method = Variational(polish=polish)
    return LogisticPCA(truth.loadings.shape[1], method=method, random_state=SEEDS["start"]).fit(truth.X)


def answers(truth: Truth) -> Iterator[tuple[str, tuple[np.ndarray, np.ndarray]]]:
    """Yield standardised distances and sds of every kind of posterior.

    "exact" is the polished estimator, asked for its posteriors on a grid instead of the best Gaussian ones: what a
    perfect answer would score on these rows. It is left out where a grid fine enough would be too large.
    """
    for method in ("before the polish", "polished"):
        for source, model in estimators(truth, polish=method == "polished").items():
            align = source == "fitted"
            yield f"{method}, {source}", standardised(model, truth, align=align)
            if method == "polished" and model.likelihood_ == "exact":
                yield f"exact, {source}", standardised(model.set_params(method="quadrature"), truth, align=align)


def setting(options: dict[str, Any], seeds: list[int]) -> dict[str, Any]:
    """Coverage by method, with the parameters given and fitted: over all seeds, and of each."""
    away: dict[str, list[np.ndarray]] = {}
    sds: dict[str, list[float]] = {}
    for seed in seeds:
        for name, (z, sd) in answers(draw(N_ROWS, seed=seed, **options)):
            away.setdefault(name, []).append(z)
            sds.setdefault(name, []).append(float(sd.mean()))
    return {
        name: {
            "coverage": held(np.concatenate(z)),
            "seeds": [held(one) for one in z],
            "levels": {f"{level:g}": held(np.concatenate(z), level) for level in LEVELS},
            "mean_sd": float(np.mean(sds[name])),
        }
        for name, z in away.items()
    }


def by_rows(seeds: list[int], numbers: tuple[int, ...]) -> dict[str, dict[str, float]]:
    """Coverage against the number of rows fitted: intervals take the fitted loadings for the truth."""
    found: dict[str, dict[str, float]] = {}
    for method in ("before the polish", "polished"):
        for n_rows in numbers:
            z = []
            for seed in seeds:
                truth = draw(n_rows, seed=seed, **SETTINGS[BASE])
                z.append(standardised(fitted(truth, polish=method == "polished"), truth, align=True)[0])
            found.setdefault(method, {})[str(n_rows)] = held(np.concatenate(z))
    return found


def measure(*, full: bool) -> dict[str, Any]:
    seeds = SEEDS["data"] if full else SEEDS["data"][:3]
    names = list(SETTINGS) if full else [BASE]
    return {
        "rows": N_ROWS,
        "n_seeds": len(seeds),
        "settings": {name: setting(SETTINGS[name], seeds) for name in names},
        "by_rows": by_rows(seeds, ROWS if full else ROWS[:2]),
    }
