"""Mixtures of maps by plain integration over each map's plane: slow, and no code of the package."""

import numpy as np

from tests.oracle.integration import Plane


class Maps:
    """The truth about rows (NaN: missing) for shares of maps, and the loadings and intercepts of each."""

    def __init__(self, weights, maps, step=0.06):
        self.weights, self.planes = np.asarray(weights), [Plane(W, b, step) for W, b in maps]

    def log_joint(self, row):
        """ln P(observed bits, map) for every map."""
        return np.log(self.weights) + np.array([plane.log_likelihood(row) for plane in self.planes])

    def log_likelihood(self, row):
        return np.logaddexp.reduce(self.log_joint(row))

    def shares(self, row):
        """P(map | observed bits)."""
        return np.exp(self.log_joint(row) - self.log_likelihood(row))

    def conditional(self, row):
        """P(bit = 1 | observed bits), every bit drawn anew."""
        return self.shares(row) @ np.array([plane.conditional(row) for plane in self.planes])

    def leave_one_out(self, row):
        out = np.empty(len(row))
        for j in range(len(row)):
            without = row.copy()
            without[j] = np.nan
            out[j] = self.conditional(without)[j]
        return out
