"""The paper's two programs in plain NumPy: equations (6) to (12), and EM on a sample (equation 3).

As printed, but for a small ridge in both and limits on the number and the length of the regressions' steps.
"""

from collections.abc import Iterator

import numpy as np
from scipy.special import expit, log_expit, logsumexp

RIDGE = 0.001  # as in Table 1: constant pixels would send b to infinity
IRLS = 25  # most steps of a regression, which ends where no parameter moves by more than 1e-4
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


def bounds(X: np.ndarray, W: np.ndarray, b: np.ndarray, xi: np.ndarray, C: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """The bound of each row for a Gaussian with mean mu and covariance C; xi is that of equation 8 for it."""
    cells = ((X - 0.5) * (mu @ W.T + b)).sum(axis=1) + (log_expit(xi) - xi / 2.0).sum(axis=1)
    apart = np.trace(C, axis1=1, axis2=2) + (mu * mu).sum(axis=1) - 2.0 - np.log(np.linalg.det(C))
    return np.asarray(cells - 0.5 * apart)


def bound(X: np.ndarray, W: np.ndarray, b: np.ndarray, xi: np.ndarray, C: np.ndarray, mu: np.ndarray) -> float:
    """The same, a row."""
    return float(bounds(X, W, b, xi, C, mu).mean())


def variational(X: np.ndarray, begin: Start, inner: int = 2) -> Iterator[tuple[Start, float]]:
    """Yield the parameters at the end of each pass and the bound a row with which it began."""
    (W, b), center = begin, begin[1]
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
        right[:, 2] += RIDGE * center
        joint = np.linalg.solve(left, right[:, :, None])[:, :, 0]  # eq 11
        W, b = joint[:, :2], joint[:, 2]
        yield (W, b), value


def sampling(X: np.ndarray, begin: Start, draws: np.ndarray) -> Iterator[tuple[Start, float]]:
    """Yield the same of equation 3: responsibilities of fixed draws, and a logistic regression of each column."""
    hat = np.column_stack([draws, np.ones(len(draws))])
    joint = np.column_stack(begin)
    prior = np.column_stack([np.zeros_like(begin[0]), begin[1]])
    while True:
        R, value = responsibilities(X, joint, hat)
        joint, _ = regressed(X, R, joint, hat, prior)
        yield (joint[:, :2], joint[:, 2]), value


def responsibilities(X: np.ndarray, joint: np.ndarray, hat: np.ndarray) -> tuple[np.ndarray, float]:
    """Return P(draw | row) and equation 3 a row."""
    log_p = log_joint(X, joint, hat)
    each = logsumexp(log_p, axis=1)
    return np.exp(log_p - each[:, None]), float(each.mean() - np.log(len(hat)))


def regressed(
    X: np.ndarray, R: np.ndarray, joint: np.ndarray, hat: np.ndarray, prior: np.ndarray
) -> tuple[np.ndarray, int]:
    """Return the parameters after an M-step, regressions by re-weighted least squares, and the steps these took."""
    pairs = (hat[:, :, None] * hat[:, None, :]).reshape(len(hat), -1)
    ones, rows = X.T @ R, R.sum(axis=0)
    taken, longest = 0, np.inf
    while taken < IRLS and longest >= 1e-4:
        taken += 1
        p = expit(joint @ hat.T)
        curvature = ((p * (1.0 - p) * rows) @ pairs).reshape(-1, 3, 3) + RIDGE * np.eye(3)
        gradient = (ones - rows * p) @ hat - RIDGE * (joint - prior)
        step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
        length = np.linalg.norm(step, axis=1, keepdims=True)
        joint = joint + step * np.minimum(1.0, LONGEST / np.maximum(length, 1e-300))
        longest = np.abs(step).max()
    return joint, taken


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


def bound_after(X: np.ndarray, W: np.ndarray, b: np.ndarray, xi: np.ndarray, n: int) -> tuple[float, np.ndarray]:
    """Return the bound after n updates of xi, and that xi."""
    for _ in range(n):
        C, mu = posteriors(X, W, b, xi)
        xi = tightened(C, mu, W, b)
    return bound(X, W, b, xi, C, mu), xi
