"""Forests by brute force, and rows from trees that are known."""

from itertools import combinations

import numpy as np

from hiddenbits.families.tree_mixture.params import TreeParams


def forests(d):
    """Every set of links without a circle."""
    links = list(combinations(range(d), 2))
    for number in range(1 << len(links)):
        chosen = [link for bit, link in enumerate(links) if number >> bit & 1]
        tree_of = list(range(d))
        for i, j in chosen:
            a, b = tree_of[i], tree_of[j]
            if a == b:
                break
            tree_of = [a if t == b else t for t in tree_of]
        else:
            yield chosen


def links_of(parents):
    """The links of a forest given by its parents."""
    return {(min(j, int(p)), max(j, int(p))) for j, p in enumerate(parents) if p >= 0}


def table_log_likelihood(table):
    """Sum n ln(n / total) of a table of counts: its log-likelihood at the best probabilities."""
    n = np.asarray(table, float).ravel()
    n = n[n > 0]
    return float(np.sum(n * np.log(n / n.sum())))


def random_forests(d, K, rng, strong=0.1):
    """Parameters with a random tree in each class, each column a copy of its parent with some errors."""
    parents = np.array([[-1] + [int(rng.integers(j)) for j in range(1, d)] for _ in range(K)]).T
    roots = rng.uniform(0.3, 0.7, (d, K))
    flip = rng.integers(0, 2, (d, K)) == 1
    if_zero = np.where(parents < 0, roots, np.where(flip, 1 - strong, strong))
    if_one = np.where(parents < 0, roots, np.where(flip, strong, 1 - strong))
    return TreeParams(np.full(K, 1 / K), parents * 1.0, if_zero, if_one, np.full(d, 0.5), np.zeros(0))
