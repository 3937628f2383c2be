"""Ordinary PCA of bits as numbers, cut at one half: what the clipped model has to be compared with."""

import numpy as np


class ThresholdedPCA:
    """Principal components of 0 and 1 as numbers, with the noise variance of probabilistic PCA."""

    def __init__(self, n_components: int) -> None:
        self.n_components = n_components

    def fit(self, X: np.ndarray) -> "ThresholdedPCA":
        self.mean = X.mean(axis=0)
        values, vectors = np.linalg.eigh(np.cov(X.T))
        q = self.n_components
        self.axes = vectors[:, -q:]
        self.noise = float(values[:-q].mean())
        self.loadings = self.axes * np.sqrt(values[-q:] - self.noise)
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        return np.asarray((X - self.mean) @ self.axes)

    def cut(self, codes: np.ndarray) -> np.ndarray:
        """Return bits from codes."""
        return np.asarray(codes @ self.axes.T + self.mean > 0.5)

    def reconstruct(self, X: np.ndarray) -> np.ndarray:
        return self.cut(self.transform(X))

    def complete(self, X: np.ndarray) -> np.ndarray:
        """Return expected numbers of all cells, given those that are not NaN."""
        seen, filled = ~np.isnan(X), np.where(np.isnan(X), 0.0, X - self.mean)
        found = np.empty_like(X)
        for number, (row, o) in enumerate(zip(filled, seen, strict=True)):
            W = self.loadings[o]
            code = np.linalg.solve(W.T @ W + self.noise * np.eye(self.n_components), W.T @ row[o])
            found[number] = self.loadings @ code + self.mean
        return found
