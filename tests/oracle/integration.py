"""Logistic PCA by plain integration on a fine even grid over the hidden plane: slow, and no code of the package."""

import numpy as np
from scipy.special import log_ndtr

REACH, STEP = 9.0, 0.03


def plane(q, step=STEP, reach=REACH):
    """Nodes and log weights of an even grid for N(0, I)."""
    axis = np.arange(-reach, reach + step / 2, step)
    nodes = np.stack([a.ravel() for a in np.meshgrid(*[axis] * q, indexing="ij")], axis=1)
    return nodes, -0.5 * (nodes**2).sum(axis=1) - 0.5 * q * np.log(2 * np.pi) + q * np.log(step)


class Integrated:
    """What follows from the nodes and from a row's `log_joint` at each of them, whatever the columns are."""

    def log_joint(self, row):
        """ln P(observed cells, x) at every node."""
        raise NotImplementedError("each kind of table has its own")

    def log_likelihood(self, row):
        scores = self.log_joint(row)
        return np.log(np.exp(scores - scores.max()).sum()) + scores.max()

    def weights(self, row):
        scores = self.log_joint(row)
        p = np.exp(scores - scores.max())
        return p / p.sum()

    def moments(self, row):
        """Posterior mean and covariance."""
        p = self.weights(row)
        mean = p @ self.nodes
        return mean, (self.nodes - mean).T @ ((self.nodes - mean) * p[:, None])


class Plane(Integrated):
    """The truth about rows (NaN: missing) for loadings W and intercepts b."""

    def __init__(self, W, b, step=STEP):
        self.nodes, self.log_prior = plane(W.shape[1], step)
        self.A = self.nodes @ W.T + b
        self.on, self.off = -np.logaddexp(0, -self.A), -np.logaddexp(0, self.A)

    def log_joint(self, row):
        """ln P(observed bits, x) at every node."""
        seen = ~np.isnan(row)
        bits = row[seen] == 1
        return self.log_prior + self.on[:, seen][:, bits].sum(axis=1) + self.off[:, seen][:, ~bits].sum(axis=1)

    def conditional(self, row):
        """P(bit = 1 | observed bits), every bit drawn anew."""
        return self.weights(row) @ np.exp(self.on)

    def probabilities(self):
        """P of every complete row, those of `itertools.product((0, 1), repeat=d)`."""
        p = np.exp(self.log_prior)[:, None]
        for on, off in zip(np.exp(self.on).T, np.exp(self.off).T, strict=True):
            p = np.stack([p * off[:, None], p * on[:, None]], axis=2).reshape(len(p), -1)
        return p.sum(axis=0)

    def leave_one_out(self, row):
        out = np.empty(len(row))
        for j in range(len(row)):
            without = row.copy()
            without[j] = np.nan
            out[j] = self.conditional(without)[j]
        return out


class ProbitPlane(Plane):
    """The truth about rows for probit factors: loadings W and biases h of hidden variables with variance 1."""

    def __init__(self, W, h, step=STEP):
        noise = np.sqrt(1 - (W**2).sum(axis=1))
        super().__init__(W / noise[:, None], h / noise, step)
        self.on, self.off = log_ndtr(self.A), log_ndtr(-self.A)


def sharp_log_likelihood(W, b, row, pieces=30, order=8, drop=45.0):
    """ln P of a row (NaN: missing) where loadings may be large: q = 1 or 2, by Gauss and Legendre around the top.

    ln P(t, x) is concave, so that all that counts lies in one region around its top: the box around where it is within
    `drop` of it, along the axes of its curvature, is cut into pieces with a rule in each.
    """
    seen = ~np.isnan(row)
    W, b, sign, q = W[seen], b[seen], 2.0 * row[seen] - 1.0, W.shape[1]

    def height(x):
        return -np.logaddexp(0, -sign * (x @ W.T + b)).sum(axis=1) - 0.5 * (x * x).sum(axis=1)

    top, H = np.zeros(q), np.eye(q)
    for _ in range(500):
        wrong = np.exp(-np.logaddexp(0, sign * (W @ top + b)))
        H = np.eye(q) + (W.T * (wrong * (1 - wrong))) @ W
        step = np.linalg.solve(H, (sign * wrong) @ W - top)
        while height((top + step)[None]) < height(top[None]) and np.abs(step).max() > 1e-14:
            step = step / 2
        top = top + step
        if np.abs(step).max() < 1e-13:
            break
    widths, axes = np.linalg.eigh(H)
    turns = np.linspace(0, 2 * np.pi, 720, endpoint=False)
    round_about = np.array([[-1.0], [1.0]]) if q == 1 else np.stack([np.cos(turns), np.sin(turns)], axis=1)
    ways = round_about / np.sqrt(widths) @ axes.T
    inner, outer = np.zeros(len(ways)), np.full(len(ways), 1e-3)
    limit = height(top[None])[0] - drop
    while (inside := height(top + outer[:, None] * ways) > limit).any():
        inner, outer = np.where(inside, outer, inner), np.where(inside, 2 * outer, outer)
    for _ in range(40):
        middle = 0.5 * (inner + outer)
        inside = height(top + middle[:, None] * ways) > limit
        inner, outer = np.where(inside, middle, inner), np.where(inside, outer, middle)
    reached = (outer[:, None] * ways) @ axes
    z, weights = np.polynomial.legendre.leggauss(order)
    places, logs = [], []
    for low, high in zip(reached.min(axis=0), reached.max(axis=0), strict=True):
        cuts = np.linspace(low, high, pieces + 1)
        half = np.diff(cuts)[:, None] / 2
        places.append((cuts[:-1, None] + half * (1 + z)).ravel())
        logs.append(np.log(half * weights).ravel())
    nodes = np.stack([a.ravel() for a in np.meshgrid(*places, indexing="ij")], axis=1) @ axes.T + top
    scores = height(nodes) + sum(a.ravel() for a in np.meshgrid(*logs, indexing="ij"))
    return np.log(np.exp(scores - scores.max()).sum()) + scores.max() - 0.5 * q * np.log(2 * np.pi)
