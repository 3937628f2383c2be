"""The truth by brute force: everything that follows from a model's `log_joint`, by enumeration.

Slow and plain on purpose. Rows are float vectors with NaN for a missing bit; every quantity sums over all fillings of
the missing bits and all hidden states.
"""

from itertools import product

import numpy as np


def fillings(row):
    """Yield every complete row that agrees with the observed bits."""
    holes = np.flatnonzero(np.isnan(row))
    for bits in product((0.0, 1.0), repeat=len(holes)):
        full = row.copy()
        full[holes] = bits
        yield full


class Oracle:
    def __init__(self, model, params):
        self.model, self.params = model, params
        self.states = model.hidden_states(params)

    def joint(self, row):
        """Return P(x, h) for all fillings x of the row and all h: (fillings, array of shape (fillings, states))."""
        rows = list(fillings(row))
        p = [[np.exp(self.model.log_joint(self.params, x, h)) for h in self.states] for x in rows]
        return np.array(rows), np.array(p)

    def log_likelihood(self, row):
        return np.log(self.joint(row)[1].sum())

    def posterior(self, row):
        """Return E[h | observed bits]: for one-of-K states the class probabilities."""
        _, p = self.joint(row)
        return (p.sum(axis=0) @ self.states) / p.sum()

    def conditional(self, row):
        """Return P(x_j = 1 | observed bits) for every j; observed bits give 0 or 1."""
        rows, p = self.joint(row)
        return p.sum(axis=1) @ rows / p.sum()

    def leave_one_out(self, row):
        """Return P(x_j = 1 | the other observed bits) for every j."""
        out = np.empty(len(row))
        for j in range(len(row)):
            without = row.copy()
            without[j] = np.nan
            out[j] = self.conditional(without)[j]
        return out

    def statistics(self, rows, weights, complete_statistics):
        """Return the expected statistics, given those of one complete row and state as a dict of arrays."""
        total = {}
        for row, weight in zip(rows, weights, strict=True):
            observed = ~np.isnan(row)
            filled, p = self.joint(row)
            log_p = np.log(p.sum())
            posterior = p / p.sum()
            for i, x in enumerate(filled):
                for k, h in enumerate(self.states):
                    for name, value in complete_statistics(x, observed, h).items():
                        total[name] = total.get(name, 0.0) + weight * posterior[i, k] * np.asarray(value)
            total["bound"] = total.get("bound", 0.0) + weight * log_p
            total["weight"] = total.get("weight", 0.0) + weight
        return total

    def moments(self, n_columns):
        """Return E[x] and E[x x'] over all 2^n rows, and the sum of all probabilities."""
        rows, p = self.joint(np.full(n_columns, np.nan))
        p = p.sum(axis=1)
        return p @ rows, rows.T @ (p[:, None] * rows), p.sum()
