"""How many rows a clipped model can make: enumeration, Cover's count and the paper's N^P; neighbors; entropy."""

from typing import Any

import numpy as np
from common import Run
from geometry import cells, is_bounded, neighbors, planes
from scipy.sparse.csgraph import shortest_path

from hiddenbits import evaluate

SEEDS = {"planes": 0, "draws": 1}
SIZES = ((5, 2), (7, 2), (6, 3), (8, 3))  # columns, dimensions
ENTROPIES = (
    (16, 2, False),
    (64, 2, False),
    (256, 2, False),
    (16, 2, True),
    (64, 2, True),
    (256, 2, True),
    (16, 3, False),
    (64, 3, False),
    (16, 3, True),
    (64, 3, True),
)
LARGE = ((256, 2), (256, 3))  # many more columns than dimensions: counted by the formula alone


def counted(n: int, q: int, *, biases: bool) -> dict[str, Any]:
    W, h = planes(n, q, biases=biases, seed=SEEDS["planes"])
    there = cells(W, h)
    beside = neighbors(there)
    flips = (there[:, None, :] != there[None]).sum(axis=2)
    steps = shortest_path(flips == 1, unweighted=True)  # through cells with one other sign; infinite if there is no way
    closed = np.array([is_bounded(W, signs) for signs in there])
    return {
        "cells": len(there),
        "formula": evaluate.count_patterns(n, q, biases=biases),
        "bounded": int(closed.sum()),
        "fewest_neighbors": int(beside.min()),
        "fewest_within_two_flips": int(((flips > 0) & (flips <= 2)).sum(axis=1).min()),
        "connected": bool(np.isfinite(steps).all()),
        "steps_beyond_flips": float((steps - flips).max()) if np.isfinite(steps).all() else None,
        "fewest_neighbors_of_bounded": int(beside[closed].min()) if closed.any() else None,
    }


def entropy(n: int, q: int, *, biases: bool, draws: int) -> dict[str, Any]:
    """Entropy of rows without noise, drawn by the definition, beside its largest value and the paper's."""
    W, h = planes(n, q, biases=biases, seed=SEEDS["planes"])
    hidden = np.random.default_rng(SEEDS["draws"]).standard_normal((draws, q))
    rows = (hidden @ W.T + h > 0.0).astype(np.uint8)
    count = evaluate.count_patterns(n, q, biases=biases)
    return {
        "columns": n,
        "dimensions": q,
        "biases": biases,
        "entropy": evaluate.pattern_entropy(rows),
        "largest": float(np.log(count)),
        "paper": float(q * np.log(n)),
    }


def measure(run: Run) -> dict[str, Any]:
    draws = 200_000 if run.full else 50_000
    sizes = SIZES if run.full else SIZES[-1:]
    return {
        "counts": {
            f"{n}, {q}": {
                "rows": 2**n,
                "paper": n**q,
                "without biases": counted(n, q, biases=False),
                "with biases": counted(n, q, biases=True),
            }
            for n, q in sizes
        },
        "large": {
            f"{n}, {q}": {
                "paper": n**q,
                "without biases": evaluate.count_patterns(n, q, biases=False),
                "with biases": evaluate.count_patterns(n, q, biases=True),
            }
            for n, q in LARGE
        },
        "draws": draws,
        "entropy": [
            entropy(n, q, biases=b, draws=draws)
            for n, q, b in (ENTROPIES if run.full else [e for e in ENTROPIES if e[0] < 256])
        ],
    }
