"""Beyond the paper: C^XX fitted with pairs weighted by their standard errors, and questions drawn as groups.

A plain correction moves well-known and unknown correlations alike. Weighted: unit rows V minimise
Sum_ij (V_i.V_j - rho_ij)^2 / se_ij^2. Groups: of the columns of a question the one with the largest h + z is on, and
h and the correlations of z are adjusted until draws have the table's means and correlations (stochastic approximation).
"""

from dataclasses import replace
from typing import Any

import numpy as np
from common import NO_DATA, have_data
from faithful import averaged, compare
from pairs import correlations
from scipy.optimize import minimize

from data import DIMENSIONS, recipe, tables, twos
from hiddenbits import ClippedPCA, exclusive_groups, tetrachoric

SEEDS = {"model": 0, "calibration": 0, "draws": [0, 1, 2, 3, 4]}
TABLES = ("spikes15", "mushrooms")
LEAST_ERROR = 0.02  # a standard error below it is no better known: no pair may outweigh all others
ROUNDS, DRAWS, FLOOR = 60, 8000, 1e-4
CAP = 0.95


def weighted_factors(rho: np.ndarray, error: np.ndarray, n_components: int, *, noise: bool) -> np.ndarray:
    """Return W (columns, n_components) whose products are the correlations, weighted; |w|^2 is 1, or free below CAP."""
    d = len(rho)
    known = np.isfinite(error) & ~np.eye(d, dtype=bool)
    weight = np.where(known, 1.0 / np.maximum(error, LEAST_ERROR) ** 2, 0.0)
    weight /= weight.max()
    values, vectors = np.linalg.eigh(rho)
    first = vectors[:, -n_components:] * np.sqrt(np.maximum(values[-n_components:], 1e-3))

    def loss(vector: np.ndarray) -> tuple[float, np.ndarray]:
        V = vector.reshape(d, n_components)
        length = np.linalg.norm(V, axis=1, keepdims=True)
        # With noise |w| = sqrt(CAP) v / sqrt(1 + v^2) of the length v: any length is allowed.
        scale = np.sqrt(CAP) / np.sqrt(1.0 + length**2) if noise else 1.0 / length
        W = V * scale
        off = W @ W.T - rho
        slope = 4.0 * (weight * off) @ W
        along = (slope * V).sum(axis=1, keepdims=True)
        bend = scale / (1.0 + length**2) if noise else scale / length**2
        return float((weight * off**2).sum()), (slope * scale - V * along * bend).ravel()

    found = minimize(loss, first.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    V = found.x.reshape(d, n_components)
    length = np.linalg.norm(V, axis=1, keepdims=True)
    return np.asarray(V * (np.sqrt(CAP) / np.sqrt(1.0 + length**2) if noise else 1.0 / length))


def clipped_rows(W: np.ndarray, thresholds: np.ndarray, n: int, seed: int) -> np.ndarray:
    """Rows of columns with these loadings; what they leave of the variance is noise."""
    rng = np.random.default_rng(seed)
    noise = np.sqrt(np.maximum(1.0 - (W**2).sum(axis=1), 0.0))
    hidden = rng.standard_normal((n, W.shape[1])) @ W.T + noise * rng.standard_normal((n, len(W)))
    return np.asarray(hidden > thresholds, float)


class Questions:
    """A Gaussian behind columns in groups: the largest of a group is on."""

    def __init__(self, X: np.ndarray, rounds: int) -> None:
        n, d = X.shape
        groups = exclusive_groups(X.T @ X, np.full((1, 1), float(n)))
        self.alone = np.setdiff1d(np.arange(d), np.concatenate(groups))
        self.groups = [np.array(group) for group in groups]
        owner = np.arange(d) + d
        for number, group in enumerate(groups):
            owner[list(group)] = number
        same = owner[:, None] == owner
        goal = np.nan_to_num(correlations(X))
        p = np.clip(X.mean(axis=0), 0.25 / n, 1.0 - 0.25 / n)
        rng = np.random.default_rng(SEEDS["calibration"])
        self.h = 0.5 * np.log(p)
        self.h[self.alone] = np.log(p / (1.0 - p))[self.alone]
        matrix = np.where(same, np.eye(d), goal)
        for turn in range(rounds):
            values, vectors = np.linalg.eigh(matrix)
            matrix = (vectors * np.maximum(values, FLOOR)) @ vectors.T
            matrix /= np.sqrt(np.outer(np.diag(matrix), np.diag(matrix)))
            self.root = np.linalg.cholesky(matrix)
            drawn, step = self.draw(DRAWS, rng), min(1.0, 4.0 * (1.0 - turn / rounds))
            mean = np.clip(drawn.mean(axis=0), 0.25 / DRAWS, 1.0 - 0.25 / DRAWS)
            self.h += step * np.clip(0.3 * (np.log(p) - np.log(mean)), -0.3, 0.3)
            matrix = matrix + np.where(same, 0.0, step * (goal - np.nan_to_num(correlations(drawn))))

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        z = rng.standard_normal((n, len(self.h))) @ self.root.T + self.h
        drawn = np.zeros(z.shape)
        drawn[:, self.alone] = z[:, self.alone] > 0.0
        for group in self.groups:
            drawn[np.arange(n), group[z[:, group].argmax(axis=1)]] = 1.0
        return drawn


def one(X: np.ndarray, *, full: bool) -> dict[str, Any]:
    """Shares of pairs whose correlations draws keep, by each way."""
    n, d = X.shape
    pairwise = tetrachoric(X)
    rho, error, thresholds = pairwise.correlation, pairwise.standard_error, pairwise.thresholds
    plain = ClippedPCA("parallel", random_state=0).fit(X)
    low = plain.n_components_
    whole = weighted_factors(rho, error, d, noise=False)
    few = weighted_factors(rho, error, low, noise=True)
    groups = exclusive_groups(X.T @ X, np.full((1, 1), float(n)))
    ways: dict[str, Any] = {
        "full matrix": lambda s: plain.sample(n, full=True, random_state=s).astype(float),
        "full matrix, weighted": lambda s: clipped_rows(whole, thresholds, n, s),
        "few dimensions": lambda s: plain.sample(n, random_state=s).astype(float),
        "few dimensions, weighted": lambda s: clipped_rows(few, thresholds, n, s),
    }
    if groups:
        questions = Questions(X, ROUNDS if full else 5)
        ways["groups"] = lambda s: questions.draw(n, np.random.default_rng(s))
    inside = np.zeros((d, d), bool)
    for group in groups:
        inside[np.ix_(group, group)] = True
    found = {}
    for name, draw in ways.items():
        rows = [draw(s) for s in (SEEDS["draws"] if full else SEEDS["draws"][:1])]
        found[name] = averaged([compare(X, drawn) for drawn in rows])
        found[name]["valid_rows"] = (
            float(
                np.mean(
                    [
                        (drawn @ np.array([np.isin(np.arange(d), g) for g in groups]).T == 1.0).all(axis=1).mean()
                        for drawn in rows
                    ]
                )
            )
            if groups
            else None
        )
    return {
        "rows": n,
        "columns": d,
        "dimensions": low,
        "groups": [len(group) for group in groups],
        "always_1": int((X.min(axis=0) == 1.0).sum()),
        "ways": found,
    }


def likelihoods() -> dict[str, float]:
    """Test error of the twos, 16 dimensions: plain and weighted, nats a row."""
    train, _, test, _ = twos()
    plain, pairwise = recipe().fit(train), tetrachoric(train)
    weighted = recipe().fit(train)
    W = weighted_factors(pairwise.correlation, pairwise.standard_error, DIMENSIONS, noise=True)
    weighted.params_ = replace(plain.params_, loadings=W)
    return {"plain": float(-plain.score(test)), "weighted": float(-weighted.score(test))}


def measure(*, full: bool) -> Any:
    if not have_data("weighted correlations of tables"):
        return NO_DATA
    found: dict[str, Any] = {"tables": {name: one(tables()[name], full=full) for name in TABLES}}
    return {**found, "twos": likelihoods() if full else None}
