"""Items with known slopes, tables from them, and the log-likelihood of rows by plain NumPy."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.special import expit, logsumexp

SLOPE, SPREAD, LEVELS = 1.2, 0.3, 5  # of the lognormal distribution of slopes; levels of graded items
TYPES = {"b": "binary", "g": "ordinal", "x": "continuous"}  # by the first letter of a column's name
PIECE = 1 << 22  # numbers of rows times nodes that are added up at once


@dataclass(frozen=True)
class Items:
    """Slopes (columns, dimensions); intercepts, one of a binary item, falling ones of a graded item; a continuous column
    has the mean 0 and this variance besides that of its slope."""

    slopes: np.ndarray
    intercepts: tuple[np.ndarray, ...]
    noise: tuple[float, ...] = ()

    @property
    def names(self) -> list[str]:
        letters = ["b" if len(d) == 1 else "g" for d in self.intercepts] + ["x"] * len(self.noise)
        return [f"{letter}{j}" for j, letter in enumerate(letters)]

    @property
    def types(self) -> dict[str, str]:
        return {name: TYPES[name[0]] for name in self.names}

    @cached_property
    def answers(self) -> tuple[np.ndarray, np.ndarray]:
        """Slopes and intercepts of all answers, as `slopes_` and `intercepts_` have them."""
        sizes = [len(d) for d in self.intercepts]
        return np.repeat(self.slopes[: len(sizes)], sizes, axis=0), np.concatenate(self.intercepts)

    @property
    def first_answers(self) -> np.ndarray:
        """Return the first answer of each column: all of a column have its slope."""
        return np.cumsum([0, *map(len, self.intercepts)])[:-1]

    def table(self, rng: np.random.Generator, rows: int) -> tuple[pd.DataFrame, np.ndarray]:
        """Return a table and the positions of its rows."""
        z = rng.standard_normal((rows, self.slopes.shape[1]))
        eta = z @ self.slopes.T
        columns = [
            (rng.random((rows, 1)) < expit(eta[:, j, None] + d)).sum(axis=1) for j, d in enumerate(self.intercepts)
        ]
        first = len(columns)
        columns += [eta[:, first + j] + np.sqrt(v) * rng.standard_normal(rows) for j, v in enumerate(self.noise)]
        return pd.DataFrame(dict(zip(self.names, columns, strict=True))), z


def items(seed: int, binary: int, graded: int = 0, noise: tuple[float, ...] = (), slopes: object = None) -> Items:
    """Return items of one dimension: slopes lognormal unless given, difficulties normal and at least .2 apart."""
    rng, n = np.random.default_rng([seed, binary, graded]), binary + graded
    a = rng.lognormal(np.log(SLOPE), SPREAD, n) if slopes is None else np.asarray(slopes)
    b = [rng.standard_normal(1) for _ in range(binary)] + [_apart(rng) for _ in range(graded)]
    loadings = np.sqrt(1.0 - np.array(noise))  # continuous columns have the variance 1
    return Items(np.append(a, loadings)[:, None], tuple(-s * d for s, d in zip(a, b, strict=True)), noise)


def _apart(rng: np.random.Generator) -> np.ndarray:
    while True:
        b = np.sort(rng.standard_normal(LEVELS - 1))
        if np.diff(b).min() > 0.2:
            return b


def even_grid(radius: float, nodes: int, q: int = 1) -> np.ndarray:
    """Return evenly spaced nodes, (nodes^q, q)."""
    axis = np.linspace(-radius, radius, nodes)
    return np.stack(np.meshgrid(*[axis] * q, indexing="ij"), axis=-1).reshape(-1, q)


def log_likelihoods(X: np.ndarray, found: Items, points: np.ndarray) -> np.ndarray:
    """Return the log-likelihood of each row of bits and levels, with these nodes instead of the normal density."""
    logs = -0.5 * (points**2).sum(axis=1)
    logs -= logsumexp(logs)
    of_levels, one_hot = [], []
    for a, d, column in zip(found.slopes, found.intercepts, X.T, strict=True):
        above = expit((points @ a)[None] + d[:, None])
        p = -np.diff(np.concatenate([np.ones((1, len(points))), above, np.zeros((1, len(points)))]), axis=0)
        of_levels.append(np.log(np.maximum(p, 1e-300)))
        one_hot.append(column[:, None] == np.arange(len(p)))
    scores, cells = np.concatenate(of_levels), np.concatenate(one_hot, axis=1)
    pieces = np.array_split(cells, -(-len(X) * len(points) // PIECE))
    return np.concatenate([logsumexp(piece.astype(float) @ scores + logs, axis=1) for piece in pieces])
