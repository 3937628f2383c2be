"""The combination machine by brute force, tempered or not: every row and every hidden state, one sum at a time.

Slow and plain on purpose; it shares no formula with the package. Rows are in -1 and +1, hidden states in 0 and 1.
"""

from itertools import product

import numpy as np


class MachineOracle:
    def __init__(self, weights, thresholds, bias, base=None, beta=1.0):
        base = np.zeros_like(bias) if base is None else base
        self.x = np.array(list(product((-1.0, 1.0), repeat=len(bias))))
        self.h = np.array(list(product((0.0, 1.0), repeat=len(thresholds))))
        energy = np.empty((len(self.x), len(self.h)))
        for i, x in enumerate(self.x):
            for k, h in enumerate(self.h):
                influence = sum(h[u] * (thresholds[u] + weights[:, u] @ x) for u in range(len(h)))
                energy[i, k] = beta * influence + (1.0 - beta) * (base @ x) + beta * (bias @ x)
        top = energy.max()
        weight = np.exp(energy - top)
        self.log_z = top + np.log(weight.sum())
        self.joint = weight / weight.sum()
        self.p = self.joint.sum(axis=1)  # of each row
        self.log_unnormalized = top + np.log(weight.sum(axis=1))

    def transition(self):
        """Return P(x' | x) of one sweep, h given x and then x' given h."""
        hidden_given_x = self.joint / self.joint.sum(axis=1, keepdims=True)
        x_given_hidden = self.joint / self.joint.sum(axis=0, keepdims=True)
        return hidden_given_x @ x_given_hidden.T

    def expectations(self):
        """Return E[h], E[x h] and E[x]."""
        hidden = self.joint.sum(axis=0) @ self.h
        products = self.x.T @ self.joint @ self.h
        return hidden, products, self.p @ self.x

    def draw(self, n, rng):
        """Return n independent rows, in 0 and 1."""
        return (self.x[rng.choice(len(self.p), n, p=self.p)] > 0).astype(np.uint8)

    def number(self, bits):
        """Return which of the rows each row of 0 and 1 is."""
        return bits.astype(int) @ (1 << np.arange(bits.shape[-1])[::-1])


def log_z_over_hidden(weights, thresholds, bias, chunk=1 << 14):
    """Return ln Z by summing the visible units away for each of the 2^m hidden states, a chunk of them at a time."""
    m = len(thresholds)
    logs = []
    for start in range(0, 1 << m, chunk):
        k = np.arange(start, min(start + chunk, 1 << m))
        h = ((k[:, None] >> np.arange(m)) & 1).astype(float)
        c = bias + h @ weights.T
        logs.append(h @ thresholds + np.log(2.0 * np.cosh(c)).sum(axis=1))
    logs = np.concatenate(logs)
    top = logs.max()
    return top + np.log(np.exp(logs - top).sum())
