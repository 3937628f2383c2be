"""Cells between planes, by linear programs: which rows a clipped model can make, and which cells are neighbors."""

import numpy as np
from scipy.optimize import linprog

INSIDE = 1e-9  # a cell is open: its best point is at least so far on the right side of every plane


def planes(n_columns: int, n_components: int, *, biases: bool, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return planes in general position: w_i . y + h_i = 0."""
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((n_columns, n_components))
    return W, rng.standard_normal(n_columns) if biases else np.zeros(n_columns)


def has_a_point(W: np.ndarray, h: np.ndarray, signs: np.ndarray) -> bool:
    """Whether some y has these signs: the largest t <= 1 with s_i (w_i . y + h_i) >= t is above 0."""
    n, q = W.shape
    objective = np.r_[np.zeros(q), -1.0]
    left = np.c_[-signs[:, None] * W, np.ones(n)]
    bounds = [(None, None)] * q + [(None, 1.0)]
    found = linprog(objective, A_ub=left, b_ub=signs * h, bounds=bounds)
    return bool(found.status == 0 and -found.fun > INSIDE)


def cells(W: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Return the signs of all cells: each plane in turn cuts some of the cells that there are."""
    there = np.zeros((1, 0))
    for k in range(1, len(W) + 1):
        both = [np.r_[signs, side] for signs in there for side in (-1.0, 1.0)]
        there = np.array([signs for signs in both if has_a_point(W[:k], h[:k], signs)])
    return there


def is_bounded(W: np.ndarray, signs: np.ndarray) -> bool:
    """Whether no ray stays inside: no d other than 0 has s_i w_i . d >= 0 for all i."""
    sided = signs[:, None] * W
    found = linprog(-sided.sum(axis=0), A_ub=-sided, b_ub=np.zeros(len(W)), bounds=[(-1.0, 1.0)] * W.shape[1])
    return bool(-found.fun < INSIDE)


def neighbors(there: np.ndarray) -> np.ndarray:
    """Return how many neighbors each cell has: cells with one other sign, which share a face with it."""
    return np.asarray(((there[:, None, :] != there[None]).sum(axis=2) == 1).sum(axis=1))
