"""Section 3.1: the gradient from the largest terms of the sum over states, next to Markov chains.

The gradient needs means over states h with weights exp g(h), g(h) = h.th + Sum_j ln 2cosh(v_j + (h W)_j). The search
keeps the `most` largest states that it knows. It begins with the most probable states of the rows, looks at all states
that differ from a kept one in one unit, and ends when none of them is larger than those kept. That takes of the order
of `most` times m times n steps a round, polynomial in the number of units; nothing says that no state is missed.
"""

from typing import Any, NamedTuple

import numpy as np

SCORED_AT_ONCE = 1 << 20  # cells of (state, column)


class Means(NamedTuple):
    """What the free machine expects: E[h], E[h_i x_j]; and ln of the sum over the states that were used."""

    hidden: np.ndarray
    joint: np.ndarray
    log_sum: float


def bits_of(codes: np.ndarray, m: int) -> np.ndarray:
    """States as rows of 0 and 1; h_i = (code >> i) & 1."""
    return ((codes[:, None] >> np.arange(m)) & 1).astype(float)


def codes_of(states: np.ndarray) -> np.ndarray:
    """Different states as sorted numbers."""
    return np.unique(states.astype(np.int64) @ (1 << np.arange(states.shape[1], dtype=np.int64)))


def log_weights(codes: np.ndarray, W: np.ndarray, th: np.ndarray, v: np.ndarray) -> np.ndarray:
    """g(h) of each state; W has a row for each unit."""
    found, step = np.empty(len(codes)), max(1, SCORED_AT_ONCE // W.shape[1])
    for start in range(0, len(codes), step):
        h = bits_of(codes[start : start + step], len(th))
        size = np.abs(h @ W + v)
        found[start : start + step] = h @ th + (size + np.log1p(np.exp(-2.0 * size))).sum(axis=1)
    return found


def search(first: np.ndarray, W: np.ndarray, th: np.ndarray, v: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest states that flips of single units lead to from the first ones, largest first, and their g."""
    codes, flips = codes_of(first), 1 << np.arange(len(th), dtype=np.int64)
    g = log_weights(codes, W, th, v)
    known, fresh = codes, codes
    while len(fresh):
        near = np.setdiff1d((fresh[:, None] ^ flips).ravel(), known)  # known states are not scored twice
        known = np.union1d(known, near)
        codes, g = np.concatenate([codes, near]), np.concatenate([g, log_weights(near, W, th, v)])
        kept = np.argsort(-g, kind="stable")[:most]
        codes, g = codes[kept], g[kept]
        fresh = np.intersect1d(near, codes)
    return codes, g


def means(codes: np.ndarray, g: np.ndarray, W: np.ndarray, v: np.ndarray) -> Means:
    """Means over these states alone (eqs 3.5, 3.6)."""
    p = np.exp(g - g.max())
    hidden, joint, step = np.zeros(len(W)), np.zeros(W.shape), max(1, SCORED_AT_ONCE // W.shape[1])
    for start in range(0, len(codes), step):
        h = bits_of(codes[start : start + step], len(W))
        weighted = p[start : start + step, None] * h
        hidden += weighted.sum(axis=0)
        joint += weighted.T @ np.tanh(h @ W + v)
    return Means(hidden / p.sum(), joint / p.sum(), float(g.max() + np.log(p.sum())))


def states_of_rows(X: np.ndarray, W: np.ndarray, th: np.ndarray) -> np.ndarray:
    """The most probable state of each row; X has -1 and +1."""
    return X @ W.T + th > 0.0


def furthest_corner(W: np.ndarray, th: np.ndarray, *, printed: bool = False) -> np.ndarray:
    """The paper's rule for the largest state of a machine over reals: the sum of weights furthest from a point.

    g(h) = |h W - x|^2 / 2 + constant with x = -th'(W W')^-1 W, and h_i = 1 where w_i.x <= |w_i|^2 / 2. The paper prints
    x without its sign, and |w_i| / 2.
    """
    x = -th @ np.linalg.solve(W @ W.T, W)
    length = np.linalg.norm(W, axis=1)
    return np.asarray(W @ -x <= 0.5 * length if printed else W @ x <= 0.5 * length**2)


def largest_over_reals(W: np.ndarray, th: np.ndarray) -> np.ndarray:
    """The state with the largest g(h) = h.th + |h W|^2 / 2, by enumeration."""
    h = bits_of(np.arange(1 << len(th)), len(th))
    return h[(h @ th + 0.5 * ((h @ W) ** 2).sum(axis=1)).argmax()] > 0.0


def max_cut(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """A random graph: the largest g of the machine whose weights are its edges, and its largest cut, both halves."""
    edges = np.argwhere(np.triu(rng.random((n, n)) < 0.5, 1))
    W = np.zeros((n, len(edges)))
    W[edges[:, 0], np.arange(len(edges))] = 1.0
    W[edges[:, 1], np.arange(len(edges))] = -1.0
    h = bits_of(np.arange(1 << n), n)
    cut = (h[:, edges[:, 0]] != h[:, edges[:, 1]]).sum(axis=1).max()
    return {"largest g": float(0.5 * ((h @ W) ** 2).sum(axis=1).max()), "half of the largest cut": float(0.5 * cut)}
