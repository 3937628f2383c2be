"""A Bayesian network of bits whose conditionals are decision trees (Chickering, Heckerman & Meek 1997), for comparison.

    ln P(x) = Sum_j ln P(x_j | the leaf of tree j that x falls into)

Tree j splits on other columns, which are the parents of column j. No column is its own ancestor, so P sums to 1.

Greedy search: every tree begins as one leaf; then the split with the largest gain is made, as long as one gains. The
gain of a split of leaf l of tree j on column i is

    B(n_l0) + B(n_l1) - B(n_l) + ln kappa,    B(n) = ln Beta(n_0 + a/2, n_1 + a/2) - ln Beta(a/2, a/2)

| letter | meaning |
|---|---|
| n_l | rows in leaf l with 0 and 1 in column j; n_l0 and n_l1 those with 0 and 1 in column i |
| a | ess / 2^depth: the prior is worth `ess` rows at the root of each tree (BDeu) |
| kappa | the prior factor of a structure for each free parameter |
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import betaln


@dataclass(frozen=True)
class BayesianNetwork:
    """What was learned: nodes of all trees, the root of tree j first as number j, children after their parents."""

    split: Any  # (nodes,), the column that a node splits on, -1 for a leaf
    child: Any  # (nodes, 2), where rows with 0 and 1 in that column go
    counts: Any  # (nodes, 2), training rows of a node with 0 and 1 in the tree's own column
    n_columns: int
    smoothing: float  # pseudo-rows for the parent node's estimate; above 0

    likelihood_ = "exact"
    stop_reason_ = "no split gains"

    @property
    def n_iter_(self) -> int:
        return int((self.split >= 0).sum())

    @property
    def probabilities(self) -> Any:
        """Return P(x_j = 1) in each node: its share of ones, smoothed towards that of the node above, that of 1/2."""
        above = np.full(len(self.split), -1)
        inner = self.split >= 0
        above[self.child[inner]] = np.flatnonzero(inner)[:, None]
        p = np.full(len(self.split) + 1, 0.5)  # the last one stands above the roots
        for node, (zeros, ones) in enumerate(self.counts):
            p[node] = (ones + self.smoothing * p[above[node]]) / (zeros + ones + self.smoothing)
        return p[:-1]

    def leaves(self, X: Any) -> Any:
        """Return the leaf that each row falls into in each column's tree, (rows, columns)."""
        found = np.empty(X.shape, dtype=np.int64)
        for j in range(self.n_columns):
            node = np.full(len(X), j)
            moving = np.arange(len(X))
            while len(moving := moving[self.split[node[moving]] >= 0]):
                at = node[moving]
                node[moving] = self.child[at, X[moving, self.split[at]]]
            found[:, j] = node
        return found

    def score_samples(self, X: Any) -> Any:
        """Return ln P(x) of each row."""
        p = self.probabilities[self.leaves(X)]
        return np.log(np.where(X == 1, p, 1.0 - p)).sum(axis=1)

    def save(self, path: Path) -> None:
        np.savez_compressed(path, **{name: getattr(self, name) for name in self.__dataclass_fields__})

    @classmethod
    def load(cls, path: Path) -> BayesianNetwork:
        with np.load(path) as file:
            held = {name: file[name] for name in cls.__dataclass_fields__}
        return cls(**held | {"n_columns": int(held["n_columns"]), "smoothing": float(held["smoothing"])})


def learn(
    train: Any, *, ess: float, kappa: float, smoothing: float, noise: float = 0.0, seed: int = 0
) -> BayesianNetwork:
    """Return the network that greedy search finds.

    `noise` makes networks of other seeds differ: the gains of a parent i of column j are multiplied by exp(noise z_ji),
    where z_ji is standard normal. What is no gain stays none.
    """
    search = _Search(train, ess, kappa, noise, seed)
    while search.queue:
        search.step()
    return BayesianNetwork(
        np.array(search.split), np.array(search.child), np.array(search.own), train.shape[1], smoothing
    )


