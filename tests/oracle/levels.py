"""Latent classes of columns with levels by brute force: plain loops over classes, columns and levels.

A row holds the number of each cell's level, NaN where it is missing; a binary column has the levels 0 and 1. It shares
no formula with the package, nor its bits: `bits_of` and `bits` say what these would be.
"""

from math import log

import numpy as np


class LevelClasses:
    """The truth for shares of classes, and for each column P(level) in each class, (classes, levels)."""

    def __init__(self, weights, columns, binary):
        self.weights, self.columns, self.binary = weights, columns, binary

    def joint(self, row):
        """Return P(observed cells, class) of each class."""
        found = []
        for k, weight in enumerate(self.weights):
            p = weight
            for j, level in enumerate(row):
                if not np.isnan(level):
                    p *= self.columns[j][k, int(level)]
            found.append(p)
        return np.array(found)

    def log_likelihood(self, row):
        return log(self.joint(row).sum())

    def posterior(self, row):
        return self.joint(row) / self.joint(row).sum()

    def conditional(self, row, j):
        """Return P(level of column j | the observed cells of the other columns): all rows with that cell, added up."""
        p = []
        for level in range(self.columns[j].shape[1]):
            with_level = np.array(row, float)
            with_level[j] = level
            p.append(self.joint(with_level).sum())
        return np.array(p) / sum(p)

    def counts(self, rows, weights):
        """Return the expected rows of each class, and of each column those with each level, (classes, levels)."""
        classes, levels = np.zeros(len(self.weights)), [np.zeros(p.shape) for p in self.columns]
        for row, weight in zip(rows, weights, strict=True):
            for k, share in enumerate(self.posterior(row)):
                classes[k] += weight * share
                for j, level in enumerate(row):
                    if not np.isnan(level):
                        levels[j][k, int(level)] += weight * share
        return classes, levels

    def expected_log_joint(self, classes, levels, strength, center):
        """Return what an M-step maximizes: the expected log-likelihood of complete rows, and the log prior."""
        total = sum(count * log(weight) for count, weight in zip(classes, self.weights, strict=True))
        for j, p in enumerate(self.columns):
            for k in range(p.shape[0]):
                for level in range(p.shape[1]):
                    total += (levels[j][k, level] + strength * center[j][level]) * log(p[k, level])
        return total

    def moved(self, rng, size):
        """Return the same classes with all probabilities changed a little, by factors of about e**size."""

        def other(p):
            q = np.asarray(p) * np.exp(size * rng.standard_normal(np.shape(p)))
            return q / q.sum(axis=1, keepdims=True)

        return LevelClasses(other([self.weights])[0], [other(p) for p in self.columns], self.binary)

    def draw(self, rng, n, missing):
        """Return rows with cells missing at random."""
        rows = np.empty((n, len(self.columns)))
        for row in rows:
            k = rng.choice(len(self.weights), p=self.weights)
            row[:] = [rng.choice(p.shape[1], p=p[k]) for p in self.columns]
        rows[rng.random(rows.shape) < missing] = np.nan
        return rows

    @property
    def sizes(self):
        """Bits of each column."""
        return tuple(1 if binary else p.shape[1] for p, binary in zip(self.columns, self.binary, strict=True))

    def bits_of(self, of_levels):
        """Return one number for each level of each column, in order, as one for each bit: of binary ones that of 1."""
        pairs = zip(of_levels, self.binary, strict=True)
        return np.concatenate([values[-1:] if binary else values for values, binary in pairs])

    def bits(self, rows):
        """Return rows of bits, and which of them are observed: all those of columns with levels."""
        x, observed = [], []
        for row in rows:
            levels = [np.arange(p.shape[1]) for p in self.columns]
            seen = [not (binary and np.isnan(cell)) for cell, binary in zip(row, self.binary, strict=True)]
            x.append(self.bits_of([of == cell for of, cell in zip(levels, row, strict=True)]))
            observed.append(self.bits_of([np.full(len(of), one) for of, one in zip(levels, seen, strict=True)]))
        return np.array(x, np.uint8), np.array(observed, np.uint8)


def some_classes(rng, n_classes, levels, binary):
    """Return classes with probabilities drawn at random; `levels` are the numbers of levels of the columns."""
    columns = [rng.dirichlet(np.full(n, 1.5), n_classes) for n in levels]
    return LevelClasses(rng.dirichlet(np.full(n_classes, 3.0)), columns, binary)
