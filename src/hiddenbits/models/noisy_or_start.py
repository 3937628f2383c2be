"""How the layers of a noisy-OR network begin, and how a layer with too many causes loses some."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hiddenbits.models.noisy_or_params import LEARN, Floats, NoisyOrParams, clip_strengths

ACTIVE = 3.0  # causes that a row is expected to have on, before anything is known
ALIKE = 0.3  # cosine between the strengths of two causes from which on one may stand in for the other
MOST_LEAK = 0.05  # of a child's ones, at most, are left to the leak while its layer learns


def first_prior(prior: float | None, n_causes: int) -> float:
    """Return P(S_i = 1) while a layer learns: as given, or such that about three causes are on in a row."""
    return min(0.3, ACTIVE / n_causes) if prior is None else prior


def with_spare(n_causes: int, spare: float) -> int:
    """Return how many causes a layer begins with."""
    return int(np.ceil(n_causes * (1.0 + spare) - 1e-9))


def first_strengths(
    means: Floats, n_causes: int, leak: float, first: tuple[float, float] | None, rng: np.random.Generator
) -> Floats:
    """Return strengths of a new layer, (K + 1, children): all causes nearly alike, three of them making the means.

    With `first` they are drawn between two numbers instead, as in the paper.
    """
    if first is None:
        f = rng.uniform(0.5, 1.5, (n_causes, len(means))) * means / (ACTIVE + 1.0)
    else:
        f = rng.uniform(*first, (n_causes, len(means)))
    return clip_strengths(np.vstack([f, np.minimum(leak, MOST_LEAK * means)]))


def with_layer(
    params: NoisyOrParams, n_causes: int, prior: float, leak: float, first: tuple[float, float] | None
) -> NoisyOrParams:
    """Return a network with one more layer on top, which has yet to learn."""
    rng = np.random.default_rng([int(params.clock[3]), len(params.n_causes)])
    above = first_strengths(params.priors, n_causes, leak, first, rng)
    names = np.concatenate([params.names, params.names.max() + 1.0 + np.arange(n_causes)])
    clock = (params.clock[0] + 1.0, LEARN, 0.0, params.clock[3], 0.0)
    return NoisyOrParams.of([*params.layers, above], np.full(n_causes, prior), clock, names)


def without(params: NoisyOrParams, gone: NDArray[np.intp], prior: float) -> NoisyOrParams:
    """Return a network without some causes of its top layer; the prior of the others is set anew."""
    top = params.layers[-1]
    left = np.delete(top, gone, axis=0)
    first = len(params.names) - (len(top) - 1)
    names = np.delete(params.names, first + np.asarray(gone))
    return NoisyOrParams.of([*params.layers[:-1], left], np.full(len(left) - 1, prior), params.clock, names)


def least_missed(gains: Floats, strengths: Floats, most: int) -> NDArray[np.intp]:
    """Return which causes to take away at once: those whose absence gains most, and none that is like another of them.

    Two causes that do the same can each be done without, but not both.
    """
    directions = strengths / np.linalg.norm(strengths, axis=1, keepdims=True)
    alike = directions @ directions.T
    gone: list[int] = []
    for i in np.argsort(-gains, kind="stable"):
        if len(gone) < most and all(alike[i, j] < ALIKE for j in gone):
            gone.append(int(i))
    return np.array(gone, np.intp)