@dataclass
class _Leaf:
    """A leaf that may still be split."""

    column: int
    depth: int
    rows: Any  # numbers of its rows
    counts: Any  # (2, 2, columns): its rows by own bit, bit of another column, and that column
    gains: Any  # (columns,), of the splits on each column


class _Search:
    def __init__(self, train: Any, ess: float, kappa: float, noise: float, seed: int) -> None:
        self.X = np.ascontiguousarray(train, dtype=np.float32)  # products count up to 2^24 rows without rounding
        n, d = self.X.shape
        self.ess, self.kappa = ess, kappa
        self.factors = np.exp(noise * np.random.default_rng(seed).standard_normal((d, d)))
        self.leads = np.eye(d, dtype=bool)  # [a, b]: a is an ancestor of b, or b itself
        self.split: list[int] = []
        self.child: list[tuple[int, int]] = []
        self.own: list[Any] = []
        self.open: dict[int, _Leaf] = {}
        self.queue: list[tuple[float, int, int]] = []  # the best split of each open leaf: -gain, leaf, column
        both = (self.X.T @ self.X).astype(np.float64)
        ones = np.diag(both)
        for j in range(d):
            with_one = np.stack([ones - both[j], both[j]])
            own = np.array([n - ones[j], ones[j]])
            self.add(j, 0, np.arange(n), np.stack([own[:, None] - with_one, with_one], axis=1))

    def add(self, column: int, depth: int, rows: Any, counts: Any) -> int:
        """Add a leaf, and offer its best split."""
        number = len(self.split)
        self.split.append(-1)
        self.child.append((-1, -1))
        self.own.append(counts[:, :, column].sum(axis=1))
        below, here = (self.ess / 2.0 ** (depth + 1) for depth in (depth + 1, depth))
        gains = _score(counts, below).sum(axis=0) - _score(self.own[number], here) + np.log(self.kappa)
        gains[(counts.sum(axis=0) == 0).any(axis=0)] = -np.inf  # no split without rows on both sides
        self.open[number] = _Leaf(column, depth, rows, counts, gains * self.factors[column])
        self.offer(number)
        return number

    def offer(self, number: int) -> None:
        leaf = self.open[number]
        gains = np.where(self.leads[leaf.column], -np.inf, leaf.gains)
        best = int(gains.argmax())
        if gains[best] > 0.0:
            heapq.heappush(self.queue, (-float(gains[best]), number, best))
        else:
            del self.open[number]

    def step(self) -> None:
        """Make the best split that is offered, unless it has become a circle since: then offer the leaf's next one."""
        _, number, i = heapq.heappop(self.queue)
        j = self.open[number].column
        if self.leads[j, i]:
            self.offer(number)
            return
        leaf = self.open.pop(number)
        self.leads |= np.outer(self.leads[:, i], self.leads[j])
        bit = self.X[leaf.rows, i] == 1.0
        sides = [leaf.rows[~bit], leaf.rows[bit]]
        small = int(len(sides[1]) < len(sides[0]))
        counted = _counts(self.X[sides[small]], j)  # the other side's by subtraction
        counts = [counted, leaf.counts - counted] if small == 0 else [leaf.counts - counted, counted]
        self.split[number] = i
        left, right = (self.add(j, leaf.depth + 1, sides[b], counts[b]) for b in (0, 1))
        self.child[number] = (left, right)


def _counts(part: Any, j: int) -> Any:
    """Return how many rows have bit a in column j and bit b in column i, as [a, b, i]."""
    own = np.stack([1.0 - part[:, j], part[:, j]])
    ones = (own @ part).astype(np.float64)
    return np.stack([own.sum(axis=1, dtype=np.float64)[:, None] - ones, ones], axis=1)


def _score(n: Any, a: float) -> Any:
    """Return B(n), with own bits 0 and 1 along the first axis; `a` is a half of the prior's rows here."""
    return betaln(n[0] + a, n[1] + a) - betaln(a, a)
