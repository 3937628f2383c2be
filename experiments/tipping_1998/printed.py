"""The paper's two programs in plain NumPy, as printed: equations (6) to (12), and EM on a sample (equation 3).

The library's programs extrapolate, share work and stop inner loops early. For "considerably faster" both are made here
as the paper describes them, begin at the same loadings, take turns, and stop by the same rule.
"""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from common import NO_DATA, have_data
from scipy.special import expit, log_expit, logsumexp

import data
from hiddenbits import LogisticPCA, Variational

SEEDS = {"synthetic data": 3, "starts": [0, 1, 2, 3, 4], "draws": "those of the start, and 500 of the prior"}
DRAWS = 500
RIDGE = 0.001  # as in Table 1: constant pixels would send b to infinity
TOL = 1e-5  # nats a row
MOST = 3000  # passes
IRLS = 25  # most steps of a regression, which ends where no parameter moves by more than 1e-4
MANY = 100  # updates of xi, after which nothing changes
LONGEST = 2.0  # of such a step: without a limit the regressions of rare pixels run away
GRID = np.arange(-6.0, 6.0001, 0.1)
Start = tuple[np.ndarray, np.ndarray]


def start(X: np.ndarray, seed: int) -> Start:
    """Small random loadings, and logits of the column means."""
    rng = np.random.default_rng(10000 + seed)
    p = (X.sum(axis=0) + 0.5) / (len(X) + 1.0)
    return 0.1 * rng.standard_normal((X.shape[1], 2)), np.log(p / (1.0 - p))


def slope(xi: np.ndarray) -> np.ndarray:
    """Return -2 lambda(xi), which is tanh(xi / 2) / (2 xi)."""
    return np.tanh(xi / 2.0) / (2.0 * xi)


