"""What a model expects of pairs of columns: P(both bits are 1).

In most families the bits are independent given the hidden state s, so that P_jk = Sum_s P(s) P(x_j = 1 | s)
P(x_k = 1 | s), here a sum over all classes, over the on/off states of at most 12 units, or over a grid of at most three
dimensions. Elsewhere the sum is over states or rows that are drawn from the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from hiddenbits.array_types import Floats

MOST_UNITS = 12
STEPS = {1: 0.1, 2: 0.2, 3: 0.4}  # of the grid, by dimensions
FURTHEST = 6.0  # standard deviations that the grid reaches
DRAWN_STATES, DRAWN_ROWS = 1 << 15, 1 << 16
CHUNK_CELLS = 1 << 22

States = tuple[Floats, Floats]  # P(s), and P(x_j = 1 | s); (states,) and (states, columns)


class ExpectedPairs(NamedTuple):
    """P(both bits are 1), (bits, bits), P(bit = 1), and how many draws they rest on: infinity where they are exact."""

    both: Floats
    ones: Floats
    draws: float


def expected_pairs(model: Any, n_columns: int) -> ExpectedPairs:
    """Return what a fitted model expects of every pair of columns; the diagonal is of no use."""
    states, draws = _states(model, max(1, CHUNK_CELLS // n_columns))
    both, ones, total = np.zeros((n_columns, n_columns)), np.zeros(n_columns), 0.0
    for weights, shares in states:
        both += (shares * weights[:, None]).T @ shares
        ones += weights @ shares
        total += float(weights.sum())
    return ExpectedPairs(both / total, ones / total, draws)


def _states(model: Any, height: int) -> tuple[Iterator[States], float]:
    """Return the states of a model with their unnormalised weights in chunks, and the number of draws."""
    name = type(model).__name__
    if name == "IndependentColumns":
        return iter([(np.ones(1), np.asarray(model.probabilities_)[None, :])]), np.inf
    if name == "LatentClassAnalysis":
        return iter([(np.asarray(model.weights_), np.asarray(model.probabilities_))]), np.inf
    if name in ("LogisticPCA", "ClippedPCA"):
        return _places(model, len(model.components_), height)
    if name == "NoisyOrNetwork" and len(model.layers_) == 1 and len(model.priors_) <= MOST_UNITS:
        return _switches(model, len(model.priors_), height), np.inf
    if name == "CombinationMachine" and len(model.thresholds_) <= MOST_UNITS:
        return _switches(model, len(model.thresholds_), height), np.inf
    return _rows(model, height), float(DRAWN_ROWS)


def _places(model: Any, n_dimensions: int, height: int) -> tuple[Iterator[States], float]:
    """Return places on the map: a grid, whose sum converges fast since the density is smooth, or draws."""
    if n_dimensions in STEPS:
        line = np.arange(-FURTHEST, FURTHEST + 1e-9, STEPS[n_dimensions])
        places = np.stack(np.meshgrid(*[line] * n_dimensions, indexing="ij"), axis=-1).reshape(-1, n_dimensions)
        weights, draws = np.exp(-0.5 * (places**2).sum(axis=1)), np.inf
    else:
        places = np.random.default_rng(0).standard_normal((DRAWN_STATES, n_dimensions))
        weights, draws = np.ones(DRAWN_STATES), float(DRAWN_STATES)
    chunks = (slice(first, first + height) for first in range(0, len(places), height))
    return ((weights[part], np.asarray(model.inverse_transform(places[part]))) for part in chunks), draws


def _switches(model: Any, n_units: int, height: int) -> Iterator[States]:
    """Yield all states of units that are on or off."""
    codes = ((np.arange(2**n_units)[:, None] >> np.arange(n_units)) & 1).astype(np.float64)
    for first in range(0, len(codes), height):
        some = codes[first : first + height]
        if hasattr(model, "priors_"):
            weights = np.where(some == 1.0, model.priors_, 1.0 - model.priors_).prod(axis=1)
        else:  # ln P(h) = th.h + Sum_j ln 2cosh(v_j + w_j.h) - ln Z
            field = model.bias_ + some @ model.weights_
            logs = some @ model.thresholds_ + np.logaddexp(field, -field).sum(axis=1)
            weights = np.exp(logs - model.log_partition_)
        yield weights, np.asarray(model.inverse_transform(some))


def _rows(model: Any, height: int) -> Iterator[States]:
    """Yield rows that are drawn from the model."""
    for number, first in enumerate(range(0, DRAWN_ROWS, height)):
        drawn = np.asarray(model.sample(min(height, DRAWN_ROWS - first), random_state=number), np.float64)
        yield np.ones(len(drawn)), drawn
