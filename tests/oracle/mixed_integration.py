"""Mixed tables by plain integration on a fine even grid over the hidden plane: slow, and no code of the package."""

from itertools import pairwise

import numpy as np

from tests.oracle.integration import Integrated, plane


def softmax(A):
    p = np.exp(A - A.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


class MixedPlane(Integrated):
    """The truth about rows of D numbers (NaN: not observed) for given parameters.

    `sticks` are the bits of each column that bits stand for, `levels` the categories of each nominal column.
    """

    def __init__(self, params, sticks, n_real, levels, step=0.04):
        self.nodes, self.log_prior = plane(params.loadings.shape[1], step)
        A = self.nodes @ params.loadings.T + params.intercepts
        n_bits = sum(sticks)
        self.bits = A[:, :n_bits]
        self.means = params.shift + params.scale * A[:, n_bits : n_bits + n_real]
        self.variance = params.noise * params.scale**2
        ends = np.cumsum([n_bits + n_real, *levels])
        self.nominal = [A[:, a:b] for a, b in pairwise(ends)]
        self.sticks, self.n_bits, self.n_real, self.ends = sticks, n_bits, n_real, ends

    def log_joint(self, row):
        """ln P(observed cells, x) at every node."""
        out = self.log_prior.copy()
        for i in range(self.n_bits):
            if not np.isnan(row[i]):
                out -= np.logaddexp(0, (1 - 2 * row[i]) * self.bits[:, i])
        for j in range(self.n_real):
            t = row[self.n_bits + j]
            if not np.isnan(t):
                v = self.variance[j]
                out -= 0.5 * (t - self.means[:, j]) ** 2 / v + 0.5 * np.log(2 * np.pi * v)
        for a, b, eta in zip(self.ends[:-1], self.ends[1:], self.nominal, strict=True):
            if not np.isnan(row[a]):
                out += np.log(softmax(eta))[:, int(np.argmax(row[a:b]))]
        return out

    def answers(self, row):
        """Probabilities of categories of the columns of bits, means of reals, probabilities of nominal categories."""
        p, out, first = self.weights(row), [], 0
        sigma = 1 / (1 + np.exp(-self.bits))
        for m in self.sticks:
            s = sigma[:, first : first + m]
            for k in range(m + 1):
                stop = 1 - s[:, k] if k < m else 1.0
                out.append(p @ (np.prod(s[:, :k], axis=1) * stop))
            first += m
        out += list(p @ self.means)
        for eta in self.nominal:
            out += list(p @ softmax(eta))
        return np.array(out)
