"""Pursuit that stops by itself, with the paper's removal of structure and with one for bits (its open problem).

Pursuit ends at the first unit that is not worth its parameters, by one of two rules. "BIC": the unit must raise the
log-likelihood of the altered rows by more than half of ln(rows) a parameter. "held-out": fitted on three quarters of
the rows, it must raise that of the others. Structure is removed in one of two ways:

- "reals", as in the paper: one unit over a Gaussian (eqs 3.14, 3.15); where h = 1 the row loses w, and is bits no more.
- "bits": one unit over fair coins, w = atanh(E[hx] / E[h]). Where h = 1, a bit that agrees with the sign of w_j is
  turned with probability 1 - 1/(2 sigma(2|w_j|)). Bits with P(x_j = sign w_j) = sigma(2|w_j|) become fair coins: the
  structure is gone, and rows remain bits.
"""

from typing import Any, Literal

import numpy as np
from cells import Cells
from common import have_data
from scipy.special import expit, logit
from synthetic import rows

import data

SEEDS = {"rows": list(range(1000, 1010)), "digits": [0, 1, 2], "pursuit": 0}
TRIES, EM_STEPS, TOWARDS, RAREST = 4, 20, 0.3, 1e-6
MOST = {"A": 20, "B": 20, "digits": 80}
LARGEST = 1.0 - 1e-3  # of E[hx]/E[h]: a weight stays finite where a bit never differs

Way = Literal["reals", "bits"]
Rule = Literal["BIC", "held-out"]


def lncosh(w: np.ndarray) -> np.ndarray:
    return np.logaddexp(w, -w) - np.log(2.0)


def mass(w: np.ndarray, way: Way) -> np.ndarray:
    """ln of what a unit that is on multiplies Z by, but for its threshold."""
    return np.asarray(0.5 * (w**2).sum(axis=0) if way == "reals" else lncosh(w).sum(axis=0))


def one_unit(
    X: np.ndarray, way: Way, rng: np.random.Generator, n_steps: int = EM_STEPS
) -> tuple[np.ndarray, float, float]:
    """The best of a few tries by EM: w, th, and the gain in log-likelihood on no unit."""
    w = TOWARDS * X[rng.integers(len(X), size=TRIES)].T
    th = -mass(w, way)
    for _ in range(n_steps):
        s = expit(X @ w + th)
        share = np.clip(s.mean(axis=0), RAREST, 1.0 - RAREST)
        mean = X.T @ s / (share * len(X))
        w = mean if way == "reals" else np.arctanh(np.clip(mean, -LARGEST, LARGEST))
        th = logit(share) - mass(w, way)
    gains = gain(X, w, th, way)
    best = int(gains.argmax())
    return w[:, best], float(th[best]), float(gains[best])


def gain(X: np.ndarray, w: np.ndarray, th: Any, way: Way) -> np.ndarray:
    """Log-likelihood of rows under one unit, less that under none."""
    return np.asarray(np.logaddexp(0.0, X @ w + th).sum(axis=0) - len(X) * np.logaddexp(0.0, th + mass(w, way)))


def removed(X: np.ndarray, w: np.ndarray, th: float, way: Way, rng: np.random.Generator) -> np.ndarray:
    """Rows without the structure of a unit."""
    on = rng.random(len(X)) < expit(X @ w + th)
    if way == "reals":
        return np.asarray(X - on[:, None] * w)
    turned = rng.random(X.shape) < 1.0 - 0.5 / expit(2.0 * np.abs(w))
    return np.where(on[:, None] & turned & (X * w > 0.0), -X, X)


def pursue(X: np.ndarray, way: Way, rule: Rule, most: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights and thresholds of the units until one is not worth its parameters; X has -1 and +1."""
    rng = np.random.default_rng(seed)
    n = len(X) if rule == "BIC" else 3 * len(X) // 4
    price = 0.5 * (X.shape[1] + 1) * np.log(len(X)) if rule == "BIC" else 0.0
    weights, thresholds, rest = [], [], X
    while len(weights) < most:
        w, th, rise = one_unit(rest[:n], way, rng)
        if (rise if rule == "BIC" else gain(rest[n:], w, th, way)) <= price:
            break
        weights.append(w)
        thresholds.append(th)
        rest = removed(rest, w, th, way, rng)
    return np.array(weights).reshape(-1, X.shape[1]), np.array(thresholds)


def on_target(table: str, seed: int, way: Way, rule: Rule) -> dict[str, Any]:
    drawn = rows(table, seed)
    W, th = pursue(2.0 * drawn.train - 1.0, way, rule, MOST[table], SEEDS["pursuit"])
    truth = data.measures(data.told(drawn.weights, drawn.thresholds), drawn.test)["log-loss"]
    loss = data.measures(data.told(W, th), drawn.test)["log-loss"] if len(th) else None
    return {"rows": seed, "units": len(th), "truth": len(drawn.thresholds), "log-loss": loss, "true log-loss": truth}


def on_digits(seed: int, way: Way, rule: Rule) -> dict[str, Any]:
    _, th = pursue(2.0 * data.digits(seed).train - 1.0, way, rule, MOST["digits"], SEEDS["pursuit"])
    return {"rows": seed, "units": len(th)}


def measure(cells: Cells, *, full: bool) -> dict[str, Any]:
    """Table, removal and rule -> list of cells."""
    found: dict[str, Any] = {}
    tables: tuple[str, ...] = ("A", "B", "digits") if full else ("A",)
    ways: tuple[Way, ...] = ("reals", "bits")
    rules: tuple[Rule, ...] = ("BIC", "held-out")
    if full and not have_data("when pursuit of digits stops"):
        tables = tables[:2]
    for table in tables:
        seeds = SEEDS["digits" if table == "digits" else "rows"]
        for way in ways:
            for rule in rules:
                name = f"{table}, {way}, {rule}"
                found[name] = [
                    cells.get(f"{name}, rows {seed}", lambda a=(table, seed, way, rule): one(*a))  # type: ignore[misc]
                    for seed in (seeds if full else seeds[:1])
                ]
    return found


def one(table: str, seed: int, way: Way, rule: Rule) -> dict[str, Any]:
    return on_digits(seed, way, rule) if table == "digits" else on_target(table, seed, way, rule)
