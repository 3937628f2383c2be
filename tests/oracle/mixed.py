"""Latent classes of binary, nominal, continuous and count columns by brute force: plain loops and scipy.stats.

A row holds the numbers of levels of `LevelClasses` first, then continuous columns, then counts, NaN where a cell is
missing. Everything is in the units of the table. It shares no formula with the package: missing continuous cells are
conditioned by the precision matrix, where the package conditions by covariances.
"""

from math import lgamma, log, pi

import numpy as np
from scipy.linalg import expm
from scipy.stats import multivariate_normal, poisson

from tests.oracle.levels import LevelClasses


class MixedClasses:
    """The truth for shares of classes, P(level), means (K, q), covariances (K, q, q) and rates (K, c)."""

    def __init__(self, weights, columns, binary, means, covariances, rates):
        self.weights, self.levels = np.asarray(weights), LevelClasses(weights, columns, binary)
        self.means, self.covariances, self.rates = means, covariances, rates
        self.n_levels, self.q = len(columns), means.shape[1]

    def parts(self, row):
        """Return the levels, the continuous cells and the counts of a row."""
        return np.split(np.asarray(row, float), [self.n_levels, self.n_levels + self.q])

    def log_joint(self, row):
        """Return ln P(observed cells, class) of each class."""
        levels, x, counts = self.parts(row)
        logs, o, c = np.log(self.levels.joint(levels)), ~np.isnan(x), ~np.isnan(counts)
        for k in range(len(self.weights)):
            if o.any():
                margin = multivariate_normal(self.means[k][o], self.covariances[k][np.ix_(o, o)])
                logs[k] += margin.logpdf(x[o])
            logs[k] += poisson.logpmf(counts[c], self.rates[k][c]).sum()
        return logs

    def log_likelihood(self, row):
        return np.logaddexp.reduce(self.log_joint(row))

    def posterior(self, row):
        return np.exp(self.log_joint(row) - self.log_likelihood(row))

    def of_missing(self, x, k):
        """Return E[x | observed cells, class k] of all continuous cells, and their covariance."""
        m, expected, spread = np.isnan(x), x.copy(), np.zeros((len(x), len(x)))
        if m.any():
            precision = np.linalg.inv(self.covariances[k])
            inverse = np.linalg.inv(precision[np.ix_(m, m)])
            pull = precision[np.ix_(m, ~m)] @ (x[~m] - self.means[k][~m])
            expected[m] = self.means[k][m] - inverse @ pull
            spread[np.ix_(m, m)] = inverse
        return expected, spread

    def conditional(self, row, j):
        """Return what is expected in column j given the other observed cells: P(level), or the mean of a number."""
        without = np.array(row, float)
        without[j] = np.nan
        if j >= self.n_levels:
            r, (_, x, _) = self.posterior(without), self.parts(without)
            j -= self.n_levels
            return sum(
                r[k] * (self.of_missing(x, k)[0][j] if j < self.q else self.rates[k][j - self.q]) for k in range(len(r))
            )
        p = []
        for level in range(self.levels.columns[j].shape[1]):
            without[j] = level
            p.append(np.exp(self.log_likelihood(without)))
        return np.array(p) / sum(p)

    def cells(self, row):
        """Return one number for each bit and each column of numbers: `conditional` of every cell."""
        of_levels = [self.conditional(row, j) for j in range(self.n_levels)]
        numbers = [self.conditional(row, j) for j in range(self.n_levels, len(row))]
        return np.concatenate([self.levels.bits_of(of_levels) if of_levels else np.zeros(0), numbers])

    def completed(self, rows, weights, complete):
        """Return what is expected of rows and classes: (row, class, weight, E[x], covariance of what is missing).

        Without `complete`, missing continuous cells stay missing: columns that are independent within classes need no
        expectation of them.
        """
        found = []
        for row, weight in zip(rows, weights, strict=True):
            for k, r in enumerate(self.posterior(row)):
                x = self.parts(row)[1]
                found.append(
                    (row, k, weight * r, *(self.of_missing(x, k) if complete else (x, np.zeros((self.q,) * 2))))
                )
        return found

    def expected_log_joint(self, completed, strength, of_table, tied):
        """Return what an M-step maximizes: the expected log-likelihood of `completed` rows, and the log prior.

        `of_table` has the proportions of levels, the standard deviations and mean counts of the table.
        """
        center, scales, prior_rates = of_table
        nothing = np.zeros(len(self.weights)), [np.zeros(p.shape) for p in self.levels.columns]
        total = self.levels.expected_log_joint(*nothing, strength, center)
        inverses = [np.linalg.inv(covariance) for covariance in self.covariances]
        for row, k, weight, x, spread in completed:
            levels, _, counts = self.parts(row)
            value, o = log(self.weights[k]), ~np.isnan(x)
            for p, level in zip(self.levels.columns, levels, strict=True):
                value += 0.0 if np.isnan(level) else log(p[k, int(level)])
            for rate, count in zip(self.rates[k], counts, strict=True):
                value += 0.0 if np.isnan(count) else count * log(rate) - rate - lgamma(count + 1.0)
            if o.any():
                covariance, far = self.covariances[k][np.ix_(o, o)], (x - self.means[k])[o]
                value -= 0.5 * (np.linalg.slogdet(2.0 * pi * covariance)[1] + far @ np.linalg.solve(covariance, far))
                value -= 0.5 * np.sum(inverses[k] * spread)
            total += weight * value
        for k, covariance in enumerate(self.covariances):
            if self.q and not (tied and k):
                unit = covariance / np.outer(scales, scales)
                total -= 0.5 * strength * (np.linalg.slogdet(unit)[1] + np.trace(np.linalg.inv(unit)))
            total += strength * sum(m * log(rate) - rate for m, rate in zip(prior_rates, self.rates[k], strict=True))
        return total

    def moved(self, rng, size, covariance_type):
        """Return the same classes with all parameters changed a little, by about `size` in standard deviations."""
        (K, q), levels = self.means.shape, self.levels.moved(rng, size)
        roots = np.linalg.cholesky(self.covariances)
        steps, turns = size * rng.standard_normal((K, q)), size * rng.standard_normal((K, q, q))
        if covariance_type.endswith("diag"):
            turns *= np.eye(q)
        if covariance_type.startswith("tied"):
            turns[:] = turns[0]
        means = self.means + np.array([root @ step for root, step in zip(roots, steps, strict=True)])
        turned = np.array([root @ expm(turn + turn.T) @ root.T for root, turn in zip(roots, turns, strict=True)])
        rates = self.rates * np.exp(size * rng.standard_normal(self.rates.shape))
        return MixedClasses(levels.weights, levels.columns, levels.binary, means, turned, rates)

    def draw(self, rng, n, missing=0.0):
        """Return rows with cells missing at random."""
        rows = np.empty((n, self.n_levels + self.q + self.rates.shape[1]))
        for row in rows:
            k = rng.choice(len(self.weights), p=self.weights)
            row[: self.n_levels] = [rng.choice(p.shape[1], p=p[k]) for p in self.levels.columns]
            if self.q:
                row[self.n_levels :][: self.q] = rng.multivariate_normal(self.means[k], self.covariances[k])
            row[self.n_levels + self.q :] = rng.poisson(self.rates[k])
        rows[rng.random(rows.shape) < missing] = np.nan
        return rows


def some_mixed_classes(rng, n_classes, levels, binary, n_continuous, n_counts, covariance_type):
    """Return classes drawn at random, with covariances of a type; continuous columns differ in place and spread."""
    K, q, (tied, diagonal) = n_classes, n_continuous, _of_type(covariance_type)
    columns = [rng.dirichlet(np.full(n, 1.5), K) for n in levels]
    scales = 10.0 ** rng.uniform(-1.0, 2.0, q)
    means = scales * (5.0 * rng.standard_normal(q) + 1.5 * rng.standard_normal((K, q)))
    covariances = np.empty((K, q, q))
    for k in range(K):
        root = rng.standard_normal((q, q)) / np.sqrt(max(q, 1)) + 0.5 * np.eye(q)
        covariances[k] = root @ root.T * np.outer(scales, scales)
    covariances = covariances * np.eye(q) if diagonal else covariances
    covariances = np.repeat(covariances[:1], K, axis=0) if tied else covariances
    rates = rng.gamma(2.0, 2.0, (K, n_counts))
    return MixedClasses(rng.dirichlet(np.full(K, 3.0)), columns, binary, means, covariances, rates)


def _of_type(covariance_type):
    return covariance_type.startswith("tied"), covariance_type.endswith("diag")