def posteriors(X: np.ndarray, W: np.ndarray, b: np.ndarray, xi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    kappa = slope(xi)
    pairs = (W[:, :, None] * W[:, None, :]).reshape(len(W), -1)
    C = np.linalg.inv(np.eye(2) + (kappa @ pairs).reshape(-1, 2, 2))  # eq 6
    return C, np.einsum("nab,nb->na", C, (X - 0.5 - kappa * b) @ W)  # eq 7


def tightened(C: np.ndarray, mu: np.ndarray, W: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the xi of equation 8."""
    second = (C + mu[:, :, None] * mu[:, None, :]).reshape(len(mu), -1)  # eq 10
    pairs = (W[:, :, None] * W[:, None, :]).reshape(len(W), -1)
    return np.sqrt(np.maximum(second @ pairs.T + 2.0 * b * (mu @ W.T) + b * b, 1e-12))


def of_the_prior(W: np.ndarray, b: np.ndarray, n: int) -> np.ndarray:
    """Return the xi of equation 8 for the prior: a cold start."""
    return np.tile(np.sqrt((W * W).sum(axis=1) + b * b), (n, 1))


def bound(X: np.ndarray, W: np.ndarray, b: np.ndarray, xi: np.ndarray, C: np.ndarray, mu: np.ndarray) -> float:
    """The bound a row for a Gaussian with mean mu and covariance C; xi is that of equation 8 for it."""
    cells = ((X - 0.5) * (mu @ W.T + b)).sum() + (log_expit(xi) - xi / 2.0).sum()
    apart = np.trace(C, axis1=1, axis2=2) + (mu * mu).sum(axis=1) - 2.0 - np.log(np.linalg.det(C))
    return float((cells - 0.5 * apart.sum()) / len(X))


def variational(X: np.ndarray, begin: Start, inner: int = 2) -> Iterator[tuple[Start, float]]:
    """Yield the parameters at the end of each pass and the bound a row with which it began."""
    (W, b), centre = begin, begin[1]
    xi = of_the_prior(W, b, len(X))
    while True:
        for _ in range(inner):
            C, mu = posteriors(X, W, b, xi)
            xi = tightened(C, mu, W, b)
        value = bound(X, W, b, xi, C, mu)
        hat = np.column_stack([mu, np.ones(len(X))])
        moments = hat[:, :, None] * hat[:, None, :]
        moments[:, :2, :2] += C  # eq 12
        left = (slope(xi).T @ moments.reshape(len(X), -1)).reshape(-1, 3, 3) + RIDGE * np.eye(3)
        right = (X - 0.5).T @ hat
        right[:, 2] += RIDGE * centre
        joint = np.linalg.solve(left, right[:, :, None])[:, :, 0]  # eq 11
        W, b = joint[:, :2], joint[:, 2]
        yield (W, b), value


def sampling(X: np.ndarray, begin: Start, draws: np.ndarray, steps: int = IRLS) -> Iterator[tuple[Start, float]]:
    """Yield the same of equation 3: responsibilities of fixed draws, and a logistic regression of each column."""
    (W, b), centre = begin, begin[1]
    hat = np.column_stack([draws, np.ones(len(draws))])
    pairs = (hat[:, :, None] * hat[:, None, :]).reshape(len(hat), -1)
    joint = np.column_stack([W, b])
    prior = np.column_stack([np.zeros_like(W), centre])
    while True:
        log_p = log_joint(X, joint, hat)
        each = logsumexp(log_p, axis=1)
        R = np.exp(log_p - each[:, None])
        ones, rows = X.T @ R, R.sum(axis=0)
        for _ in range(steps):
            p = expit(joint @ hat.T)
            curvature = ((p * (1.0 - p) * rows) @ pairs).reshape(-1, 3, 3) + RIDGE * np.eye(3)
            gradient = (ones - rows * p) @ hat - RIDGE * (joint - prior)
            step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
            length = np.linalg.norm(step, axis=1, keepdims=True)
            joint = joint + step * np.minimum(1.0, LONGEST / np.maximum(length, 1e-300))
            if np.abs(step).max() < 1e-4:
                break
        yield (joint[:, :2], joint[:, 2]), float(each.mean() - np.log(len(draws)))


def log_joint(X: np.ndarray, joint: np.ndarray, hat: np.ndarray) -> np.ndarray:
    """Return ln P(row | place) of all rows and places."""
    A = hat @ joint.T
    return X @ A.T + log_expit(-A).sum(axis=1)


def error(X: np.ndarray, found: Start) -> float:
    """Negative log-likelihood a row, summed over a fine grid of places."""
    x, y = np.meshgrid(GRID, GRID)
    hat = np.column_stack([x.ravel(), y.ravel(), np.ones(x.size)])
    prior = -0.5 * (hat[:, 0] ** 2 + hat[:, 1] ** 2) - np.log(2.0 * np.pi) + 2.0 * np.log(GRID[1] - GRID[0])
    joint = np.column_stack(found)
    return -float(np.mean(np.concatenate([logsumexp(log_joint(part, joint, hat) + prior, axis=1) for part in cut(X)])))


def cut(X: np.ndarray) -> list[np.ndarray]:
    return np.array_split(X, max(1, len(X) // 100))


def on_draws(X: np.ndarray, found: Start, draws: np.ndarray) -> float:
    """The same error as the paper estimated it, on a sample of the prior."""
    hat = np.column_stack([draws, np.ones(len(draws))])
    return -float((logsumexp(log_joint(X, np.column_stack(found), hat), axis=1) - np.log(len(draws))).mean())


def timed(passes: Iterator[tuple[Start, float]]) -> dict[str, Any]:
    """Run a program until a pass gains less than TOL a row; seconds are of the processor, at the end of each pass."""
    found: dict[str, Any] = {"models": [], "seconds": [], "values": []}
    begin = time.process_time()
    for model, value in passes:
        found["models"].append(model)
        found["seconds"].append(time.process_time() - begin)
        found["values"].append(value)
        if (len(found["values"]) > 1 and value - found["values"][-2] < TOL) or len(found["values"]) == MOST:
            return found
    return found


def first_below(X: np.ndarray, run: dict[str, Any], goal: float) -> float | None:
    """Return the seconds after which the error of a run was below `goal`; it falls, but for the last passes."""
    low, high = 0, len(run["models"]) - 1
    if error(X, run["models"][high]) > goal:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if error(X, run["models"][middle]) <= goal else (middle + 1, high)
    return float(run["seconds"][high])


def race(X: np.ndarray, seeds: list[int]) -> dict[str, Any]:
    """Run both programs in turn from the same starts: seconds, passes, errors, and seconds to the same error."""
    runs = []
    for seed in seeds:
        draws = np.random.default_rng(20000 + seed).standard_normal((DRAWS, 2))
        fast, slow = timed(variational(X, start(X, seed))), timed(sampling(X, start(X, seed), draws))
        last = {"variational": fast["models"][-1], "sampling": slow["models"][-1]}
        errors = {name: error(X, model) for name, model in last.items()}
        runs.append(
            {
                "seconds": {"variational": fast["seconds"][-1], "sampling": slow["seconds"][-1]},
                "passes": {"variational": len(fast["models"]), "sampling": len(slow["models"])},
                "error": errors,
                "error_on_the_draws": {name: on_draws(X, model, draws) for name, model in last.items()},
                "sampling_reaches_the_variational_error_after": first_below(X, slow, errors["variational"]),
                "variational_is_within_a_hundredth_after": first_below(X, fast, errors["variational"] + 0.01),
                "falls": {"variational": falls(fast), "sampling": falls(slow)},
            }
        )
    return {"rows": len(X), "columns": X.shape[1], "runs": runs}


def falls(run: dict[str, Any]) -> float:
    """The largest fall of what a program raises; the ridge is not counted, and may cost a little."""
    return float(max(0.0, -np.diff(run["values"]).min()))


def rises(X: np.ndarray) -> dict[str, int]:
    """In how many passes of the variational program the true error rises, though the bound does too."""
    models = timed(variational(X, start(X, SEEDS["starts"][0])))["models"]
    errors = [error(X, model) for model in models]
    return {"passes": len(models), "error_rises": int((np.diff(errors) > 1e-6).sum())}


def inner_steps(X: np.ndarray) -> dict[str, Any]:
    """What is missing from the bound after 2 updates of xi: from a cold start, and from the xi of the pass before."""
    begin, found = start(X, SEEDS["starts"][0]), {}
    models = [begin, *timed(variational(X, begin))["models"]]
    for words, k in (("first pass", 1), ("tenth pass", 10), ("last pass", len(models) - 1)):
        k = min(k, len(models) - 1)
        W, b = models[k]
        cold = of_the_prior(W, b, len(X))
        warm = bound_after(X, *models[k - 1], of_the_prior(*models[k - 1], len(X)), MANY)[1]
        best = bound_after(X, W, b, cold, MANY)[0]
        found[words] = {
            "cold": {str(n): best - bound_after(X, W, b, cold, n)[0] for n in (2, 5, 10)},
            "warm": {"2": best - bound_after(X, W, b, warm, 2)[0]},
        }
    return found


def bound_after(X: np.ndarray, W: np.ndarray, b: np.ndarray, xi: np.ndarray, n: int) -> tuple[float, np.ndarray]:
    """Return the bound after n updates of xi, and that xi."""
    for _ in range(n):
        C, mu = posteriors(X, W, b, xi)
        xi = tightened(C, mu, W, b)
    return bound(X, W, b, xi, C, mu), xi


def same_as_the_library(X: np.ndarray) -> float:
    """Difference between the bounds that equations (6) to (12) and the library end with, a row."""
    values, begin = [], start(X, 0)
    for _, value in variational(X, begin):
        values.append(value)
        if (len(values) > 1 and value - values[-2] < 1e-10) or len(values) == MOST:
            break
    model = LogisticPCA(2, method=Variational(polish=False), ridge=RIDGE, tol=1e-10, random_state=0).fit(X)
    return abs(float(np.mean(model.bound_samples(X))) - values[-1])


def measure(*, full: bool) -> dict[str, Any]:
    seeds = SEEDS["starts"] if full else SEEDS["starts"][:1]
    X = data.synthetic(SEEDS["synthetic data"]).X.astype(float)
    found: dict[str, Any] = {
        "draws": DRAWS,
        "same_as_the_library": same_as_the_library(X),
        "Synthetic-16": {**race(X, seeds), "inner": inner_steps(X), "true_error": rises(X)},
    }
    if not have_data():
        return {**found, "Digit-256": NO_DATA}
    if full:
        twos = data.twos().astype(float)
        found["Digit-256"] = {**race(twos, seeds), "inner": inner_steps(twos)}
    else:
        found["Digit-256"] = "skipped: only in a full run"
    return found
