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
